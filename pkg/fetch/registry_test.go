package fetch

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRegistryErrors(t *testing.T) {
	silent(t)
	dir := web(t)
	open, private, secure := registryOf(t, false, false, dir), registryOf(t, false, true, dir), registryOf(t, true, false, dir)
	// This registry sends bytes that do not match its manifest's digest.
	lying := serve(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/blobs/") {
			open.Config.Handler.ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		open.Config.Handler.ServeHTTP(recorded, r)
		maps.Copy(w.Header(), recorded.Header())
		sent := recorded.Body.Bytes()
		sent[0]++
		_, _ = w.Write(sent)
	}))
	refusing := serve(t, false, answer(http.StatusForbidden, `{"errors":[{"code":"DENIED","message":"canary"}]}`))
	page := serve(t, false, answer(http.StatusOK, "<html>canary</html>"))
	nobody := closed
	absent := "sha256:" + strings.Repeat("0", 64)

	login := func(o *Options) { o.PlainHTTP, o.Username, o.Password = true, "canary-other", "canary-word" }
	at := func(s *served, rest string) string { return "oci://" + s.host() + "/charts/" + rest }
	tests := map[string]struct {
		ref        string
		change     func(*Options)
		want, hint string
	}{
		"no such version": {at(open, "web"), versioned("3.0.0"), `fetching chart ` + at(open, "web") + `: ` + open.host() +
			` has no version of charts/web that matches 3.0.0; it has 2.1.0-rc.1, 2.0.1\+build.5, 2.0.0, 1.1.0, 1.0.0`, ""},
		"no such tag":        {at(open, "web:3.0.0"), plainHTTP, `.*web:3.0.0: not found at ` + at(open, "web:3.0.0"), "check"},
		"no version matches": {at(open, "web"), versioned("^3"), `.* has no version of charts/web that matches \^3; it has .*`, ""},
		"only young":         {at(open, "young"), plainHTTP, `.* has only development versions of charts/young: 0.1.0-alpha.1`, "--devel"},
		"no such chart":      {at(open, "nothing"), plainHTTP, `fetching chart ` + at(open, "nothing") + `: not found at ` + at(open, "nothing"), "check"},
		"two versions":       {at(open, "web:1.0.0"), versioned("1.1.0"), `.*version mismatch.*`, ""},
		"no such digest":     {at(open, "web@"+absent), plainHTTP, `.*: not found at ` + at(open, "web@"+absent), "check"},
		"other digest":       {at(open, "web@"+digestOf(t, open, "1.0.0")), versioned("1.1.0"), `.*digest mismatch: sha256:.* is not sha256:.*`, ""},
		"wrong bytes":        {at(lying, "web"), versioned("1.0.0"), `fetching chart ` + at(lying, "web") + `: the file from ` + lying.host() + ` does not match its digest`, "later"},
		"login missing":      {at(private, "web"), plainHTTP, `.*: ` + private.host() + ` refuses access \(401 Unauthorized\)`, "helm registry login " + private.host()},
		"login wrong":        {at(private, "web"), login, `.*: ` + private.host() + ` refuses access \(401 Unauthorized\)`, "helm registry login"},
		"login in the URL":   {"oci://canary:canary@" + private.host() + "/charts/web", plainHTTP, `fetching chart ` + at(private, "web") + `: the URL of a registry must not contain credentials`, "helm registry login"},
		"forbidden":          {at(refusing, "web"), plainHTTP, `.*: ` + refusing.host() + ` refuses access \(403 Forbidden\)`, "helm registry login"},
		"no registry":        {at(page, "web"), plainHTTP, `fetching chart ` + at(page, "web") + `: .*`, ""},
		"nobody listens":     {"oci://" + nobody + "/charts/web", plainHTTP, `.*: cannot reach ` + nobody + `: .*connection refused`, "network"},
		"no such host":       {"oci://nowhere.invalid/charts/web", versioned("1.0.0"), `.*: no such host: nowhere.invalid`, "address"},
		"unknown authority":  {at(secure, "web"), func(*Options) {}, `.*: cannot trust ` + secure.host() + `: .*unknown authority`, "--ca-file"},
		"no TLS, but certificates": {at(open, "web"), func(o *Options) { o.InsecureSkipTLSVerify = true },
			`.*: ` + open.host() + ` answers without TLS`, "--plain-http"},
		"no TLS": {at(open, "web"), func(*Options) {}, `.*: ` + open.host() + ` answers without TLS`, "--plain-http"},
		"no TLS, but a login": {at(private, "web"), func(o *Options) { o.Username, o.Password = username, password },
			`.*: ` + private.host() + ` answers without TLS`, "--plain-http"},
		"no reference": {"oci://", nil, `fetching chart oci://: .*`, ""},
		"login file": {at(open, "web"), func(o *Options) { o.RegistryConfig = written(t, "config.json", []byte(`{"auths": canary}`)) },
			`.*: the registry logins cannot be read: .*`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := settings(t)
			if tt.change != nil {
				tt.change(&o)
			}
			_, done, err := Chart(context.Background(), tt.ref, o)
			done()
			check(t, err, tt.want, tt.hint)
		})
	}
}
