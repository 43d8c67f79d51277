package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/hint"
)

// Limits are the time and the memory that work on foreign text may take. A limit of zero means no limit.
type Limits struct {
	Time   time.Duration
	Memory resource.Quantity
	// Program says how to start this program as a child.
	Program confine.Program
}

// answerShare is the fraction of the memory limit that one answer of the network may take. Several copies of it are held at once.
const answerShare = 4

// MaxAnswer returns the largest size of one answer of the network in bytes; 0 means that the package that reads it decides.
func (l Limits) MaxAnswer() int64 { return l.Memory.Value() / answerShare }

// runJob runs a job in a child process within the limits. Doing names the work in messages, such as "rendering the chart". The child asks
// its questions through calls.
func runJob[In, Out any](ctx context.Context, l Limits, doing, job string, in In, calls map[string]confine.Call) (Out, error) {
	// A fault is the error of the job itself, which says what it was doing. Errors of the way to and from the child do not.
	out, err := confine.Run[In, Out](ctx, l.Program, confine.Limits{Time: l.Time, Memory: l.Memory.Value()}, job, in, calls)
	var fault *confine.Fault
	switch {
	case errors.Is(err, confine.ErrTime):
		err = l.timeExceeded(doing)
	case errors.Is(err, confine.ErrMemory):
		err = l.memoryExceeded(doing)
	case err != nil && ctx.Err() == nil && !errors.As(err, &fault):
		err = fmt.Errorf("%s: %w", doing, err)
	}
	return out, err
}

func (l Limits) timeExceeded(doing string) error {
	return hint.New(fmt.Errorf("%s takes longer than %s", doing, l.Time), "--render-timeout allows more")
}

func (l Limits) memoryExceeded(doing string) error {
	return hint.New(fmt.Errorf("%s takes more memory than %s", doing, l.Memory.String()), "--render-memory allows more")
}
