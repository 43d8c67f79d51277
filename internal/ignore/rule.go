package ignore

import (
	_ "embed"
	"errors"
	"regexp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Rule silences findings.
type Rule struct {
	// Name is the rule's name in reports.
	Name, Reason string
	// Origin is that of the report.RuleText.
	Origin string
	// Paths are the places that the rule silences. Without paths, it silences all places. Managers restricts it to values that only
	// these field managers wrote; a name may begin or end in *.
	Paths    []Pattern
	Managers []string
	// Releases restricts the rule to releases with these names. A name may end in *.
	Releases []string
	Target   Target
	// Conflicts also silences the failure of the operation on an object, if only conflicts cause it, and rules silence each of them.
	Conflicts bool

	// BuiltIn marks a rule of this program itself. Such a rule need not match anything.
	BuiltIn bool
	// unmanaged restricts the rule to fields that no manifest names, and gone to missing objects whose manifest has the place.
	unmanaged bool
	gone      *Pattern
}

// Target selects objects as Flux does: each expression must match the whole text, and a nil one matches everything
// (github.com/fluxcd/pkg/apis/kustomize Selector, as the helm-controller reads it).
type Target struct {
	Group, Version, Kind, Namespace, Name *regexp.Regexp
	// Labels and Annotations select by the labels and annotations of the object, in a manifest or in live.
	Labels, Annotations labels.Selector
}

// IsFor reports whether the rule holds for a release at all.
func (r Rule) IsFor(release string) bool {
	return len(r.Releases) == 0 || slices.ContainsFunc(r.Releases, func(want string) bool { return object.MatchName(want, release) })
}

// Selects reports whether the rule's target selects an object. Metas are the metadata of its sides.
func (r Rule) Selects(ref object.Ref, metas []map[string]any) bool {
	t := r.Target
	return matches(t.Group, ref.Group) && matches(t.Version, ref.Version) && matches(t.Kind, ref.Kind) &&
		matches(t.Namespace, ref.Namespace) && matches(t.Name, ref.Name) &&
		selectsAny(t.Labels, metas, "labels") && selectsAny(t.Annotations, metas, "annotations")
}

func matches(want *regexp.Regexp, text string) bool { return want == nil || want.MatchString(text) }

// selectsAny reports whether a selector selects the labels or annotations of any of the sides.
func selectsAny(want labels.Selector, metas []map[string]any, name string) bool {
	return want == nil || slices.ContainsFunc(metas, func(meta map[string]any) bool {
		set := labels.Set{}
		for key, value := range object.Child(meta, name) {
			set[key], _ = value.(string)
		}
		return want.Matches(set)
	})
}

// coversPath reports whether the rule has no paths, or one that covers the path.
func (r Rule) coversPath(path object.Path, states []any) bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p Pattern) bool { return p.covers(path, states) })
}

// CoversOwners reports whether the rule names no managers, or every writer of the value. If the rule names managers, a value without
// known writers is not covered.
func (r Rule) CoversOwners(writers []report.Owner) bool {
	if len(r.Managers) == 0 {
		return true
	}
	return len(writers) > 0 && !slices.ContainsFunc(writers, func(o report.Owner) bool {
		return !slices.ContainsFunc(r.Managers, func(want string) bool { return owners.MatchManager(want, o.Manager) })
	})
}

// Named returns the rule for a report.
func (r Rule) Named() *report.IgnoreRule {
	return &report.IgnoreRule{Rule: r.Name, Reason: r.Reason, Origin: r.Origin}
}

// builtInRule is an entry of ignores.yaml.
type builtInRule struct {
	Name string `json:"name"`
	report.RuleText
	Unmanaged bool   `json:"unmanaged,omitempty"`
	Gone      string `json:"gone,omitempty"`
}

//go:embed ignores.yaml
var ignoresText []byte

// BuiltInRules returns this program's own rules. They are in ignores.yaml, each with its reason.
var BuiltInRules = sync.OnceValue(func() []Rule {
	var texts []builtInRule
	utilruntime.Must(yaml.UnmarshalStrict(ignoresText, &texts))
	out := make([]Rule, len(texts))
	for i, text := range texts {
		rule, err := ruleOf(text.RuleText, "built-in "+text.Name)
		utilruntime.Must(err)
		rule.BuiltIn, rule.unmanaged = true, text.Unmanaged
		if text.Gone != "" {
			gone, err := ParsePattern(text.Gone)
			utilruntime.Must(err)
			rule.gone = &gone
		}
		out[i] = rule
	}
	return out
})

// ErrSelectsEverything is the error for a rule that would turn the whole comparison off. Such a rule is misspelt, or not meant for this
// release.
var ErrSelectsEverything = errors.New("it would ignore everything: name paths, objects (target) or managers")

// selectsEverything reports whether the rule would silence every finding of a release: none of its paths names a field, and its target
// and its managers match every object and every manager. Names of releases make no difference, because the rule would still silence
// everything in those releases.
func (r Rule) selectsEverything() bool {
	return r.matchesAllPaths() && r.matchesAllManagers() && r.Target.matchesAllObjects()
}

// TextSelectsEverything reports whether a rule, given as text, selects everything. A rule that cannot be read selects nothing.
func TextSelectsEverything(t report.RuleText) bool {
	_, err := ruleOf(t, "")
	return errors.Is(err, ErrSelectsEverything)
}

// matchesAllPaths reports whether the rule has no path, or a path without a name: the empty path is the whole object, and /*/* is
// everything below some level.
func (r Rule) matchesAllPaths() bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p Pattern) bool {
		return !slices.ContainsFunc(p.Tokens, func(t Token) bool { return t.Form != TokenAny })
	})
}

// matchesAllManagers reports whether the rule names no managers, or matches a name that no manager has.
func (r Rule) matchesAllManagers() bool {
	return len(r.Managers) == 0 || slices.ContainsFunc(r.Managers, func(want string) bool { return owners.MatchManager(want, "\x00") })
}

// matchesAllObjects reports whether the target matches every object. It decides by samples: if an expression matches names that have
// nothing in common, it counts as matching every name, and if a selector matches an object with nothing but Helm's own metadata, it
// counts as matching every object of a release.
func (t Target) matchesAllObjects() bool {
	helm := []map[string]any{object.Child(object.HelmMetadata(map[string]any{}, "r", "n"), "metadata")}
	return matchesAll(t.Group, "", "apps", "x7.q-z.example") && matchesAll(t.Version, "v1", "v2beta7", "v31alpha9") &&
		matchesAll(t.Kind, "Qx", "ConfigMapZ", "IP") && matchesAll(t.Namespace, "q", "0-x", "zz-y-7") &&
		matchesAll(t.Name, "q", "0.x", "zz-y-7") && selectsAny(t.Labels, helm, "labels") && selectsAny(t.Annotations, helm, "annotations")
}

func matchesAll(want *regexp.Regexp, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !matches(want, name) })
}
