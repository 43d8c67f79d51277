package ignored

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// TestRun has an object, a step and what Argo CD compares of the object. The cases that say so are those of argo-cd v3.6.1
// util/argo/normalizers/diff_normalizer_test.go; the others follow from diff_normalizer.go.
func TestRun(t *testing.T) {
	t.Setenv("SECRET", "of the environment")
	const deployment = "{kind: Deployment, spec: {replicas: 2, init: [{name: init-container-0}, {name: init-container-1}]}}"
	for name, c := range map[string]struct{ step, text, want string }{
		"TestNormalizeMatchedResourceOverrides: a pointer":     {"/spec/init", deployment, "{kind: Deployment, spec: {replicas: 2}}"},
		"TestNormalizeMissingJsonPointer":                      {"/garbage", deployment, deployment},
		"TestNormalizeExpectedErrorAreSilenced: a path of one": {"/invalid/json/path", deployment, deployment},
		"a pointer to an item":                                 {"/spec/init/0", deployment, "{kind: Deployment, spec: {replicas: 2, init: [{name: init-container-1}]}}"},
		"a pointer with escapes":                               {"/a/x~1y", "{kind: A, a: {x/y: 1}}", "{kind: A, a: {}}"},
		"TestNormalizeJQPathExpression": {`.spec.init[] | select(.name == "init-container-0")`, deployment,
			"{kind: Deployment, spec: {replicas: 2, init: [{name: init-container-1}]}}"},
		"TestNormalizeJQPathExpressionWithError": {".spec.fakeField.foo[]", deployment, deployment},
		"TestJQPathExpressionReturnsHelpfulError, where it fails": {`.nothing) | .data["a"] |= (fromjson | del(.auth) | tojson`,
			"{kind: ConfigMap, data: {b: c}}", "{kind: ConfigMap, data: {b: c}}"},
		"the same where it does not": {`.nothing) | .data["a"] |= (fromjson | del(.auth) | tojson`,
			`{kind: ConfigMap, data: {a: '{"auth": 1, "b": 2}'}}`, `{kind: ConfigMap, data: {a: '{"b":2}'}}`},
		"several places":              {".spec.replicas, .spec.init", deployment, "{kind: Deployment, spec: {}}"},
		"every place of some value":   {`.. | select(. == 2)`, deployment, strings.Replace(deployment, "replicas: 2, ", "", 1)},
		"no path":                     {".spec.replicas + 1", deployment, deployment},
		"several results":             {".spec), (.", deployment, deployment},
		"no result":                   {".spec) | empty | (.", deployment, deployment},
		"it stops itself":             {".spec) | halt | (.", deployment, deployment},
		"a large number is rounded":   {".spec", "{kind: A, n: 9007199254740993, spec: {}}", "{kind: A, n: 9007199254740992}"},
		"a pointer leaves it exact":   {"/spec", "{kind: A, n: 9007199254740993, spec: {}}", "{kind: A, n: 9007199254740993}"},
		"the environment is empty":    {`.env) | .env = ([$ENV, env] | tojson) | del(.x`, "{kind: A}", "{kind: A, env: '[{},{}]'}"},
		"a regular expression":        {`.a | to_entries[] | select(.key | test("^x")) | .key`, "{kind: A, a: {x: 1}}", "{kind: A, a: {x: 1}}"},
		"the keys that match another": {`.a[(.a | keys[] | select(test("^x")))]`, "{kind: A, a: {x1: 1, x2: 2, y: 3}}", "{kind: A, a: {y: 3}}"},
	} {
		t.Run(name, func(t *testing.T) {
			order := Order{Time: Time}
			step := Step{Pointer: c.step}
			if !strings.HasPrefix(c.step, "/") {
				step = Step{Expression: c.step}
				order.Expressions = []string{c.step}
			}
			text, want := jsonOf(t, c.text), jsonOf(t, c.want)
			order.Objects = []Object{{Desired: text, Live: text, Steps: []Step{step}}}
			answer, err := order.Run(t.Context())
			if err != nil || len(answer.Broken) > 0 {
				t.Fatal(answer.Broken, err)
			}
			left := answer.Objects[0]
			if len(left.Slow) > 0 || left.IsNone {
				t.Errorf("%+v", left)
			}
			for _, got := range [][]byte{left.Desired, left.Live} {
				if !bytes.Equal(sorted(t, got), sorted(t, want)) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// TestBroken has expressions that make Argo CD compare nothing.
func TestBroken(t *testing.T) {
	for _, expression := range []string{
		`.spec.template.spec.containers[] | select(.name == "missing-quote)`, // TestNormalizeIllegalJQPathExpression
		"", "$undefined", "nosuchfunction", `import "a" as a; .spec`, `include "a"; .spec`, `$__prog_args`, ".a) | input | (.",
	} {
		answer, err := Order{Expressions: []string{".spec", expression}, Objects: []Object{{}}}.Run(t.Context())
		if err != nil || len(answer.Broken) != 1 || answer.Broken[0].Expression != expression || answer.Broken[0].Reason == "" || answer.Objects != nil {
			t.Errorf("%q: %+v, %v", expression, answer, err)
		}
	}
}

// TestSlow checks that an expression that takes too long is left out and named, as in TestJqPathExpressionFailWithTimeout of Argo CD, and
// that the others count.
func TestSlow(t *testing.T) {
	const loop, other = "until(true==false; [.] + [1])", ".b"
	text := []byte(`{"kind":"A","a":1,"b":2}`)
	order := Order{Expressions: []string{loop, other}, Time: 20 * time.Millisecond, Objects: []Object{{
		Desired: text, Live: text, Steps: []Step{{Expression: loop}, {Expression: other}, {Pointer: "/a"}},
	}}}
	answer, err := order.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left := answer.Objects[0]
	if len(left.Slow) != 1 || left.Slow[0] != loop || string(left.Live) != `{"kind":"A"}` || string(left.Desired) != `{"kind":"A"}` {
		t.Errorf("%q: %s, %s", left.Slow, left.Live, left.Desired)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := order.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestNone checks that an object is named if nothing is left of it.
func TestNone(t *testing.T) {
	for _, expression := range []string{".", ".kind", ".kind) | 1 | (."} {
		text := []byte(`{"kind":"A"}`)
		answer, err := Order{Expressions: []string{expression}, Time: Time, Objects: []Object{{Desired: text, Live: text, Steps: []Step{{Expression: expression}}}}}.Run(t.Context())
		if err != nil || len(answer.Broken) > 0 || !answer.Objects[0].IsNone {
			t.Errorf("%q: %+v, %v", expression, answer, err)
		}
	}
}

func jsonOf(t *testing.T, text string) []byte {
	t.Helper()
	out, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sorted returns a text with sorted keys. Numbers stay as they are written.
func sorted(t *testing.T, text []byte) []byte {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
