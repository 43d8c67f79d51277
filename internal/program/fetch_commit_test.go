package program

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitServer serves a repository over HTTPS as bases.example.com, with the tag v1 and a later commit. It returns the address of the
// repository, and the headers of each request.
func gitServer(t *testing.T, before http.HandlerFunc) (address string) {
	t.Helper()
	root := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = filepath.Join(root, "work")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.Mkdir(filepath.Join(root, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "--quiet", "-b", "main")
	for _, version := range []string{"v1", "v2"} {
		for name, text := range map[string]string{
			"version.txt": version + "\n", "commit.txt": "$Format:%H$\n", ".gitattributes": "*.txt filter=lfs export-ignore export-subst\n",
		} {
			if err := os.WriteFile(filepath.Join(root, "work", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", ".")
		git("commit", "--quiet", "-m", version)
		git("tag", version)
	}
	git("clone", "--quiet", "--bare", ".", filepath.Join(root, "repo.git"))
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: path, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before != nil {
			before(w, r)
		}
		if w.Header().Get("Handled") == "" {
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	// The certificate of httptest is for example.com and its subdomains.
	ca := filepath.Join(root, "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSL_CAINFO", ca)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return "https://bases.example.com:" + u.Port() + "/repo.git"
}

// versionOf returns the file version.txt of an archive.
func versionOf(t *testing.T, archive []byte) string { return textOf(t, archive, "version.txt") }

// textOf returns a file of an archive.
func textOf(t *testing.T, archive []byte, name string) string {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if err != nil {
			t.Fatalf("no %s: %v", name, err)
		}
		if header.Name == name {
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(string(text))
		}
	}
}

// TestFetch fetches commits from a real server of Git. A filter for Git LFS in the user's settings does not run, and the attributes of the
// commit neither leave out files nor change them.
func TestFetch(t *testing.T) {
	address := gitServer(t, nil)
	marker := filepath.Join(t.TempDir(), "ran")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "filter.lfs.smudge")
	t.Setenv("GIT_CONFIG_VALUE_0", "touch "+marker)
	local := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	for ref, want := range map[string]string{"": "v2", "main": "v2", "v1": "v1", "refs/tags/v1": "v1"} {
		archive, err := Remote{URL: address, Ref: ref, Addresses: local}.Fetch(t.Context())
		if err != nil {
			t.Errorf("%q: %v", ref, err)
		} else if got := versionOf(t, archive); got != want {
			t.Errorf("%q is %s, want %s", ref, got, want)
		} else if got := textOf(t, archive, "commit.txt"); got != "$Format:%H$" {
			t.Errorf("%q has the text %q", ref, got)
		}
	}
	for ref, want := range map[string]string{"v3": "couldn't find remote ref v3", "--upload-pack=touch x": "is no branch",
		"a:b": "is no branch"} {
		if _, err := (Remote{URL: address, Ref: ref, Addresses: local}).Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	for _, scheme := range []string{"http", "ssh", "git", "file", "ext"} {
		other := scheme + strings.TrimPrefix(address, "https")
		if _, err := (Remote{URL: other, Addresses: local}).Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "not an address of https") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a filter ran")
	}
}

// TestFetchOwn checks that an address of the user gets the credentials of the user, or those that are given.
func TestFetchOwn(t *testing.T) {
	var given []string
	address := gitServer(t, func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password == "" {
			w.Header().Set("Handled", "yes")
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			w.WriteHeader(http.StatusUnauthorized)
		} else if !slices.Contains(given, password) {
			given = append(given, password)
		}
	})
	home := t.TempDir()
	text := "[credential]\nhelper = \"!echo username=me; echo password=mine; :\"\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	r := Remote{URL: address, Ref: "v1", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, IsOwn: true}
	archive, err := r.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := versionOf(t, archive); got != "v1" {
		t.Error(got)
	}
	r.Username, r.Password = "user", "of-the-source"
	if _, err := r.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"mine", "of-the-source"}; !slices.Equal(given, want) {
		t.Errorf("the server was given %q, want %q", given, want)
	}
}

// TestFetchLoginInURL checks that git gets the login in a URL, but not in its arguments, which the process list shows. An address of
// somebody else gets none.
func TestFetchLoginInURL(t *testing.T) {
	var given []string
	address := gitServer(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); password == "" {
			w.Header().Set("Handled", "yes")
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			w.WriteHeader(http.StatusUnauthorized)
		} else if login := user + ":" + password; !slices.Contains(given, login) {
			given = append(given, login)
		}
	})
	home := t.TempDir()
	text := "[credential]\nhelper = \"!sed -n s/^username=/password=mine-of-/p; :\"\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	local := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	for _, tt := range []struct{ name, login, want string }{
		{"login", "bot:hunter%2F2pass@", "bot:hunter/2pass"}, {"user", "deploy-bot@", "deploy-bot:mine-of-deploy-bot"}, {"foreign", "bot:hunter2pass@", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			t.Setenv("GIT_TRACE", trace)
			given = nil
			r := Remote{URL: strings.Replace(address, "//", "//"+tt.login, 1), Ref: "v1", Addresses: local, IsOwn: tt.want != ""}
			if _, err := r.Fetch(t.Context()); (err == nil) != r.IsOwn {
				t.Error(err)
			}
			if got := strings.Join(given, ", "); got != tt.want {
				t.Errorf("the server was given %q, want %q", got, tt.want)
			}
			arguments, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			user, _, _ := strings.Cut(strings.TrimSuffix(tt.login, "@"), ":")
			if !strings.Contains(string(arguments), address) || strings.Contains(string(arguments), user) {
				t.Errorf("git was called with the login:\n%s", arguments)
			}
		})
	}
	if _, err := (Remote{URL: "https://bot:hunter2%pass@git.example.com/shop.git"}).Fetch(t.Context()); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// TestFetchRedirects checks that another server gets no password that was given for the first one.
func TestFetchRedirects(t *testing.T) {
	var given []string
	other := gitServer(t, func(_ http.ResponseWriter, r *http.Request) { given = append(given, r.Header.Get("Authorization")) })
	address := gitServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Handled", "yes")
		http.Redirect(w, r, strings.Replace(strings.TrimSuffix(other, "/repo.git"), "bases.example.com", "127.0.0.1", 1)+r.URL.RequestURI(), http.StatusFound)
	})
	t.Setenv("GIT_SSL_NO_VERIFY", "1") // each server has a certificate of its own
	r := Remote{URL: address, Ref: "v1", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, IsOwn: true}
	r.Username, r.Password = "user", "of-the-source"
	if _, err := r.Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "302") {
		t.Error(err)
	}
	if strings.Join(given, "") != "" {
		t.Errorf("the other server was given %q", given)
	}
}

// TestFetchGivesNothing checks that a server that asks for credentials gets none, and that a redirect is not followed.
func TestFetchGivesNothing(t *testing.T) {
	var given []string
	redirects := false
	address := gitServer(t, func(w http.ResponseWriter, r *http.Request) {
		given = append(given, r.Header.Get("Authorization"))
		w.Header().Set("Handled", "yes")
		if redirects {
			w.Header().Set("Location", "https://other.example.com"+r.URL.Path)
			w.WriteHeader(http.StatusFound)
			return
		}
		w.Header().Set("WWW-Authenticate", "Basic realm=x")
		w.WriteHeader(http.StatusUnauthorized)
	})
	home := t.TempDir()
	for name, text := range map[string]string{".netrc": "machine bases.example.com login me password mine\n",
		".gitconfig": "[credential]\nhelper = \"!echo username=me; echo password=mine; :\"\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "http.extraHeader")
	t.Setenv("GIT_CONFIG_VALUE_0", "Authorization: Basic mine")
	r := Remote{URL: address, Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	if _, err := r.Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "git fetch ended with exit code 128") {
		t.Error(err)
	}
	redirects = true
	if _, err := r.Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "302") {
		t.Error(err)
	}
	if len(given) < 2 || strings.Join(given, "") != "" {
		t.Errorf("the server was given %q", given)
	}
}
