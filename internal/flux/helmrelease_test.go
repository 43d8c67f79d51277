package flux

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/api"
)

// helmRelease returns a HelmRelease with a spec in YAML.
func helmRelease(t *testing.T, text string) *api.HelmRelease {
	t.Helper()
	out := &api.HelmRelease{}
	raw, err := yaml.YAMLToJSON([]byte("spec:\n" + text))
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	out.Metadata.Name, out.Metadata.Namespace = "web", "shop"
	return out
}
