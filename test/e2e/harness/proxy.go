package harness

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"

	"k8s.io/client-go/rest"
)

// StartProxy serves a cluster on a loopback port, and writes a kubeconfig for it. The proxy has the rights of config, whoever calls it.
// Requests pass through the handler that wrap returns.
func StartProxy(config *rest.Config, kubeconfig string, wrap func(next http.Handler) http.Handler) (*httptest.Server, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(wrap(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
	}))
	return server, os.WriteFile(kubeconfig, []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: ""}}]
current-context: test
`, server.URL)), 0o600)
}
