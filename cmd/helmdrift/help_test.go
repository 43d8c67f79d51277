package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelpGroups checks that each visible flag is below exactly one heading of the help, and that each name below a heading is a flag.
func TestHelpGroups(t *testing.T) {
	root := newRoot(streams{env: func(string) string { return "" }})
	root.InitDefaultHelpCmd()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Name() == "help" {
			continue
		}
		cmd.InitDefaultHelpFlag()
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.AddFlagSet(cmd.LocalFlags())
		flags.AddFlagSet(cmd.InheritedFlags())
		var grouped []string
		for _, group := range flagGroups(cmd.Name()) {
			grouped = append(grouped, group.flags...)
		}
		flags.VisitAll(func(f *pflag.Flag) {
			named := slices.DeleteFunc(slices.Clone(grouped), func(name string) bool { return name != f.Name })
			switch {
			case f.Hidden && len(named) > 0:
				t.Errorf("%s: hidden flag --%s stands below a heading", cmd.Name(), f.Name)
			case !f.Hidden && len(named) != 1:
				t.Errorf("%s: flag --%s stands below %d headings, want 1", cmd.Name(), f.Name, len(named))
			}
		})
		for _, name := range grouped {
			if flags.Lookup(name) == nil && !slices.Contains(limitFlags(), name) {
				t.Errorf("%s: the headings name --%s, which is no flag", cmd.Name(), name)
			}
		}
		checkUsage(t, cmd, flags)
	}
}

// checkUsage makes sure that the help has a line for each visible flag.
func checkUsage(t *testing.T, cmd *cobra.Command, flags *pflag.FlagSet) {
	t.Helper()
	var out bytes.Buffer
	cmd.SetOut(&out)
	if err := cmd.Usage(); err != nil {
		t.Fatal(err)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if shown := strings.Count(out.String(), " --"+f.Name+" "); !f.Hidden && shown == 0 {
			t.Errorf("%s: the help lacks --%s", cmd.Name(), f.Name)
		}
	})
}
