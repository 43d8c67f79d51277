package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/repo"
)

// check checks an error and its hint. Both must have one line and contain no secret.
func check(t *testing.T, err error, want, wantHint string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	var hinted interface{ Hint() string }
	hint := ""
	if errors.As(err, &hinted) {
		hint = hinted.Hint()
	}
	if !regexp.MustCompile("^" + want + "$").MatchString(err.Error()) {
		t.Errorf("error %q\nwant  %q", err, want)
	}
	if !strings.Contains(hint, wantHint) || wantHint == "" && hint != "" {
		t.Errorf("hint %q, want %q", hint, wantHint)
	}
	for _, text := range []string{err.Error(), hint} {
		if strings.Contains(text, "canary") || strings.ContainsAny(text, "\n\t") {
			t.Errorf("%q holds a secret or a line break", text)
		}
	}
}

// closed is an address where nobody listens: a port that was free a moment ago may be taken by another process.
const closed = "127.0.0.1:1"

func answer(status int, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}

func TestRepositoryErrors(t *testing.T) {
	silent(t)
	dir := web(t)
	plain := serve(t, false, http.FileServer(http.Dir(dir)))
	locks := serve(t, false, locked(http.FileServer(http.Dir(dir))))
	refusing := serve(t, false, answer(http.StatusForbidden, "canary"))
	busy := serve(t, false, answer(http.StatusServiceUnavailable, "canary"))
	page := serve(t, false, answer(http.StatusOK, "<!DOCTYPE html>\n<html><title>Log in</title></html>\n"))
	secure := serve(t, true, http.FileServer(http.Dir(dir)))
	moved := serve(t, false, http.RedirectHandler(locks.elsewhere()+"/web-1.0.0.tgz?token=canary", http.StatusFound))
	demanding := serve(t, true, http.NotFoundHandler())
	demanding.TLS.ClientAuth = tls.RequireAnyClientCert
	nobody := closed
	lockedDir := t.TempDir()
	index(t, dir, locks.elsewhere(), nil)
	if err := os.Rename(filepath.Join(dir, "index.yaml"), filepath.Join(lockedDir, "index.yaml")); err != nil {
		t.Fatal(err)
	}
	indexes := serve(t, false, http.FileServer(http.Dir(lockedDir)))

	o := settings(t)
	index(t, dir, "", func(i *repo.IndexFile) {
		i.Entries["web"][0].URLs = []string{"moved.tgz"}
		i.Entries["web"][1].URLs = nil
		i.Entries["web"][2].URLs = []string{"s3://bucket/web.tgz"}
		i.Entries["web"][3].URLs = []string{"://"}
		i.Entries["web"][4].Digest = "sha256:" + strings.Repeat("ab", 32)
	})
	know(t, o, repo.Entry{Name: "known", URL: plain.URL}, dir)
	know(t, o, repo.Entry{Name: "locked", URL: locks.URL}, dir)
	know(t, o, repo.Entry{Name: "wrong", URL: locks.URL, Username: "canary-other", Password: "canary-word"}, dir)
	know(t, o, repo.Entry{Name: "dead", URL: "http://canary-user:canary-pass@" + nobody}, dir)
	know(t, o, repo.Entry{Name: "stale", URL: plain.URL}, dir)
	know(t, o, repo.Entry{Name: "broken", URL: plain.URL}, dir)
	know(t, o, repo.Entry{Name: "apart", URL: indexes.URL, Username: username, Password: password}, lockedDir)
	for name, err := range map[string]error{
		"stale":  os.Remove(filepath.Join(o.RepositoryCache, "stale-index.yaml")),
		"broken": os.WriteFile(filepath.Join(o.RepositoryCache, "broken-index.yaml"), []byte("entries: {}\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	set := func(change func(*Options)) func(*Options) { return change }
	version := func(v string) func(*Options) { return func(o *Options) { o.Version = v } }
	at := func(url string) func(*Options) { return func(o *Options) { o.RepoURL = url } }
	host := strings.TrimPrefix
	tests := map[string]struct {
		ref        string
		change     func(*Options)
		want, hint string
	}{
		"no such path":        {"./nothing", nil, `fetching chart ./nothing: no such file or directory`, ""},
		"no such path at all": {"/nothing/there.tgz", nil, `fetching chart /nothing/there.tgz: no such file or directory`, ""},
		"only a name":         {"web", nil, `fetching chart web: no such file or directory`, "--repo URL"},
		"unknown repository":  {"other/web", nil, `fetching chart other/web: repo other not found`, "helm repo add other URL"},
		"a login without URL": {"canary-user:canary-pass@host/web", nil, `fetching chart host/web: repo host not found`, "helm repo add"},
		"no index": {"stale/web", nil, `fetching chart stale/web: the index of repo stale cannot be read: open .*stale-index.yaml: .*`,
			"helm repo update stale"},
		"index without version": {"broken/web", nil, `fetching chart broken/web: the index of repo broken cannot be read: .*no API version specified`,
			"helm repo update broken"},
		"no such chart": {"known/nothing", nil, `fetching chart known/nothing: repo known has no chart nothing`, "helm repo update"},
		"no such version": {"known/web", version("3.0.0"), `fetching chart known/web: repo known has no version of web that matches 3.0.0; ` +
			`it has 2.1.0-rc.1, 2.0.1\+build.5, 2.0.0, 1.1.0, 1.0.0`, "helm repo update"},
		"no version at all":   {"known/web", version("x y"), `.* no version of web that matches x y; it has .*`, "helm repo update"},
		"only young versions": {"known/young", nil, `.*repo known has only development versions of young: 0.1.0-alpha.1`, "--devel"},
		"not there":           {"known/web", version("2.1.0-rc.1"), `fetching chart known/web: not found at ` + plain.URL + `/moved.tgz \(404\)`, "check"},
		"no URL":              {"known/web", nil, `.*: repo known has no URL for web 2.0.1\+build.5`, ""},
		"plugin":              {"known/web", version("2.0.0"), `.*: the index names a URL with s3://, and no plugin is run for it`, "give it as the chart"},
		"plugin, as a URL":    {"s3://bucket/web.tgz", nil, `fetching chart s3://bucket/web.tgz: URLs of this kind are not supported`, "helm pull"},
		"bad URL":             {"known/web", version("1.1.0"), `.*: repo known has an invalid URL for web 1.1.0`, ""},
		"another archive": {"known/web", version("1.0.0"),
			`.*: the archive from ` + host(plain.URL, "http://") + ` does not match its digest in the index of repo known`, "helm repo update"},
		"login missing":           {"locked/web", version("1.0.0"), `.*: ` + locks.host() + ` refuses access \(401 Unauthorized\)`, "helm repo add"},
		"login wrong":             {"wrong/web", version("1.0.0"), `.*: ` + locks.host() + ` refuses access \(401 Unauthorized\)`, "helm repo add"},
		"nobody listens":          {"dead/web", version("1.0.0"), `.*: cannot reach ` + nobody + `: .*connection refused`, "network"},
		"URL, not there":          {plain.URL + "/nothing.tgz?token=canary", nil, `fetching chart ` + plain.URL + `/nothing.tgz: not found at ` + plain.URL + `/nothing.tgz \(404\)`, "check"},
		"URL, login":              {"http://canary-other:canary-word@" + locks.host() + "/web-1.0.0.tgz", nil, `fetching chart ` + locks.URL + `/web-1.0.0.tgz: .* \(401 Unauthorized\)`, "--username"},
		"URL, login by flags":     {locks.URL + "/web-1.0.0.tgz", set(func(o *Options) { o.Username, o.Password = "canary-other", "canary-word" }), `.* \(401 Unauthorized\)`, "--username"},
		"redirect to a login":     {moved.URL + "/x.tgz", set(func(o *Options) { o.Username, o.Password = username, password }), `.*: localhost:\d+ refuses access \(401 Unauthorized\)`, "--username"},
		"forbidden":               {refusing.URL + "/x.tgz", nil, `.*: ` + refusing.host() + ` refuses access \(403 Forbidden\)`, "--username"},
		"unavailable":             {busy.URL + "/x.tgz", nil, `.*: ` + busy.host() + ` cannot serve the file \(503 Service Unavailable\)`, "later"},
		"no such host":            {"http://canary-user:canary-pass@nowhere.invalid/x.tgz", nil, `fetching chart http://nowhere.invalid/x.tgz: no such host: nowhere.invalid`, "address"},
		"unknown authority":       {secure.URL + "/web-1.0.0.tgz", nil, `.*: cannot trust ` + secure.host() + `: .*unknown authority`, "--ca-file"},
		"TLS where there is none": {strings.Replace(plain.URL, "http", "https", 1) + "/web-1.0.0.tgz", nil, `.*: ` + plain.host() + ` answers without TLS`, "http://"},
		"client certificate":      {demanding.URL + "/x.tgz", set(func(o *Options) { o.InsecureSkipTLSVerify = true }), `.*: ` + demanding.host() + ` refuses the connection: .*certificate required`, "--cert-file"},
		"no authority file":       {secure.URL + "/x.tgz", set(func(o *Options) { o.CAFile = "nothing.pem" }), `.*: the certificate authority cannot be read: open nothing.pem: .*`, "--ca-file"},
		"empty authority file":    {secure.URL + "/x.tgz", set(func(o *Options) { o.CAFile = written(t, "ca.pem", []byte("canary")) }), `.*ca.pem contains no certificate`, "--ca-file"},
		"no key file":             {secure.URL + "/x.tgz", set(func(o *Options) { o.CertFile, o.KeyFile = "a.pem", "b.pem" }), `.*: the client certificate cannot be used: open a.pem: .*`, "--key-file"},
		"--repo, not there":       {"web", at(plain.URL + "/deeper"), `fetching chart web: the index of the repository cannot be fetched: not found at ` + plain.URL + `/deeper/index.yaml \(404\)`, "check"},
		"--repo, login":           {"web", at("http://canary-other:canary-word@" + locks.host()), `.*index of the repository cannot be fetched: .* \(401 Unauthorized\)`, "--username"},
		"--repo, a page":          {"web", at(page.URL), `fetching chart web: ` + page.URL + `/index.yaml is not the index of a chart repository: .*`, ""},
		"--repo, no such chart":   {"nothing", at(strings.Replace(plain.URL, "://", "://canary-user:canary-pass@", 1)), `fetching chart nothing: the repository ` + plain.URL + ` has no chart nothing`, ""},
		"--repo, version":         {"web", set(func(o *Options) { o.RepoURL, o.Version = plain.URL, "^7" }), `.*: the repository ` + plain.URL + ` has no version of web that matches \^7; it has .*`, ""},
		"--repo, no URL":          {"web", at("http://a b"), `fetching chart web: --repo is not a URL`, ""},
		"--repo, a path":          {"web", at("charts"), `fetching chart web: --repo is not a URL`, ""},
		"login for another host":  {"apart/web", nil, `.*: localhost:\d+ refuses access \(401 Unauthorized\)`, "not sent to localhost"},
		"--repo, login for another host": {"web", set(func(o *Options) { o.RepoURL, o.Username, o.Password = indexes.URL, username, password }),
			`.*: localhost:\d+ refuses access \(401 Unauthorized\)`, "--pass-credentials"},
		"--repo, no authority file": {"web", set(func(o *Options) { o.RepoURL, o.CAFile = secure.URL, "nothing.pem" }),
			`fetching chart web: the certificate authority cannot be read: open nothing.pem: .*`, "--ca-file"},
		"broken list of repositories": {"known/web", set(func(o *Options) { o.RepositoryConfig = written(t, "r.yaml", []byte("canary: canary: canary\n")) }),
			`fetching chart known/web: the list of repositories, .*r.yaml, cannot be read as YAML`, ""},
		"no list of repositories": {"known/web", set(func(o *Options) { o.RepositoryConfig = t.TempDir() }),
			`fetching chart known/web: the list of repositories cannot be read: read .*: is a directory`, ""},
		"list of repositories that is not there": {"known/web", set(func(o *Options) { o.RepositoryConfig += ".not" }), `.*: repo known not found`, "helm repo add"},
		"--repo, a registry":                     {"web", at("oci://127.0.0.1/charts"), `fetching chart web: --repo names a registry, not a chart repository`, "oci://HOST/PATH"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := o
			if tt.change != nil {
				tt.change(&o)
			}
			_, done, err := Chart(context.Background(), tt.ref, o)
			done()
			check(t, err, tt.want, tt.hint)
		})
	}
}

func TestNoVersionNamesAFew(t *testing.T) {
	err := fetcher{ctx: context.Background()}.asError("fetching chart a/b",
		noVersionProblem("repo a", "b", "9", []string{"7.0.0", "6.0.0", "5.0.0", "4.0.0", "3.0.0", "2.0.0", "1.0.0"}, ""))
	check(t, err, `fetching chart a/b: repo a has no version of b that matches 9; it has 7.0.0, 6.0.0, 5.0.0, 4.0.0, 3.0.0 and 2 more`, "")
}
