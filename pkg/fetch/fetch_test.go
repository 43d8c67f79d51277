package fetch

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
)

// fetched returns the name and the bytes of the archive that Chart fetches.
func fetched(t *testing.T, ref string, o Options) (name string, data []byte) {
	t.Helper()
	path, done, err := Chart(context.Background(), ref, o)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path), data
}

// located returns what Helm fetches with the same settings (pkg/action LocateChart).
func located(t *testing.T, ref string, o Options) (name string, data []byte) {
	t.Helper()
	client, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptWriter(io.Discard),
		registry.ClientOptCredentialsFile(o.RegistryConfig), registry.ClientOptBasicAuth(o.Username, o.Password))
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(&action.Configuration{})
	install.SetRegistryClient(client)
	install.Version, install.RepoURL, install.CaFile = o.Version, o.RepoURL, o.CAFile
	install.Username, install.Password, install.PassCredentialsAll, install.PlainHTTP = o.Username, o.Password, o.PassCredentials, o.PlainHTTP
	if o.Version == "" && o.Devel {
		install.Version = ">0.0.0-0" // the command line does it (helm v3.22.0 cmd/helm/upgrade.go)
	}
	settings := cli.New()
	settings.RepositoryConfig, settings.RepositoryCache = o.RepositoryConfig, t.TempDir()
	if err := os.CopyFS(settings.RepositoryCache, os.DirFS(o.RepositoryCache)); err != nil {
		t.Fatal(err)
	}
	path, err := install.LocateChart(ref, settings)
	if err != nil {
		t.Fatalf("helm: %v", err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path), data
}

// TestChartLikeHelm fetches a chart in every possible way, and compares the archive's name and bytes with Helm's.
func TestChartLikeHelm(t *testing.T) {
	silent(t)
	dir := web(t)
	oci := registryOf(t, false, false, dir)
	private := registryOf(t, false, true, dir)
	plain := serve(t, false, http.FileServer(http.Dir(dir)))
	index(t, dir, "", nil)
	locks := serve(t, false, locked(http.FileServer(http.Dir(dir))))
	t.Setenv("HELM_CACHE_HOME", t.TempDir())

	o := settings(t)
	know(t, o, repo.Entry{Name: "relative", URL: plain.URL}, dir)
	know(t, o, repo.Entry{Name: "locked", URL: locks.URL, Username: username, Password: password}, dir)
	toOCI := t.TempDir()
	index(t, dir, "", func(i *repo.IndexFile) {
		for _, v := range i.Entries["web"] {
			v.URLs, v.Digest = []string{"oci://" + oci.host() + "/charts/web:" + v.Version}, "of something else"
		}
	})
	if err := os.Rename(filepath.Join(dir, "index.yaml"), filepath.Join(toOCI, "index.yaml")); err != nil {
		t.Fatal(err)
	}
	know(t, o, repo.Entry{Name: "pointer", URL: plain.URL}, toOCI)
	index(t, dir, locks.URL, nil)
	know(t, o, repo.Entry{Name: "absolute", URL: locks.URL, Username: username, Password: password}, dir)

	tests := map[string]struct {
		ref    string
		change func(*Options)
		want   string
	}{
		"repo/name":                  {"relative/web", nil, "web-2.0.1+build.5.tgz"},
		"repo/name, version":         {"relative/web", func(o *Options) { o.Version = "1.0.0" }, "web-1.0.0.tgz"},
		"repo/name, constraint":      {" relative/web ", func(o *Options) { o.Version = " ^1.0.0 " }, "web-1.1.0.tgz"},
		"repo/name, devel":           {"relative/web", func(o *Options) { o.Devel = true }, "web-2.1.0-rc.1.tgz"},
		"repo/name, devel, version":  {"relative/web", func(o *Options) { o.Devel, o.Version = true, "1" }, "web-1.1.0.tgz"},
		"repo/name, only young":      {"relative/young", func(o *Options) { o.Devel = true }, "young-0.1.0-alpha.1.tgz"},
		"repo/name, with a login":    {"locked/web", nil, "web-2.0.1+build.5.tgz"},
		"repo/name, in a registry":   {"pointer/web", func(o *Options) { o.Version, o.PlainHTTP = "1.1.0", true }, "web-1.1.0.tgz"},
		"--repo":                     {"web", func(o *Options) { o.RepoURL = plain.URL }, "web-2.0.1+build.5.tgz"},
		"--repo, version":            {"web", func(o *Options) { o.RepoURL, o.Version = plain.URL+"/", "1.1.0" }, "web-1.1.0.tgz"},
		"--repo, devel":              {"web", func(o *Options) { o.RepoURL, o.Devel = plain.URL, true }, "web-2.1.0-rc.1.tgz"},
		"--repo, login":              {"web", func(o *Options) { o.RepoURL, o.Username, o.Password = locks.URL, username, password }, "web-2.0.1+build.5.tgz"},
		"URL":                        {plain.URL + "/web-1.0.0.tgz", nil, "web-1.0.0.tgz"},
		"URL, login in it":           {strings.Replace(locks.URL, "://", "://"+username+":"+password+"@", 1) + "/web-2.0.0.tgz", nil, "web-2.0.0.tgz"},
		"URL, login of its own":      {locks.URL + "/web-1.0.0.tgz", nil, "web-1.0.0.tgz"},
		"URL, login by flags":        {locks.URL + "/./web-1.0.0.tgz", func(o *Options) { o.Username, o.Password = username, password }, "web-1.0.0.tgz"},
		"registry, latest":           {"oci://" + oci.host() + "/charts/web", plainHTTP, "web-2.0.1+build.5.tgz"},
		"registry, version":          {"oci://" + oci.host() + "/charts/web", versioned("1.1.0"), "web-1.1.0.tgz"},
		"registry, plus":             {"oci://" + oci.host() + "/charts/web", versioned("2.0.1+build.5"), "web-2.0.1+build.5.tgz"},
		"registry, tag":              {"oci://" + oci.host() + "/charts/web:1.0.0", plainHTTP, "web-1.0.0.tgz"},
		"registry, tag and version":  {"oci://" + oci.host() + "/charts/web:1.0.0", versioned("1.0.0"), "web-1.0.0.tgz"},
		"registry, constraint":       {"oci://" + oci.host() + "/charts/web", versioned("<2.0.0"), "web-1.1.0.tgz"},
		"registry, devel":            {"oci://" + oci.host() + "/charts/web", func(o *Options) { o.Devel, o.PlainHTTP = true, true }, "web-2.1.0-rc.1.tgz"},
		"registry, login":            {"oci://" + private.host() + "/charts/web", func(o *Options) { o.PlainHTTP, o.Username, o.Password = true, username, password }, "web-2.0.1+build.5.tgz"},
		"registry, digest":           {"oci://" + oci.host() + "/charts/web@" + digestOf(t, oci, "1.1.0"), plainHTTP, ""},
		"registry, digest + version": {"oci://" + oci.host() + "/charts/web@" + digestOf(t, oci, "1.1.0"), versioned("1.1.0"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := o
			if tt.change != nil {
				tt.change(&o)
			}
			wantName, wantData := located(t, tt.ref, o)
			gotName, gotData := fetched(t, tt.ref, o)
			if gotName != wantName || tt.want != "" && gotName != tt.want {
				t.Errorf("got %s, helm has %s, want %s", gotName, wantName, tt.want)
			}
			if string(gotData) != string(wantData) {
				t.Error("the archive differs from Helm's")
			}
		})
	}
}

func plainHTTP(o *Options) { o.PlainHTTP = true }

func versioned(version string) func(*Options) {
	return func(o *Options) { o.PlainHTTP, o.Version = true, version }
}

// digestOf returns the digest of a manifest in a registry.
func digestOf(t *testing.T, s *served, version string) string {
	t.Helper()
	client, err := registry.NewClient(registry.ClientOptPlainHTTP())
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := client.Resolve(s.host() + "/charts/web:" + version)
	if err != nil {
		t.Fatal(err)
	}
	return descriptor.Digest.String()
}

func TestLocalCharts(t *testing.T) {
	silent(t)
	dir := t.TempDir()
	t.Chdir(dir)
	archive := packaged(t, dir, "web", "1.0.0")
	if err := os.Mkdir("chart", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"chart", "./chart", filepath.Join(dir, "chart"), "web-1.0.0.tgz", archive, " chart "} {
		// A path wins over a repository, as in Helm.
		path, done, err := Chart(context.Background(), ref, Options{RepoURL: "http://127.0.0.1:1", Version: "9"})
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		done()
		if want, _ := filepath.Abs(strings.TrimSpace(ref)); path != want || !IsLocal(ref) {
			t.Errorf("%q: path %s, want %s", ref, path, want)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("done removed the local chart: %v", err)
		}
	}
	if IsLocal("nothing") {
		t.Error("a missing file counts as local")
	}
}

// TestOnlyOneDirectoryIsWritten checks that the temporary directory is private and removed by done, and that nothing
// else is written.
func TestOnlyOneDirectoryIsWritten(t *testing.T) {
	silent(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("HELM_CACHE_HOME", t.TempDir())
	dir := web(t)
	s := serve(t, false, http.FileServer(http.Dir(dir)))
	index(t, dir, s.URL, nil)
	o := settings(t)
	know(t, o, repo.Entry{Name: "known", URL: s.URL}, dir)
	before := tree(t, filepath.Dir(o.RepositoryCache))
	for _, ref := range []string{"known/web", s.URL + "/web-1.0.0.tgz", "web"} {
		o.RepoURL = ""
		if ref == "web" {
			o.RepoURL = s.URL
		}
		path, done, err := Chart(context.Background(), ref, o)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Dir(path))
		if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(filepath.Dir(path)) != temp {
			t.Errorf("directory %v, %v", info, err)
		}
		done()
		if left := tree(t, temp); len(left) > 1 {
			t.Errorf("left behind: %v", left)
		}
	}
	if diff := cmp.Diff(before, tree(t, filepath.Dir(o.RepositoryCache))); diff != "" {
		t.Errorf("Helm's files changed (-before +after):\n%s", diff)
	}
	if left := tree(t, os.Getenv("HELM_CACHE_HOME")); len(left) > 1 {
		t.Errorf("Helm's cache holds %v", left)
	}
	if _, _, err := Chart(context.Background(), s.URL+"/nothing.tgz", o); err == nil || len(tree(t, temp)) > 1 {
		t.Errorf("error %v, left behind: %v", err, tree(t, temp))
	}
}

func tree(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestFileName(t *testing.T) {
	for at, want := range map[string]string{
		"https://h/a/web-1.0.0.tgz?token=x": "web-1.0.0.tgz", "https://h/": "chart.tgz", "https://h/a/..": "chart.tgz",
		"https://h/a%2F..%2Fb": "b", `https://h/a\b`: "chart.tgz", "oci://h/a/web:1.0.0": "web-1.0.0.tgz",
		"oci://h/a/web@sha256:abc": "web@sha256-abc.tgz", "https://h/c:web.tgz": "chart.tgz",
	} {
		if got := (source{url: parsed(t, at)}).fileName(); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}
