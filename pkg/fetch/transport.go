package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"

	"helm.sh/helm/v3/pkg/registry"
)

// httpTransport is what Helm's getter for repositories uses (helm v3.22.0 pkg/getter/httpgetter.go), bound to the context.
// The getter insists on an *http.Transport, so ours stands behind one that passes everything on.
func (f fetcher) httpTransport(login access) (*http.Transport, error) {
	config, err := login.tlsConfig()
	if err != nil {
		return nil, err
	}
	inner := &bound{ctx: f.ctx, faults: true, next: &http.Transport{
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
		s.fallback = &fallback{next: registry.NewTransport(false)}
		next = s.fallback
	}
	options := []registry.ClientOption{
		registry.ClientOptEnableCache(true),
		registry.ClientOptWriter(io.Discard),
		registry.ClientOptCredentialsFile(f.RegistryConfig),
		registry.ClientOptBasicAuth(login.username, login.password),
		registry.ClientOptHTTPClient(&http.Client{Transport: &bound{ctx: f.ctx, next: next}}),
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

// bound ends every request with a context, and every answer at a length that no chart and no index comes near.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
	// faults makes errors of the answers that are some, so that their status can be told. A registry needs the answer itself.
	faults bool
}

const longest = 128 << 20

var errTooLong = errors.New("the answer is longer than 128 MiB")

// RoundTrip sends one request.
func (b *bound) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(b.ctx, cancel)
	response, err := b.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, left: longest, release: func() { stop(); cancel() }}
	if b.faults && response.StatusCode >= http.StatusBadRequest {
		_ = response.Body.Close()
		return nil, statusError{response.StatusCode, request.URL}
	}
	return response, nil
}

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
	left    int64
	release func()
}

// Read fails where the answer is too long.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// Close lets go of the context.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// fallback goes on without TLS where a registry turns out to speak none (pkg/registry/fallback.go, which cannot be put around a
// transport of ours). The client sends no credentials that way.
type fallback struct {
	next  http.RoundTripper
	plain atomic.Bool
}

// RoundTrip tries TLS first.
func (f *fallback) RoundTrip(request *http.Request) (*http.Response, error) {
	if f.plain.Load() {
		return f.next.RoundTrip(withoutTLS(request))
	}
	response, err := f.next.RoundTrip(request)
	var record tls.RecordHeaderError
	if request.URL.Scheme != "https" || !errors.As(err, &record) || string(record.RecordHeader[:]) != "HTTP/" {
		return response, err
	}
	f.plain.Store(true)
	return f.next.RoundTrip(withoutTLS(request))
}

func withoutTLS(request *http.Request) *http.Request {
	plain := request.Clone(request.Context())
	plain.URL.Scheme = "http"
	return plain
}
