package secret

import (
	"encoding/base64"
	"strings"
	"sync"
	"testing"
)

// TestKnownGiven checks which texts are removed: every form of the values that are announced as secret, and all
// given values that are not short.
func TestKnownGiven(t *testing.T) {
	var k Known
	k.AddGiven(map[string]any{
		"auth":     map[string]any{"password": "canary", "username": "somebody"},
		"replicas": int64(12345), "pin": "9999", "apiKey": 987654.0,
		"env": []any{map[string]any{"name": "DB_TOKEN", "value": "birdie"}, map[string]any{"name": "MODE", "value": "plain"}},
		"url": "https://me:finch@example.com/path",
	})
	k.AddAnnounced(map[string]any{"oldPassword": "sparrow", "short": map[string]any{"token": "abc"}, "image": "registry/image"})
	for text, want := range map[string]string{
		"":                                  "",
		"canary and Y2FuYXJ5":               "*** and ***",
		"canaryseed is a word":              "canaryseed is a word",
		"somebody, 12345, 9999, plain, abc": "***, 12345, 9999, plain, abc",
		`Invalid value: "abc": or (abc)`:    `Invalid value: "***": or (***)`,
		"registry/image":                    "registry/image",
		"birdie sparrow 987654":             "*** *** ***",
		"at https://me:finch@example.com/path: no answer": "at ***: no answer",
	} {
		if got := k.Scrub(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestMembersAreSecretEverywhere checks that a value of a Secret is found in any other value, encoded or not, unless
// it is short or public.
func TestMembersAreSecretEverywhere(t *testing.T) {
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	var k Known
	k.AddObject("", "Secret", map[string]any{
		"data": map[string]any{
			"a": encode("hunter2-canary\n"), "short": encode("admin"), "username": encode("postgres"), "host": encode("db.example.com:5432"),
			"tls.crt": encode("-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n"),
			"env":     encode("A=1\nDB_PASSWORD=inner-canary\n"),
			"path":    encode("zq8x7v6u5t4scanary"), "region": encode("eu-central-1"), "login": encode("correcthorsecanary"),
		},
		"stringData": map[string]any{"b": "plain-canary", "user": "Not-A-Plain-Name!"},
	})
	for text, want := range map[string]bool{
		"x hunter2-canary y": true, encode("hunter2-canary\n"): true, "plain-canary": true, encode("plain-canary"): true, "inner-canary": true,
		"zq8x7v6u5t4scanary": true, "correcthorsecanary": true, "in eu-central-1": false,
		"Not-A-Plain-Name!": true,
		"admin":             false, "postgres:15": false, "db.example.com:5432": false, "MIIC": false, "hunter2": false,
		"-----BEGIN CERTIFICATE-----": false,
	} {
		if got := k.Holds(map[string]any{"list": []any{1, text}}); got != want {
			t.Errorf("a value with %q holds a secret: %v", text, got)
		}
		if got := k.Scrub("text " + text); want && strings.Contains(got, "canary") {
			t.Errorf("%q is left as %q", text, got)
		}
	}
}

// TestKnownCrosses checks that what was not read yet crosses to another process, with numbers in each form that a text may have, and that
// what AddLater finds does not cross, and is found when a text needs it.
func TestKnownCrosses(t *testing.T) {
	var k, got Known
	k.Add("flag-secret")
	k.AddGiven(map[string]any{"pin": 12345678.0, "list": []any{"given-secret", int64(87654321)}})
	k.AddAnnounced(map[string]any{"password": "named-secret"})
	k.AddObject("", "Secret", map[string]any{"stringData": map[string]any{"a": "member-secret"}})
	asked := 0
	k.AddLater(func() *Known {
		asked++
		other := &Known{}
		other.Add("later-secret")
		return other
	})
	text, err := k.GobEncode()
	if err == nil {
		err = got.GobDecode(text)
	}
	if err != nil || asked > 0 {
		t.Fatalf("%v, %d times asked", err, asked)
	}
	const all = "flag-secret 1.2345678e+07 12345678 given-secret 87654321 named-secret member-secret"
	if said := got.Scrub(all + " later-secret"); said != strings.TrimSpace(strings.Repeat(Mask+" ", 7))+" later-secret" {
		t.Error(said)
	}
	if !got.Holds("member-secret") {
		t.Error("the value of a Secret is not secret everywhere")
	}
	if said := k.Scrub("later-secret"); said != Mask || asked != 1 {
		t.Errorf("%s, %d times asked", said, asked)
	}
}

// TestKnownInParallel uses a Known from several goroutines, because a rendering that was given up may still log while
// the report is made.
func TestKnownInParallel(t *testing.T) {
	var k Known
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 100 {
				k.AddObject("", "Secret", map[string]any{"stringData": map[string]any{"a": "hunter2-canary"}})
				if got := k.Scrub("hunter2-canary"); got != Mask {
					t.Errorf("left %q", got)
				}
				k.Holds("x")
				(&Known{}).With(&k)
			}
		})
	}
	wait.Wait()
}

// TestAddedSecretsOfFiles adds a short credential with the line break of its file, and finds it in the middle of a word.
func TestAddedSecretsOfFiles(t *testing.T) {
	k := &Known{}
	k.Add("hunt1\n")
	if got := k.Scrub("xhunt1x"); strings.Contains(got, "hunt1") {
		t.Errorf("%q has the secret", got)
	}
}

// TestNoneKnown checks that a nil Known accepts values, and that it still masks what has the form of a secret.
func TestNoneKnown(t *testing.T) {
	var k *Known
	k.Add("x")
	k.AddGiven("x")
	k.AddObject("", "Secret", nil)
	k.AddMembers(nil)
	if k.Holds("hunter2") || k.Scrub("hunter2 password=hunter2") != "hunter2 password=***" {
		t.Error("a nil Known")
	}
}
