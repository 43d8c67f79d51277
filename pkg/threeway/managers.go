package threeway

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// ManagerGroup says what kind of writer a field manager is.
type ManagerGroup string

// The groups. A manager that no table names is unknown, and its edits are shown like a person's.
const (
	ManagerDeployer   ManagerGroup = "deployer"
	ManagerPerson     ManagerGroup = "person"
	ManagerController ManagerGroup = "controller"
	ManagerUnknown    ManagerGroup = ""
)

// Managers is a table of field managers by group; names may begin or end in *.
type Managers map[ManagerGroup][]string

//go:embed managers.yaml
var managersText []byte

var builtInManagers = sync.OnceValue(func() Managers {
	var out Managers
	must(yaml.UnmarshalStrict(managersText, &out))
	return out
})

// groupOf looks a manager up, first in the table given, then in this program's own.
func (m Managers) groupOf(manager string) ManagerGroup {
	name := strings.ToLower(manager)
	for _, table := range []Managers{m, builtInManagers()} {
		for _, group := range []ManagerGroup{ManagerDeployer, ManagerPerson, ManagerController} {
			if slices.ContainsFunc(table[group], func(want string) bool { return isManager(strings.ToLower(want), name) }) {
				return group
			}
		}
	}
	return ManagerUnknown
}

func isManager(want, name string) bool {
	if suffix, open := strings.CutPrefix(want, "*"); open {
		return strings.HasSuffix(name, suffix)
	}
	return globs(want, name)
}
