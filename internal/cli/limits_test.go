package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestChildEnvironment checks that the environment of a child has no credentials of the cluster.
func TestChildEnvironment(t *testing.T) {
	env := childEnv(func(name string) string { return "value of " + name })
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		if strings.Contains(name, "HELM") || strings.Contains(name, "KUBE") || strings.Contains(name, "TOKEN") {
			t.Errorf("a child sees %s", name)
		}
	}
	if !slices.Contains(env, "TZ=value of TZ") {
		t.Errorf("environment %v", env)
	}
}
