package threeway

import (
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestIDsAreStable: the id of a finding stays the same when its live value, even a secret one, or another part of the object changes.
// helmdrift history relies on that.
func TestIDsAreStable(t *testing.T) {
	const manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, selector: {matchLabels: {a: b}}, " +
		"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: a, env: [{name: TOKEN, value: s3cret-a}]}]}}}\n"
	idsOf := func(old, live string) map[string]string {
		in := caseInput(t, map[string]string{"old.yaml": old, "live.yaml": live})
		out := map[string]string{}
		for _, o := range Compare(in).Report(Mask{}).Objects {
			for _, f := range o.Fields {
				out[f.Path] = f.ID
			}
		}
		return out
	}
	edit := func(replicas, token, more string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web" + more + "}\nspec: {replicas: " + replicas + ", selector: {matchLabels: {a: b}}, " +
			"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: a, env: [{name: TOKEN, value: " + token + "}]}]}}}\n"
	}
	first, later := idsOf(manifest, edit("5", "s3cret-b", "")), idsOf(manifest, edit("7", "s3cret-c", ", labels: {x: y}"))
	if len(first) != 2 {
		t.Fatalf("there are %d findings: %v", len(first), first)
	}
	for _, path := range object.SortedKeys(first) {
		if first[path] == "" || first[path] != later[path] {
			t.Errorf("%s had the id %s and has %s", path, first[path], later[path])
		}
	}
}
