package absorb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helmdrift/helmdrift/internal/absorb/vary"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// This file is the other end of ServeVariants: it sends orders and waits for their answers. A worker is one run of ServeVariants, usually
// a child process. A rendering that takes too much memory or time ends the worker. Then the server starts another worker and renders each
// variant of the batch alone: it gives up the variant that ends its worker again, and answers the others.

// serveVariants is ServeVariants, or does the same in another process.
type serveVariants func(context.Context, drift.ChartRequest, NextVariants) error

// variantServer renders a chart with many values.
type variantServer struct {
	first FirstVariant

	request drift.ChartRequest
	serve   serveVariants
	worker  *variantWorker
	// limit is the time that all renderings may take together, and patience is the time for one batch; 0 means none.
	limit, patience time.Duration
	until           time.Time
	restarts        int
}

// variantWorker is one run of serveVariants.
type variantWorker struct {
	orders  chan VariantOrder
	answers chan VariantAnswer
	// ended is closed when the worker has ended; err is the reason.
	ended chan struct{}
	err   error
	stop  context.CancelCauseFunc
	// used is set once the worker has answered a batch.
	used bool
}

// maxRestarts is how many workers may end early. Each new one loads the chart again.
const maxRestarts = 24

// One batch may take the fraction patienceShare of the time limit, or patienceStarts times as long as the start of the first worker,
// because a large chart on a busy machine is slow anyway. It may never take more than the fraction patienceMost.
const (
	patienceShare  = 20
	patienceStarts = 8
	patienceMost   = 4
)

var errEarlyEnd = errors.New("the rendering ended early")

// startVariants starts to render a chart. Limit is the time that all renderings may take together; 0 means no limit.
func startVariants(ctx context.Context, q drift.ChartRequest, serve serveVariants, limit time.Duration) (*variantServer, error) {
	s := &variantServer{request: q, serve: serve, limit: limit}
	s.renew()
	began := time.Now()
	first, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	s.first = *first
	if limit > 0 {
		s.patience = min(max(limit/patienceShare, patienceStarts*time.Since(began)), limit/patienceMost)
	}
	return s, nil
}

// renew starts the time limit again, for another piece of work.
func (s *variantServer) renew() { s.until, s.restarts = time.Now().Add(s.limit), 0 }

// start starts a worker and returns its first answer.
func (s *variantServer) start(ctx context.Context) (*FirstVariant, error) {
	running, stop := context.WithCancelCause(ctx)
	w := &variantWorker{
		orders: make(chan VariantOrder), answers: make(chan VariantAnswer), ended: make(chan struct{}), stop: stop,
	}
	go func() {
		defer close(w.ended)
		w.err = s.serve(running, s.request, w.next)
	}()
	answer, err := s.wait(ctx, w, nil)
	if err != nil {
		stop(err)
		return nil, err
	}
	s.worker = w
	return answer.First, nil
}

// next passes an answer on and waits for the next order.
func (w *variantWorker) next(ctx context.Context, answer VariantAnswer) (VariantOrder, error) {
	select {
	case w.answers <- answer:
	case <-ctx.Done():
		return VariantOrder{}, context.Cause(ctx)
	}
	select {
	case order := <-w.orders:
		return order, nil
	case <-ctx.Done():
		return VariantOrder{}, context.Cause(ctx)
	}
}

// wait waits for an answer of a worker. If late fires first, the worker is stopped.
func (s *variantServer) wait(ctx context.Context, w *variantWorker, late <-chan time.Time) (VariantAnswer, error) {
	select {
	case answer := <-w.answers:
		(*secret.Known)(s.request.Known).AddKnown(answer.Known)
		return answer, nil
	case <-w.ended:
		return VariantAnswer{}, cmp.Or(w.err, errEarlyEnd)
	case <-ctx.Done():
		return VariantAnswer{}, context.Cause(ctx)
	case <-late:
		if time.Now().Before(s.until) {
			return VariantAnswer{}, fmt.Errorf("it takes longer than %s", s.patience.Round(time.Second/10))
		}
		return VariantAnswer{}, fmt.Errorf("trying values of the chart takes longer than %s", s.limit)
	}
}

// render renders a batch. An error means that no more renderings are possible, such as at the time limit.
func (s *variantServer) render(ctx context.Context, all []vary.Variant) ([]vary.Rendering, error) {
	out, err := s.batch(ctx, VariantOrder{Variants: all})
	if err == nil || !s.mayGoOn(ctx) {
		return out, err
	}
	out = make([]vary.Rendering, len(all))
	for i := range all {
		one, err := s.alone(ctx, all[i])
		if err != nil {
			return nil, err
		}
		out[i] = one
	}
	return out, nil
}

// alone renders one variant. If a worker with earlier work ends, that work may be the reason, so a second worker tries again.
func (s *variantServer) alone(ctx context.Context, one vary.Variant) (vary.Rendering, error) {
	for {
		wasUsed := s.worker != nil && s.worker.used
		out, err := s.batch(ctx, VariantOrder{Variants: []vary.Variant{one}})
		switch {
		case err == nil:
			return out[0], nil
		case !s.mayGoOn(ctx):
			return vary.Rendering{}, err
		case !wasUsed:
			return vary.Rendering{Fault: err.Error(), GivenUp: true}, nil
		}
	}
}

// mayGoOn reports whether another worker may be started after one that ended early.
func (s *variantServer) mayGoOn(ctx context.Context) bool {
	s.restarts++
	return ctx.Err() == nil && s.restarts <= maxRestarts && (s.limit == 0 || time.Now().Before(s.until))
}

// batch renders variants in the worker, and starts a worker if there is none. After an error there is none.
func (s *variantServer) batch(ctx context.Context, order VariantOrder) ([]vary.Rendering, error) {
	var late <-chan time.Time // without a limit it never fires
	if s.limit > 0 {
		late = time.After(min(s.patience, time.Until(s.until)))
	}
	if s.worker == nil {
		if _, err := s.start(ctx); err != nil {
			s.restarts = maxRestarts // a chart that can no longer be loaded stays so
			return nil, err
		}
	}
	w := s.worker
	answer, err := s.ask(ctx, w, order, late)
	if err != nil {
		w.stop(err)
		s.worker = nil
		return nil, err
	}
	w.used = true
	return answer.Renderings, nil
}

// ask sends a batch to a worker and waits for the answer.
func (s *variantServer) ask(ctx context.Context, w *variantWorker, order VariantOrder, late <-chan time.Time) (VariantAnswer, error) {
	select {
	case w.orders <- order:
	case <-w.ended:
	case <-ctx.Done():
		return VariantAnswer{}, context.Cause(ctx)
	}
	answer, err := s.wait(ctx, w, late)
	if err == nil && len(answer.Renderings) != len(order.Variants) {
		err = errEarlyEnd
	}
	return answer, err
}

// close ends the work.
func (s *variantServer) close() {
	if s.worker == nil {
		return
	}
	select {
	case s.worker.orders <- VariantOrder{Done: true}:
	case <-s.worker.ended:
	}
	<-s.worker.ended
	s.worker.stop(nil)
}
