package live

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/retry"
)

const (
	// maxAttempts is how often one request is sent at most. After maxRetryTime it is not sent again.
	maxAttempts  = 5
	maxRetryTime = 30 * time.Second
	firstPause   = 250 * time.Millisecond
)

// retryTransport repeats reads and dry runs that failed for a temporary reason. All clients use it, so that
// discovery, the records of the release and the objects are treated alike.
//
// client-go has a retry of its own (rest.withRetry). It sends a request up to ten times if the answer has Retry-After
// or the connection broke, waits as long as the server says, and adds no jitter. Two retries on top of each other
// would multiply, so this one keeps client-go's from starting: it removes Retry-After, and replaces the error of a
// broken connection by another.
type retryTransport struct {
	next      http.RoundTripper
	rateLimit *rateLimit
	// plain asks for answers that are not compressed.
	plain bool
	// sent counts the requests. It is nil if nobody asks for their number.
	sent *atomic.Int64
}

// RoundTrip sends a read or a dry run until it succeeds, fails permanently or maxRetryTime ends. It sends any other
// request once, because after a failure nobody knows whether the write took place. That answer keeps Retry-After for
// the caller.
func (t *retryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !repeatable(req) {
		resp, _, err := t.send(req)
		if err != nil {
			return withoutRetry(nil, err, 1)
		}
		return resp, nil
	}
	ctx, start := req.Context(), time.Now()
	for attempt := 1; ; attempt++ {
		resp, body, err := t.send(req)
		wait, worth := retryDelay(attempt, resp, body, err)
		if !worth || attempt == maxAttempts || time.Since(start)+wait > maxRetryTime || retry.EndsBefore(ctx, wait) {
			return withoutRetry(resp, err, attempt)
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return nil, err
		}
		// A retry counts against the rate limit like any other request.
		if err := t.rateLimit.Wait(ctx); err != nil {
			return nil, err
		}
		if req, err = rewound(req); err != nil {
			return nil, err
		}
	}
}

// repeatable reports whether a request changes nothing, however often it is sent. The server stores nothing in a dry
// run, and the webhooks that it calls have declared that they then have no side effects.
func repeatable(req *http.Request) bool {
	if req.Method == http.MethodGet {
		return true
	}
	return req.URL.Query().Get("dryRun") == metav1.DryRunAll && (req.Body == nil || req.GetBody != nil)
}

// rewound returns the request with its body at the beginning.
func rewound(req *http.Request) (*http.Request, error) {
	if req.GetBody == nil {
		return req, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body = body
	return req, nil
}

// send sends the request once and reads the whole answer, so that an answer that breaks off in the middle is repeated
// too. (client-go reads the whole answer in any case, and logs to stderr if it breaks off.)
func (t *retryTransport) send(req *http.Request) (*http.Response, []byte, error) {
	if !t.plain {
		req = acceptGzip(req)
	}
	if t.sent != nil {
		t.sent.Add(1)
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	t.rateLimit.decide(resp)
	body, err := readWhole(resp)
	_ = resp.Body.Close() // the whole answer is in body
	if err != nil {
		if req.Context().Err() == nil && !isTimeout(err) {
			err = &connectionLostError{}
		}
		return nil, nil, err
	}
	resp.Body = newWholeBody(body)
	return resp, body, nil
}

// retryDelay returns how long to wait before the next attempt, and whether there should be one.
func retryDelay(attempt int, resp *http.Response, body []byte, err error) (time.Duration, bool) {
	guess := firstPause << (attempt - 1)
	guess = guess/2 + rand.N(guess)
	if err != nil {
		return guess, isConnectionLost(err)
	}
	if seconds, told := retryAfter(resp); told {
		// Other clients wait for the same number of seconds, so jitter is added to it.
		wait := time.Duration(seconds) * time.Second
		return wait + rand.N(wait/4+firstPause), true
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return guess, true
	case http.StatusInternalServerError:
		return guess, isPassingEtcdError(string(body))
	}
	return 0, false
}

// maxRetryAfter bounds the seconds of a Retry-After header, because larger numbers overflow time.Duration. It is far
// beyond maxRetryTime.
const maxRetryAfter = 24 * 60 * 60

// retryAfter returns the seconds that an overloaded server asks for, under client-go's conditions (rest.checkWait).
func retryAfter(resp *http.Response) (seconds int, told bool) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	return min(seconds, maxRetryAfter), err == nil && seconds >= 0
}

// isPassingEtcdError reports whether an internal error is a temporary one of etcd. The API server passes on the
// messages of etcd (go.etcd.io/etcd/api/v3 v3.7.0 v3rpc/rpctypes/error.go).
func isPassingEtcdError(body string) bool {
	if strings.Contains(body, "raft proposal dropped") {
		return true
	}
	_, message, found := strings.Cut(body, "etcdserver: ")
	return found && (strings.HasPrefix(message, "leader changed") || strings.HasPrefix(message, "no leader") ||
		strings.HasPrefix(message, "request timed out"))
}

// withoutRetry changes the last answer so that client-go does not repeat the request.
func withoutRetry(resp *http.Response, err error, attempt int) (*http.Response, error) {
	if err != nil {
		if isConnectionLost(err) {
			return nil, &connectionLostError{attempts: attempt}
		}
		return nil, err
	}
	if _, told := retryAfter(resp); told {
		resp.Header.Del("Retry-After")
	}
	return resp, nil
}

// noRetries is a REST client whose writes client-go does not repeat. By default it repeats them up to ten times if an
// answer of 429 or 5xx has Retry-After (k8s.io/client-go v0.37.1 rest/with_retry.go IsNextRetry).
type noRetries struct{ rest.Interface }

// Post begins a create request.
func (n noRetries) Post() *rest.Request { return n.Interface.Post().MaxRetries(0) }

// Put begins a replace request.
func (n noRetries) Put() *rest.Request { return n.Interface.Put().MaxRetries(0) }

// Patch begins a patch request.
func (n noRetries) Patch(kind types.PatchType) *rest.Request {
	return n.Interface.Patch(kind).MaxRetries(0)
}

// Delete begins a delete request.
func (n noRetries) Delete() *rest.Request { return n.Interface.Delete().MaxRetries(0) }
