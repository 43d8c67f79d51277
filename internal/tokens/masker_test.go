package tokens

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/secret/secrettest"
)

// canaries are the secrets of the table.
var canaries = []string{"hunter2", "abcdefgh", "abc123", "dXNlcjpodW50ZXIy", "dozjg", "aGVsbG8"}

// TestMaskerOnTable checks that a Masker replaces what the table calls secret and nothing else, and that the rest is hidden as in the
// original.
func TestMaskerOnTable(t *testing.T) {
	m, cases := NewMasker(new(secret.Known), nil), secrettest.ReadTable(t, "../secret/testdata/names.yaml")
	for _, text := range cases.SecretTexts {
		got := m.Text(text)
		for _, canary := range canaries {
			if strings.Contains(got, canary) {
				t.Errorf("%q became %q", text, got)
			}
		}
		if !secret.HoldsToken(got) || !(secret.Place{}).Holds(got) || m.Text(text) != got {
			t.Errorf("%q became %q, which is not hidden, or another text each time", text, got)
		}
	}
	for _, text := range cases.ReadableTexts {
		if got := m.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, c := range cases.SecretPlaces {
		place := secrettest.PlaceOf(secret.Root, c.Path)
		got := m.value(place, c.Value)
		if !place.Holds(got) || reflect.DeepEqual(got, c.Value) {
			t.Errorf("%s: %v became %v", c.Path, c.Value, got)
		}
	}
	for _, c := range cases.ReadablePlaces {
		if got := m.value(secrettest.PlaceOf(secret.Root, c.Path), c.Value); !reflect.DeepEqual(got, c.Value) {
			t.Errorf("%s: %v became %v", c.Path, c.Value, got)
		}
	}
}

// TestMaskerKeepsEquality checks that values are equal after masking if and only if they were equal before, whatever form they have in a
// Secret.
func TestMaskerKeepsEquality(t *testing.T) {
	m, other := NewMasker(new(secret.Known), nil), NewMasker(new(secret.Known), nil)
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	secretOf := func(field, text string) string {
		masked := m.Object("", "Secret", map[string]any{field: map[string]any{"p": text}, "metadata": map[string]any{"name": "hunter2"}})
		if masked["metadata"].(map[string]any)["name"] != "hunter2" {
			t.Errorf("the name of the Secret became %v", masked["metadata"])
		}
		return masked[field].(map[string]any)["p"].(string)
	}
	manifest, live := secretOf("stringData", "hunter2\n"), secretOf("data", encoded("hunter2\n"))
	if encoded(manifest) != live || strings.TrimSpace(manifest) != secretOf("stringData", "hunter2") {
		t.Errorf("stringData became %q, data %q", manifest, live)
	}
	if secretOf("data", encoded("hunter3")) == secretOf("data", encoded("hunter2")) {
		t.Error("another password has the same token")
	}
	if other.Text("password: hunter2") == m.Text("password: hunter2") {
		t.Error("two maskers make the same tokens")
	}
	if got := secretOf("data", "not base64!"); got == "not base64!" || isBase64Text(got) {
		t.Errorf("what is not base64 became %q", got)
	}
	if got := secretOf("data", encoded("hunter2")+"\n"); !strings.HasSuffix(got, "\n") {
		t.Errorf("a line break was lost: %q", got)
	}
}

func isBase64Text(text string) bool {
	_, err := base64.StdEncoding.DecodeString(text)
	return err == nil
}

// TestMaskerFindsMembers checks that the value of a Secret is replaced in other objects: in texts, keys, arguments, annotations, and in the
// field sets of managedFields, but not where it is a part of a public name.
func TestMaskerFindsMembers(t *testing.T) {
	var k secret.Known
	k.AddMembers(map[string]any{"stringData": map[string]any{"a": "canary-1234", "b": "database-1"}})
	m := NewMasker(&k, []string{"database-1-config"})
	object := map[string]any{
		"kind": "ConfigMap",
		"metadata": map[string]any{
			"annotations": map[string]any{
				"kubectl.kubernetes.io/last-applied-configuration": `{"x":"birdie"}`, "note": base64.StdEncoding.EncodeToString([]byte("canary-1234")),
			},
			"managedFields": []any{map[string]any{"manager": "helm", "fieldsV1": map[string]any{"f:spec": map[string]any{
				`k:{"name":"canary-1234"}`: map[string]any{}, `v:"canary-1234"`: map[string]any{}, "f:canary-1234.x": map[string]any{},
				"f:tokens": map[string]any{`v:"birdie"`: map[string]any{}},
			}}}},
		},
		"data": map[string]any{"canary-1234.x": "at canary-1234", "other": "database-1"},
		"args": []any{"--password", "birdie", "--name=x"},
	}
	text, err := json.Marshal(m.Object("", "ConfigMap", object))
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"canary", "birdie", base64.StdEncoding.EncodeToString([]byte("canary-1234"))} {
		if strings.Contains(string(text), canary) {
			t.Errorf("%q is left in %s", canary, text)
		}
	}
	for _, kept := range []string{`"database-1"`, `"--name=x"`, `"manager":"helm"`} {
		if !strings.Contains(string(text), kept) {
			t.Errorf("%s is not in %s", kept, text)
		}
	}
	config := fmt.Sprint(m.Given(map[string]any{"x": "canary-1234", "y": "plain"}))
	if strings.Contains(config, "canary") || !strings.Contains(config, "plain") {
		t.Errorf("values became %s", config)
	}
}

// TestMaskerKeepsNames checks that the names of an object stay, although one of them looks like an assignment.
func TestMaskerKeepsNames(t *testing.T) {
	m := NewMasker(new(secret.Known), nil)
	role := map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
		"metadata": map[string]any{"name": "reader:token:abcdef", "annotations": map[string]any{"note": "token: abcdef"}},
	}
	got := m.Object("rbac.authorization.k8s.io", "ClusterRole", role)["metadata"].(map[string]any)
	if got["name"] != "reader:token:abcdef" || !secret.HoldsToken(got["annotations"]) {
		t.Errorf("the metadata became %v", got)
	}
}

// TestTooMuchWork checks that a text that takes the finders too much work is replaced whole, and that the rest of the object is not.
func TestTooMuchWork(t *testing.T) {
	m := NewMasker(new(secret.Known), nil)
	got := m.Value(map[string]any{"hostile": strings.Repeat("value:\n", 2000), "other": "plain"}).(map[string]any)
	if got["other"] != "plain" || !secret.IsToken(strings.TrimSpace(got["hostile"].(string))) {
		t.Errorf("the values became %v", got)
	}
}

// TestInterrupt checks that every text becomes a token if an interrupt left a text unread where secrets may be in it. No test can take the
// interrupt back, so the other tests of this package may run after one: they need no text that takes more than a few milliseconds.
func TestInterrupt(t *testing.T) {
	secret.Interrupt()
	learns := new(secret.Known)
	learns.AddObject("", "ConfigMap", map[string]any{"data": map[string]any{"a": strings.Repeat("token: [token: [", 64<<10)}})
	for name, k := range map[string]*secret.Known{"it": learns, "a copy": new(secret.Known).With(learns)} {
		if got := NewMasker(k, nil).Value(map[string]any{"a": "plain"}).(map[string]any)["a"]; !secret.IsToken(got.(string)) {
			t.Errorf("%s did not read everything and saves %q", name, got)
		}
	}
}

// FuzzMasker checks that a masked text is hidden if and only if the text was.
func FuzzMasker(f *testing.F) {
	for _, text := range []string{"password: hunter2", "redis://:hunter2@cache", "--token x1 -pSecret", "", "Bearer abc.def", "hd-masked-12"} {
		f.Add(text)
	}
	var k secret.Known
	k.AddMembers(map[string]any{"stringData": map[string]any{"a": "canary-1234"}})
	m := NewMasker(&k, nil)
	f.Fuzz(func(t *testing.T, text string) {
		got := m.Text(text)
		was := (secret.Place{}).Holds(text) || k.Holds(text)
		if is := (secret.Place{}).Holds(got); was != is {
			t.Errorf("%q: hidden %v, became %q: hidden %v", text, was, got, is)
		}
		if strings.Contains(got, "canary-1234") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
