package cli

import (
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
		if got := Invocation(c.file, env); got != c.want {
			t.Errorf("%s in the plugin %q is started by %q, want %q", c.file, c.plugin, got, c.want)
		}
	}
}
