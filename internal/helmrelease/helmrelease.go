// Package helmrelease reads what a comparison wants to know of the HelmRelease that deployed a release with Flux: where it stores the
// records, and which fields its drift detection ignores. The labels of the objects name it. What Flux deploys next is the subject of
// internal/flux.
package helmrelease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Flux labels every object that it deploys with the name of its HelmRelease (fluxcd/helm-controller v1.6
// internal/postrender/common_renderer.go).
const (
	group          = "helm.toolkit.fluxcd.io"
	nameLabel      = group + "/name"
	namespaceLabel = group + "/namespace"
)

// Reader reads objects of the cluster. drift.Cluster implements it.
type Reader interface {
	Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live
}

// Owner returns the HelmRelease that deployed the objects, or "" if none did.
func Owner(objects []object.Object) (name, namespace string) {
	for _, o := range objects {
		labels, _, _ := unstructured.NestedStringMap(o.Content, "metadata", "labels")
		if labels[nameLabel] != "" {
			return labels[nameLabel], labels[namespaceLabel]
		}
	}
	return "", ""
}

// Namespaces returns the namespaces of a HelmRelease: one for the records of its release, and one for the objects. Both are empty if
// there is no such HelmRelease (fluxcd/helm-controller v1.6 api/v2/helmrelease_types.go GetStorageNamespace, GetReleaseNamespace).
func Namespaces(ctx context.Context, from Reader, name, namespace string) (storage, target string, err error) {
	owner, err := read(ctx, from, name, namespace)
	if err != nil || owner == nil {
		return "", "", err
	}
	spec := object.Child(owner, "spec")
	storage, _ = spec["storageNamespace"].(string)
	target, _ = spec["targetNamespace"].(string)
	return cmp.Or(storage, namespace), cmp.Or(target, namespace), nil
}

// IgnoreRules returns the rules in the HelmRelease that the objects of a release name, and warnings about rules that do not work. It
// returns an error if no object names one, or if it cannot be read.
func IgnoreRules(ctx context.Context, from Reader, release string, objects []object.Object) ([]ignore.Rule, []report.Message, error) {
	name, namespace := Owner(objects)
	if name == "" {
		return nil, nil, fmt.Errorf("release %q was not deployed by Flux: none of its objects has the label %s", release, nameLabel)
	}
	title := "HelmRelease " + namespace + "/" + name
	owner, err := read(ctx, from, name, namespace)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", title, err)
	case owner == nil:
		return nil, nil, hint.New(fmt.Errorf("%s does not exist", title),
			"it may have been deleted, or it is in another cluster than the objects that it deploys")
	}
	detection, _, err := unstructured.NestedMap(owner, "spec", "driftDetection")
	var spec struct {
		Ignore []report.RuleText `json:"ignore,omitempty"`
	}
	if err == nil && detection != nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(detection, &spec)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: spec.driftDetection: %w", title, err)
	}
	for i := range spec.Ignore {
		spec.Ignore[i].Origin, spec.Ignore[i].Literal = report.ControllerFlux, true
	}
	rules, warnings := ignore.ReadRules(title, spec.Ignore, time.Now())
	return rules, warnings, nil
}

// read returns a HelmRelease, or nil if there is none.
func read(ctx context.Context, from Reader, name, namespace string) (map[string]any, error) {
	ref := object.Ref{Key: object.Key{Group: group, Kind: "HelmRelease", Namespace: namespace, Name: name}, Version: "v2"}
	found := from.Read(ctx, []object.Ref{ref})[ref]
	if found.Err != nil {
		return nil, errors.New(found.Err.Message)
	}
	return found.Object, nil
}
