package reporting

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestMaskKnown checks that the value of a baseline that was made with --show-secrets does not get into a masked report.
func TestMaskKnown(t *testing.T) {
	scrub := func(text string) string { return strings.ReplaceAll(secret.Scrub(text), "canary", secret.Mask) }
	for name, c := range map[string]struct {
		kind, path string
		was        any
		masked     bool
	}{
		"a number":               {"Deployment", "spec.replicas", int64(5), false},
		"a text":                 {"ConfigMap", "data.mode", "by hand", false},
		"a Secret":               {"Secret", "data.any", "aGk=", true},
		"a name that says it":    {"ConfigMap", "data.DB_PASSWORD", "x", true},
		"the key of a list item": {"Deployment", "spec.containers[name=web].env[name=API_TOKEN].value", "x", true},
		"a text with a login":    {"ConfigMap", "data.url", "redis://:hunter2@cache", true},
		"a secret of this run":   {"ConfigMap", "data.mode", "canary", true},
		"a list with a secret":   {"Deployment", "spec.args", []any{"--token", "canary"}, true},
		"a list without one":     {"Deployment", "spec.args", []any{"-v"}, false},
	} {
		r := report.Release{Objects: []report.Object{{Kind: c.kind, Fields: []report.Finding{{Path: c.path, KnownLive: c.was}}}}}
		maskKnown(&r, scrub)
		if text, _ := r.Objects[0].Fields[0].KnownLive.(string); (text == secret.Mask) != c.masked {
			t.Errorf("%s: the value is %q, want it masked: %t", name, text, c.masked)
		}
	}
}
