package argo

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/object"
)

const group = "argoproj.io"

// Kind returns the kind of an Application.
func Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: "Application"}
}

// refTo names an object of Argo CD.
func refTo(kind, namespace, name string) object.Ref {
	return object.Ref{Key: object.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}, Version: "v1alpha1"}
}

// tool is the tool that these objects belong to.
var tool = deployer.Tool{Name: "Argo CD", Kinds: "whether Argo CD is installed"}

// Read reads an Application.
func Read(ctx context.Context, from deployer.Reader, namespace, name string) (*Application, error) {
	out := &Application{}
	err := tool.Read(ctx, from, refTo("Application", namespace, name), out)
	if errors.Is(err, deployer.ErrAbsent) {
		return nil, hint.New(fmt.Errorf("there is no Application %s in namespace %s", name, namespace),
			"-n chooses the namespace of the Application, which most often is argocd; kubectl get applications -A lists them")
	}
	return out, err
}

// title names the Application in messages.
func (a *Application) title() string {
	return "Application " + a.Metadata.Namespace + "/" + a.Metadata.Name
}

// inCluster are the server and the name of the cluster that Argo CD itself runs in (argo-cd v3.6.1 pkg/apis/application/v1alpha1
// KubernetesInternalAPIServerAddr).
const inCluster, inClusterName = "https://kubernetes.default.svc", "in-cluster"

// checkDestination refuses an Application that deploys to another cluster than the one that it was read from.
func (a *Application) checkDestination() error {
	d := a.Spec.Destination
	if cmp.Or(d.Server, inCluster) == inCluster && cmp.Or(d.Name, inClusterName) == inClusterName {
		return nil
	}
	return hint.New(fmt.Errorf("%s deploys to another cluster, %s", a.title(), cmp.Or(d.Name, d.Server)),
		"helmdrift compares an Application with the cluster that it is in; for the other one, compare the chart: helmdrift diff NAME CHART --install")
}

// settings are those of argocd-cm that decide what a sync writes.
type settings struct {
	// namespace is that of argocd-cm, and so of Argo CD. It is empty if there is no argocd-cm.
	namespace string
	// tracking is how objects are marked: annotation, label or annotation+label. label is the key of the label.
	tracking, label string
	// installation is the identity of this Argo CD, if several share a cluster.
	installation string
	// ignores are the differences that argocd-cm ignores for all Applications.
	ignores []ignoreDifference
}

// readSettings reads argocd-cm, which is in the namespace of Argo CD. An Application may be in another one. Without argocd-cm, the defaults
// count (argo-cd v3.6.1 util/settings/settings.go).
func readSettings(ctx context.Context, from deployer.Reader, namespace string) (settings, error) {
	out := settings{tracking: "annotation", label: "app.kubernetes.io/instance"}
	for _, in := range []string{namespace, "argocd"} {
		ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: in, Name: "argocd-cm"}, Version: "v1"}
		found := from.Read(ctx, []object.Ref{ref})[ref]
		if found.Err != nil {
			return out, fmt.Errorf("reading ConfigMap %s/argocd-cm, which says how Argo CD marks objects: %s", in, found.Err.Message)
		}
		if found.Object == nil {
			continue
		}
		data, _ := found.Object["data"].(map[string]any)
		text := func(key string) string {
			value, _ := data[key].(string)
			return value
		}
		out.namespace = in
		out.tracking = cmp.Or(text("application.resourceTrackingMethod"), out.tracking)
		out.label = cmp.Or(text("application.instanceLabelKey"), out.label)
		out.installation = text("installationID")
		out.ignores = systemIgnores(data)
		return out, nil
	}
	return out, nil
}
