package repair

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestPlanGrowsWithChanges plans and makes patches of an object with many changes, and of one with four times as many. That takes about
// four times the memory: nothing copies or normalizes the object for each change.
func TestPlanGrowsWithChanges(t *testing.T) {
	const few, times = 200, 4
	for name, made := range map[string]func(n int) (manifest string, edit func(o map[string]any)){
		"keys": manyKeys, "items": manyItems, "additions": manyAdditions,
	} {
		for _, serverSide := range []bool{false, true} {
			var taken [2]uint64
			for i, n := range []int{few, few * times} {
				manifest, edit := made(n)
				w := newSite(t, manifest, "", serverSide)
				w.install(w.old[0])
				w.edit("kubectl-edit", edit)
				c, live := w.compare(), w.live[w.old[0].Ref]
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				p, err := New(c, Options{Prune: true})
				if err != nil || len(p.Objects) != 1 || len(p.Objects[0].Changes) != n {
					t.Fatalf("%s: %v, %s", name, err, describe(t, p))
				}
				if _, err := p.Objects[0].operations(live); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				taken[i] = after.TotalAlloc - before.TotalAlloc
			}
			if taken[1] > taken[0]*times*3/2 {
				t.Errorf("%s, server-side %v: %d changes take %d bytes, %d times as many %d", name, serverSide, few, taken[0], times, taken[1])
			}
		}
	}
}

// manyKeys returns a ConfigMap with n keys, and changes each.
func manyKeys(n int) (string, func(map[string]any)) {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {" + repeated("k%d: a, ", n) + "}\n", func(o map[string]any) {
		for key := range fieldsOfMap(o, "data") {
			fieldsOfMap(o, "data")[key] = "b"
		}
	}
}

// manyItems returns a Deployment with n environment variables, and changes each.
func manyItems(n int) (string, func(map[string]any)) {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: " +
			"{labels: {a: b}}, spec: {containers: [{name: c, image: i, env: [" + repeated("{name: k%d, value: a}, ", n) + "]}]}}}\n",
		func(o map[string]any) {
			containers, _ := fieldsOfMap(o, "spec", "template", "spec")["containers"].([]any)
			container, _ := containers[0].(map[string]any)
			env, _ := container["env"].([]any)
			for _, item := range env {
				variable, _ := item.(map[string]any)
				variable["value"] = "b"
			}
		}
}

// manyAdditions returns a ConfigMap, and adds n keys.
func manyAdditions(n int) (string, func(map[string]any)) {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n", func(o map[string]any) {
		for i := range n {
			fieldsOfMap(o, "data")[fmt.Sprint("k", i)] = "b"
		}
	}
}

// repeated returns a text n times, with the numbers.
func repeated(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
