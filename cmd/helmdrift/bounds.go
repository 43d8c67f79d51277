package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// bounds are what the rendering of a chart may take: a template can loop for ever or fill the memory, and it listens to
// nobody. Zero is no bound.
type bounds struct {
	time time.Duration
	heap memorySize
}

// memorySize is the value of a flag, which says what it takes.
type memorySize struct{ resource.QuantityValue }

func sizeOf(text string) memorySize {
	return memorySize{resource.QuantityValue{Quantity: resource.MustParse(text)}}
}

// Set reads a size.
func (m *memorySize) Set(text string) error {
	if m.QuantityValue.Set(text) != nil || m.Sign() < 0 {
		return errors.New("want a size, such as 512Mi or 2Gi")
	}
	return nil
}

const (
	// watchEvery is how often the heap is looked at. A loop of allocations makes some megabytes in that time.
	watchEvery = 10 * time.Millisecond
	// grace is how long work that was given up may go on filling the memory while the report is written.
	grace = 5 * time.Second
)

// within runs work in a goroutine of its own and gives its answer, or an error once it takes more than it may or ctx ends. Go
// cannot stop a goroutine. Work that was given up runs on until the process ends, so whoever gets an error from here writes
// what there is to write, and leaves.
func within[T any](ctx context.Context, b bounds, work func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if b.time > 0 {
		bounded, cancel = context.WithTimeoutCause(ctx, b.time, b.overtime("rendering"))
	}
	defer cancel()
	lift := b.limitHeap()
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() { done <- a }()
		defer caught(&a.err)
		a.value, a.err = work(bounded)
	}()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	for {
		var reason error
		select {
		case a := <-done:
			lift()
			if errors.Is(a.err, context.DeadlineExceeded) && context.Cause(bounded) != nil {
				a.err = context.Cause(bounded)
			}
			return a.value, a.err
		case <-bounded.Done():
			reason = context.Cause(bounded)
		case <-watch.C:
			if !b.exceeded() || !b.exceededForSure() {
				continue
			}
			reason = b.overweight()
		}
		lift()
		go b.guard()
		var none T
		return none, reason
	}
}

// caught makes a panic of a goroutine its error; it is called by defer.
func caught(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("internal error: %s", clean(fmt.Sprint(cause)))
	}
}

func (b bounds) overtime(what string) error {
	return hinted{error: fmt.Errorf("%s the chart takes longer than %s", what, b.time), hint: "--render-timeout allows more"}
}

func (b bounds) overweight() error {
	return hinted{error: fmt.Errorf("rendering the chart takes more memory than %s", b.heap.String()), hint: "--render-memory allows more"}
}

// limitHeap tells the garbage collector of the bound, so that only what is really in use comes to it.
func (b bounds) limitHeap() (lift func()) {
	before := debug.SetMemoryLimit(-1)
	if b.heap.Value() <= 0 || before < b.heap.Value() {
		return func() {}
	}
	debug.SetMemoryLimit(b.heap.Value())
	return func() { debug.SetMemoryLimit(before) }
}

// exceeded tells whether the heap holds more than its bound, what waits to be collected included.
func (b bounds) exceeded() bool { return b.exceededBy("/memory/classes/heap/objects:bytes") }

// exceededForSure tells whether what is in use alone is more than the bound. What was allocated since the collection does not count,
// however long this goroutine had to wait for its turn.
func (b bounds) exceededForSure() bool {
	runtime.GC()
	return b.exceededBy("/gc/heap/live:bytes")
}

func (b bounds) exceededBy(metric string) bool {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return b.heap.Value() > 0 && sample[0].Value.Uint64() > uint64(b.heap.Value())
}

// guard watches work that was given up, and ends the process before it takes the machine's memory: the report may be waiting
// for a reader who is in no hurry.
func (b bounds) guard() {
	for over := time.Duration(0); over < grace; over += watchEvery {
		time.Sleep(watchEvery)
		if !b.exceeded() {
			over = 0
		}
	}
	fmt.Fprintln(os.Stderr, "Error: the chart's rendering fills the memory; the report was cut off")
	os.Exit(exitFailure)
}
