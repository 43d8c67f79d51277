package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Group is the API group of the objects.
const Group = "argoproj.io"

// Kind returns the kind of an Application.
func Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: Group, Version: "v1alpha1", Kind: "Application"}
}

// RefTo names an object of Argo CD.
func RefTo(kind, namespace, name string) object.Ref {
	return object.Ref{Key: object.Key{Group: Group, Kind: kind, Namespace: namespace, Name: name}, Version: "v1alpha1"}
}

// tool is the tool that these objects belong to.
var tool = deployer.Tool{Name: "Argo CD", Kinds: "whether Argo CD is installed"}

// Read reads an Application.
func Read(ctx context.Context, from deployer.Reader, namespace, name string) (*Application, error) {
	out := &Application{}
	err := tool.Read(ctx, from, RefTo("Application", namespace, name), out)
	if errors.Is(err, deployer.ErrAbsent) {
		return nil, hint.New(fmt.Errorf("there is no Application %s in namespace %s", name, namespace),
			"-n chooses the namespace of the Application, which most often is argocd; kubectl get applications -A lists them")
	}
	return out, err
}

// Title names the Application in messages.
func (a *Application) Title() string {
	return deployer.TitleOf("Application", a.Metadata.Namespace, a.Metadata.Name)
}

// InCluster are the server and the name of the cluster that Argo CD itself runs in (argo-cd v3.6.1 pkg/apis/application/v1alpha1
// KubernetesInternalAPIServerAddr).
const InCluster, inClusterName = "https://kubernetes.default.svc", "in-cluster"

// CheckDestination refuses an Application that deploys to another cluster than the one that it was read from.
func (a *Application) CheckDestination() error {
	d := a.Spec.Destination
	if cmp.Or(strings.TrimRight(d.Server, "/"), InCluster) == InCluster && cmp.Or(d.Name, inClusterName) == inClusterName {
		return nil
	}
	return hint.New(fmt.Errorf("%s deploys to another cluster, %s", a.Title(), cmp.Or(d.Name, d.Server)),
		"helmdrift compares an Application with the cluster that it is in; for the other one, compare the chart: "+
			"helmdrift diff NAME CHART --install")
}

// Decoded decodes an Application. One that cannot be decoded has its fault.
func Decoded(item map[string]any) *Application {
	out := &Application{}
	key := object.RefOf(item).Key
	if err := tool.Decode(item, deployer.TitleOf("Application", key.Namespace, key.Name), out); err != nil {
		return &Application{Metadata: Metadata{Namespace: key.Namespace, Name: key.Name}, Fault: err}
	}
	return out
}
