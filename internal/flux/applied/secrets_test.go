package applied

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/tree"
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
