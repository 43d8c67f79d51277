package manifestdiff

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/tokens"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestMasked compares masked manifests. <...> stands for the token.
func TestMasked(t *testing.T) {
	m := tokens.NewMasker(new(secret.Known), nil)
	for name, test := range map[string]struct{ manifest, want string }{
		"comments": {
			"---\n# Source: web/templates/a.yaml\n# the password is x\napiVersion: v1 # y\nkind: ConfigMap\nmetadata: {name: a}\n",
			"---\n# Source: web/templates/a.yaml\n# <>\napiVersion: v1 # <>\nkind: ConfigMap\nmetadata: {name: a}\n",
		},
		"values": {
			"kind: X\nspec:\n  password: hunter2\n  replicas: 2\n  env:\n  - name: DB_TOKEN\n    value: a b\n  text: |\n    x: 1\n    password: y\n",
			"kind: X\nspec:\n  password: <>\n  replicas: 2\n  env:\n  - name: DB_TOKEN\n    value: <>\n  text: |\n    <>\n    <>\n",
		},
		"a Secret": {
			"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  a: \"Zm9v\"\n  b:\n    Zm9v\n",
			"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  a: <>\n  b:\n    <>\n",
		},
		"a separator":  {"--- # password\na: 1\n---\nb: 1", "--- # <>\na: 1\n---\nb: 1"},
		"an anchor":    {"a: &hunter2 1\n", "# <>\n"},
		"a tag":        {"a: !hunter2 1\n", "# <>\n"},
		"aliases":      {"a: &x 1\nb: *x\n---\nb: 1\n", "# <>\n# <>\n---\nb: 1\n"},
		"no YAML":      {"a: [\npassword\n", "# <>\n# <>\n"},
		"no line end":  {"a: [", "# <>"},
		"several":      {"kind: List\nitems: []\n", "# <>\n# <>\n"},
		"a secret key": {"data: {password: {x: 1, y: [z]}}\n", "data: {password: {x: <>, y: [<>]}}\n"},
		"nothing":      {"", ""},
	} {
		token := m.Token("hidden")
		if got := strings.ReplaceAll(Masked(test.manifest, m), token, "<>"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestMaskedHasTheDiff checks that a masked manifest has the same diff as the manifest, for each case of pkg/threeway: no diff shows
// what is hidden.
func TestMaskedHasTheDiff(t *testing.T) {
	files, err := filepath.Glob("../../testdata/threeway/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{}
		for _, f := range archive.Files {
			parts[f.Name] = string(f.Data)
		}
		old := parts["old.yaml"]
		c := comparison(old, "", parts["live.yaml"])
		masked := Masked(old, tokens.NewMasker(knownTo(c), []string{"web", "d"}))
		want, got := printed(t, old, c, false), printed(t, masked, c, false)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", filepath.Base(file), got, want)
		}
	}
}

// knownTo returns the secrets of a comparison.
func knownTo(c *threeway.Comparison) *secret.Known {
	known := &secret.Known{}
	for _, o := range c.Input.OldObjects {
		known.AddObject(o.Group, o.Kind, o.Content)
		known.AddObject(o.Group, o.Kind, c.Input.Live[o.Ref].Object)
	}
	return known
}
