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
	shared := &recording{rateLimit: newRateLimit(opts.QPS, opts.Burst), answers: map[question]recordedAnswer{}, learn: learn}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &recorder{next: &retryTransport{next: next, rateLimit: shared.rateLimit, plain: cfg.DisableCompression}, recording: shared}
	})
	return cfg
}

// recorder is the transport of one of the clients that Helm creates. All recorders of a config share
// one recording.
type recorder struct {
	next      http.RoundTripper
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
	if err := r.recording.rateLimit.Wait(req.Context()); err != nil {
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
	return r.recording.keep(q, answer).response(req), nil
}

// writeRefused is the error of a request that is not a GET.
func writeRefused(req *http.Request) error {
	return fmt.Errorf("the templates of a chart may only read the cluster: %s %s is refused", req.Method, req.URL.Path)
}

// question identifies a request. The same object may be asked for in more than one form.
type question struct{ url, accept string }

// recordedAnswer is an answer of the server, which may be a refusal. A broken connection is not an answer.
type recordedAnswer struct {
	status string
	code   int
	header http.Header
	body   []byte
}

// record takes over the answer. The transport below has read it whole, so its bytes are not copied.
func record(resp *http.Response) (recordedAnswer, error) {
	answer := recordedAnswer{status: resp.Status, code: resp.StatusCode, header: resp.Header}
	if whole, ok := resp.Body.(*wholeBody); ok {
		answer.body = whole.bytes
		return answer, nil
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end, or reading it failed
	var err error
	answer.body, err = io.ReadAll(resp.Body)
	return answer, err
}

// response returns the answer as the response to a request.
func (a recordedAnswer) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: a.status, StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: newWholeBody(a.body), ContentLength: int64(len(a.body)), Request: req,
	}
}

// recording holds the answers so far.
type recording struct {
	rateLimit *rateLimit
	mu        sync.Mutex
	answers   map[question]recordedAnswer
	learn     []func(secret map[string]any)
}

func (r *recording) find(q question) (recordedAnswer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer, known := r.answers[q]
	return answer, known
}

// keep stores an answer and returns the one that holds: the first, if the question was asked twice at the same time.
func (r *recording) keep(q question, answer recordedAnswer) recordedAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, known := r.answers[q]; known {
		return first
	}
	r.answers[q] = answer
	r.learnSecrets(answer.body)
	return answer
}

// learnSecrets passes the Secrets in an answer on.
func (r *recording) learnSecrets(body []byte) {
	var object struct {
		Kind             string
		Data, StringData map[string]any
		Items            []map[string]any
	}
	if !bytes.Contains(body, []byte("Secret")) || json.Unmarshal(body, &object) != nil || !secret.Kind("", object.Kind) {
		return
	}
	found := append(object.Items, map[string]any{"data": object.Data, "stringData": object.StringData})
	for _, learn := range r.learn {
		for _, s := range found {
			learn(s)
		}
	}
}
