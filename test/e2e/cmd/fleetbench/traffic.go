package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// traffic counts what passes a proxy.
type traffic struct {
	// requests are all requests, and records are the requests for one record of Helm.
	requests, records int
	// bytes are the bytes of the answers, compressed as the server sends them.
	bytes int
}

// counter is a proxy that counts.
type counter struct {
	runner runner
	config *rest.Config
	close  func()

	mu   sync.Mutex
	seen traffic
}

// startCounter starts a proxy for the cluster of config.
func startCounter(config *rest.Config, r runner) (*counter, error) {
	c := &counter{runner: r}
	c.runner.kubeconfig = filepath.Join(r.dir, "proxy.kubeconfig")
	server, err := harness.StartProxy(config, c.runner.kubeconfig, c.count)
	if err != nil {
		return nil, err
	}
	c.close = server.Close
	c.config, err = clientcmd.BuildConfigFromFlags("", c.runner.kubeconfig)
	return c, err
}

// count counts each request and the bytes of its answer.
func (c *counter) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := traffic{requests: 1}
		if strings.Contains(r.URL.Path, "/secrets/sh.helm.release.") {
			one.records = 1
		}
		c.add(one)
		next.ServeHTTP(countingWriter{w, c}, r)
	})
}

func (c *counter) add(more traffic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.requests += more.requests
	c.seen.records += more.records
	c.seen.bytes += more.bytes
}

// take returns what has passed since the last call.
func (c *counter) take() traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = traffic{}
	return seen
}

// countingWriter counts the bytes of an answer.
type countingWriter struct {
	http.ResponseWriter
	counter *counter
}

func (w countingWriter) Write(text []byte) (int, error) {
	n, err := w.ResponseWriter.Write(text)
	w.counter.add(traffic{bytes: n})
	return n, err
}

// Unwrap allows the proxy to flush.
func (w countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
