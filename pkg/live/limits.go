package live

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/client-go/util/flowcontrol"
)

// The limit where neither the user nor the server says anything.
const (
	defaultQPS   float32 = 50
	defaultBurst int     = 300
)

// limits is the one client limit of a Cluster. client-go makes a limiter per client and wants it before the first
// request; this one is shared by all clients and is decided by the first answer.
type limits struct {
	decided sync.Once
	bucket  atomic.Pointer[flowcontrol.RateLimiter]
}

var _ flowcontrol.RateLimiter = (*limits)(nil)

// newLimits takes the user's numbers; zeros leave the decision to the first answer.
func newLimits(qps float32, burst int) *limits {
	l := &limits{}
	if qps != 0 || burst > 0 {
		l.decided.Do(func() { l.set(qps, burst) })
	}
	return l
}

func (l *limits) set(qps float32, burst int) {
	if qps < 0 {
		return
	}
	if qps == 0 {
		qps = defaultQPS
	}
	if burst <= 0 {
		burst = defaultBurst
	}
	bucket := flowcontrol.NewTokenBucketRateLimiter(qps, burst)
	l.bucket.Store(&bucket)
}

// answered decides by the first answer that comes from the API server itself; a refusal may come from a proxy before it.
// The header is on every answer of a server with priority and fairness
// (k8s.io/apiserver v0.37.0 pkg/server/filters/priority-and-fairness.go setResponseHeaders).
func (l *limits) answered(resp *http.Response) {
	if resp.StatusCode >= http.StatusBadRequest {
		return
	}
	l.decided.Do(func() {
		if resp.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID) == "" {
			l.set(defaultQPS, defaultBurst)
		}
	})
}

// Wait waits for the turn of one request.
func (l *limits) Wait(ctx context.Context) error {
	bucket := l.bucket.Load()
	if bucket == nil {
		return ctx.Err()
	}
	if err := (*bucket).Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// The bucket refuses at once a wait that would outlast the deadline, with an error of no type.
		return fmt.Errorf("client limit of %g requests per second: %w", l.QPS(), context.DeadlineExceeded)
	}
	return nil
}

// TryAccept takes a turn if one is free.
func (l *limits) TryAccept() bool {
	bucket := l.bucket.Load()
	return bucket == nil || (*bucket).TryAccept()
}

// Accept waits for a turn without an end.
func (l *limits) Accept() {
	if bucket := l.bucket.Load(); bucket != nil {
		(*bucket).Accept()
	}
}

// Stop has nothing to stop.
func (l *limits) Stop() {}

// QPS is the limit, -1 where there is none.
func (l *limits) QPS() float32 {
	if bucket := l.bucket.Load(); bucket != nil {
		return (*bucket).QPS()
	}
	return -1
}
