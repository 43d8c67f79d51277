package live

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/client-go/util/flowcontrol"
)

// These are the limit if neither the user nor the server decides.
const (
	defaultQPS   float32 = 50
	defaultBurst int     = 300
)

// rateLimit is the one client limit of a Cluster. client-go creates a limiter for each client and wants it before the
// first request; this one is shared by all clients and is set when the first answer arrives. Of the interface, which is nil, client-go
// calls only Wait (client-go v0.37.1 rest/request.go tryThrottleWithInfo).
type rateLimit struct {
	flowcontrol.RateLimiter
	decided sync.Once                               // done as soon as the limit is known
	bucket  atomic.Pointer[flowcontrol.RateLimiter] // nil means no limit
}

// newRateLimit returns the limit for the user's numbers. Zeros leave the decision to the first answer.
func newRateLimit(qps float32, burst int) *rateLimit {
	l := &rateLimit{}
	if qps != 0 || burst > 0 {
		l.decided.Do(func() { l.set(qps, burst) })
	}
	return l
}

// set fixes the limit and replaces zeros by the defaults. A negative qps means no limit.
func (l *rateLimit) set(qps float32, burst int) {
	if qps < 0 {
		return
	}
	if burst <= 0 {
		burst = defaultBurst
	}
	bucket := flowcontrol.NewTokenBucketRateLimiter(cmp.Or(qps, defaultQPS), burst)
	l.bucket.Store(&bucket)
}

// decide sets the limit by the first answer of the API server itself; a refusal may come from a proxy in front of it.
// A server with API Priority and Fairness sends the header with every answer (k8s.io/apiserver v0.37.1
// pkg/server/filters/priority-and-fairness.go setResponseHeaders).
func (l *rateLimit) decide(resp *http.Response) {
	if resp.StatusCode >= http.StatusBadRequest {
		return
	}
	l.decided.Do(func() {
		if resp.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID) == "" {
			l.set(defaultQPS, defaultBurst)
		}
	})
}

// Wait blocks until a request may be sent.
func (l *rateLimit) Wait(ctx context.Context) error {
	bucket := l.bucket.Load()
	if bucket == nil {
		return ctx.Err()
	}
	if err := (*bucket).Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// The bucket refuses to wait beyond the deadline, with an error that has no type.
		return fmt.Errorf("client limit of %g requests per second: %w", l.QPS(), context.DeadlineExceeded)
	}
	return nil
}

// QPS returns the limit, or -1 if there is none.
func (l *rateLimit) QPS() float32 {
	if bucket := l.bucket.Load(); bucket != nil {
		return (*bucket).QPS()
	}
	return -1
}
