package ignore

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Rule silences findings: they stay in the report, named as ignored by it, count for nothing, and a repair leaves them. A rule takes
// nothing out of a comparison, so the order of rules does not matter, and ignoring one item of a list shifts no other.
type Rule struct {
	// Name is what reports call the rule.
	Name, Reason string
	// Paths are the places that it silences, all of them where there are none. Managers restricts it to values that nobody but
	// these field managers wrote; a name may begin or end in *.
	Paths    []Pattern
	Managers []string
	// Releases are the names of releases for which it holds, all where there are none; they may end in *.
	Releases []string
	Target   Target
	// Conflicts says that the operation may fail on an object, as long as it fails on nothing but conflicts that rules silence.
	Conflicts bool

	// BuiltIn tells that it is one of this program's own, which need not match anything.
	BuiltIn bool
	// unmanaged restricts it to fields that no manifest names; gone to objects that are missing and whose manifest has the place.
	unmanaged bool
	gone      *Pattern
}

// Target selects objects as Flux does: each text is a regular expression that has to match as a whole, and one that is empty
// matches everything (github.com/fluxcd/pkg/apis/kustomize Selector, as the helm-controller reads it).
type Target struct {
	Group, Version, Kind, Namespace, Name *regexp.Regexp
	// Labels and Annotations are selectors on those of the object, of a manifest or live.
	Labels, Annotations labels.Selector
}

// wholeWord compiles an expression of a Target; nil for an empty one.
func wholeWord(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	if _, err := regexp.Compile(text); err != nil {
		return nil, fmt.Errorf("target: %q is no regular expression: %w", text, err)
	}
	return regexp.Compile("^(?:" + text + ")$")
}

// isFor tells whether a rule holds for a release at all.
func (r Rule) isFor(release string) bool {
	return len(r.Releases) == 0 || slices.ContainsFunc(r.Releases, func(want string) bool { return object.Glob(want, release) })
}

// selects tells whether a rule is about an object; metas are the object's metadata as any side has it.
func (r Rule) selects(ref object.Ref, metas []map[string]any) bool {
	t := r.Target
	return matches(t.Group, ref.Group) && matches(t.Version, ref.Version) && matches(t.Kind, ref.Kind) &&
		matches(t.Namespace, ref.Namespace) && matches(t.Name, ref.Name) &&
		selectsMap(t.Labels, metas, "labels") && selectsMap(t.Annotations, metas, "annotations")
}

func matches(want *regexp.Regexp, text string) bool { return want == nil || want.MatchString(text) }

func selectsMap(want labels.Selector, metas []map[string]any, name string) bool {
	return want == nil || slices.ContainsFunc(metas, func(meta map[string]any) bool {
		set := labels.Set{}
		for key, value := range object.Child(meta, name) {
			set[key], _ = value.(string)
		}
		return want.Matches(set)
	})
}

func (r Rule) coversPath(path object.Path, roots []any) bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p Pattern) bool { return p.covers(path, roots) })
}

// coversOwners: a value of which nobody knows the writer is nobody's whom a rule names.
func (r Rule) coversOwners(writers []report.Owner) bool {
	if len(r.Managers) == 0 {
		return true
	}
	return len(writers) > 0 && !slices.ContainsFunc(writers, func(o report.Owner) bool {
		return !slices.ContainsFunc(r.Managers, func(want string) bool { return owners.IsManager(want, o.Manager) })
	})
}

// shown is how findings name the rule.
func (r Rule) shown() *report.IgnoreRule { return &report.IgnoreRule{Rule: r.Name, Reason: r.Reason} }
