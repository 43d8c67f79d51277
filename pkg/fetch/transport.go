package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"helm.sh/helm/v3/pkg/registry"
)

// httpTransport is what Helm's getter for repositories uses (helm v3.22.0 pkg/getter/httpgetter.go), bound to the context.
// The getter insists on an *http.Transport, so ours stands behind one that passes everything on.
func (f fetcher) httpTransport(login access) (*http.Transport, error) {
	config, err := login.tlsConfig()
	if err != nil {
		return nil, err
	}
	inner := &bound{ctx: f.ctx, faults: true, everywhere: login.everywhere, longest: f.longest(), next: &http.Transport{
		DisableCompression: true, Proxy: http.ProxyFromEnvironment, TLSClientConfig: config,
	}}
	// The empty map keeps the outer transport from registering HTTP/2 in our place.
	outer := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	outer.RegisterProtocol("http", inner)
	outer.RegisterProtocol("https", inner)
	return outer, nil
}

// connect makes the client that Helm's command line makes (cmd/helm/root.go newRegistryClient), bound to the context, and
// silent.
func (s *source) connect() error {
	f, login := s.fetcher, s.access
	config, err := login.tlsConfig()
	if err != nil {
		return err
	}
	next := http.RoundTripper(&http.Transport{TLSClientConfig: config, Proxy: http.ProxyFromEnvironment})
	if config == nil {
		// Helm 3's own transport, without its fallback to plain HTTP, which anybody on the way can bring about, and which Helm 4
		// has no more (helm v3.22.0 pkg/registry/fallback.go).
		next = registry.NewTransport(false)
	}
	options := []registry.ClientOption{
		registry.ClientOptEnableCache(true),
		registry.ClientOptWriter(io.Discard),
		registry.ClientOptCredentialsFile(f.RegistryConfig),
		registry.ClientOptBasicAuth(login.username, login.password),
		registry.ClientOptHTTPClient(&http.Client{Transport: &bound{ctx: f.ctx, longest: f.longest(), next: next}}),
	}
	if f.PlainHTTP {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	if s.client, err = registry.NewClient(options...); err != nil {
		return problem{what: "the logins of registries cannot be read", err: err}
	}
	return nil
}

// tlsConfig is nil where nothing special is wanted (internal/tlsutil/tls.go).
func (a access) tlsConfig() (*tls.Config, error) {
	pair := a.certFile != "" && a.keyFile != ""
	if !pair && a.caFile == "" && !a.insecure {
		return nil, nil
	}
	config := &tls.Config{InsecureSkipVerify: a.insecure}
	if pair {
		certificate, err := tls.LoadX509KeyPair(a.certFile, a.keyFile)
		if err != nil {
			return nil, problem{what: "the client certificate cannot be used", err: err, hint: "look at --cert-file and --key-file"}
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	if a.caFile != "" {
		text, err := os.ReadFile(a.caFile)
		if err != nil {
			return nil, problem{what: "the certificate authority cannot be read", err: err, hint: "look at --ca-file"}
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, problem{what: a.caFile + " holds no certificate", hint: "look at --ca-file"}
		}
	}
	return config, nil
}

// bound ends every request with a context, and every answer at a length that no chart and no index comes near. It keeps
// credentials from going where a redirect leads.
type bound struct {
	ctx     context.Context
	next    http.RoundTripper
	longest int64
	// everywhere lets credentials follow redirects as far as net/http lets them, which is to the same host and those below it.
	everywhere bool
	// faults makes errors of the answers that are some, so that their status can be told. A registry needs the answer itself.
	faults bool
}

// longest is the length that an answer may have where Options do not say less.
const longest = 128 << 20

// longest is the length that an answer may have.
func (f fetcher) longest() int64 {
	if f.MaxAnswer > 0 {
		return min(f.MaxAnswer, longest)
	}
	return longest
}

// tooLong is an answer that is longer than that.
type tooLong struct{ most int64 }

// Error names the length.
func (e tooLong) Error() string { return fmt.Sprintf("the answer is longer than %d MiB", e.most>>20) }

// RoundTrip sends one request.
func (b *bound) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(b.ctx, cancel)
	request = request.Clone(ctx)
	if !b.mayTell(request) {
		request.Header.Del("Authorization")
	}
	response, err := b.next.RoundTrip(request)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, most: b.longest, left: b.longest, release: func() { stop(); cancel() }}
	if b.faults && response.StatusCode >= http.StatusBadRequest {
		_ = response.Body.Close()
		return nil, statusError{response.StatusCode, request.URL}
	}
	return response, nil
}

// mayTell reports whether a request may have the credentials that net/http left in it. A redirect takes them to the same server only,
// which is a scheme, a host and a port; net/http looks at the host alone (go1.26 net/http client.go shouldCopyHeaderOnRedirect).
func (b *bound) mayTell(request *http.Request) bool {
	first := request
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	return sameHost(first.URL, request.URL) || b.everywhere && !downgrades(first.URL, request.URL)
}

// downgrades reports whether the way from one URL to another loses TLS.
func downgrades(from, to *url.URL) bool { return from.Scheme == "https" && to.Scheme == "http" }

// statusError is an answer that is a refusal.
type statusError struct {
	status int
	url    *url.URL
}

// Error names the file, without credentials.
func (e statusError) Error() string {
	return fmt.Sprintf("%d %s from %s", e.status, http.StatusText(e.status), shown(e.url.String()))
}

// body is an answer that ends.
type body struct {
	io.ReadCloser
	most, left int64
	release    func()
}

// Read fails where the answer is too long.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLong{b.most}
	}
	return n, err
}

// Close lets go of the context.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
