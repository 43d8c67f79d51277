package fetch

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
)

func TestReadFile(t *testing.T) {
	silent(t)
	file := written(t, "values.yaml", []byte("from: file"))
	s := serve(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/values.yaml" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("from: server"))
	}))
	for name, want := range map[string]string{
		file: "from: file", "-": "from: stdin", " - ": "from: stdin", s.URL + "/values.yaml": "from: server",
	} {
		got, err := ReadFile(context.Background(), name, strings.NewReader("from: stdin"), Plugins{})
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, request := range s.seen() {
		if strings.Contains(request, username) {
			t.Errorf("the server saw %s", request)
		}
	}
	absent := filepath.Join(t.TempDir(), "absent.yaml")
	for name, want := range map[string]string{
		absent: "open " + absent + ": .*",
		"https://me:can%ary@example.com/values.yaml?canary":                             "https://… is not a valid URL",
		"https://me:can\nary@example.com/values.yaml":                                   "https://… is not a valid URL",
		"https://example.com:port/values.yaml?user=a@b.c&token=canary":                  "https://… is not a valid URL",
		"https://me:canary 1@example.com/%zz?token=canary":                              "https://… is not a valid URL",
		strings.Replace(s.URL, "://", "://canary:canary@", 1) + "/nothing?token=canary": s.URL + `/nothing: not found at ` + s.URL + `/nothing \(404\)`,
	} {
		_, err := ReadFile(context.Background(), name, nil, Plugins{})
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		hint := ""
		if strings.Contains(name, "://") {
			hint = "address"
		}
		check(t, err, want, hint)
	}
	_, err := ReadFile(context.Background(), "secrets://canary:canary@vault/values.yaml", nil, Plugins{})
	check(t, err, "secrets://vault/values.yaml: URLs of this kind are not supported", "helm pull")
	_, err = ReadFile(context.Background(), "-", nil, Plugins{})
	check(t, err, "standard input: it is not available", "")
}

func TestWithoutLogin(t *testing.T) {
	for ref, want := range map[string]string{
		"repo/name": "repo/name", "./a@b": "./a@b", "./a?b": "./a?b", "a:b@c/d": "c/d", "me:can\nary@c/d": "c/d",
		"https://canary:canary@h:1/p?token=canary#canary": "https://h:1/p",
		"https://canary@h/p":                              "https://h/p",
		"https://canary:ca%zznary@h/p":                    "https://…",
		"https://canary:can/ary@h/p":                      "https://…",
		"https://canary:can\nary@h/p":                     "https://…",
		"https://h:port/p?user=a@b.c&token=canary":        "https://…",
		"https://h:port/p#token=canary":                   "https://…",
		"https:///me:canary@h/p":                          "https://…",
		" https://h/p?token=canary":                       "…",
		"git+file:///charts/a?ref=canary":                 "git+file:///charts/a",
		"oci://":                                          "oci://",
		"oci://h/a/b@sha256:abc":                          "oci://h/a/b@sha256:abc",
		"oci://h:5000/a/b:1.0.0":                          "oci://h:5000/a/b:1.0.0",
	} {
		if got := WithoutLogin(ref); got != want {
			t.Errorf("%q is shown as %q", ref, got)
		}
	}
}

func TestScrub(t *testing.T) {
	text := "Get \"https://me:canary@h/p?sig=canary\": refused\n\tby canary\x1b[2J at http://h/x?y=z)"
	var known secret.Known
	known.Add("canary", "")
	if got, want := scrub(text, &known), `Get "https://h/p": refused by *** [2J at http://h/x`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := scrub(strings.Repeat("é", 1000), nil); got != strings.Repeat("é", 300)+"…" {
		t.Errorf("%d bytes", len(got))
	}
}
