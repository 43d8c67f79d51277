package threeway

import "testing"

// TestValueScrubber: what the values announce as secret goes, in every form, and of the given ones all that is not short; nothing else.
func TestValueScrubber(t *testing.T) {
	scrub := ValueScrubber(
		map[string]any{
			"auth":     map[string]any{"password": "canary", "username": "somebody"},
			"replicas": int64(12345), "pin": "9999", "apiKey": 987654.0,
			"env": []any{map[string]any{"name": "DB_TOKEN", "value": "birdie"}, map[string]any{"name": "MODE", "value": "plain"}},
			"url": "https://me:finch@example.com/path",
		},
		nil,
		map[string]any{"oldPassword": "sparrow", "short": map[string]any{"token": "abc"}, "image": "registry/image"},
	)
	for text, want := range map[string]string{
		"":                                  "",
		"canary and Y2FuYXJ5":               "*** and ***",
		"somebody, 12345, 9999, plain, abc": "***, 12345, 9999, plain, abc",
		"registry/image":                    "registry/image",
		"birdie sparrow 987654":             "*** *** ***",
		"at https://me:finch@example.com/path: no answer": "at ***: no answer",
	} {
		if got := scrub(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
