package argocd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestRespecting has an object of the sources and of the cluster, what is left of both without what is ignored, and what a sync sends with
// RespectIgnoreDifferences=true. The cases that name a test are those of argo-cd v3.6.1 controller/sync_test.go.
func TestRespecting(t *testing.T) {
	for name, c := range map[string]struct{ kind, desired, live, leftDesired, leftLive, want string }{
		"nothing is ignored": {"Deployment", "{spec: {replicas: 1}}", "{spec: {replicas: 2}}", "{spec: {replicas: 1}}", "{spec: {replicas: 2}}", "{spec: {replicas: 1}}"},
		"TestNormalizeTargetResources: adds the value of live": {"Deployment", "{spec: {replicas: 1}}", "{spec: {replicas: 2, paused: true}}", "{spec: {}}",
			"{spec: {paused: true}}", "{spec: {replicas: 2}}"},
		"TestNormalizeTargetResources: removes what live lacks": {"ConfigMap", "{data: {a: b, c: d}}", "{data: {c: x}}", "{data: {c: d}}", "{data: {c: x}}", "{data: {c: d}}"},
		"TestNormalizeTargetResources: no status":               {"Deployment", "{spec: {}}", "{spec: {}, status: {phase: Running}}", "{spec: {}}", "{spec: {}}", "{spec: {}}"},
		"what only live has is sent too":                        {"ConfigMap", "{data: {a: b}}", "{data: {a: b, c: d}}", "{data: {a: b}}", "{data: {a: b}}", "{data: {a: b, c: d}}"},
		"TestNormalizeTargetResources: keeps new items": {"Deployment", "{spec: {template: {spec: {containers: [{name: web, image: b}, {name: new}]}}}}",
			"{spec: {template: {spec: {containers: [{name: web, image: a}]}}}}", "{spec: {template: {spec: {containers: [{name: new}]}}}}",
			"{spec: {template: {spec: {containers: []}}}}", "{spec: {template: {spec: {containers: [{name: web, image: a}, {name: new}]}}}}"},
		"TestNormalizeTargetResourcesWithList: a field of each item": {"Deployment",
			"{spec: {template: {spec: {containers: [{name: web, image: b, env: [{name: EV, value: here}]}]}}}}",
			"{spec: {template: {spec: {containers: [{name: web, image: a}]}}}}", "{spec: {template: {spec: {containers: [{name: web, env: [{name: EV, value: here}]}]}}}}",
			"{spec: {template: {spec: {containers: [{name: web}]}}}}",
			"{spec: {template: {spec: {containers: [{name: web, image: a, env: [{name: EV, value: here}]}]}}}}"},
		"TestNormalizeTargetResourcesWithList: a custom kind has whole lists": {"Thing", "{spec: {list: [{a: 1, b: [1, 2]}]}}", "{spec: {list: [{a: 1, b: [3]}]}}",
			"{spec: {list: [{a: 1, b: []}]}}", "{spec: {list: [{a: 1, b: []}]}}", "{spec: {list: [{a: 1, b: [3]}]}}"},
		"TestNormalizeTargetResourcesPDBSelector: clobbers no other change": {"PodDisruptionBudget", "{spec: {selector: {matchLabels: {app: myapp-v2, version: v2}}}}",
			"{spec: {selector: {matchLabels: {app: myapp, version: v1}}}}", "{spec: {selector: {matchLabels: {app: myapp-v2}}}}",
			"{spec: {selector: {matchLabels: {app: myapp}}}}", "{spec: {selector: {matchLabels: {app: myapp-v2, version: v1}}}}"},
		"TestNormalizeTargetResourcesPDBSelector: drops no sibling": {"PodDisruptionBudget",
			"{spec: {selector: {matchLabels: {app: myapp-v2, version: v2}, matchExpressions: [{key: tier}]}}}",
			"{spec: {selector: {matchLabels: {app: myapp, version: v1}}}}", "{spec: {selector: {matchLabels: {app: myapp-v2}, matchExpressions: [{key: tier}]}}}",
			"{spec: {selector: {matchLabels: {app: myapp}}}}", "{spec: {selector: {matchLabels: {app: myapp-v2, version: v1}, matchExpressions: [{key: tier}]}}}"},
		"TestNormalizeTargetResourcesPDBSelector: adds no key of live": {"PodDisruptionBudget", "{spec: {selector: {matchLabels: {app: myapp-v2, version: v2}}}}",
			"{spec: {selector: {matchLabels: {app: myapp, version: v1, track: stable}}}}", "{spec: {selector: {matchLabels: {app: myapp-v2}}}}",
			"{spec: {selector: {matchLabels: {app: myapp, track: stable}}}}", "{spec: {selector: {matchLabels: {app: myapp-v2, version: v1}}}}"},
		"TestNormalizeTargetResourcesPDBSelector: the whole selector": {"PodDisruptionBudget", "{spec: {selector: {matchLabels: {app: myapp-v2, version: v2}}}}",
			"{spec: {selector: {matchLabels: {app: myapp, version: v1}}}}", "{spec: {}}", "{spec: {}}", "{spec: {selector: {matchLabels: {app: myapp, version: v1}}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			groups := map[string]string{"Deployment": "apps", "PodDisruptionBudget": "policy", "Thing": "ex.com"}
			ref := object.Ref{Key: object.Key{Group: groups[c.kind], Kind: c.kind}, Version: "v1"}
			content := func(text string) map[string]any { return contentOf(t, text) }
			desired, live := content(c.desired), content(c.live)
			got, err := Left{Desired: content(c.leftDesired), Live: content(c.leftLive)}.respecting(ref, desired, live)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(content(c.want), got); diff != "" {
				text, _ := json.Marshal(got)
				t.Errorf("got %s (-want +got):\n%s", text, diff)
			}
			if diff := cmp.Diff([]any{content(c.desired), content(c.live)}, []any{desired, live}); diff != "" {
				t.Errorf("it changes what it was given (-before +after):\n%s", diff)
			}
		})
	}
}

// TestUnmergeable has the schema of a definition, the spec of a live object and what is left of it without what is ignored, and whether
// RespectIgnoreDifferences=true lets a sync fail because of it.
func TestUnmergeable(t *testing.T) {
	const (
		all   = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
		maps  = "{type: object, additionalProperties: {type: object, properties: {b: {type: string}, c: {type: string}}}}"
		lists = "{type: object, additionalProperties: {type: array, items: {type: object, properties: {b: {type: string}}}}}"
		texts = "{type: object, additionalProperties: {type: string}}"
	)
	of := func(spec string) string { return "{type: object, properties: {spec: " + spec + "}}" }
	for name, c := range map[string]struct {
		schema, live, left string
		fails              bool
	}{
		"all fields":                  {all, "{a: x, b: y}", "{b: y}", true},
		"all fields, nothing ignored": {all, "{a: x}", "{a: x}", false},
		"all of spec":                 {of(all), "{a: {b: {c: d}, c: x}}", "{a: {b: {}, c: x}}", false},
		"a map of texts":              {of(texts), "{a: x, b: y}", "{b: y}", false},
		"a map of maps":               {of(maps), "{a: {b: x, c: y}}", "{a: {c: y}}", true},
		"one of them whole":           {of(maps), "{a: {b: x}, b: {b: x}}", "{b: {b: x}}", false},
		"a map of lists":              {of(lists), "{a: [{b: x}]}", "{a: [{}]}", true},
		"a map of maps in a field":    {of("{type: object, properties: {m: " + maps + "}}"), "{m: {a: {b: x, c: y}}}", "{m: {a: {c: y}}}", true},
	} {
		definition, err := kinds.NewCustomSchema(contentOf(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.ex.com}, "+
			"spec: {group: ex.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: "+c.schema+"}}]}}"))
		if err != nil {
			t.Fatal(err)
		}
		live, left, got := thing(t, c.live), thing(t, c.left), Comparison(-1)
		ref := object.RefOf(live)
		w := engine.Writer{Schemas: map[schema.GroupKind]*kinds.CustomSchema{ref.GroupKind(): definition}}
		options := Options{
			List: []string{"RespectIgnoreDifferences=true"}, Learn: func(_ object.Key, is Outcome) { got = is.Comparison },
			Left: map[object.Key]Left{ref.Key: {Desired: left, Live: left}},
		}
		if _, err := options.Deployment().Sync.Write(w, ref, live, live); err != nil || (got == Unmergeable) != c.fails {
			t.Errorf("%s: %d, fails %t; %v", name, got, c.fails, err)
		}
		w.Schemas = nil
		if done, err := options.Deployment().Sync.Write(w, ref, live, live); err != nil || done.WantsSchema == (c.live == c.left) {
			t.Errorf("%s: the definition is asked for: %t; %v", name, done.WantsSchema, err)
		}
	}
}
