package argo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Reader reads objects of the cluster. A drift.Cluster is one.
type Reader interface {
	Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live
}

// errAbsent is the error of an object that does not exist.
var errAbsent = errors.New("it does not exist")

const group = "argoproj.io"

// Kind returns the kind of an Application.
func Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: "Application"}
}

// refTo names an object of Argo CD.
func refTo(kind, namespace, name string) object.Ref {
	return object.Ref{Key: object.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}, Version: "v1alpha1"}
}

// read reads one object into out. The error names the object; it wraps errAbsent if there is none.
func read(ctx context.Context, from Reader, ref object.Ref, out any) error {
	title := ref.Kind + " " + ref.Namespace + "/" + ref.Name
	found := from.Read(ctx, []object.Ref{ref})[ref]
	switch {
	case found.Err != nil:
		return fmt.Errorf("reading %s: %s", title, found.Err.Message)
	case found.Object == nil && found.Absence == cluster.AbsentKind:
		return hint.New(fmt.Errorf("%s: the cluster has no kind %s of %s/%s", title, ref.Kind, ref.Group, ref.Version),
			"kubectl get crd shows whether Argo CD is installed")
	case found.Object == nil:
		return fmt.Errorf("%s: %w", title, errAbsent)
	}
	return decode(found.Object, title, out)
}

// decode decodes an object of Argo CD into out.
func decode(o map[string]any, title string, out any) error {
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return fmt.Errorf("%s has a field of another type than Argo CD gives it", title)
	}
	return nil
}

// Read reads an Application.
func Read(ctx context.Context, from Reader, namespace, name string) (*Application, error) {
	out := &Application{}
	err := read(ctx, from, refTo("Application", namespace, name), out)
	if errors.Is(err, errAbsent) {
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
func readSettings(ctx context.Context, from Reader, namespace string) (settings, error) {
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
