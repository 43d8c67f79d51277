package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// Lookups returns a config that lets the templates of a chart look up objects of the cluster. Only GET passes.
// Every answer is recorded and replayed when the same question is asked again, so that a second rendering sees what
// the first one saw. The recording lives as long as the config.
//
// Each of learn is called with each Secret among the answers.
//
// Helm's template function creates new clients and runs discovery again for every single call (helm v3.22.0 and
// v4.3.1 pkg/engine/lookup_func.go, getDynamicClientOnKind); the recording saves those requests as well.
func Lookups(cfg *rest.Config, opts Options, learn ...func(secret map[string]any)) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = opts.UserAgent
	cfg.WarningHandler, cfg.WarningHandlerWithContext = rest.NoWarnings{}, nil
	// Each client would have a limit of its own and would also count replayed answers. Instead, the recorder waits before it asks.
	cfg.QPS, cfg.Burst, cfg.RateLimiter = -1, 0, nil
	limit, shared := newRateLimit(opts.QPS, opts.Burst), &recording{answers: map[question]LookupAnswer{}, learn: learn}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &recorder{next: &retryTransport{next: next, rateLimit: limit, plain: cfg.DisableCompression}, recording: shared}
	})
	return cfg
}

// recorder is the transport of one of the clients that Helm creates. All recorders of a config share
// one recording.
type recorder struct {
	next      *retryTransport
	recording *recording
}

// RoundTrip replays the answer to a question that was asked before, and otherwise asks the server.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		if req.Body != nil {
			_ = req.Body.Close() // a transport must always close it
		}
		return nil, writeRefused(req)
	}
	q := question{url: req.URL.String(), accept: req.Header.Get("Accept")}
	if answer, known := r.recording.find(q); known {
		return answer.response(req), nil
	}
	if err := r.next.rateLimit.Wait(req.Context()); err != nil {
		return nil, err
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	whole := resp.Body.(*wholeBody) // so the bytes are not copied
	answer := LookupAnswer{Status: resp.Status, Code: resp.StatusCode, Header: resp.Header, Body: whole.bytes}
	return r.recording.keep(q, answer).response(req), nil
}

// writeRefused is the error of a request that is not a GET.
func writeRefused(req *http.Request) error {
	return fmt.Errorf("the templates of a chart may only read the cluster: %s %s is refused", req.Method, req.URL.Path)
}

// question identifies a request. The same object may be asked for in more than one form.
type question struct{ url, accept string }

// response returns the answer as the response to a request.
func (a LookupAnswer) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: a.Status, StatusCode: a.Code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.Header.Clone(), Body: newWholeBody(a.Body), ContentLength: int64(len(a.Body)), Request: req,
	}
}

// recording holds the answers so far, which may be refusals. A broken connection is not an answer.
type recording struct {
	mu      sync.Mutex
	answers map[question]LookupAnswer
	learn   []func(secret map[string]any)
}

func (r *recording) find(q question) (LookupAnswer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer, known := r.answers[q]
	return answer, known
}

// keep stores an answer and returns the one that holds: the first, if the question was asked twice at the same time.
func (r *recording) keep(q question, answer LookupAnswer) LookupAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, known := r.answers[q]; known {
		return first
	}
	r.answers[q] = answer
	learnSecrets(answer.Body, r.learn)
	return answer
}

// learnSecrets passes the Secrets in an answer on.
func learnSecrets(body []byte, all []func(secret map[string]any)) {
	var object struct {
		Kind             string
		Data, StringData map[string]any
		Items            []map[string]any
	}
	if !bytes.Contains(body, []byte("Secret")) || json.Unmarshal(body, &object) != nil || !secret.Kind("", object.Kind) {
		return
	}
	found := append(object.Items, map[string]any{"data": object.Data, "stringData": object.StringData})
	for _, learn := range all {
		for _, s := range found {
			learn(s)
		}
	}
}
