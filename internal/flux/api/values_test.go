package api

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
)

// configMap and secretOf return an object with one key.
func configMap(key, value string) map[string]any {
	return map[string]any{"data": map[string]any{key: value}}
}

func secretOf(key, value string) map[string]any {
	return map[string]any{"data": map[string]any{key: base64.StdEncoding.EncodeToString([]byte(value))}}
}

// specified returns a HelmRelease with a spec in YAML.
func specified(t *testing.T, text string) *HelmRelease {
	t.Helper()
	out := &HelmRelease{}
	raw, err := yaml.YAMLToJSON([]byte("spec:\n" + text))
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	out.Metadata.Name, out.Metadata.Namespace = "web", "shop"
	return out
}

// TestCompose checks the order of references and values, targetPath with the maps that results share, and optional references.
func TestCompose(t *testing.T) {
	from := fluxtest.Objects{
		"ConfigMap/a":      configMap("values.yaml", "top: map\na: {b: map, c: 1}\nl: [1, 2]\n"),
		"ConfigMap/b":      configMap("other.yaml", "a: {b: other}\nl: [3]\n"),
		"ConfigMap/number": configMap("k", "1000000"),
		"ConfigMap/text":   configMap("k", `"1000000"`),
		"ConfigMap/list":   configMap("k", "{x,y}"),
		"ConfigMap/raw":    configMap("k", "a,b=c[0]{d}\\"),
		"ConfigMap/empty":  configMap("values.yaml", "null\n"),
		"Secret/s":         secretOf("values.yaml", "password: hunter2hunter2\n"),
	}
	for name, test := range map[string]struct{ spec, want string }{
		"later references win": {
			"  valuesFrom: [{kind: ConfigMap, name: a}, {kind: ConfigMap, name: b, valuesKey: other.yaml}]",
			`{"a":{"b":"other","c":1},"l":[3],"top":"map"}`,
		},
		"values win": {
			"  valuesFrom: [{kind: ConfigMap, name: a}]\n  values: {top: inline, a: {b: inline}}",
			`{"a":{"b":"inline","c":1},"l":[1,2],"top":"inline"}`,
		},
		"values win over targetPath at the top": {
			"  valuesFrom: [{kind: ConfigMap, name: number, valuesKey: k, targetPath: top}]\n  values: {top: inline}",
			`{"top":"inline"}`,
		},
		"targetPath wins below a map that is shared": {
			"  valuesFrom: [{kind: ConfigMap, name: number, valuesKey: k, targetPath: a.b}]\n  values: {a: {b: inline}}",
			`{"a":{"b":1000000}}`,
		},
		"values win below a map that was copied": {
			"  valuesFrom: [{kind: ConfigMap, name: a}, {kind: ConfigMap, name: number, valuesKey: k, targetPath: a.b}]\n  values: {a: {b: inline}}",
			`{"a":{"b":"inline","c":1},"l":[1,2],"top":"map"}`,
		},
		"quoted": {
			"  valuesFrom: [{kind: ConfigMap, name: text, valuesKey: k, targetPath: a}]",
			`{"a":"1000000"}`,
		},
		"list": {
			"  valuesFrom: [{kind: ConfigMap, name: list, valuesKey: k, targetPath: 'a[0]'}]",
			`{"a":[["x","y"]]}`,
		},
		"literal": {
			"  valuesFrom: [{kind: ConfigMap, name: raw, valuesKey: k, targetPath: a, literal: true}]",
			`{"a":"a,b=c[0]{d}\\"}`,
		},
		"null document": {
			"  valuesFrom: [{kind: ConfigMap, name: empty}]\n  values: {a: null}",
			`{"a":null}`,
		},
		"secret": {
			"  valuesFrom: [{kind: Secret, name: s}]",
			`{"password":"hunter2hunter2"}`,
		},
		"optional object and key": {
			"  valuesFrom: [{kind: ConfigMap, name: gone, optional: true}, {kind: ConfigMap, name: a, valuesKey: gone, optional: true}]",
			`{}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := specified(t, test.spec).Compose(t.Context(), from)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(got.Values)
			if diff := cmp.Diff(test.want, string(text)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestComposeErrors checks that an error names the reference and quotes no value.
func TestComposeErrors(t *testing.T) {
	from := fluxtest.Objects{"ConfigMap/a": configMap("values.yaml", "[sekret]"), "ConfigMap/b": configMap("k", "sekret,")}
	for spec, want := range map[string]string{
		"{kind: ConfigMap, name: gone}": "spec.valuesFrom[0] of HelmRelease shop/web: there is no ConfigMap gone in namespace shop " +
			"with the key values.yaml",
		"{kind: Secret, name: gone, valuesKey: k}":                   "there is no Secret gone",
		"{kind: Pod, name: a}":                                       "not in a Pod",
		"{kind: ConfigMap, name: a}":                                 "not a YAML document with a table",
		"{kind: ConfigMap, name: b, valuesKey: k, targetPath: 'a['}": "cannot be put at targetPath a[",
	} {
		_, err := specified(t, "  valuesFrom: ["+spec+"]").Compose(t.Context(), from)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sekret") {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// TestLearn checks that every text of a Secret is learned under its own key, wherever targetPath or the document puts it.
func TestLearn(t *testing.T) {
	from := fluxtest.Objects{
		"Secret/s": secretOf("values.yaml", "db: {password: hunter2hunter2, hosts: [one.example.com]}\n"),
		"Secret/p": secretOf("token", "tokentokentoken"), "Secret/q": secretOf("q", `"quoted or not"`),
		"Secret/b": secretOf("b", `back\,slash\,es`), "Secret/l": secretOf("l", "{first-of-list}"),
	}
	got, err := specified(t, "  valuesFrom: [{kind: Secret, name: s}, {kind: Secret, name: p, valuesKey: token, targetPath: a.token}, "+
		"{kind: Secret, name: q, valuesKey: q, targetPath: a.quotes}, {kind: Secret, name: b, valuesKey: b, targetPath: a.slashes}, "+
		"{kind: Secret, name: l, valuesKey: l, targetPath: 'a.list'}]").Compose(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]any{}
	for _, s := range got.Learned {
		for key, value := range s["stringData"].(map[string]any) {
			found[key] = value
		}
	}
	want := map[string]any{
		"password": "hunter2hunter2", "hosts": "one.example.com", "a.token": "tokentokentoken", "token": "tokentokentoken",
		"a.quotes": `"quoted or not"`, "quotes": "quoted or not", "a.slashes": `back\,slash\,es`, "slashes": "back,slash,es",
		"a.list": "{first-of-list}", "list": "first-of-list",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDigest checks the digest with the examples of fluxcd/pkg chartutil v1.28.0 digest_test.go TestDigestValues. Their numbers are those
// of Go code; those of a document are float64, and have the same digest.
func TestDigest(t *testing.T) {
	ports := []any{map[string]any{"protocol": "TCP", "port": 8080.0}, map[string]any{"port": 9090.0, "protocol": "UDP"}}
	values := map[string]any{"replicas": 3.0, "image": map[string]any{"tag": "latest", "repository": "nginx"}, "ports": ports}
	for want, values := range map[string]map[string]any{
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": {},
		"sha256:fcdc2b0de1581a3633ada4afee3f918f6eaa5b5ab38c3fef03d5b48d3f85d9f6": values,
	} {
		if got := Digest(values); got != want {
			t.Errorf("digest of %v: %s, want %s", values, got, want)
		}
	}
}
