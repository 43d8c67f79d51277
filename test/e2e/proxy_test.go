package e2e

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// proxy is between the binary and the API server. It lets get and list pass, and those writes that a run may send; it refuses everything
// else, and records all requests.
type proxy struct {
	kubeconfig string
	server     *httptest.Server

	mu        sync.Mutex
	permitted permission
	// denied says which requests the API server answers as for a user without any right. It is nil for none.
	denied func(*http.Request) bool
	traffic
}

// permission is what a run may do in addition to reading.
type permission int

// These are the permissions: only reads; writes that are only tried (dryRun=All); patches and creations of anything except the records of
// a release.
const (
	permitReads permission = iota
	permitDryRuns
	permitWrites
)

// startProxy serves a cluster on a loopback port and writes a kubeconfig for it into dir. The proxy acts as the cluster's administrator.
func startProxy(c *cluster, dir string) (*proxy, error) {
	p := &proxy{kubeconfig: filepath.Join(dir, "proxy.kubeconfig")}
	var err error
	p.server, err = harness.StartProxy(c.Config, p.kubeconfig, p.guard)
	return p, err
}

func (p *proxy) close() { p.server.Close() }

// guard records a request and refuses it unless it is permitted.
func (p *proxy) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.permits(r) {
			http.Error(w, "this proxy does not permit the request", http.StatusMethodNotAllowed)
			return
		}
		if p.denies(r) {
			serveDenied(w, r, next)
			return
		}
		next.ServeHTTP(&byteCounter{ResponseWriter: w, proxy: p}, r)
	})
}

// permits decides on a request and records it.
func (p *proxy) permits(r *http.Request) bool {
	call, query := r.Method+" "+r.URL.RequestURI(), r.URL.Query()
	watch := query.Get("watch")
	reads := r.Method == http.MethodGet && (watch == "" || watch == "false")
	writes := r.Method == http.MethodPatch || r.Method == http.MethodPost
	tries := (writes || r.Method == http.MethodPut) && slices.Equal(query["dryRun"], []string{"All"})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, call)
	switch {
	case reads:
		return true
	case tries && p.permitted >= permitDryRuns:
		p.dryRuns = append(p.dryRuns, call)
		return true
	case writes && p.permitted == permitWrites && !strings.Contains(call, "sh.helm.release"):
		p.written = append(p.written, call)
		return true
	}
	p.refused = append(p.refused, call)
	return false
}

// byteCounter counts the bytes of a response's body as they are sent, compressed.
type byteCounter struct {
	http.ResponseWriter
	proxy *proxy
}

func (m *byteCounter) Write(b []byte) (int, error) {
	n, err := m.ResponseWriter.Write(b)
	m.proxy.mu.Lock()
	m.proxy.bytes += n
	m.proxy.mu.Unlock()
	return n, err
}

// Unwrap allows the response to be flushed.
func (m *byteCounter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// traffic is what passed the proxy in one run.
type traffic struct {
	requests, dryRuns, written, refused []string
	bytes                               int
}

// reset sets the permission of the next run and clears the records.
func (p *proxy) reset(may permission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.permitted, p.traffic = may, traffic{}
}

// recorded returns the requests since the last reset.
func (p *proxy) recorded() traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.traffic
}
