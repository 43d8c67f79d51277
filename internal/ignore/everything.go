package ignore

import (
	"errors"
	"regexp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ErrSelectsEverything says why a rule is refused that would turn the whole comparison off. Such a rule is misspelt, or somebody else's.
var ErrSelectsEverything = errors.New("it would ignore everything: name paths, objects (target) or managers")

// SelectsEverything reports whether the rule would silence whatever a release has: none of its paths names a field, and its target and
// managers take all that there may be. Names of releases do not narrow a rule, because it would still be all of those releases.
func (r Rule) SelectsEverything() bool {
	return r.takesAllPaths() && r.takesAllManagers() && r.Target.takesAllObjects()
}

// TextSelectsEverything reports the same of the text of a rule. A rule that cannot be read selects nothing.
func TextSelectsEverything(t report.RuleText) bool {
	_, err := ruleOf(t, "")
	return errors.Is(err, ErrSelectsEverything)
}

// takesAllPaths: the empty path is the whole object, and one that is all * is everything below some level.
func (r Rule) takesAllPaths() bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p Pattern) bool {
		return !slices.ContainsFunc(p.tokens, func(t token) bool { return t.form != tokenAny })
	})
}

func (r Rule) takesAllManagers() bool {
	return len(r.Managers) == 0 || slices.ContainsFunc(r.Managers, func(want string) bool { return owners.IsManager(want, "\x00") })
}

// takesAllObjects decides by trial: an expression that matches names with nothing in common is taken to match every name, and a selector
// that matches an object with nothing but Helm's own metadata matches every object of a release.
func (t Target) takesAllObjects() bool {
	helm := []map[string]any{object.Child(object.HelmMetadata(map[string]any{}, "r", "n"), "metadata")}
	return matchesAll(t.Group, "", "apps", "x7.q-z.example") && matchesAll(t.Version, "v1", "v2beta7", "v31alpha9") &&
		matchesAll(t.Kind, "Qx", "ConfigMapZ", "IP") && matchesAll(t.Namespace, "q", "0-x", "zz-y-7") &&
		matchesAll(t.Name, "q", "0.x", "zz-y-7") && selectsMap(t.Labels, helm, "labels") && selectsMap(t.Annotations, helm, "annotations")
}

func matchesAll(want *regexp.Regexp, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !matches(want, name) })
}
