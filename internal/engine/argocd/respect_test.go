package argocd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

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
