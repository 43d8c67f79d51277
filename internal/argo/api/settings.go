package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Settings are those of argocd-cm that decide what a sync writes.
type Settings struct {
	// Namespace is that of argocd-cm, and so of Argo CD. It is empty if there is no argocd-cm.
	Namespace string
	// Tracking is how objects are marked: annotation, label or annotation+label. label is the key of the label.
	Tracking, Label string
	// Installation is the identity of this Argo CD, if several share a cluster.
	Installation string
	// BuildOptions are the flags of "kustomize build", and NoKustomize is set if Argo CD builds no kustomization.
	BuildOptions string
	NoKustomize  bool
	// Ignores are the differences that argocd-cm ignores for all Applications.
	Ignores []IgnoreDifference
}

// ReadSettings reads argocd-cm, which is in the namespace of Argo CD. An Application may be in another one. Without argocd-cm, the defaults
// count (argo-cd v3.6.1 util/settings/settings.go).
func ReadSettings(ctx context.Context, from deployer.Reader, namespace string) (Settings, error) {
	out := Settings{Tracking: "annotation", Label: "app.kubernetes.io/instance"}
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
		out.Namespace = in
		out.Tracking = cmp.Or(text("application.resourceTrackingMethod"), out.Tracking)
		out.Label = cmp.Or(text("application.instanceLabelKey"), out.Label)
		out.Installation = text("installationID")
		out.BuildOptions, out.NoKustomize = text("kustomize.buildOptions"), text("kustomize.enable") == "false"
		out.Ignores = SystemIgnores(data)
		return out, nil
	}
	return out, nil
}

// These are the keys of argocd-cm with what is ignored. The first one has all kinds. The second begins many keys: each ends with a group
// and a kind, or with all.
const (
	overridesKey = "resource.customizations"
	ignoreKey    = overridesKey + ".ignoreDifferences."
)

// SystemIgnores returns the differences that argocd-cm ignores (argo-cd v3.6.1 util/settings/settings.go GetResourceOverrides). A key of
// one kind takes the place of what the key of all kinds says about it.
func SystemIgnores(data map[string]any) []IgnoreDifference {
	found := map[string]string{}
	var overrides map[string]struct {
		IgnoreDifferences string `json:"ignoreDifferences"`
	}
	if all, _ := data[overridesKey].(string); yaml.Unmarshal([]byte(all), &overrides) == nil {
		for name, override := range overrides {
			found[name] = override.IgnoreDifferences
		}
	}
	for key := range data {
		if name, isOne := strings.CutPrefix(key, ignoreKey); isOne {
			text, _ := data[key].(string)
			if name == "all" {
				name = "*_*"
			}
			found[strings.Replace(name, "_", "/", 1)] = text
		}
	}
	var out []IgnoreDifference
	for _, name := range slices.Sorted(maps.Keys(found)) {
		var one IgnoreDifference
		if yaml.Unmarshal([]byte(found[name]), &one) != nil {
			continue
		}
		one.Name, one.Namespace, one.From = "", "", "argocd-cm "+overridesKey+" of "+name
		var hasGroup bool
		if one.Group, one.Kind, hasGroup = strings.Cut(name, "/"); !hasGroup {
			one.Group, one.Kind = "", name
		}
		out = append(out, one)
	}
	return out
}

// IsAbout reports whether a difference is about an object.
func (d IgnoreDifference) IsAbout(key object.Key) bool {
	return MatchesGlob(d.Group, key.Group) && MatchesGlob(d.Kind, key.Kind) && (d.Name == "" || d.Name == key.Name) &&
		(d.Namespace == "" || d.Namespace == key.Namespace)
}
