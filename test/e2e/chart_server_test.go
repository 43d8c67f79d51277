package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory" // stores the images
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/provenance"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
)

// chartServer serves the chart of testdata/charts/web on loopback: as oci://HOST/charts/web, and from a repository with an index at
// URL/repo.
type chartServer struct {
	*httptest.Server
	// dir contains the files of the repository.
	dir string

	mu sync.Mutex
	// fault wraps the handler; nil if there is none.
	fault sourceFault
}

// sourceFault changes how a server answers.
type sourceFault func(http.Handler) http.Handler

// startChartServer starts a server and publishes the chart.
func startChartServer(t *testing.T) *chartServer {
	t.Helper()
	config := &configuration.Configuration{Storage: configuration.Storage{"inmemory": {}}}
	config.Log.Level, config.Log.AccessLog.Disabled = "fatal", true
	s := &chartServer{dir: t.TempDir()}
	all := http.NewServeMux()
	all.Handle("/v2/", handlers.NewApp(context.Background(), config))
	all.Handle("/repo/", http.StripPrefix("/repo/", http.FileServer(http.Dir(s.dir))))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		first := s.fault
		s.mu.Unlock()
		if first == nil {
			all.ServeHTTP(w, r)
			return
		}
		first(all).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	s.publish(t)
	return s
}

// withFault calls do while the server has a fault.
func (s *chartServer) withFault(t sourceFault, do func()) {
	set := func(to sourceFault) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fault = to
	}
	set(t)
	defer set(nil)
	do()
}

// publish packages the chart, pushes it and writes the index.
func (s *chartServer) publish(t *testing.T) {
	t.Helper()
	chart, err := loader.Load(filepath.Join("testdata", "charts", "web"))
	must(t, err)
	packed, err := chartutil.Save(chart, s.dir)
	must(t, err)
	digest, err := provenance.DigestFile(packed)
	must(t, err)
	index := repo.NewIndexFile()
	must(t, index.MustAdd(chart.Metadata, filepath.Base(packed), s.URL+"/repo", digest))
	must(t, index.WriteFile(filepath.Join(s.dir, "index.yaml"), 0o644))
	client, err := registry.NewClient(registry.ClientOptPlainHTTP())
	must(t, err)
	text, err := os.ReadFile(packed)
	must(t, err)
	_, err = client.Push(text, s.image()+":"+chart.Metadata.Version)
	must(t, err)
}

// image returns the name of the chart in the registry, without a tag.
func (s *chartServer) image() string { return strings.TrimPrefix(s.URL, "http://") + "/charts/web" }

// onPath is a fault of the paths that contain a text.
func onPath(path string, wrong http.HandlerFunc) sourceFault {
	return func(right http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, path) {
				wrong(w, r)
				return
			}
			right.ServeHTTP(w, r)
		})
	}
}

func respondWith(status int, path string) sourceFault {
	return onPath(path, func(w http.ResponseWriter, _ *http.Request) {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="shop"`)
		}
		http.Error(w, http.StatusText(status), status)
	})
}

// neverRespond makes the client wait until it gives up.
func neverRespond(path string) sourceFault {
	return onPath(path, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// corruptBlobs changes the content of images in transit, so that their digests are wrong.
func corruptBlobs(right http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			w = corruptingWriter{w}
		}
		right.ServeHTTP(w, r)
	})
}

type corruptingWriter struct{ http.ResponseWriter }

// Write writes other bytes of the same number.
func (l corruptingWriter) Write(b []byte) (int, error) {
	return l.ResponseWriter.Write([]byte(strings.Repeat("x", len(b))))
}
