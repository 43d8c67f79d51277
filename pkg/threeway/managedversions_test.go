package threeway

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNeedsOfApply: Needs lists the definition of a custom resource if a server-side apply may depend on it, even if nothing
// differs, and the schemas of its group if it is created. It lists nothing for native kinds.
func TestNeedsOfApply(t *testing.T) {
	const thing = "apiVersion: ex.com/v1\nkind: Thing\nmetadata: {name: a%s}\nspec: %s\n"
	const scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a%s}\nspec: {maxReplicas: 1}\n"
	const other = `, managedFields: [{manager: k9s, operation: Update, apiVersion: %s, fieldsType: FieldsV1, fieldsV1: {"f:spec":{"f:max":{}}}}]`
	for _, tc := range []struct {
		name, old, live string
		asks            bool
	}{
		{"nothing differs", fmt.Sprintf(thing, "", "{max: 1}"), fmt.Sprintf(thing, "", "{max: 1}"), false},
		{"written at Helm's version", fmt.Sprintf(thing, "", "{max: 1}"), fmt.Sprintf(thing, fmt.Sprintf(other, "ex.com/v1"), "{max: 1}"), false},
		{"written at another version", fmt.Sprintf(thing, "", "{max: 1}"), fmt.Sprintf(thing, fmt.Sprintf(other, "ex.com/v2"), "{max: 1}"), true},
		{"a null", fmt.Sprintf(thing, "", "{max: null, min: 1}"), fmt.Sprintf(thing, "", "{min: 1}"), true},
		{"a null that live has", fmt.Sprintf(thing, "", "{max: null}"), fmt.Sprintf(thing, "", "{max: null}"), false},
		{"a null to create", fmt.Sprintf(thing, "", "{list: [{a: null}]}"), "", true},
		{"something to create", fmt.Sprintf(thing, "", "{list: [{a: 1}]}"), "", true},
		{"a status", fmt.Sprintf(thing, "", "{max: 1}\nstatus: {phase: up}"), fmt.Sprintf(thing, "", "{max: 1}"), true},
		{"a native kind", fmt.Sprintf(scaler, ""), fmt.Sprintf(scaler, fmt.Sprintf(other, "autoscaling/v1")), false},
	} {
		files := map[string]string{"options": "server-side unread", "old.yaml": tc.old, "live.yaml": tc.live}
		needs := Compare(caseInput(t, files)).Needs()
		if tc.asks != (len(needs.CRDs) == 1) || len(needs.CRDs) > 1 || (len(needs.ApplyTypes) > 0) != (tc.live == "") {
			t.Errorf("%s: asks %v, got %v", tc.name, tc.asks, needs)
		}
		files["options"] = "unread"
		if needs = Compare(caseInput(t, files)).Needs(); tc.live != "" && !needs.Empty() {
			t.Errorf("%s, client-side: %v", tc.name, needs)
		}
	}
}

// TestRefusalsAreStable: the API server goes through fields and managers in no order, and a report says the same each time.
func TestRefusalsAreStable(t *testing.T) {
	const twice = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: nginx, env: [{name: A}, {name: A}]}]
      initContainers: [{name: i, image: nginx, env: [{name: B}, {name: B}]}]
      volumes: [{name: v}, {name: v}]
`
	cases := map[string]map[string]string{"names given twice": {"options": "server-side", "old.yaml": twice}}
	for _, name := range []string{"apply-unknown-field", "apply-conflicts-of-several-managers", "other-version-lacks-field"} {
		cases[name] = readCase(t, filepath.Join("../../testdata/threeway", name+".txtar"))
	}
	for name, files := range cases {
		first := describe(Compare(caseInput(t, files)))
		if !strings.Contains(first, ": fail") {
			t.Errorf("%s: nothing fails\n%s", name, first)
		}
		for range 30 {
			if diff := cmp.Diff(first, describe(Compare(caseInput(t, files)))); diff != "" {
				t.Fatalf("%s (-first +now):\n%s", name, diff)
			}
		}
	}
}
