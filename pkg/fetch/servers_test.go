package fetch

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/helmpath"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
)

// username and password are the credentials of the servers below. No message may contain them.
const (
	username = "canary-user"
	password = "canary-pass"
)

// packaged writes the archive of a small chart and returns its path.
func packaged(t *testing.T, dir, name, version string) string {
	t.Helper()
	path, err := chartutil.Save(&chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: version},
		Templates: []*chart.File{{Name: "templates/map.yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n")}},
	}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// webVersions returns the versions of the chart that all servers have.
func webVersions() []string {
	return []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0-rc.1", "2.0.1+build.5"}
}

// web writes the archives of the chart web into a directory of their own.
func web(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, version := range webVersions() {
		packaged(t, dir, "web", version)
	}
	packaged(t, dir, "young", "0.1.0-alpha.1")
	return dir
}

// served is a server on loopback that records its requests.
type served struct {
	*httptest.Server
	mutex sync.Mutex
	// asked are the paths of the requests, each with its user in front.
	asked []string
}

func serve(t *testing.T, secure bool, handler http.Handler) *served {
	t.Helper()
	s := &served{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		s.mutex.Lock()
		s.asked = append(s.asked, user+" "+r.URL.Path)
		s.mutex.Unlock()
		handler.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// elsewhere returns the URL of the server with another name of its host.
func (s *served) elsewhere() string { return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) }

func (s *served) host() string {
	_, host, _ := strings.Cut(s.URL, "://")
	return host
}

func (s *served) seen() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]string(nil), s.asked...)
}

// ca writes the server's certificate to a file.
func (s *served) ca(t *testing.T) string {
	t.Helper()
	return written(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func written(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// locked grants access only to username.
func locked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != username || p != password {
			http.Error(w, "who are you, "+u+"?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// index writes the index of the archives in dir, with URLs below base, after change has altered it.
func index(t *testing.T, dir, base string, change func(*repo.IndexFile)) {
	t.Helper()
	made, err := repo.IndexDirectory(dir, base)
	if err != nil {
		t.Fatal(err)
	}
	made.SortEntries()
	if change != nil {
		change(made)
	}
	if err := made.WriteFile(filepath.Join(dir, "index.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// settings returns the paths of Helm's files for one user, in a directory of their own.
func settings(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	o := Options{
		RepositoryConfig: filepath.Join(dir, "repositories.yaml"), RepositoryCache: filepath.Join(dir, "cache"),
		RegistryConfig: filepath.Join(dir, "registry.json"),
	}
	if err := os.Mkdir(o.RepositoryCache, 0o700); err != nil {
		t.Fatal(err)
	}
	return o
}

// know does what helm repo add and helm repo update do, with the index of the directory.
func know(t *testing.T, o Options, entry repo.Entry, dir string) {
	t.Helper()
	known, err := repo.LoadFile(o.RepositoryConfig)
	if err != nil {
		known = repo.NewFile()
	}
	known.Update(&entry)
	if err := known.WriteFile(o.RepositoryConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.RepositoryCache, helmpath.CacheIndexFile(entry.Name)), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// registryOf starts a real registry that has the charts of a directory below /charts, for everybody or only for
// username.
func registryOf(t *testing.T, secure, private bool, dir string) *served {
	t.Helper()
	config := &configuration.Configuration{Storage: configuration.Storage{"inmemory": configuration.Parameters{}}}
	logrus.SetOutput(io.Discard) // the registry's log
	config.HTTP.Secret = "of the test"
	if private {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		file := written(t, "htpasswd", []byte(username+":"+string(hash)+"\n"))
		config.Auth = configuration.Auth{"htpasswd": configuration.Parameters{"realm": "test", "path": file}}
	}
	s := serve(t, secure, handlers.NewApp(context.Background(), config))
	options := []registry.ClientOption{registry.ClientOptBasicAuth(username, password), registry.ClientOptCredentialsFile(written(t, "none.json", []byte("{}")))}
	if secure {
		options = append(options, registry.ClientOptHTTPClient(s.Client()))
	} else {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	client, err := registry.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	push(t, client, s.host(), dir)
	return s
}

// push does what helm push does with each archive and its provenance file, if there is one.
func push(t *testing.T, client *registry.Client, host, dir string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range archives {
		data, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(archive), ".tgz"), "-")
		var options []registry.PushOption
		if signature, err := os.ReadFile(archive + ".prov"); err == nil {
			options = append(options, registry.PushOptProvData(signature))
		}
		if _, err := client.Push(data, host+"/charts/"+name+":"+version, options...); err != nil {
			t.Fatal(err)
		}
	}
}

// silent fails the test if anything is written to the process's own streams.
func silent(t *testing.T) {
	t.Helper()
	log.SetOutput(io.Discard)
	file, err := os.Create(filepath.Join(t.TempDir(), "streams"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = file, file
	t.Cleanup(func() {
		os.Stdout, os.Stderr = stdout, stderr
		log.SetOutput(os.Stderr)
		text, err := os.ReadFile(file.Name())
		if err != nil || len(text) > 0 {
			t.Errorf("written to stdout or stderr: %q, %v", text, err)
		}
		_ = file.Close()
	})
}
