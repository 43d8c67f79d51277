package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestInvocation starts the program as its users do, and as another plugin of Helm does.
func TestInvocation(t *testing.T) {
	for _, c := range []struct{ file, plugin, want string }{
		{"/usr/bin/helmdrift", "", "helmdrift"},
		{"helmdrift.exe", "", "helmdrift"},
		{"/data/plugins/helm-drift/helmdrift", "drift", "helm drift"},
		{"/usr/bin/helmdrift", "secrets", "helmdrift"},
		{"/root/.krew/bin/kubectl-helm_drift", "", "kubectl helm-drift"},
		{"kubectl-helm_drift.exe", "", "kubectl helm-drift"},
		{"/usr/local/bin/kubectl-helm-drift", "", "kubectl helm drift"},
	} {
		env := func(name string) string { return map[string]string{"HELM_PLUGIN_NAME": c.plugin}[name] }
		if got := invocation(c.file, env); got != c.want {
			t.Errorf("%s in the plugin %q is started by %q, want %q", c.file, c.plugin, got, c.want)
		}
	}
}

// TestHelpOfPlugin checks that the help of every command and the hints of errors have no command line of the program itself.
func TestHelpOfPlugin(t *testing.T) {
	const program = "kubectl helm-drift"
	called := func(args ...string) string {
		var out bytes.Buffer
		run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &out, env: emptyEnv, program: program})
		return out.String()
	}
	lines := [][]string{{"--help"}, {"dif"}, {"diff", "--nonsense"}, {"report"}, {"absorb", "web"}, {"snapshot"}}
	for _, cmd := range documented()[1:] {
		if ownCommand.FindString(programName+" "+cmd.Name()) == "" {
			t.Errorf("ownCommand does not match %s", cmd.CommandPath())
		}
		lines = append(lines, []string{cmd.Name(), "--help"})
	}
	for _, args := range lines {
		out := called(args...)
		if own := ownCommand.FindString(out); own != "" || !strings.Contains(out, program) {
			t.Errorf("%s %s says %q:\n%s", program, strings.Join(args, " "), own, out)
		}
	}
	if out := called("--help"); !strings.Contains(out, "\nhelmdrift compares what Helm deployed") {
		t.Errorf("the help does not name the program:\n%s", out)
	}
}
