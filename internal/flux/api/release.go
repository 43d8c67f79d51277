package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Flux is the tool that these objects belong to.
var Flux = deployer.Tool{Name: "Flux", Kinds: "which kinds of Flux are installed"}

// The groups of the kinds of helm-controller and source-controller.
const (
	HelmGroup   = "helm.toolkit.fluxcd.io"
	SourceGroup = "source.toolkit.fluxcd.io"
)

// Read reads a HelmRelease.
func Read(ctx context.Context, from deployer.Reader, namespace, name string) (*HelmRelease, error) {
	out := &HelmRelease{}
	err := Flux.Read(ctx, from, HelmReleaseRef(namespace, name), out)
	if errors.Is(err, deployer.ErrAbsent) {
		return nil, hint.New(fmt.Errorf("there is no HelmRelease %s in namespace %s", name, namespace),
			"-n chooses the namespace of the HelmRelease; kubectl get helmreleases -A lists them")
	}
	return out, err
}

// HelmReleaseOf decodes a HelmRelease. One that Flux cannot decode has its fault.
func HelmReleaseOf(item map[string]any) *HelmRelease {
	ref, out := RefOf(Kind(), item), &HelmRelease{}
	if err := Flux.Decode(item, deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name), out); err != nil {
		return &HelmRelease{Metadata: Meta{Namespace: ref.Namespace, Name: ref.Name}, Fault: err}
	}
	return out
}

// Kind returns the kind of a HelmRelease.
func Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: HelmGroup, Version: "v2", Kind: "HelmRelease"}
}

// HelmReleaseRef names a HelmRelease.
func HelmReleaseRef(namespace, name string) object.Ref {
	return object.Ref{Key: object.Key{Group: HelmGroup, Kind: "HelmRelease", Namespace: namespace, Name: name}, Version: "v2"}
}

// Title names the HelmRelease in messages.
func (h *HelmRelease) Title() string {
	return deployer.TitleOf("HelmRelease", h.Metadata.Namespace, h.Metadata.Name)
}

// ReleaseName returns the name of the release (fluxcd/helm-controller v1.6.0 api/v2 GetReleaseName, internal/release/name.go ShortenName).
func (h *HelmRelease) ReleaseName() string {
	name := h.Spec.ReleaseName
	switch {
	case name != "":
	case h.Spec.TargetNamespace != "":
		name = h.Spec.TargetNamespace + "-" + h.Metadata.Name
	default:
		name = h.Metadata.Name
	}
	const most, kept = 53, 40
	if len(name) <= most {
		return name
	}
	return fmt.Sprintf("%s-%x", name[:kept], sha256.Sum256([]byte(name)))[:most]
}

// ReleaseNamespace returns the namespace of the release (api/v2 GetReleaseNamespace).
func (h *HelmRelease) ReleaseNamespace() string {
	return cmp.Or(h.Spec.TargetNamespace, h.Metadata.Namespace)
}

// StorageNamespace returns the namespace of the records (api/v2 GetStorageNamespace).
func (h *HelmRelease) StorageNamespace() string {
	return cmp.Or(h.Spec.StorageNamespace, h.Metadata.Namespace)
}

// Last returns what helm-controller remembers of the last revision, or nil (fluxcd/helm-controller v1.6.0 api/v2/snapshot_types.go Latest).
func (h *HelmRelease) Last() *Revision {
	var last *Revision
	for i, r := range h.Status.History {
		if last == nil || r.Version > last.Version {
			last = &h.Status.History[i]
		}
	}
	return last
}

// Previous returns the last revision before that which was deployed, or nil (fluxcd/helm-controller v1.6.0 api/v2/snapshot_types.go
// Previous).
func (h *HelmRelease) Previous(ignoreTests bool) *Revision {
	last := h.Last()
	var found *Revision
	for i := range h.Status.History {
		r := &h.Status.History[i]
		isDeployed := r.Status == "deployed" || r.Status == "superseded"
		if r.Version != last.Version && isDeployed && (ignoreTests || !r.HasFailedTest()) && (found == nil || r.Version > found.Version) {
			found = r
		}
	}
	return found
}

// HasFailedTest reports whether a test of the revision failed.
func (r *Revision) HasFailedTest() bool {
	if r.TestHooks == nil {
		return false
	}
	for _, hook := range *r.TestHooks {
		if hook != nil && hook.Phase == "Failed" {
			return true
		}
	}
	return false
}

// Mode returns how Flux treats drift: enabled, warn, or disabled.
func (h *HelmRelease) Mode() string {
	if h.Spec.DriftDetection == nil {
		return "disabled"
	}
	return cmp.Or(h.Spec.DriftDetection.Mode, "disabled")
}

// RefOf names an object of a kind.
func RefOf(kind schema.GroupVersionKind, o map[string]any) object.Ref {
	ref := object.RefOf(o)
	ref.Group, ref.Version, ref.Kind = kind.Group, kind.Version, kind.Kind
	return ref
}

// KindOf returns the kind of an object.
func KindOf(o map[string]any) schema.GroupVersionKind {
	version, _ := o["apiVersion"].(string)
	kind, _ := o["kind"].(string)
	return schema.FromAPIVersionAndKind(version, kind)
}
