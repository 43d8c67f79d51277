package applied

import (
	"encoding/base64"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/secret"
)

// TestSecrets checks that what was decrypted is masked wherever a chart puts it, as the values of a Secret are.
func TestSecrets(t *testing.T) {
	made := &Tree{answer: tree.Answer{Secrets: []string{"hunter2-and-more", "a greeting of two words"}}}
	known := made.Secrets()
	for _, text := range []string{"hunter2-and-more", "greeting: hunter2-and-more", "a greeting of two words"} {
		if !known.Holds(text) {
			t.Errorf("%q is shown", text)
		}
	}
	if known.Holds("hello") || (*Tree)(nil).Secrets().Holds("hunter2-and-more") {
		t.Error("what was not encrypted is masked")
	}
}

// TestSecretObjects checks that the text of a variable is known, too: it is that of a Secret without line breaks.
func TestSecretObjects(t *testing.T) {
	made := &Tree{secrets: []map[string]any{
		{"kind": "Secret", "data": map[string]any{"a": base64.StdEncoding.EncodeToString([]byte("canary-1\ncanary-2\n"))}},
		{"kind": "Secret", "stringData": map[string]any{"b": "canary-3\ncanary-4", "c": 7}},
	}}
	known := &secret.Known{}
	for _, s := range made.SecretObjects() {
		known.AddMembers(s)
	}
	for _, text := range []string{"x canary-1canary-2", "canary-1\ncanary-2", "canary-3canary-4"} {
		if !known.Holds(text) {
			t.Errorf("%q is shown", text)
		}
	}
	if len((*Tree)(nil).SecretObjects()) != 0 {
		t.Error("no tree has Secrets")
	}
}
