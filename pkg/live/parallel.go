package live

import (
	"fmt"

	"golang.org/x/sync/errgroup"
)

// InFlight is the number of requests that run at the same time.
const InFlight = 16

// inParallel applies f to each item, with a bounded number of calls at a time, and returns the results in the order
// of the items.
func inParallel[T, R any](items []T, f func(T) R) []R {
	results := make([]R, len(items))
	var group errgroup.Group
	group.SetLimit(InFlight)
	for i, item := range items {
		group.Go(func() error {
			results[i] = f(item)
			return nil
		})
	}
	_ = group.Wait() // no item returns an error
	return results
}

// recoverError turns a panic into an error. It is called by defer.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error: %s", oneLine(fmt.Sprint(p)))
	}
}
