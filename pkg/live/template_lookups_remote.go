package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
)

// A chart may be rendered in a child process, which has no credentials. The child then asks its parent for every answer of
// the cluster: RemoteLookups is the child's side, Cluster.Lookups the parent's side, which has the connection.

// LookupRequest is one GET: the path with its query, and the accepted media types.
type LookupRequest struct{ Path, Accept string }

// LookupAnswer is the server's answer.
type LookupAnswer struct {
	Status string
	Code   int
	Header http.Header
	Body   []byte
}

// SavedAnswer returns an answer that was saved. Its readers need only the one header.
func SavedAnswer(code int, status, contentType string, body []byte) LookupAnswer {
	return LookupAnswer{Status: status, Code: code, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// Lookups returns the parent's side for this cluster: a function that sends requests through a config of [Lookups], and the address of the
// server for messages.
func (c *Cluster) Lookups(
	learn ...func(secret map[string]any),
) (server string, send func(context.Context, LookupRequest) (LookupAnswer, error), err error) {
	cfg := Lookups(c.config, c.options, learn...)
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return "", nil, err
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		return "", nil, err
	}
	return base.String(), func(ctx context.Context, q LookupRequest) (LookupAnswer, error) {
		target, err := url.ParseRequestURI(q.Path)
		if err != nil || target.Host != "" {
			return LookupAnswer{}, errors.New("a lookup may only name a path of the API server")
		}
		target.Scheme, target.Host = base.Scheme, base.Host
		if cfg.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, cfg.Timeout)
			defer cancel()
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
		if err != nil {
			return LookupAnswer{}, err
		}
		req.Header.Set("Accept", q.Accept)
		// A client would follow redirects. The child does that itself, and refuses other hosts.
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return LookupAnswer{}, err
		}
		defer resp.Body.Close() //nolint:errcheck // the body was read to its end, or reading it failed
		body, err := io.ReadAll(resp.Body)
		return LookupAnswer{Status: resp.Status, Code: resp.StatusCode, Header: resp.Header, Body: body}, err
	}, nil
}

// RemoteLookups returns a config whose requests go through ask. It holds no credentials. The Secrets among the
// answers are passed to each of learn.
func RemoteLookups(server string, ask func(LookupRequest) (LookupAnswer, error), learn ...func(secret map[string]any)) *rest.Config {
	// QPS -1 means no limit: the process that sends the requests has one.
	return &rest.Config{Host: server, QPS: -1, WarningHandler: rest.NoWarnings{}, Transport: lookupTransport{server, ask, learn}}
}

// lookupTransport is the transport of RemoteLookups.
type lookupTransport struct {
	server string
	ask    func(LookupRequest) (LookupAnswer, error)
	learn  []func(secret map[string]any)
}

// RoundTrip asks for an answer. It refuses everything but reads of the one server.
func (r lookupTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // a transport must always close it
	}
	if req.Method != http.MethodGet {
		return nil, writeRefused(req)
	}
	if base, err := url.Parse(r.server); err != nil || base.Scheme != req.URL.Scheme || base.Host != req.URL.Host {
		return nil, fmt.Errorf("the templates of a chart may only read their own cluster: %s is refused", req.URL.Host)
	}
	a, err := r.ask(LookupRequest{Path: req.URL.RequestURI(), Accept: req.Header.Get("Accept")})
	if err != nil {
		return nil, err
	}
	learnSecrets(a.Body, r.learn)
	return a.response(req), nil
}
