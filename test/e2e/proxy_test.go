package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/client-go/rest"
)

// proxy stands between the binary and the API server. It lets get and list
// pass, refuses all else, and keeps the books.
type proxy struct {
	kubeconfig string
	server     *httptest.Server

	mu       sync.Mutex
	requests []string
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

// guard counts a request and refuses it unless it only reads.
func (p *proxy) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := r.Method + " " + r.URL.RequestURI()
		watch := r.URL.Query().Get("watch")
		reads := r.Method == http.MethodGet && (watch == "" || watch == "false")
		p.mu.Lock()
		p.requests = append(p.requests, call)
		if !reads {
			p.refused = append(p.refused, call)
		}
		p.mu.Unlock()
		if !reads {
			http.Error(w, "this proxy lets only reads pass", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(&meter{ResponseWriter: w, proxy: p}, r)
	})
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

// traffic is what passed since the last call.
type traffic struct {
	requests, refused []string
	bytes             int
}

func (p *proxy) take() traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := traffic{requests: p.requests, refused: p.refused, bytes: p.bytes}
	p.requests, p.refused, p.bytes = nil, nil, 0
	return t
}
