package main

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestWithin gives up work that takes more than it may, and hands on the answer of work that does not.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("interrupted"))
	release := make(chan struct{})
	defer close(release)
	stuck := func(context.Context) (int, error) { <-release; return 0, nil }
	for name, test := range map[string]struct {
		ctx    context.Context
		bounds bounds
		work   func(context.Context) (int, error)
		want   string
	}{
		"done":        {t.Context(), bounds{time: time.Hour, heap: sizeOf("1Gi")}, func(context.Context) (int, error) { return 7, nil }, ""},
		"no bounds":   {t.Context(), bounds{}, func(context.Context) (int, error) { return 7, nil }, ""},
		"failed":      {t.Context(), bounds{}, func(context.Context) (int, error) { return 0, errors.New("no chart") }, "no chart"},
		"time":        {t.Context(), bounds{time: time.Millisecond}, stuck, "rendering the chart takes longer than 1ms"},
		"interrupted": {ctx, bounds{}, stuck, "interrupted"},
		"panic":       {t.Context(), bounds{}, func(context.Context) (int, error) { panic("odd") }, "internal error: odd"},
		"obedient": {t.Context(), bounds{time: time.Millisecond}, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}, "rendering the chart takes longer than 1ms"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := within(test.ctx, test.bounds, test.work)
			if test.want == "" && (err != nil || got != 7) {
				t.Fatalf("%d, %v", got, err)
			}
			if test.want != "" && (err == nil || err.Error() != test.want) {
				t.Fatalf("error %v, want %s", err, test.want)
			}
		})
	}
}

// TestWithinHeap gives up work that fills the memory, and not work that only leaves much for the garbage collector.
func TestWithinHeap(t *testing.T) {
	const block = 1 << 20
	held, released := make(chan struct{}), make(chan struct{})
	_, err := within(t.Context(), bounds{heap: sizeOf("128Mi")}, func(context.Context) (int, error) {
		var kept [][]byte
		for range 160 {
			kept = append(kept, make([]byte, block))
		}
		<-held
		runtime.KeepAlive(kept)
		close(released)
		return 0, nil
	})
	close(held)
	<-released
	if err == nil || !strings.Contains(err.Error(), "more memory than 128Mi") {
		t.Fatalf("error %v", err)
	}
	if h, ok := errors.AsType[hinted](err); !ok || !strings.Contains(h.Hint(), "--render-memory") {
		t.Errorf("no hint in %v", err)
	}
	n, err := within(t.Context(), bounds{heap: sizeOf("128Mi")}, func(context.Context) (n int, _ error) {
		for range 2000 {
			n += len(make([]byte, block))
		}
		return n, nil
	})
	if err != nil || n != 2000*block {
		t.Fatalf("%d, %v", n, err)
	}
}
