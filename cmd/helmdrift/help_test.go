package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
)

// TestHelpGroups checks that each visible flag is below exactly one heading of the help, and that each name below a heading is a flag.
func TestHelpGroups(t *testing.T) {
	root := newRoot(cli.Streams{Env: func(string) string { return "" }})
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
		for _, group := range flagGroups(cmd.Name(), allGuests()) {
			grouped = append(grouped, group.Flags...)
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
			if flags.Lookup(name) == nil && !slices.Contains(cli.LimitFlags(), name) {
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

// TestShortHelp checks that diff -h has the flags that people use and says how to see the others, and that --help has all of them, with
// those of the output before those of registries.
func TestShortHelp(t *testing.T) {
	called := func(args ...string) (string, int) {
		var out bytes.Buffer
		code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Env: emptyEnv})
		return out.String(), code
	}
	flags := func(help string) int { return strings.Count(help, "\n      --") + strings.Count(help, "\n  -") }
	short, code := called("diff", "-h")
	if n := flags(short); n < 18 || n > 26 || code != cli.ExitClean {
		t.Errorf("diff -h has %d flags and the code %d:\n%s", n, code, short)
	}
	const end = "\nhelmdrift diff --help describes all flags, and helmdrift help verdicts each line of a report.\n"
	if !strings.HasSuffix(short, end) || strings.Contains(short, "\nFlags:") {
		t.Errorf("diff -h does not say how to see all flags, or has flags without a task:\n%s", short)
	}
	var named int
	for _, group := range diffShortHelp() {
		named += len(group.Flags)
	}
	if n := flags(short); n != named {
		t.Errorf("diff -h has %d flags of the %d that its headings name", n, named)
	}
	long, code := called("diff", "--help")
	if n := flags(long); n < 60 || code != cli.ExitClean {
		t.Errorf("diff --help has %d flags and the code %d", n, code)
	}
	output, registries := strings.Index(long, "\nOutput:"), strings.Index(long, "\nWhere the chart comes from:")
	if output < 0 || registries < output {
		t.Errorf("the output is at %d, and registries are at %d", output, registries)
	}
	if again, _ := called("help", "diff"); again != long {
		t.Error("help diff is not diff --help")
	}
	if one, _ := called("diff", "web", "./chart", "-h"); one != short {
		t.Error("diff -h with arguments is another text")
	}
	if all, _ := called("fix", "-h"); !strings.Contains(all, "--backup") {
		t.Errorf("fix -h lacks flags:\n%s", all)
	}
}

// TestHelpOfPlugin checks that the help of every command and the hints of errors have no command line of the program itself.
func TestHelpOfPlugin(t *testing.T) {
	const program = "kubectl helm-drift"
	called := func(args ...string) string {
		var out bytes.Buffer
		run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Env: emptyEnv, Program: program})
		return out.String()
	}
	typed := cli.Streams{Program: program}.AsTyped
	lines := [][]string{{"--help"}, {"dif"}, {"diff", "--nonsense"}, {"report"}, {"absorb", "web"}, {"snapshot"}}
	for _, cmd := range documented()[1:] {
		if own := cli.ProgramName + " " + cmd.Name(); typed(own) != program+" "+cmd.Name() {
			t.Errorf("%s is typed as %q", own, typed(own))
		}
		lines = append(lines, []string{cmd.Name(), "--help"})
	}
	for _, args := range lines {
		out := called(args...)
		if typed(out) != out || !strings.Contains(out, program) {
			t.Errorf("%s %s has a command line of the program itself:\n%s", program, strings.Join(args, " "), out)
		}
	}
	if out := called("--help"); !strings.Contains(out, "\nhelmdrift compares what Helm deployed") {
		t.Errorf("the help does not name the program:\n%s", out)
	}
}
