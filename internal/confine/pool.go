package confine

import (
	"context"
	"slices"
	"sync"
)

// Pool keeps children that have done a job, so that the next job needs no new process. It is safe for concurrent use. A nil Pool keeps
// none.
type Pool struct {
	// places has one element for each job that is computing.
	places chan struct{}

	mu     sync.Mutex
	idle   []*child
	closed bool
}

// NewPool returns an empty pool. At most this many jobs run at the same time, and a job that has to wait does not lose time of its limit.
// The caller closes the pool.
func NewPool(atOnce int) *Pool { return &Pool{places: make(chan struct{}, atOnce)} }

// Close ends the children. Those that still have a job end with it.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		c.kill()
	}
	for _, c := range idle {
		_ = c.cmd.Wait() // it was killed
	}
}

// leaveKey is the key of a context for the function that gives back the place of a job.
type leaveKey struct{}

// enter waits for a place. Leave gives it back, and may be called several times. The new context has it.
func (p *Pool) enter(ctx context.Context) (in context.Context, leave func(), err error) {
	if p == nil {
		return ctx, func() {}, nil
	}
	select {
	case p.places <- struct{}{}:
		leave = sync.OnceFunc(func() { <-p.places })
		return context.WithValue(ctx, leaveKey{}, leave), leave, nil
	case <-ctx.Done():
		return ctx, nil, context.Cause(ctx)
	}
}

// Slow returns a call that waits for something else than this machine, such as an API server. Its job then needs no place in the pool.
func Slow(call Call) Call {
	return func(ctx context.Context, question []byte) ([]byte, error) {
		if leave, isPooled := ctx.Value(leaveKey{}).(func()); isPooled {
			leave()
		}
		return call(ctx, question)
	}
}

// take returns a child with a limit of memory, or nil if none is idle.
func (p *Pool) take(memory int64) *child {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if c := p.idle[i]; c.memory == memory {
			p.idle = slices.Delete(p.idle, i, i+1)
			return c
		}
	}
	return nil
}

// put keeps a child, and reports whether it did.
func (p *Pool) put(c *child) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.idle = append(p.idle, c)
	}
	return !p.closed
}
