package owners

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Managers is a table of field managers by group; names may begin or end in *.
type Managers map[report.ManagerGroup][]string

//go:embed managers.yaml
var managersText []byte

var builtInManagers = sync.OnceValue(func() Managers {
	var out Managers
	if err := yaml.UnmarshalStrict(managersText, &out); err != nil {
		panic(err) // the table is part of the program
	}
	return out
})

// managerGroups are the groups, the strongest first: a name that stands in two is of the first.
func managerGroups() []report.ManagerGroup {
	return []report.ManagerGroup{report.ManagerDeployer, report.ManagerPerson, report.ManagerController}
}

// groupOf looks a manager up. A program that is known to deploy or to run in the cluster stays what it is; of all others the table given
// decides, and then this program's own.
func (m Managers) groupOf(manager string) report.ManagerGroup {
	known := builtInManagers().find(manager)
	if known == report.ManagerDeployer || known == report.ManagerController {
		return known
	}
	return cmp.Or(m.find(manager), known)
}

// find looks a manager up in one table.
func (m Managers) find(manager string) report.ManagerGroup {
	name := strings.ToLower(manager)
	for _, group := range managerGroups() {
		if slices.ContainsFunc(m[group], func(want string) bool { return IsManager(strings.ToLower(want), name) }) {
			return group
		}
	}
	return report.ManagerUnknown
}

// Check refuses names that would make something else of a program that is known to deploy or to run in the cluster. What those write is no
// person's edit, so fix must not remove it, whatever a configuration says.
func (m Managers) Check() error {
	for _, group := range managerGroups() {
		for _, name := range m[group] {
			if known, is := knownUnder(strings.ToLower(name), group); is != report.ManagerUnknown {
				return fmt.Errorf("managers: %s: %q takes %s, which is known as a %s", group, name, known, is)
			}
		}
	}
	return nil
}

// knownUnder returns a known controller or deployer that a name of another group takes, and its group. A name such as our-* takes none,
// although a program of that name may be known by its end, such as our-operator: groupOf decides then.
func knownUnder(name string, group report.ManagerGroup) (string, report.ManagerGroup) {
	stem := strings.Trim(name, "*")
	for _, is := range []report.ManagerGroup{report.ManagerController, report.ManagerDeployer} {
		if is == group {
			continue
		}
		for _, known := range builtInManagers()[is] {
			switch {
			case IsManager(name, strings.Trim(known, "*")):
				return known, is
			case IsManager(known, stem) && builtInManagers().find(stem) == is:
				return name, is
			}
		}
	}
	return "", report.ManagerUnknown
}

// IsManager reports whether a name of a table, which may begin or end in *, is that of a manager.
func IsManager(want, name string) bool {
	if suffix, open := strings.CutPrefix(want, "*"); open {
		return strings.HasSuffix(name, suffix)
	}
	return object.MatchName(want, name)
}
