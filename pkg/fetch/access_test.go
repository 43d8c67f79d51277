package fetch

import (
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
)

func parsed(t *testing.T, at string) *url.URL {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestWhoSeesCredentials checks what two servers get. The second has another host name: the servers are 127.0.0.1 and
// localhost.
func TestWhoSeesCredentials(t *testing.T) {
	silent(t)
	dir := web(t)
	charts := serve(t, false, http.FileServer(http.Dir(dir)))
	index(t, dir, charts.elsewhere(), nil)
	indexes := serve(t, false, http.FileServer(http.Dir(dir)))
	moved := serve(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, charts.elsewhere()+r.URL.Path, http.StatusFound)
	}))
	login := func(o *Options) { o.Username, o.Password = username, password }
	tests := map[string]struct {
		ref    string
		entry  repo.Entry
		change func(*Options)
		// index and chart are the users that the two servers saw.
		index, chart []string
	}{
		"--repo": {ref: "web", change: func(o *Options) { login(o); o.RepoURL = indexes.URL },
			index: []string{username + " /index.yaml"}, chart: []string{" /web-1.0.0.tgz"}},
		"--repo, --pass-credentials": {ref: "web", change: func(o *Options) { login(o); o.RepoURL, o.PassCredentials = indexes.URL, true },
			index: []string{username + " /index.yaml"}, chart: []string{username + " /web-1.0.0.tgz"}},
		"known repository": {ref: "known/web", entry: repo.Entry{URL: indexes.URL, Username: username, Password: password},
			chart: []string{" /web-1.0.0.tgz"}},
		"known repository that passes them on": {ref: "known/web",
			entry: repo.Entry{URL: indexes.URL, Username: username, Password: password, PassCredentialsAll: true},
			chart: []string{username + " /web-1.0.0.tgz"}},
		"flags for a known repository": {ref: "known/web", entry: repo.Entry{URL: indexes.URL}, change: login, chart: []string{" /web-1.0.0.tgz"}},
		"URL":                          {ref: charts.URL + "/web-1.0.0.tgz", change: login, chart: []string{username + " /web-1.0.0.tgz"}},
		"URL that a repository lists": {ref: charts.elsewhere() + "/web-1.0.0.tgz", entry: repo.Entry{URL: indexes.URL}, change: login,
			chart: []string{" /web-1.0.0.tgz"}},
		"redirect": {ref: moved.URL + "/web-1.0.0.tgz", change: login, chart: []string{" /web-1.0.0.tgz"}},
		"redirect of a URL with a login": {ref: "http://" + username + ":" + password + "@" + moved.host() + "/web-1.0.0.tgz",
			chart: []string{" /web-1.0.0.tgz"}},
		"redirect, --pass-credentials": {ref: moved.URL + "/web-1.0.0.tgz", change: func(o *Options) { login(o); o.PassCredentials = true },
			chart: []string{" /web-1.0.0.tgz"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := settings(t)
			o.Version = "1.0.0"
			if tt.entry.URL != "" {
				tt.entry.Name = "known"
				know(t, o, tt.entry, dir)
			}
			if tt.change != nil {
				tt.change(&o)
			}
			indexesBefore, chartsBefore := len(indexes.seen()), len(charts.seen())
			fetched(t, tt.ref, o)
			if diff := cmp.Diff(tt.index, append([]string(nil), indexes.seen()[indexesBefore:]...)); diff != "" {
				t.Errorf("asked for the index (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.chart, append([]string(nil), charts.seen()[chartsBefore:]...)); diff != "" {
				t.Errorf("asked for the chart (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRegistryLogins logs in by helm registry login's file and by flags, with TLS and without.
func TestRegistryLogins(t *testing.T) {
	silent(t)
	dir := web(t)
	private, open := registryOf(t, false, true, dir), registryOf(t, false, false, dir)
	secure := registryOf(t, true, true, dir)
	o := settings(t)
	client, err := registry.NewClient(registry.ClientOptCredentialsFile(o.RegistryConfig))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Login(private.host(), registry.LoginOptBasicAuth(username, password), registry.LoginOptPlainText(true)); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		server *served
		change func(*Options)
	}{
		"login file":          {private, plainHTTP},
		"flags":               {private, func(o *Options) { o.PlainHTTP, o.RegistryConfig, o.Username, o.Password = true, "", username, password }},
		"no TLS, none wanted": {open, plainHTTP},
		"TLS, own authority":  {secure, func(o *Options) { o.CAFile, o.Username, o.Password = secure.ca(t), username, password }},
		"TLS, unchecked":      {secure, func(o *Options) { o.InsecureSkipTLSVerify, o.Username, o.Password = true, username, password }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := o
			tt.change(&o)
			if got, _ := fetched(t, "oci://"+tt.server.host()+"/charts/web", o); got != "web-2.0.1+build.5.tgz" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestOwnAuthority checks that the certificate authority of a known repository overrides that of the flags.
func TestOwnAuthority(t *testing.T) {
	silent(t)
	dir := web(t)
	s := serve(t, true, locked(http.FileServer(http.Dir(dir))))
	index(t, dir, s.URL, nil)
	known := repo.Entry{Name: "known", URL: s.URL, Username: username, Password: password, CAFile: s.ca(t)}
	o := settings(t)
	know(t, o, known, dir)
	other := serve(t, true, http.NotFoundHandler())
	tests := map[string]struct {
		ref    string
		change func(*Options)
	}{
		"known repository":          {"known/web", func(*Options) {}},
		"known repository, flags":   {"known/web", func(o *Options) { o.CAFile = filepath.Join(t.TempDir(), "not read") }},
		"URL of a known repository": {s.URL + "/web-1.0.0.tgz", func(o *Options) { o.CAFile = other.ca(t) }},
		"--repo":                    {"web", func(o *Options) { o.RepoURL, o.CAFile, o.Username, o.Password = s.URL, s.ca(t), username, password }},
		"--repo, unchecked": {"web", func(o *Options) {
			o.RepoURL, o.InsecureSkipTLSVerify, o.Username, o.Password = s.URL, true, username, password
		}},
		"URL of no known repository": {s.elsewhere() + "/web-1.0.0.tgz", func(o *Options) { o.InsecureSkipTLSVerify, o.Username, o.Password = true, username, password }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := o
			tt.change(&o)
			fetched(t, tt.ref, o)
		})
	}
}

// TestRedirectsAndCredentials checks that a redirect takes credentials to no other scheme, host or port. All servers
// here have the same host, and net/http compares nothing else.
func TestRedirectsAndCredentials(t *testing.T) {
	silent(t)
	dir := web(t)
	files := http.FileServer(http.Dir(dir))
	to := func(base string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, base+"/moved"+r.URL.Path, http.StatusFound)
		})
	}
	plain, secure := serve(t, false, http.StripPrefix("/moved", files)), serve(t, true, http.StripPrefix("/moved", files))
	within := func(secure bool) *served {
		mux := http.NewServeMux()
		mux.Handle("/moved/", http.StripPrefix("/moved", files))
		mux.Handle("/", to(""))
		return serve(t, secure, mux)
	}
	same, sameSecure := within(false), within(true)
	const saw, sawNothing = username + " /moved/web-1.0.0.tgz", " /moved/web-1.0.0.tgz"
	tests := map[string]struct {
		from, to *served
		change   func(*Options)
		want     string
	}{
		"same server":                             {same, same, nil, saw},
		"same server, TLS":                        {sameSecure, sameSecure, nil, saw},
		"other port":                              {serve(t, false, to(plain.URL)), plain, nil, sawNothing},
		"other port, TLS":                         {serve(t, true, to(secure.URL)), secure, nil, sawNothing},
		"other port, --pass-credentials":          {serve(t, false, to(plain.URL)), plain, func(o *Options) { o.PassCredentials = true }, saw},
		"to TLS":                                  {serve(t, false, to(secure.URL)), secure, nil, sawNothing},
		"away from TLS":                           {serve(t, true, to(plain.URL)), plain, nil, sawNothing},
		"away from TLS, --pass-credentials":       {serve(t, true, to(plain.URL)), plain, func(o *Options) { o.PassCredentials = true }, sawNothing},
		"away from TLS and back to another place": {serve(t, true, to(serve(t, false, to(secure.URL)).URL)), secure, nil, " /moved/moved/web-1.0.0.tgz"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := settings(t)
			o.Username, o.Password, o.InsecureSkipTLSVerify = username, password, true
			if tt.change != nil {
				tt.change(&o)
			}
			_, done, err := Chart(t.Context(), tt.from.URL+"/web-1.0.0.tgz", o)
			done()
			if asked := tt.to.seen(); len(asked) == 0 || asked[len(asked)-1] != tt.want {
				t.Errorf("asked %q, want %q last (error %v)", asked, tt.want, err)
			}
		})
	}
}

// TestIndexWithoutTLS checks that --pass-credentials sends credentials to the hosts that an index names, but not
// without TLS if the repository has TLS.
func TestIndexWithoutTLS(t *testing.T) {
	silent(t)
	dir := web(t)
	files := http.FileServer(http.Dir(dir))
	plain, private := serve(t, false, files), serve(t, false, locked(files))
	o := settings(t)
	o.Version, o.Username, o.Password, o.PassCredentials, o.InsecureSkipTLSVerify = "1.0.0", username, password, true, true
	repository := serve(t, true, files)
	o.RepoURL = repository.URL
	index(t, dir, plain.elsewhere(), nil)
	fetched(t, "web", o)
	if diff := cmp.Diff([]string{" /web-1.0.0.tgz"}, plain.seen()); diff != "" {
		t.Errorf("--repo (-want +got):\n%s", diff)
	}
	index(t, dir, private.elsewhere(), nil)
	_, done, err := Chart(t.Context(), "web", o)
	done()
	check(t, err, `fetching chart web: .* refuses access \(401 Unauthorized\)`, "without TLS")

	o.RepoURL, o.Username, o.Password, o.PassCredentials = "", "", "", false
	index(t, dir, plain.elsewhere(), nil)
	know(t, o, repo.Entry{Name: "known", URL: repository.URL, Username: username, Password: password, PassCredentialsAll: true}, dir)
	fetched(t, "known/web", o)
	if asked := plain.seen(); asked[len(asked)-1] != " /web-1.0.0.tgz" {
		t.Errorf("known repository: asked %q", asked)
	}
}
