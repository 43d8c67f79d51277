package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/yamlerror"
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
	// BuildOptions are the flags of "kustomize build". NoKustomize is set if Argo CD builds no kustomization, and NoHelm if it renders no
	// chart.
	BuildOptions        string
	NoKustomize, NoHelm bool
	// Ignores are the differences that argocd-cm ignores for all Applications.
	Ignores []IgnoreDifference
	// Known are custom kinds. Argo CD knows the types of some of their fields.
	Known map[schema.GroupKind]bool
	// compares says what else is ignored. exclusions and inclusions say which kinds are left alone.
	compares               compareOptions
	exclusions, inclusions []kindFilter
	// globals are the projects that add to others.
	globals []globalProject
	// impersonates is set if Argo CD syncs as a service account, and impersonatesAlways if it does not sync without one.
	impersonates, impersonatesAlways bool
	// ComparesServerSide is set if the controller compares all Applications with a dry run of a server-side apply.
	ComparesServerSide bool
	// Narrows is set if selectors of labels hide objects from Argo CD, which is not looked at.
	Narrows bool
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
		isOff := func(key string) bool { return text(key) != "" && text(key) != "true" }
		out.BuildOptions, out.NoKustomize, out.NoHelm = text("kustomize.buildOptions"), isOff("kustomize.enable"), isOff("helm.enable")
		out.Narrows = text("resource.selectors") != ""
		out.impersonates = text("application.sync.impersonation.enabled") == "true"
		out.impersonatesAlways = text("application.sync.impersonation.enforced") != "false"
		out.Ignores, out.Known = SystemIgnores(data), knownKinds(data)
		for key, into := range map[string]any{
			"resource.compareoptions": &out.compares, "resource.exclusions": &out.exclusions, "resource.inclusions": &out.inclusions,
			"globalProjects": &out.globals,
		} {
			if err := yaml.Unmarshal([]byte(text(key)), into); err != nil {
				return out, fmt.Errorf("%s of ConfigMap %s/argocd-cm: %w", key, in, yamlerror.WithoutValues(err))
			}
		}
		var err error
		out.ComparesServerSide, err = readController(ctx, from, in)
		return out, err
	}
	return out, nil
}

// Parameters is the name of the ConfigMap with what the controllers of Argo CD are told.
const Parameters = "argocd-cmd-params-cm"

// parametersIn returns that ConfigMap in the namespace of Argo CD.
func parametersIn(namespace string) object.Ref {
	return object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: namespace, Name: Parameters}, Version: "v1"}
}

// readController reports whether the controller compares all Applications with a dry run of a server-side apply (argo-cd v3.6.1
// manifests/base/application-controller). A flag or a variable of its own is not looked at.
func readController(ctx context.Context, from deployer.Reader, namespace string) (bool, error) {
	ref := parametersIn(namespace)
	found := from.Read(ctx, []object.Ref{ref})[ref]
	if found.Err != nil {
		return false, fmt.Errorf("reading ConfigMap %s/%s, which says how Argo CD compares: %s", namespace, Parameters, found.Err.Message)
	}
	text, _ := object.Child(found.Object, "data")["controller.diff.server.side"].(string)
	return strings.EqualFold(text, "true"), nil
}

// These are the keys of argocd-cm with what is ignored. The first one has all kinds. The second begins many keys: each ends with a group
// and a kind, or with all.
const (
	overridesKey = "resource.customizations"
	ignoreKey    = overridesKey + ".ignoreDifferences."
	knownKey     = overridesKey + ".knownTypeFields."
)

// knownKinds returns the custom kinds with fields that have a type in argocd-cm (argo-cd v3.6.1 util/settings/settings.go
// GetResourceOverrides).
func knownKinds(data map[string]any) map[schema.GroupKind]bool {
	out := map[schema.GroupKind]bool{}
	add := func(name, separator string) {
		if group, kind, found := strings.Cut(name, separator); found {
			out[schema.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	var overrides map[string]struct {
		KnownTypeFields []any `json:"knownTypeFields"`
	}
	if all, _ := data[overridesKey].(string); yaml.Unmarshal([]byte(all), &overrides) == nil {
		for name, override := range overrides {
			if len(override.KnownTypeFields) > 0 {
				add(name, "/")
			}
		}
	}
	for key := range data {
		if name, isOne := strings.CutPrefix(key, knownKey); isOne {
			add(name, "_")
		}
	}
	return out
}

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
		if !hasGroup || name != "*/*" && strings.ContainsAny(name, "*?[{") {
			// They need the group and the kind themselves (argo-cd v3.6.1 util/argo/diff/ignore.go HasIgnoreDifference).
			one.ManagedFieldsManagers = nil
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

// compareOptions says what Argo CD ignores of all objects of some kinds (argo-cd v3.6.1 util/settings/settings.go ArgoCDDiffOptions).
type compareOptions struct {
	// Status says of which objects the status is ignored: of all, of definitions (crd), or of none.
	Status string `json:"ignoreResourceStatusField"`
	// Aggregated is set if the rules of roles are ignored that other roles make.
	Aggregated bool `json:"ignoreAggregatedRoles"`
}

// IgnoresStatus reports whether Argo CD ignores the status of an object of the sources. It does so if resource.compareoptions does not say
// otherwise.
func (s Settings) IgnoresStatus(o object.Object) bool {
	isNone := slices.Contains([]string{"none", "off", "false"}, s.compares.Status)
	return object.Has(o.Content, "status") && !isNone && (s.compares.Status != "crd" || o.IsDefinition())
}

// IgnoresRules reports whether Argo CD ignores the rules of an object of the sources, which other roles make, because of
// resource.compareoptions.
func (s Settings) IgnoresRules(o object.Object) bool {
	isRole := o.Group == "rbac.authorization.k8s.io" && (o.Kind == "ClusterRole" || o.Kind == "Role")
	return s.compares.Aggregated && isRole && object.Child(o.Content, "aggregationRule") != nil
}

// kindFilter names kinds, in some clusters (argo-cd v3.6.1 util/settings/filtered_resource.go). An empty list names all.
type kindFilter struct {
	APIGroups []string `json:"apiGroups"`
	Kinds     []string `json:"kinds"`
	Clusters  []string `json:"clusters"`
}

// isHere reports whether the filter is about the cluster of Argo CD itself.
func (f kindFilter) isHere() bool { return f.Clusters == nil || matchesOne(f.Clusters, InCluster) }

// matches reports whether the filter names a kind.
func (f kindFilter) matches(group, kind string) bool {
	return f.isHere() && (f.APIGroups == nil || matchesOne(f.APIGroups, group)) &&
		(f.Kinds == nil || slices.Contains(f.Kinds, "*") || slices.Contains(f.Kinds, kind))
}

// matchesOne reports whether one of some patterns matches a text.
func matchesOne(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return MatchesGlob(pattern, text) })
}

// alwaysExcluded are the kinds that Argo CD leaves alone whatever argocd-cm says (argo-cd v3.6.1 util/settings/resources_filter.go).
var alwaysExcluded = []kindFilter{
	{APIGroups: []string{"events.k8s.io", "metrics.k8s.io"}}, {APIGroups: []string{""}, Kinds: []string{"Event"}},
	{APIGroups: []string{"coordination.k8s.io"}, Kinds: []string{"Lease"}},
}

// Excludes reports whether Argo CD leaves objects of a kind alone. It writes none of them, also if the sources have one.
func (s Settings) Excludes(group, kind string) bool {
	matches := func(f kindFilter) bool { return f.matches(group, kind) }
	if slices.ContainsFunc(slices.Concat(alwaysExcluded, s.exclusions), matches) {
		return true
	}
	return !slices.ContainsFunc(s.inclusions, matches) && slices.ContainsFunc(s.inclusions, kindFilter.isHere)
}
