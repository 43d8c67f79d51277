package kubeconfig

import (
	"os"
	"path/filepath"
	"testing"
)

// TestClusterName checks the name of the cluster with a kubeconfig, with only an address, and in a pod.
func TestClusterName(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := "{contexts: [{name: c, context: {cluster: prod}}], current-context: c, clusters: [{name: prod, cluster: {server: https://a}}]}"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kubeconfig, server, name, want string }{
		{kubeconfig, "", "", "prod"},
		{kubeconfig, "https://b", "", "prod"},
		{kubeconfig, "", "mine", "mine"},
		{"", "https://b", "", ""},
		{"", "https://b", "mine", "mine"},
		{"", "", "", "in-cluster"},
		{"", "", "mine", "mine"},
	} {
		t.Setenv("KUBECONFIG", c.kubeconfig)
		t.Setenv("HOME", t.TempDir())
		choice := Choice{Server: c.server, Name: c.name}
		loader, _ := choice.loader()
		if got := choice.clusterName(loader); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
