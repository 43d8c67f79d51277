package threeway

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// upgradeCase is one object of testdata/refused/immutable.yaml, and changes of it that the API server refuses or takes.
type upgradeCase struct {
	Object  map[string]any            `json:"object"`
	Live    map[string]any            `json:"live"`
	Status  map[string]any            `json:"status"`
	Refused map[string]map[string]any `json:"refused"`
	Allowed []map[string]any          `json:"allowed"`
}

// TestImmutableFields holds the table against the cases, whose judge is the API server: each refused change fails and names the
// fields, each allowed one, which touches their neighbours, does not fail. Every kind of the table has a refused change.
func TestImmutableFields(t *testing.T) {
	cases := upgradeCases(t)
	kinds := map[string]bool{}
	for _, c := range cases {
		object := objectOf(t, c.Object)
		t.Run(object.Kind+"/"+object.Name, func(t *testing.T) {
			c.testRefused(t)
			c.testAllowed(t)
		})
		if len(c.Refused) > 0 {
			kinds[object.GroupKind().String()] = true
		}
	}
	for _, line := range apiserver.Immutables() {
		if !kinds[line.Kind] {
			t.Errorf("no case has a refused change of a %s", line.Kind)
		}
	}
}

func upgradeCases(t *testing.T) []upgradeCase {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/refused/immutable.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []upgradeCase
	if raw, err = yaml.YAMLToJSONStrict(raw); err != nil {
		t.Fatal(err)
	}
	if err := utiljson.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func (c upgradeCase) testRefused(t *testing.T) {
	for _, paths := range object.SortedKeys(c.Refused) {
		want := "immutable: " + paths + " cannot be changed; delete and re-create the object"
		got := c.upgrade(t, c.patched(t, c.Object, c.Refused[paths]))
		if got.Action != report.ActionFail || got.Reason != want || got.failure.scope != stopNothing {
			t.Errorf("%s: %s %q, want fail %q", paths, got.Action, got.Reason, want)
		}
		if len(got.Findings) == 0 {
			t.Errorf("%s: nothing is found", paths)
		}
		for _, f := range got.Findings {
			if !f.Blocked {
				t.Errorf("%s: %s is not blocked", paths, f.Path)
			}
		}
	}
}

func (c upgradeCase) testAllowed(t *testing.T) {
	for _, patch := range c.Allowed {
		if got := c.upgrade(t, c.patched(t, c.Object, patch)); got.Action == report.ActionFail {
			t.Errorf("%v: fail %q", patch, got.Reason)
		}
	}
	if got := c.upgrade(t, c.Object); got.Action != report.ActionNone || len(got.Findings) > 0 {
		t.Errorf("unchanged: %s %q %v", got.Action, got.Reason, got.Findings)
	}
}

// upgrade compares the upgrade to a desired object over the one that lives.
func (c upgradeCase) upgrade(t *testing.T, desired map[string]any) ObjectComparison {
	t.Helper()
	live := c.patched(t, c.Object, c.Live)
	if c.Status != nil {
		live["status"] = c.Status
	}
	files := map[string]string{"old.yaml": jsonText(t, c.Object), "desired.yaml": jsonText(t, desired), "live.yaml": jsonText(t, live)}
	return Compare(caseInput(t, files)).Objects[0]
}

// patched gives an object after a strategic patch, as the API server applies it.
func (c upgradeCase) patched(t *testing.T, object, patch map[string]any) map[string]any {
	t.Helper()
	if patch == nil {
		patch = map[string]any{}
	}
	typed, err := kinds.Native().HelmScheme.New(objectOf(t, object).GVK())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := strategicpatch.StrategicMergePatch([]byte(jsonText(t, object)), []byte(jsonText(t, patch)), typed)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}
