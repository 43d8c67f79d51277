package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	// maxAttempts bounds how often one request is sent, patience how long it may take until it is sent for the last time.
	maxAttempts = 5
	patience    = 30 * time.Second
	firstPause  = 250 * time.Millisecond
)

// transport repeats reads and dry runs that failed for a passing reason. It stands below all clients, so that discovery, the release's
// records and the objects are treated alike.
//
// client-go has a retry of its own (rest.withRetry: ten times, where the answer has Retry-After or the connection
// broke off; however long the server says, and without jitter). Two retries on top of each other would multiply, so what
// this one returns as final does not set off the other: Retry-After is removed, a broken connection gets another error.
type transport struct {
	next   http.RoundTripper
	limits *limits
}

// RoundTrip sends a read or a dry run until it succeeds, fails for good or patience ends. Anything else is passed on once:
// whether a write took place is not known after a failure. Its answer keeps Retry-After, for whoever decides then.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !repeatable(req) {
		resp, _, err := t.send(req)
		if err != nil {
			return final(nil, err, 1)
		}
		return resp, nil
	}
	ctx, start := req.Context(), time.Now()
	for attempt := 1; ; attempt++ {
		resp, body, err := t.send(req)
		wait, worth := pause(attempt, resp, body, err)
		if !worth || attempt == maxAttempts || time.Since(start)+wait > patience || endsWithin(ctx, wait) {
			return final(resp, err, attempt)
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		// A repetition is a request like any other for the limit.
		if err := t.limits.Wait(ctx); err != nil {
			return nil, err
		}
		if req, err = again(req); err != nil {
			return nil, err
		}
	}
}

// repeatable tells the requests that leave nothing behind, however often they arrive. Of a dry run the server stores
// nothing, and the webhooks that it calls have said that they have no side effects then.
func repeatable(req *http.Request) bool {
	if req.Method == http.MethodGet {
		return true
	}
	return req.URL.Query().Get("dryRun") == metav1.DryRunAll && (req.Body == nil || req.GetBody != nil)
}

// again is the request with its body at the beginning.
func again(req *http.Request) (*http.Request, error) {
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

// send sends the request once and reads the whole answer, so that one that breaks off half-way is repeated too. (client-go
// reads the whole answer in any case, and logs to stderr when it breaks off.)
func (t *transport) send(req *http.Request) (*http.Response, []byte, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	t.limits.answered(resp)
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // all that it held is in body
	if err != nil {
		if req.Context().Err() == nil && !isTimeout(err) {
			err = &lostError{cause: err}
		}
		return nil, nil, err
	}
	resp.Body = newWholeBody(body)
	return resp, body, nil
}

// pause tells how long to wait before the next attempt, and whether one is worth while.
func pause(attempt int, resp *http.Response, body []byte, err error) (time.Duration, bool) {
	guess := firstPause << (attempt - 1)
	guess = guess/2 + rand.N(guess)
	if err != nil {
		return guess, isLost(err)
	}
	if seconds, told := retryAfter(resp); told {
		// Everyone else was told the same number; jitter only ever adds to it.
		wait := time.Duration(seconds) * time.Second
		return wait + rand.N(wait/4+firstPause), true
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return guess, true
	case http.StatusInternalServerError:
		return guess, isEtcdHiccup(string(body))
	}
	return 0, false
}

// longestAsked bounds the seconds that a server can ask for: a larger number would be no time.Duration. It is far beyond patience.
const longestAsked = 24 * 60 * 60

// retryAfter gives the seconds that an overloaded server asks for, under client-go's conditions (rest.checkWait).
func retryAfter(resp *http.Response) (seconds int, told bool) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	return min(seconds, longestAsked), err == nil && seconds >= 0
}

// isEtcdHiccup tells the internal errors that pass: the API server hands on what etcd says
// (go.etcd.io/etcd/api/v3 v3rpc/rpctypes/error.go).
func isEtcdHiccup(body string) bool {
	if strings.Contains(body, "raft proposal dropped") {
		return true
	}
	_, said, found := strings.Cut(body, "etcdserver: ")
	return found && (strings.HasPrefix(said, "leader changed") || strings.HasPrefix(said, "no leader") ||
		strings.HasPrefix(said, "request timed out"))
}

// final makes the last answer one that client-go does not repeat.
func final(resp *http.Response, err error, attempt int) (*http.Response, error) {
	if err != nil {
		if isLost(err) {
			return nil, &lostError{cause: err, attempts: attempt}
		}
		return nil, err
	}
	if _, told := retryAfter(resp); told {
		resp.Header.Del("Retry-After")
	}
	return resp, nil
}

// lostError is a connection that broke off. It does not unwrap to its cause: client-go would know that and repeat.
type lostError struct {
	cause    error
	attempts int
}

// Error avoids the words by which utilnet.IsProbableEOF recognises the cause.
func (e *lostError) Error() string {
	if e.attempts > 1 {
		return fmt.Sprintf("the server broke off the connection, %d times in a row", e.attempts)
	}
	return "the server broke off the connection"
}

func isLost(err error) bool {
	var lost *lostError
	return errors.As(err, &lost) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// endsWithin tells whether the request's time ends before the pause does. The refusal in hand says more than the time-out
// that waiting would end in.
func endsWithin(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= wait
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
