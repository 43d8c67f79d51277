package rollout

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// DefaultTimeout bounds the wait if Options names no timeout. It is that of helm upgrade --wait (helm v3.22.0 cmd/helm/upgrade.go
	// newUpgradeCmd).
	DefaultTimeout = 5 * time.Minute
	// defaultInterval is the time between two looks.
	defaultInterval = 2 * time.Second
	// lookTimeout bounds the requests of one look, so that a slow answer does not stop the others from being shown.
	lookTimeout = 15 * time.Second
	// inFlight is the number of objects that are looked at at the same time.
	inFlight = 8
)

// Cluster is what a wait reads. Its errors say which resource could not be read and why.
type Cluster interface {
	// Get reads an object; nil if it does not exist.
	Get(ctx context.Context, ref object.Ref) (map[string]any, error)
	// Select returns the objects of a resource in a namespace that the options select.
	Select(ctx context.Context, of schema.GroupVersionResource, namespace string, options metav1.ListOptions) ([]map[string]any, error)
	// Log returns the last lines of the log of a container, or of the instance that ended before the one that runs.
	Log(ctx context.Context, namespace, pod, container string, previous bool, lines int) (string, error)
}

// Options says how long to wait, and what is shown meanwhile.
type Options struct {
	// Timeout bounds the wait for each object; zero means DefaultTimeout. All objects are waited for at the same time.
	Timeout time.Duration
	// Interval is the time between two looks; zero means two seconds.
	Interval time.Duration
	// Scrub removes what is secret from a text of the cluster, such as threeway.Comparison.Scrub; nil leaves the text as it is.
	Scrub func(text string) string
	// Show is called after each look with the states of all objects, one call at a time. It may keep them. It may be nil.
	Show func(states []State)
}

// State is how far one object is.
type State struct {
	Ref object.Ref
	report.Rollout
	// News reports that the object has a problem that no earlier state had.
	News bool
}

// Wait waits until each object is as it should be or has failed for good, and returns the state of each in the order of refs. When the
// timeout is over or ctx ends, it returns how far they are: report.RolloutTimedOut or report.RolloutInterrupted. What cannot be read is
// in Unread of the state and no error, because it may be readable at the next look.
func Wait(ctx context.Context, c Cluster, refs []object.Ref, o Options) []State {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	w := &wait{Options: o, cluster: c}
	for _, ref := range refs {
		w.objects = append(w.objects, &watched{ref: ref, known: map[string]bool{}})
	}
	within, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	for within.Err() == nil && !w.isDone() {
		w.look(within)
		w.show()
		if !w.isDone() {
			sleep(within, o.Interval)
		}
	}
	w.end(ctx)
	return w.states()
}

// wait is one wait.
type wait struct {
	Options
	cluster Cluster
	objects []*watched
}

// watched is one object that is waited for, with its texts in clear.
type watched struct {
	ref object.Ref
	report.Rollout
	problem problem
	// log is the end of the log of the problem's container, which logOf identifies.
	log, logOf string
	// known are the keys of the problems that were found so far, and isNew reports that the last look found another one.
	known map[string]bool
	isNew bool
}

// isDone reports whether nothing remains to wait for.
func (w *wait) isDone() bool {
	return !slices.ContainsFunc(w.objects, func(o *watched) bool { return o.Status == "" })
}

// look looks at each object that is waited for.
func (w *wait) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	r := &reader{cluster: w.cluster}
	var group errgroup.Group
	group.SetLimit(inFlight)
	for _, o := range w.objects {
		o.isNew = false
		if o.Status == "" {
			group.Go(func() error {
				o.look(ctx, r)
				return nil
			})
		}
	}
	_ = group.Wait() // no look returns an error
}

// show calls Show.
func (w *wait) show() {
	if w.Show != nil {
		w.Show(w.states())
	}
}

// states returns what may be shown of each object.
func (w *wait) states() []State {
	states := make([]State, len(w.objects))
	for i, o := range w.objects {
		states[i] = o.state(w.Scrub)
	}
	return states
}

// end gives a status to the objects that are still waited for. After the timeout it reads their logs once more, because what a container
// says at the end is why it is not ready. After an interrupt it reads nothing.
func (w *wait) end(ctx context.Context) {
	if ctx.Err() == nil && !w.isDone() {
		last, cancel := context.WithTimeout(ctx, logTimeout)
		defer cancel()
		var group errgroup.Group
		group.SetLimit(inFlight)
		for _, o := range w.objects {
			if o.Status == "" {
				group.Go(func() error {
					o.logOf = ""
					o.readLog(last, &reader{cluster: w.cluster})
					return nil
				})
			}
		}
		_ = group.Wait() // no log returns an error
	}
	for _, o := range w.objects {
		o.isNew = false
		switch {
		case o.Status != "":
		case errors.Is(ctx.Err(), context.Canceled):
			o.Status = report.RolloutInterrupted
		default:
			o.Status = report.RolloutTimedOut
		}
	}
}

// sleep waits, unless ctx ends before.
func sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
