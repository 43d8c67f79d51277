package kinds

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// decode decodes an object as the API's own decoder does, with int64 for integers.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func refOf(obj map[string]any, group, version string) object.Ref {
	kind, _ := obj["kind"].(string)
	return object.Ref{Key: object.Key{Group: group, Kind: kind, Name: "x"}, Version: version}
}

// TestNormalFormOfNativeKinds checks that two texts of one native object have the same normal form.
func TestNormalFormOfNativeKinds(t *testing.T) {
	for name, texts := range map[string][2]string{
		"quantities": {
			"{kind: Pod, spec: {containers: [{name: a, resources: {limits: {cpu: 1000m, memory: 1024Mi}}}]}}",
			"{kind: Pod, spec: {containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]}}",
		},
		"zero values that are not pointers": {
			"{kind: Pod, spec: {hostNetwork: false, nodeName: '', containers: [{name: a, env: []}]}}",
			"{kind: Pod, spec: {containers: [{name: a}]}}",
		},
		"stringData": {
			"{apiVersion: v1, kind: Secret, stringData: {a: x}, data: {a: ignored, b: eA==}}",
			"{apiVersion: v1, kind: Secret, data: {a: eA==, b: eA==}}",
		},
		"wrapped base64":             {`{kind: Secret, data: {a: "eHh4\neHh4"}}`, "{kind: Secret, data: {a: eHh4eHh4}}"},
		"labels that are null":       {"{kind: ConfigMap, metadata: {labels: {a: null}}}", "{kind: ConfigMap, metadata: {labels: {a: ''}}}"},
		"the old name of an account": {"{kind: Pod, spec: {serviceAccount: a}}", "{kind: Pod, spec: {serviceAccountName: a}}"},
		"tolerations of admission": {
			"{kind: Pod, spec: {tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]}}",
			"{kind: Pod, spec: {}}",
		},
		"defaults": {
			"{kind: Service, spec: {ports: [{port: 80}]}}",
			"{kind: Service, spec: {type: ClusterIP, ports: [{port: 80, protocol: TCP, targetPort: 80}]}}",
		},
		"status and metadata that the server sets": {"{kind: Pod, metadata: {uid: 1f}, status: {phase: Running}}", "{kind: Pod}"},
		"metadata that nobody wrote":               {"{kind: ConfigMap}", "{kind: ConfigMap, metadata: {}}"},
	} {
		one, other := decode(t, texts[0]), decode(t, texts[1])
		n := NewNormalizer(object.Key{}, Native().Shape(refOf(one, "", "v1").GVK()), nil)
		n.key = refOf(one, "", "v1").Key
		if diff := cmp.Diff(n.Manifest(one).Value, n.Stored(other).Value); diff != "" {
			t.Errorf("%s (-one +other):\n%s", name, diff)
		}
	}
}

// things is the definition of a custom kind that has a value of each sort.
const things = `
spec:
  conversion: {strategy: Webhook}
  versions:
  - name: v1
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {x-kubernetes-int-or-string: true, pattern: '^([0-9]+)(([KMGTPE]i)|m)?$'}
              port: {x-kubernetes-int-or-string: true}
              mode: {type: string, default: fast}
              note: {type: string, nullable: true}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              users:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, properties: {name: {type: string}}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
              labels: {type: object, additionalProperties: {type: string}}
  - name: v2
`

func thing(t *testing.T, spec string) map[string]any {
	t.Helper()
	return decode(t, "{apiVersion: ex.com/v1, kind: Thing, spec: "+spec+"}")
}

// TestNormalFormOfCustomKinds checks the normal form of a manifest, and which of live's spellings it takes.
func TestNormalFormOfCustomKinds(t *testing.T) {
	definition, err := NewCustomSchema(decode(t, things))
	if err != nil {
		t.Fatal(err)
	}
	ref := object.Ref{Key: object.Key{Group: "ex.com", Kind: "Thing"}, Version: "v1"}
	for name, c := range map[string]struct{ manifest, live, want string }{
		"defaults":                                {"{}", "{}", "{mode: fast}"},
		"a field that the server prunes":          {"{typo: 1}", "{}", "{mode: fast}"},
		"a field that only live's schema has":     {"{fresh: 1}", "{fresh: 2}", "{mode: fast, fresh: 1}"},
		"a quantity in live's spelling":           {"{size: 1000m}", "{size: '1'}", "{mode: fast, size: '1'}"},
		"an integer that is a quantity":           {"{size: 1}", "{size: 1000m}", "{mode: fast, size: 1000m}"},
		"a port that is a text":                   {"{port: 80}", "{port: '80'}", "{mode: fast, port: 80}"},
		"a set in live's order":                   {"{tags: [a, b]}", "{tags: [b, a]}", "{mode: fast, tags: [b, a]}"},
		"a null that the schema forbids":          {"{mode: null}", "{}", "{mode: fast}"},
		"a null in a map that the schema forbids": {"{labels: {a: null}}", "{}", "{mode: fast, labels: {}}"},
	} {
		n := NewNormalizer(ref.Key, ShapeOf(ref, definition, false), thing(t, c.live))
		got := n.Manifest(thing(t, c.manifest)).Object()["spec"]
		if diff := cmp.Diff(any(thing(t, c.want)["spec"]), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		literal := n.AsSpelled().Manifest(thing(t, c.manifest)).Object()["spec"]
		if respelled := !object.Equal(literal, got); respelled != n.Respelled {
			t.Errorf("%s: respelled is %t", name, n.Respelled)
		}
	}
	n := NewNormalizer(ref.Key, ShapeOf(ref, definition, false), nil)
	got := object.Child(n.Manifest(thing(t, "{note: null, open: {a: null}}")).Object(), "spec")
	if !object.Equal(got["note"], object.CustomNull{}) || !object.Equal(object.Child(got, "open")["a"], object.CustomNull{}) {
		t.Errorf("a null that the server stores is %v", got)
	}
	got = object.Child(n.Stored(thing(t, "{note: null}")).Object(), "spec")
	if note, ok := got["note"]; !ok || note != nil {
		t.Errorf("a null that the server returns is %v", got)
	}
	if got := n.ManifestOfOtherVersion(thing(t, "{}")); object.Has(got.Object()["spec"], "mode") {
		t.Errorf("another version has defaults: %v", got.Value)
	}
}

// TestState checks the states of fields and items, and what Shown returns.
func TestState(t *testing.T) {
	text := decode(t, "{kind: Deployment, spec: {replicas: 0, paused: false, selector: null, strategy: {}}}")
	s := NewNormalizer(object.Key{}, Native().Shape(refOf(text, "apps", "v1").GVK()), nil).Manifest(text)
	for _, tt := range []struct {
		field          string
		present, named bool
		shown          any
	}{
		{"replicas", true, true, int64(0)}, {"paused", false, true, false}, {"selector", false, true, nil},
		{"minReadySeconds", false, false, nil},
		{"progressDeadlineSeconds", true, false, int64(600)},
	} {
		got := s.Field("spec").Field(tt.field)
		if got.Present != tt.present || got.Named != tt.named || got.Shown().Value != tt.shown {
			t.Errorf("%s is %+v, shown %v", tt.field, got, got.Shown().Value)
		}
	}
	if below := s.Field("spec").Field("selector").Field("matchLabels"); !below.Named || below.Present {
		t.Errorf("below a null: %+v", below)
	}
	if got := s.Field("spec").Field("strategy").WrittenOr("default"); !object.Equal(got, map[string]any{}) {
		t.Errorf("the manifest writes %v", got)
	}
}

// TestManifestNulls checks how WithoutNulls and the others replace nulls that a manifest writes into maps.
func TestManifestNulls(t *testing.T) {
	text := decode(t, "{kind: ConfigMap, data: {a: null, b: x}}")
	n := NewNormalizer(object.Key{}, Native().Shape(refOf(text, "", "v1").GVK()), nil)
	manifest := n.Manifest(text)
	live := func(a string) map[string]any { return map[string]any{"data": map[string]any{"a": a}} }
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"an apply", ResolveNulls(manifest.Value, true), map[string]any{"a": "", "b": "x"}},
		{"a client-side patch", ResolveNulls(manifest.Value, false), map[string]any{"b": "x"}},
		{"live has the zero value", manifest.WithoutNulls(live("")).Value, map[string]any{"a": "", "b": "x"}},
		{"live has another value", manifest.WithoutNulls(live("y")).Value, map[string]any{"b": "x"}},
		{"what the server returns", n.Stored(text).Value, map[string]any{"a": "", "b": "x"}},
	} {
		if diff := cmp.Diff(tt.want, object.Field(tt.got, "data")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
