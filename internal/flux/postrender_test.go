package flux

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/api"
)

// TestPostRendererFaults checks that errors of the post-renderers quote neither a patch nor the manifest.
func TestPostRendererFaults(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
	for _, tt := range []struct{ name, patch, manifest, want string }{
		{"no patch", "- op: [\n  value: canary`\n  `canary\n", object, "unable to parse SM or JSON patch"},
		{"a patch of nothing", "data: {a: canary}\n", object, "unable to parse SM or JSON patch"},
		{"an anchor in the manifest", "", object + "data: {password: *canary}\n", "unknown anchor"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := api.Kustomize{}
			if tt.patch != "" {
				text, err := json.Marshal(map[string]any{"patches": []any{map[string]any{"patch": tt.patch}}})
				if err := errors.Join(err, json.Unmarshal(text, &k)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := kustomized(&k, []byte(tt.manifest))
			if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("it says %v, want %q", err, tt.want)
			}
			if tt.patch != "" {
				return
			}
			if _, err := addMetadata([]byte(tt.manifest), api.CommonMetadata{}, nil); err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("it says %v", err)
			}
		})
	}
}
