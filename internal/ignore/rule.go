package ignore

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Rule silences findings.
type Rule struct {
	// Name is what reports call the rule.
	Name, Reason string
	// Paths are the places that the rule silences; all places if there are none. Managers restricts it to values that only these field
	// managers wrote; a name may begin or end in *.
	Paths    []Pattern
	Managers []string
	// Releases are the names of the releases for which the rule holds; all if there are none. A name may end in *.
	Releases []string
	Target   Target
	// Conflicts also silences that the operation fails on an object, if it fails only on conflicts, and rules silence each of them.
	Conflicts bool

	// BuiltIn marks a rule of this program itself, which need not match anything.
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

// isFor reports whether the rule holds for a release at all.
func (r Rule) isFor(release string) bool {
	return len(r.Releases) == 0 || slices.ContainsFunc(r.Releases, func(want string) bool { return object.MatchName(want, release) })
}

// selects reports whether the rule is about an object. Metas are the metadata of its sides.
func (r Rule) selects(ref object.Ref, metas []map[string]any) bool {
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

// coversOwners reports whether the rule names no managers, or every writer of the value. It never names the writer of a value without a
// known one.
func (r Rule) coversOwners(writers []report.Owner) bool {
	if len(r.Managers) == 0 {
		return true
	}
	return len(writers) > 0 && !slices.ContainsFunc(writers, func(o report.Owner) bool {
		return !slices.ContainsFunc(r.Managers, func(want string) bool { return owners.MatchManager(want, o.Manager) })
	})
}

// named returns the rule as a report names it.
func (r Rule) named() *report.IgnoreRule { return &report.IgnoreRule{Rule: r.Name, Reason: r.Reason} }
