package config

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// checkManagers returns an error for a name that would put a known deployer or controller into another group. What such a program writes is
// not a person's edit, so a fix must not remove it, whatever a configuration says.
func checkManagers(m owners.Managers) error {
	for _, group := range owners.ManagerGroups() {
		for _, name := range m[group] {
			if known, is := knownUnder(strings.ToLower(name), group); is != report.ManagerUnknown {
				return fmt.Errorf("managers: %s: %q matches %s, which is known as a %s", group, name, known, is)
			}
		}
	}
	return nil
}

// knownUnder returns a known controller or deployer that a name of another group matches, and its group. A name such as our-* matches
// none, although a program may match both it and a built-in name, as our-operator does: package owners decides then.
func knownUnder(name string, group report.ManagerGroup) (string, report.ManagerGroup) {
	stem := strings.Trim(name, "*")
	for _, is := range []report.ManagerGroup{report.ManagerController, report.ManagerDeployer} {
		if is == group {
			continue
		}
		for _, known := range owners.BuiltInManagers()[is] {
			switch {
			case owners.MatchManager(name, strings.Trim(known, "*")):
				return known, is
			case owners.MatchManager(known, stem) && owners.BuiltInManagers().Find(stem) == is:
				return name, is
			}
		}
	}
	return "", report.ManagerUnknown
}
