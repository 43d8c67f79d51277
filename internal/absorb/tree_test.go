package absorb

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestShownChange shows changes of files that have secrets beside what changes. The canary must not be shown, and the change must be.
func TestShownChange(t *testing.T) {
	const release = `kind: HelmRelease
spec:
  valuesFrom:
  - {kind: Secret, name: login}
  - kind: Secret
    name: other
  values:
    replicas: 2
`
	const last = "replicas: 2\nkind: HelmRelease\nspec: {valuesFrom: [{kind: Secret, name: login}]}\n"
	for _, tt := range []struct {
		name, after string
		// isHidden is set if the whole change may be masked.
		isHidden bool
	}{
		{"a reference to a Secret", "---\nkind: ConfigMap\ndata: {a: b}\n", false},
		{"a Secret", "---\nkind: Secret\ndata: {a: canary}\n", false},
		{"a Secret with lines", "---\nkind: Secret\nstringData:\n  a: |\n    canary\n    more canary\n", false},
		{"a Secret in JSON", "---\n{\"kind\": \"Secret\", \"data\": {\"a\": \"canary\"}}\n", false},
		{"a Secret that cannot be read", "---\nkind: Secret\ndata: {a: canary, a: [}\n", false},
		{"an announced value", "---\nkind: HelmRelease\nspec: {values: {password: canary-canary}}\n", false},
		{"an announced value of several lines", "---\nkind: HelmRelease\nspec:\n  values:\n    password: |\n      one canary\n      two canary\n",
			false},
		{"a Secret among values", "    extra:\n    - kind: Secret\n      stringData: {a: canary}\n", true},
		{"a Secret in a List", "---\nkind: List\nitems:\n- kind: Secret\n  data: {a: canary}\n", true},
		{"a Secret in a text", "---\nkind: ConfigMap\ndata:\n  x: |\n    kind: Secret\n    stringData: {a: canary}\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Absorption{Result: &drift.Result{Comparison: &threeway.Comparison{}}}
			for _, before := range []string{release + tt.after, strings.TrimPrefix(tt.after, "---\n") + "---\n" + last} {
				got := a.shownChange(files.Change{Name: "a.yaml", Before: []byte(before),
					After: []byte(strings.Replace(before, "replicas: 2", "replicas: 3", 1))})
				if strings.Contains(got, "canary") {
					t.Errorf("it shows the secret:\n%s", got)
				}
				if !tt.isHidden && (!strings.Contains(got, "replicas: 2\n") || !strings.Contains(got, "replicas: 3\n")) {
					t.Errorf("it does not show the change:\n%s", got)
				}
				if strings.Contains(got, "\x01") {
					t.Errorf("a character is left:\n%q", got)
				}
			}
		})
	}
}
