package cli

import (
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/internal/kubeconfig"
)

// TestForNamespaces has lists of namespaces, and those that are searched: each once.
func TestForNamespaces(t *testing.T) {
	for namespaces, want := range map[string][]string{
		"": {""}, "prod": {"prod"}, "prod,dev": {"prod", "dev"}, "prod, dev ,": {"prod", "dev"}, "prod,dev,prod": {"prod", "dev"}, ",": {","},
	} {
		var got []string
		for _, one := range (&Connection{Choice: kubeconfig.Choice{Namespace: namespaces}}).ForNamespaces() {
			got = append(got, one.Namespace)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", namespaces, got, want)
		}
	}
}

// TestNoNamespace checks that commas alone are refused.
func TestNoNamespace(t *testing.T) {
	_, err := (&Connection{Choice: kubeconfig.Choice{Namespace: ", "}}).Resolve()
	if err == nil || err.Error() != `--namespace ", " names no namespace` {
		t.Errorf("error %v", err)
	}
}
