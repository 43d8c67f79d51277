package argocd

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestCompare has an object as it was applied, as it is desired and as it is live, how Argo CD writes and compares it, and whether it then
// differs for Argo CD.
func TestCompare(t *testing.T) {
	const (
		widget = "apiVersion: ex.com/v1, kind: Thing, metadata: {name: web, namespace: shop"
		config = "apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop"
		web    = "apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, " +
			"template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: a"
		set        = "apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {updateStrategy: {type: RollingUpdate"
		secret     = "apiVersion: v1, kind: Secret, metadata: {name: web, namespace: shop}, data: "
		definition = "apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.ex.com}, spec: {group: ex.com"
		role       = "apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}, aggregationRule: {clusterRoleSelectors: [{}]}, rules: "
		updated    = ", managedFields: [{manager: argocd-controller, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:a': {}, 'f:b': {}}}}]"
		applied    = ", managedFields: [{manager: argocd-controller, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:a': {}, 'f:b': {}}}}]"
	)
	for name, c := range map[string]struct {
		options                []string
		comparesServerSide     bool
		applied, desired, live string
		want                   Comparison
	}{
		"the same":                        {desired: config + "}, data: {a: x}", live: config + "}, data: {a: x}", want: InSync},
		"an edit":                         {desired: config + "}, data: {a: x}", live: config + "}, data: {a: y}", want: OutOfSync},
		"a dropped field":                 {applied: config + "}, data: {a: x, b: x}", desired: config + "}, data: {a: x}", live: config + "}, data: {a: x, b: x}", want: OutOfSync},
		"one that was applied by the API": {options: []string{"ServerSideApply=true"}, desired: config + "}, data: {a: x}", live: config + applied + "}, data: {a: x, b: x}", want: InSync},
		"that, compared by the API":       {[]string{"ServerSideApply=true"}, true, "", config + "}, data: {a: x}", config + applied + "}, data: {a: x, b: x}", LikeTheWrite},
		"one that was only updated":       {[]string{"ServerSideApply=true"}, true, "", config + "}, data: {a: x}", config + updated + "}, data: {a: x, b: x}", InSync},
		"that, written client-side":       {nil, true, config + "}, data: {a: x, b: x}", config + "}, data: {a: x}", config + updated + "}, data: {a: x, b: x}", InSync},
		"a default of what it adds":       {[]string{"ServerSideApply=true"}, true, "", set + ", rollingUpdate: {}}}", set + "}}", InSync},
		"a value that it adds":            {[]string{"ServerSideApply=true"}, true, "", set + ", rollingUpdate: {partition: 1}}}", set + "}}", LikeTheWrite},
		"a dropped text of a Secret":      {applied: "kind: Secret, stringData: {a: x, b: x}", desired: secret + "{a: eA==}", live: secret + "{a: eA==, b: eA==}", want: OutOfSync},
		"a replaced one":                  {options: []string{"Replace=true"}, desired: config + "}, data: {a: x}", live: config + "}, data: {a: x, b: x}", want: InSync},
		"a field that is not kept":        {desired: widget + "}, spec: {a: 1, b: 2}", live: widget + "}, spec: {a: 1}", want: OutOfSync},
		"a null":                          {desired: widget + ", creationTimestamp: null}, spec: {a: 1, b: null}", live: widget + ", creationTimestamp: x}, spec: {a: 1}", want: InSync},
		"of a known kind":                 {desired: strings.Replace(widget, "Thing", "Known", 1) + "}, spec: {a: 1, b: 2}", live: strings.Replace(widget, "Thing", "Known", 1) + "}, spec: {a: 1, b: 2}", want: InSync},
		"a default in a list":             {applied: widget + "}, spec: {l: [{a: 1}]}", desired: widget + "}, spec: {l: [{a: 1}]}", live: widget + "}, spec: {l: [{a: 1, b: 2}]}", want: InSync},
		"one more item":                   {applied: widget + "}, spec: {l: [{a: 1}]}", desired: widget + "}, spec: {l: [{a: 1}]}", live: widget + "}, spec: {l: [{a: 1}, {}]}", want: OutOfSync},
		"an edit in a list":               {applied: widget + "}, spec: {l: [{a: 1}]}", desired: widget + "}, spec: {l: [{a: 1}]}", live: widget + "}, spec: {l: [{a: 2}]}", want: OutOfSync},
		"a dropped field of a thing":      {applied: widget + "}, spec: {a: 1, b: 2}", desired: widget + "}, spec: {a: 1}", live: widget + "}, spec: {a: 1, b: 2}", want: OutOfSync},
		"a field that was never applied":  {desired: widget + "}, spec: {a: 1}", live: widget + "}, spec: {a: 1, b: 2}", want: InSync},
		"annotations without any":         {desired: widget + ", annotations: {}}, spec: {a: 1}", live: widget + "}, spec: {a: 1}", want: InSync},
		"a zero that is not kept":         {desired: definition + ", preserveUnknownFields: false}", live: definition + "}", want: OutOfSync},
		"an unknown field":                {desired: web + ", imagge: b}]}}}", live: web + "}]}}}", want: OutOfSync},
		"a default":                       {applied: web + ", terminationMessagePolicy: File}]}}}", desired: web + "}]}}}", live: web + ", terminationMessagePolicy: File}]}}}", want: InSync},
		"a huge quantity":                 {desired: web + ", resources: {limits: {cpu: '1e999999999'}}}]}}}", live: web + "}]}}}", want: OutOfSync},
		"one, compared by the API":        {[]string{"ServerSideApply=true"}, true, "", web + ", resources: {limits: {cpu: '1e999999999'}}}]}}}", web + "}]}}}", LikeTheWrite},
		"a refused dry run": {nil, true, "", strings.Replace(web, "shop}", "shop, annotations: {argocd.argoproj.io/sync-options: 'Force=true,Replace=true'}}", 1) + "}]}}}",
			strings.Replace(web, "{app: web}}, template", "{app: other}}, template", 1) + "}]}}}", Refused},
		"aggregated rules": {desired: role + "[]", live: role + "[{verbs: [get], apiGroups: [''], resources: [pods]}]", want: OutOfSync},
		"no rules":         {desired: role + "[]", live: role + "null", want: InSync},
	} {
		t.Run(name, func(t *testing.T) {
			got := Comparison(-1)
			options := Options{List: c.options, Known: map[schema.GroupKind]bool{{Group: "ex.com", Kind: "Known"}: true}, ComparesServerSide: c.comparesServerSide, Learn: func(_ object.Key, is Outcome) { got = is.Comparison }}
			desired, live := contentOf(t, "{"+c.desired+"}"), contentOf(t, "{"+c.live+"}")
			if c.applied != "" {
				text, err := json.Marshal(contentOf(t, "{"+c.applied+"}"))
				if err != nil {
					t.Fatal(err)
				}
				live["metadata"].(map[string]any)["annotations"] = map[string]any{LastApplied: string(text)}
			}
			if _, err := predict(options, desired, live); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("it is %d, want %d", got, c.want)
			}
		})
	}
}
