package fixing

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// TestStrip checks which fields of an object a backup leaves out: those at places, with known secrets and with arguments, and the names
// that are secrets. Checksums and the other items of a list of maps stay.
func TestStrip(t *testing.T) {
	known := &secret.Known{}
	known.AddObject("", "Secret", map[string]any{"stringData": map[string]any{"a": "correct-horse-battery"}})
	object := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"checksum/config": "0123456789abcdef0123456789abcdef"}},
		"spec": map[string]any{
			"password":              "x1",
			"env":                   []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "DB_PASSWORD", "value": "x2"}},
			"args":                  []any{"--token", "x3"},
			"text":                  "it is correct-horse-battery",
			"secrets":               map[string]any{"x": map[string]any{"y": "x4"}},
			"correct-horse-battery": "x5",
			"plain":                 "x6",
		},
	}
	stripped, paths := strip(secret.Root("apps", "Deployment"), known, object)
	want := []string{"spec.***", "spec.args", "spec.env[1].value", "spec.password", "spec.secrets.x.y", "spec.text"}
	if !slices.Equal(paths, want) {
		t.Errorf("the paths are %q, want %q", paths, want)
	}
	text, err := json.Marshal(stripped)
	const left = `{"metadata":{"annotations":{"checksum/config":"0123456789abcdef0123456789abcdef"}},` +
		`"spec":{"env":[{"name":"A","value":"1"},{"name":"DB_PASSWORD"}],"plain":"x6","secrets":{"x":{}}}}`
	if err != nil || string(text) != left {
		t.Errorf("%v: the object became\n%s, want\n%s", err, text, left)
	}
}
