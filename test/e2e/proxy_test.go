package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// proxy stands between the binary and the API server. It lets get and list
// pass, writes that are only to be tried where a run may do that, refuses all
// else, and keeps the books.
type proxy struct {
	kubeconfig string
	server     *httptest.Server

	mu       sync.Mutex
	mayTry   bool
	requests []string
	tried    []string
	refused  []string
	bytes    int
}

// startProxy serves a cluster on a loopback port of its own and writes a
// kubeconfig for it into dir. The proxy acts as the cluster's administrator.
func startProxy(c *cluster, dir string) (*proxy, error) {
	target, err := url.Parse(c.config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(c.config)
	if err != nil {
		return nil, err
	}
	p := &proxy{kubeconfig: filepath.Join(dir, "proxy.kubeconfig")}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
	}
	p.server = httptest.NewServer(p.guard(forward))
	return p, os.WriteFile(p.kubeconfig, []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: ""}}]
current-context: test
`, p.server.URL)), 0o600)
}

func (p *proxy) close() { p.server.Close() }

// guard counts a request and refuses it unless it only reads, or tries.
func (p *proxy) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.admit(r) {
			http.Error(w, "this proxy lets only reads pass", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(&meter{ResponseWriter: w, proxy: p}, r)
	})
}

// admit decides on a request and writes it down.
func (p *proxy) admit(r *http.Request) bool {
	call, query := r.Method+" "+r.URL.RequestURI(), r.URL.Query()
	watch := query.Get("watch")
	reads := r.Method == http.MethodGet && (watch == "" || watch == "false")
	writes := r.Method == http.MethodPatch || r.Method == http.MethodPost || r.Method == http.MethodPut
	p.mu.Lock()
	defer p.mu.Unlock()
	tries := p.mayTry && writes && slices.Equal(query["dryRun"], []string{"All"})
	p.requests = append(p.requests, call)
	switch {
	case tries:
		p.tried = append(p.tried, call)
	case !reads:
		p.refused = append(p.refused, call)
	}
	return reads || tries
}

// meter counts the bytes of a response's body, compressed as they travel.
type meter struct {
	http.ResponseWriter
	proxy *proxy
}

func (m *meter) Write(b []byte) (int, error) {
	n, err := m.ResponseWriter.Write(b)
	m.proxy.mu.Lock()
	m.proxy.bytes += n
	m.proxy.mu.Unlock()
	return n, err
}

// Unwrap lets the response be flushed.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// traffic is what passed in one run.
type traffic struct {
	requests, tried, refused []string
	bytes                    int
}

// begin starts new books for a run, which may also try writes.
func (p *proxy) begin(mayTry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mayTry, p.requests, p.tried, p.refused, p.bytes = mayTry, nil, nil, nil, 0
}

// take gives the books.
func (p *proxy) take() traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	return traffic{requests: p.requests, tried: p.tried, refused: p.refused, bytes: p.bytes}
}
