package drift

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Flux labels every object that it deploys with the name of its HelmRelease (fluxcd/helm-controller v1.6
// internal/postrender/common_renderer.go).
const (
	fluxGroup          = "helm.toolkit.fluxcd.io"
	fluxNameLabel      = fluxGroup + "/name"
	fluxNamespaceLabel = fluxGroup + "/namespace"
)

// addIgnoreRules adds the ignore rules to the input: those of Flux, those of the options, and the built-in ones.
func (r run) addIgnoreRules(ctx context.Context, in *threeway.Input) error {
	in.Managers, in.ShowControllers = r.options.Managers, r.options.ShowControllers
	in.Warnings = append(in.Warnings, r.options.Warnings...)
	if r.options.FromFlux {
		rules, warnings, err := r.fluxRules(ctx, in)
		if err != nil {
			return &FluxError{Err: err}
		}
		in.Rules, in.Warnings = rules, append(in.Warnings, warnings...)
	}
	in.Rules, in.Warnings = slices.Concat(in.Rules, r.rules), append(in.Warnings, r.ruleWarnings...)
	if !r.options.NoBuiltInRules {
		in.Rules = append(in.Rules, ignore.BuiltInRules()...)
	}
	return nil
}

// forcesAsFlux reports whether the next upgrade forces conflicts although no option says so: Flux deploys the release, and the
// helm-controller forces whatever it applies server-side (fluxcd/helm-controller v1.6.0 internal/action/upgrade.go Upgrade). A rollback is
// predicted as one by the helm command.
func forcesAsFlux(in threeway.Input) bool {
	if !in.ServerSide() || in.Operation == report.OperationRollback {
		return false
	}
	name, _ := fluxOwner(in.OldObjects)
	return name != ""
}

// fluxRules reads the rules in the HelmRelease that the objects of the release name.
func (r run) fluxRules(ctx context.Context, in *threeway.Input) ([]ignore.Rule, []report.Message, error) {
	name, namespace := fluxOwner(in.OldObjects)
	if name == "" {
		return nil, nil, fmt.Errorf("release %q was not deployed by Flux: none of its objects has the label %s", in.Name, fluxNameLabel)
	}
	title := "HelmRelease " + namespace + "/" + name
	owner, err := r.helmRelease(ctx, name, namespace)
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
	rules, warnings := ignore.ReadRules(title, spec.Ignore, time.Now())
	return rules, warnings, nil
}

// helmRelease reads a HelmRelease. It returns nil if there is none.
func (r run) helmRelease(ctx context.Context, name, namespace string) (map[string]any, error) {
	ref := object.Ref{Key: object.Key{Group: fluxGroup, Kind: "HelmRelease", Namespace: namespace, Name: name}, Version: "v2"}
	found := r.connection.Cluster.Read(ctx, []object.Ref{ref})[ref]
	if found.Err != nil {
		return nil, errors.New(found.Err.Message)
	}
	return found.Object, nil
}

// fluxNamespaces returns the namespaces of a HelmRelease: one for the records of its release, and one for the objects. Both are empty if
// there is no such HelmRelease (fluxcd/helm-controller v1.6 api/v2/helmrelease_types.go GetStorageNamespace, GetReleaseNamespace).
func (r run) fluxNamespaces(ctx context.Context, name, namespace string) (storage, target string, err error) {
	owner, err := r.helmRelease(ctx, name, namespace)
	if err != nil || owner == nil {
		return "", "", err
	}
	spec := object.Child(owner, "spec")
	storage, _ = spec["storageNamespace"].(string)
	target, _ = spec["targetNamespace"].(string)
	return cmp.Or(storage, namespace), cmp.Or(target, namespace), nil
}

// fluxOwner returns the HelmRelease that deployed the objects, or "" if none did.
func fluxOwner(objects []object.Object) (name, namespace string) {
	for _, o := range objects {
		labels, _, _ := unstructured.NestedStringMap(o.Content, "metadata", "labels")
		if labels[fluxNameLabel] != "" {
			return labels[fluxNameLabel], labels[fluxNamespaceLabel]
		}
	}
	return "", ""
}
