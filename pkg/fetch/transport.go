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
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/registry"
)

// get fetches a file with the request that Helm sends to repositories (helm v3.22.0 pkg/getter/httpgetter.go get).
func (s source) get(which, accept string) ([]byte, error) {
	f, login := s.fetcher, s.access
	config, err := login.tlsConfig()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodGet, s.url.String()+which, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "Helm/"+strings.TrimPrefix(chartutil.DefaultCapabilities.HelmVersion.Version, "v"))
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	if login.username != "" && login.password != "" && !login.withholds(s.url) {
		request.SetBasicAuth(login.username, login.password)
	}
	next := f.transport(config)
	next.DisableCompression = true
	client := http.Client{Transport: &boundTransport{ctx: f.ctx, passAll: login.passAll, limit: f.maxAnswer(), next: next}}
	return readAnswer(client.Do(request))
}

// readAnswer reads the answer to a request. An answer that is not 200 is an error.
func readAnswer(response *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, statusError{response.StatusCode, response.Request.URL}
	}
	return io.ReadAll(response.Body)
}

// connect creates the client that Helm's command line creates (cmd/helm/root.go newRegistryClient), bound to the
// context and without output.
func (s *source) connect() error {
	f, login := s.fetcher, s.access
	config, err := login.tlsConfig()
	if err != nil {
		return err
	}
	next := http.RoundTripper(f.transport(config))
	if config == nil && f.Refuse == nil {
		// This is Helm 3's own transport without its fallback to plain HTTP, which anybody on the network path can cause, and
		// which Helm 4 has removed (helm v3.22.0 pkg/registry/fallback.go).
		next = registry.NewTransport(false)
	}
	options := []registry.ClientOption{
		registry.ClientOptEnableCache(true),
		registry.ClientOptWriter(io.Discard),
		registry.ClientOptCredentialsFile(f.RegistryConfig),
		registry.ClientOptBasicAuth(login.username, login.password),
		registry.ClientOptHTTPClient(&http.Client{Transport: &boundTransport{ctx: f.ctx, limit: f.maxAnswer(), next: next}}),
	}
	if f.PlainHTTP {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	if s.client, err = registry.NewClient(options...); err != nil {
		return problem{message: "the registry logins cannot be read", err: err}
	}
	return nil
}

// tlsConfig returns nil if no flag asks for anything special (internal/tlsutil/tls.go).
func (a access) tlsConfig() (*tls.Config, error) {
	pair := a.certFile != "" && a.keyFile != ""
	if !pair && a.caFile == "" && !a.insecure {
		return nil, nil
	}
	config := &tls.Config{InsecureSkipVerify: a.insecure}
	if pair {
		certificate, err := tls.LoadX509KeyPair(a.certFile, a.keyFile)
		if err != nil {
			return nil, problem{message: "the client certificate cannot be used", err: err, hint: "check --cert-file and --key-file"}
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	if a.caFile != "" {
		text, err := os.ReadFile(a.caFile)
		if err != nil {
			return nil, problem{message: "the certificate authority cannot be read", err: err, hint: "check --ca-file"}
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, problem{message: a.caFile + " contains no certificate", hint: "check --ca-file"}
		}
	}
	return config, nil
}

// boundTransport ends every request with a context, and every answer at a length that no chart and no index reaches.
// It does not send credentials to another server after a redirect.
type boundTransport struct {
	ctx   context.Context
	next  http.RoundTripper
	limit int64
	// passAll lets credentials follow redirects as far as net/http allows, which is to the same host and its subdomains.
	passAll bool
}

// LargestAnswer is the default bound of an answer's length in bytes.
const LargestAnswer = 128 << 20

// maxAnswer returns the length that an answer may have.
func (f fetcher) maxAnswer() int64 {
	if f.MaxAnswer > 0 {
		return min(f.MaxAnswer, LargestAnswer)
	}
	return LargestAnswer
}

// tooLong returns the error of an answer that exceeds its bound.
func tooLong(most int64) error { return fmt.Errorf("the answer is longer than %d MiB", most>>20) }

// RoundTrip sends one request.
func (b *boundTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(b.ctx, cancel)
	request = request.Clone(ctx)
	if !b.keepsCredentials(request) {
		request.Header.Del("Authorization")
	}
	response, err := b.next.RoundTrip(request)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, most: b.limit, left: b.limit, release: func() { stop(); cancel() }}
	return response, nil
}

// keepsCredentials reports whether a request may have the credentials that net/http left in it. After a redirect, only the same server gets
// them, that is the same scheme, host and port; net/http looks only at the host (go1.26 net/http client.go shouldCopyHeaderOnRedirect).
func (b *boundTransport) keepsCredentials(request *http.Request) bool {
	first := request
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	return sameHost(first.URL, request.URL) || b.passAll && !downgrades(first.URL, request.URL)
}

// downgrades reports whether a redirect from one URL to another loses TLS.
func downgrades(from, to *url.URL) bool { return from.Scheme == "https" && to.Scheme == "http" }

// statusError is an answer that refuses the request.
type statusError struct {
	status int
	url    *url.URL
}

// Error names the file without credentials.
func (e statusError) Error() string {
	return fmt.Sprintf("%d %s from %s", e.status, http.StatusText(e.status), WithoutLogin(e.url.String()))
}

// body is an answer with a bounded length.
type body struct {
	io.ReadCloser
	most, left int64
	release    func()
}

// Read fails once the answer is too long.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLong(b.most)
	}
	return n, err
}

// Close releases the context.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
