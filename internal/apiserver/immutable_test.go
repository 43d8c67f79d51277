package apiserver

import (
	"encoding/json"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// immutableCase is one object of testdata/refused/immutable.yaml, and changes of it that the API server refuses or accepts.
type immutableCase struct {
	Object  map[string]any            `json:"object"`
	Live    map[string]any            `json:"live"`
	Status  map[string]any            `json:"status"`
	Refused map[string]map[string]any `json:"refused"`
	Allowed []map[string]any          `json:"allowed"`
}

// TestImmutableFields compares the table with the cases, which test/e2e runs against an API server: the reason of each refused
// change names the fields, and each allowed change, which is to neighbouring fields, has no reason. Every kind of the table has a
// refused change.
func TestImmutableFields(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range immutableCases(t) {
		ref := refOf(t, c.Object)
		t.Run(ref.Kind+"/"+ref.Name, func(t *testing.T) {
			for _, paths := range object.SortedKeys(c.Refused) {
				want := "immutable: " + paths + " cannot be changed; delete and re-create the object"
				if got, _ := c.update(t, c.Refused[paths]).Refused(false); got != want {
					t.Errorf("%s: %q, want %q", paths, got, want)
				}
			}
			for _, patch := range c.Allowed {
				if got, _ := c.update(t, patch).Refused(false); got != "" {
					t.Errorf("%v: %q", patch, got)
				}
			}
		})
		tested[ref.GroupKind().String()] = tested[ref.GroupKind().String()] || len(c.Refused) > 0
	}
	for _, line := range immutables() {
		if !tested[line.kind] {
			t.Errorf("no case has a refused change of a %s", line.kind)
		}
	}
}

func immutableCases(t *testing.T) []immutableCase {
	t.Helper()
	text, err := os.ReadFile("../../testdata/refused/immutable.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []immutableCase
	readYAML(t, text, &cases)
	return cases
}

// update returns the update of the live object by a strategic patch.
func (c immutableCase) update(t *testing.T, patch map[string]any) Update {
	t.Helper()
	ref := refOf(t, c.Object)
	live := patched(t, ref, c.Object, c.Live)
	if c.Status != nil {
		live["status"] = c.Status
	}
	normalizer := kinds.NewNormalizer(ref.Key, kinds.Native().Shape(ref.GVK()), live)
	was, is := normalizer.Stored(live), normalizer.Stored(patched(t, ref, live, patch))
	ApplyServerRules(ref.Key, was, is)
	return Update{Ref: ref, Text: live, Live: was.Object(), Result: is.Object()}
}

// patched returns an object after a strategic patch, as the API server applies it.
func patched(t *testing.T, ref object.Ref, obj, patch map[string]any) map[string]any {
	t.Helper()
	if patch == nil {
		patch = map[string]any{}
	}
	typed, err := kinds.Native().HelmScheme.New(ref.GVK())
	if err != nil {
		t.Fatal(err)
	}
	text, err := strategicpatch.StrategicMergePatch(jsonText(t, obj), jsonText(t, patch), typed)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// refOf returns the identity of an object.
func refOf(t *testing.T, content map[string]any) object.Ref {
	t.Helper()
	u := unstructured.Unstructured{Object: content}
	gvk := u.GroupVersionKind()
	return object.Ref{Key: object.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}, Version: gvk.Version}
}

// readYAML reads a text with int64 integers, like the API's own decoder.
func readYAML(t *testing.T, text []byte, out any) {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := utiljson.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
}

func jsonText(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
