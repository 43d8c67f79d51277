package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// Lookups returns a config by which a chart's templates may look things up in the cluster: only GET passes, every answer
// is recorded, and asked again it is replayed, so that a second rendering sees what the first saw. The recording lives
// as long as the config.
//
// The Secrets among the answers are added to all that is given as known.
//
// Helm's template function makes new clients and asks anew what the server serves for each single call (helm v3.22.0 and
// v4.3.1 pkg/engine/lookup_func.go, getDynamicClientOnKind); the recording saves those requests as well.
func Lookups(cfg *rest.Config, opts Options, known ...*secret.Known) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = opts.UserAgent
	cfg.WarningHandler, cfg.WarningHandlerWithContext = rest.NoWarnings{}, nil
	// Each client would have a limit of its own, and count what is replayed. The recorder waits instead, where it asks.
	cfg.QPS, cfg.Burst, cfg.RateLimiter = -1, 0, nil
	tape := &tape{limits: newLimits(opts.QPS, opts.Burst), answers: map[question]recorded{}, known: known}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &recorder{next: &transport{next: next, limits: tape.limits}, tape: tape}
	})
	return cfg
}

// recorder is the transport of one of the clients that Helm makes. All of them write on one tape.
type recorder struct {
	next http.RoundTripper
	tape *tape
}

// RoundTrip replays the answer to a question that was asked before.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		if req.Body != nil {
			_ = req.Body.Close() // a transport closes it, whatever comes
		}
		return nil, fmt.Errorf("a chart may only look things up: %s %s is refused", req.Method, req.URL.Path)
	}
	q := question{url: req.URL.String(), accept: req.Header.Get("Accept")}
	if answer, known := r.tape.find(q); known {
		return answer.response(req), nil
	}
	if err := r.tape.limits.Wait(req.Context()); err != nil {
		return nil, err
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	answer, err := record(resp)
	if err != nil {
		return nil, err
	}
	return r.tape.keep(q, answer).response(req), nil
}

// question is what tells two requests apart. The same object is asked for in more than one form.
type question struct{ url, accept string }

// recorded is an answer of the server, also one that says no. A connection that failed is not an answer.
type recorded struct {
	status string
	code   int
	header http.Header
	body   []byte
}

// record takes the answer over. The transport below has read it whole, so its bytes are not copied.
func record(resp *http.Response) (recorded, error) {
	answer := recorded{status: resp.Status, code: resp.StatusCode, header: resp.Header}
	if whole, ok := resp.Body.(*wholeBody); ok {
		answer.body = whole.bytes
		return answer, nil
	}
	defer resp.Body.Close() //nolint:errcheck // it was read to its end, or that is the error
	var err error
	answer.body, err = io.ReadAll(resp.Body)
	return answer, err
}

func (a recorded) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: a.status, StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: newWholeBody(a.body), ContentLength: int64(len(a.body)), Request: req,
	}
}

// tape holds the answers.
type tape struct {
	limits  *limits
	mu      sync.Mutex
	answers map[question]recorded
	known   []*secret.Known
}

func (t *tape) find(q question) (recorded, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answer, known := t.answers[q]
	return answer, known
}

// keep returns the answer that holds from now on: where the question was asked twice at the same time, the first.
func (t *tape) keep(q question, answer recorded) recorded {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first, known := t.answers[q]; known {
		return first
	}
	t.answers[q] = answer
	t.learn(answer.body)
	return answer
}

// learn adds the Secrets of an answer to what is known.
func (t *tape) learn(body []byte) {
	var object struct {
		Kind             string
		Data, StringData map[string]any
		Items            []map[string]any
	}
	if !bytes.Contains(body, []byte("Secret")) || json.Unmarshal(body, &object) != nil || !secret.Kind("", object.Kind) {
		return
	}
	found := append(object.Items, map[string]any{"data": object.Data, "stringData": object.StringData})
	for _, known := range t.known {
		for _, s := range found {
			known.AddObject("", "Secret", s)
		}
	}
}

// wholeBody is the body of an answer that was read to its end, and knows its bytes.
type wholeBody struct {
	*bytes.Reader
	bytes []byte
}

func newWholeBody(data []byte) *wholeBody { return &wholeBody{bytes.NewReader(data), data} }

// Close has nothing to close.
func (*wholeBody) Close() error { return nil }
