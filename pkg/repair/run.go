package repair

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/helmdrift/helmdrift/internal/retry"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// DefaultTimeout bounds the work on one object if RunOptions names no timeout.
const DefaultTimeout = time.Minute

// RunOptions says how to run a plan.
type RunOptions struct {
	// DryRun sends the requests that carry values with dryRun=All, so that nothing is stored, and returns only the objects that would not
	// be put back.
	DryRun bool
	// Timeout bounds the work on one object with all its repetitions, as Helm's --timeout bounds one operation; zero means DefaultTimeout.
	// A write gets half of it, so that there is time to look after a write without an answer. A dry run gets all of it, because there is
	// nothing to look for afterwards: the API server answers within 34 s and then names the webhook that it waited for (k8s.io/apiserver
	// v0.37.1 pkg/endpoints/handlers/rest.go requestTimeoutUpperBound).
	Timeout time.Duration
	// Before is called before each object whose values may have to be written. It checks that the release is still the one of the plan.
	// Its error ends the run, and is the reason for every object that was not done. Before may be nil.
	Before func(ctx context.Context) error
}

// Run writes the plan, one object after the other, and returns the outcome of each. If an object fails, Run still repairs the others.
// When ctx ends, Run finishes the request in flight and begins nothing new. The next run completes what this one leaves undone.
func (p *Plan) Run(ctx context.Context, w Writer, o RunOptions) []report.FixOutcome {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	r := &run{RunOptions: o, plan: p, server: w}
	var out []report.FixOutcome
	for i := range p.Objects {
		outcome := r.repair(ctx, &p.Objects[i])
		if !o.DryRun || outcome.Status != report.FixFixed {
			out = append(out, outcome)
		}
	}
	return out
}

// run is one run of a plan.
type run struct {
	RunOptions
	plan   *Plan
	server Writer
	// ended says why nothing new begins. It is empty while the run goes on.
	ended string
	// lastTimedOut reports that the last object ran out of time because of the server or the connection. The next object then gets a
	// single attempt, because a server that is down would otherwise take the whole timeout of every object.
	lastTimedOut bool
}

// repair works on one object in attempts. Each attempt reads the object again.
func (r *run) repair(ctx context.Context, o *ObjectPlan) (out report.FixOutcome) {
	w := &work{run: r, plan: o}
	defer func() {
		if p := recover(); p != nil {
			out = w.unfinished(w.panicked(p))
		}
	}()
	within, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	// answer is the last error that is an answer. It says more than the silence of a later attempt.
	var answer error
	for attempt := 1; ; attempt++ {
		if reason := r.stopped(ctx); reason != "" {
			return w.unfinished(reason)
		}
		out, err := w.step(within)
		if err == nil {
			r.lastTimedOut = false
			return out
		}
		wait := pause(attempt, err)
		switch {
		case r.stopped(ctx) != "":
			continue
		case r.DryRun && isTransient(err):
			return w.unfinished("the API server could not try it: " + reasonOf(err))
		case retry.EndsBefore(within, wait), r.lastTimedOut && isTransient(err):
			r.lastTimedOut = isTransient(err)
			if answer != nil && errors.Is(err, context.DeadlineExceeded) {
				err = answer
			}
			return w.unfinished("gave up: " + reasonOf(err))
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			answer = err
		}
		_ = retry.Sleep(within, wait)
	}
}

// stopped returns why nothing new begins, or "" while the run goes on.
func (r *run) stopped(ctx context.Context) string {
	if r.ended == "" && ctx.Err() != nil {
		return "interrupted"
	}
	return r.ended
}

// These are the pause after the first attempt, and the longest pause. The first is short, because a busy writer soon leaves the
// object alone.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// pause returns how long to wait after an attempt: twice as long each time, longer if the server asks for it, and with jitter, so that two
// repairs of one object do not meet again and again.
func pause(attempt int, err error) time.Duration {
	wait := min(firstPause<<min(attempt-1, 7), maxPause)
	wait = wait/2 + rand.N(wait)
	if seconds, told := apierrors.SuggestsClientDelay(err); told {
		wait += time.Duration(max(seconds, 0)) * time.Second // client-go cuts a large number to 32 bits, which may be negative
	}
	return wait
}

// checkBefore calls Before. Its error ends the run.
func (r *run) checkBefore(ctx context.Context) error {
	if r.Before == nil || r.DryRun {
		return nil
	}
	err := r.Before(ctx)
	if err != nil && ctx.Err() == nil {
		r.ended = err.Error()
	}
	return err
}

func (r *run) get(ctx context.Context, ref object.Ref) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout/2)
	defer cancel()
	return r.server.Get(ctx, ref)
}

// lastWrite is how long a write that has begun goes on after an interrupt.
const lastWrite = time.Second

// send sends a write. The end of the object's time does not cancel a write that has begun, because its result would then be unknown. After
// an interrupt, the write has lastWrite to end. Both cancel a dry run, which leaves nothing behind.
func (r *run) send(ctx context.Context, request cluster.Request, manager string) (map[string]any, error) {
	if r.DryRun {
		return r.server.Write(ctx, request, manager, true)
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timeout/2)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			time.AfterFunc(lastWrite, cancel)
		}
	})()
	return r.server.Write(writing, request, manager, false)
}
