package repair

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/helmdrift/helmdrift/pkg/cluster"
)

// busy is an API server that turns away every n-th request. Reads are repeated until they are answered, as package live does.
type busy struct {
	*memory
	every, requests int
}

// turnedAway counts a request and reports whether it is turned away.
func (b *busy) turnedAway() bool {
	b.requests++
	return b.requests%b.every == 0
}

// read counts the requests of a read.
func (b *busy) read() error {
	for b.turnedAway() {
	}
	return nil
}

func (b *busy) Write(ctx context.Context, r cluster.Request, manager string, dryRun bool) (map[string]any, error) {
	if b.turnedAway() {
		return nil, throttled(1)
	}
	return b.memory.Write(ctx, r, manager, dryRun)
}

// TestThrottledWriteIsFair checks that each write takes place although the API server turns away every n-th request, for any n.
func TestThrottledWriteIsFair(t *testing.T) {
	for _, method := range []string{clientSide, serverSide} {
		for every := 2; every < 8; every++ {
			for first := range every {
				synctest.Test(t, func(t *testing.T) {
					plan, m := staged(t, method, "one", "two", "zero")
					server := &busy{memory: m, every: every, requests: first}
					m.reading = server.read
					out := plan.Run(t.Context(), server, RunOptions{Before: func(context.Context) error { return server.read() }})
					wantTold(t, out, "one fixed", "two fixed", "zero fixed")
				})
			}
		}
	}
}
