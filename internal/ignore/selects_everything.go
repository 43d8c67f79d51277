package ignore

import (
	"errors"
	"regexp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ErrSelectsEverything is the reason why a rule is refused that would turn the whole comparison off. Such a rule is misspelt, or not meant
// for this release.
var ErrSelectsEverything = errors.New("it would ignore everything: name paths, objects (target) or managers")

// SelectsEverything reports whether the rule would silence every finding of a release: none of its paths names a field, and its target
// and its managers match every object and every manager. Names of releases do not narrow a rule, because it would silence all of those
// releases.
func (r Rule) SelectsEverything() bool {
	return r.matchesAllPaths() && r.matchesAllManagers() && r.Target.matchesAllObjects()
}

// TextSelectsEverything reports whether the text of a rule is one that selects everything. A rule that cannot be read selects nothing.
func TextSelectsEverything(t report.RuleText) bool {
	_, err := ruleOf(t, "")
	return errors.Is(err, ErrSelectsEverything)
}

// matchesAllPaths reports whether the rule has no path, or one without a name: the empty path is the whole object, and /*/* is everything
// below some level.
func (r Rule) matchesAllPaths() bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p Pattern) bool {
		return !slices.ContainsFunc(p.tokens, func(t token) bool { return t.form != tokenAny })
	})
}

// matchesAllManagers reports whether the rule names no managers, or matches a name that no manager has.
func (r Rule) matchesAllManagers() bool {
	return len(r.Managers) == 0 || slices.ContainsFunc(r.Managers, func(want string) bool { return owners.MatchManager(want, "\x00") })
}

// matchesAllObjects decides by samples: an expression that matches names which have nothing in common is taken to match every name, and a
// selector that matches an object with nothing but Helm's own metadata is taken to match every object of a release.
func (t Target) matchesAllObjects() bool {
	helm := []map[string]any{object.Child(object.HelmMetadata(map[string]any{}, "r", "n"), "metadata")}
	return matchesAll(t.Group, "", "apps", "x7.q-z.example") && matchesAll(t.Version, "v1", "v2beta7", "v31alpha9") &&
		matchesAll(t.Kind, "Qx", "ConfigMapZ", "IP") && matchesAll(t.Namespace, "q", "0-x", "zz-y-7") &&
		matchesAll(t.Name, "q", "0.x", "zz-y-7") && selectsAny(t.Labels, helm, "labels") && selectsAny(t.Annotations, helm, "annotations")
}

func matchesAll(want *regexp.Regexp, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !matches(want, name) })
}
