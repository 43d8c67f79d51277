package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// A chart may be rendered in another process, which has no credentials. It then asks this one for every answer of the cluster:
// Remote is the side of that process, Local the side that has the connection.

// LookupRequest is one GET: the path with its query, and the form that is wanted.
type LookupRequest struct{ Path, Accept string }

// LookupAnswer is what the server said.
type LookupAnswer struct {
	Status string
	Code   int
	Header http.Header
	Body   []byte
}

// Lookups is Local with a config of Lookups for this cluster.
func (c *Cluster) Lookups(known ...*secret.Known) (server string, send func(context.Context, LookupRequest) (LookupAnswer, error), err error) {
	return Local(Lookups(c.config, c.options, known...))
}

// Local returns a function that sends requests through a config of Lookups, and the address of the server for messages.
func Local(cfg *rest.Config) (server string, send func(context.Context, LookupRequest) (LookupAnswer, error), err error) {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return "", nil, err
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return "", nil, err
	}
	return base.String(), func(ctx context.Context, q LookupRequest) (LookupAnswer, error) {
		at, err := url.ParseRequestURI(q.Path)
		if err != nil || at.Host != "" {
			return LookupAnswer{}, errors.New("a lookup names a path of the API server and nothing else")
		}
		at.Scheme, at.Host = base.Scheme, base.Host
		if cfg.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, cfg.Timeout)
			defer cancel()
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return LookupAnswer{}, err
		}
		req.Header.Set("Accept", q.Accept)
		// Not the client, which would follow redirects: the other side does, as far as it may.
		resp, err := client.Transport.RoundTrip(req)
		if err != nil {
			return LookupAnswer{}, err
		}
		defer resp.Body.Close() //nolint:errcheck // it was read to its end, or that is the error
		body, err := io.ReadAll(resp.Body)
		return LookupAnswer{Status: resp.Status, Code: resp.StatusCode, Header: resp.Header, Body: body}, err
	}, nil
}

// Remote returns a config whose requests go through ask. It holds no credentials. The Secrets among the answers are added to all that
// is given as known.
func Remote(server string, ask func(LookupRequest) (LookupAnswer, error), known ...*secret.Known) *rest.Config {
	// QPS -1 is no limit: whoever sends the requests has one.
	return &rest.Config{Host: server, QPS: -1, WarningHandler: rest.NoWarnings{}, Transport: remote{server, ask, &tape{known: known}}}
}

// remote is the transport of Remote.
type remote struct {
	server string
	ask    func(LookupRequest) (LookupAnswer, error)
	// tape only learns.
	tape *tape
}

// RoundTrip asks for an answer. Only reads of the one server pass.
func (r remote) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // a transport closes it, whatever comes
	}
	if req.Method != http.MethodGet {
		return nil, fmt.Errorf("a chart may only look things up: %s %s is refused", req.Method, req.URL.Path)
	}
	if base, err := url.Parse(r.server); err != nil || base.Scheme != req.URL.Scheme || base.Host != req.URL.Host {
		return nil, fmt.Errorf("a chart may only look things up in its cluster: %s is refused", req.URL.Host)
	}
	a, err := r.ask(LookupRequest{Path: req.URL.RequestURI(), Accept: req.Header.Get("Accept")})
	if err != nil {
		return nil, err
	}
	r.tape.learn(a.Body)
	return recorded{status: a.Status, code: a.Code, header: a.Header, body: a.Body}.response(req), nil
}
