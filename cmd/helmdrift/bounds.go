package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/internal/confine"
)

// bounds are what work on foreign text may take: a template can loop for ever or fill the memory, and so can the text of a
// manifest or an index. Such work is a job of a child process (jobs.go). Zero is no bound.
type bounds struct {
	time    time.Duration
	heap    memorySize
	program confine.Program
}

func newBounds(s streams) bounds {
	return bounds{time: time.Minute, heap: sizeOf("1Gi"), program: confine.Program{Name: childName, Env: childEnv(s.env)}}
}

func (b *bounds) addFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&b.time, "render-timeout", b.time,
		"time limit for reading a manifest, for fetching the chart and for rendering it; 0 for none")
	fs.Var(&b.heap, "render-memory", "memory limit for reading a manifest and for rendering the chart, such as 512Mi; 0 for none")
}

// boundFlags are the names of addFlags.
func boundFlags() []string { return []string{"render-timeout", "render-memory"} }

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

// answerShare is the part of the memory that one answer of the network may have: it is held several times over.
const answerShare = 4

// maxAnswer bounds an answer of the network; 0 is no bound of ours.
func (b bounds) maxAnswer() int64 { return b.heap.Value() / answerShare }

// within does a job in a child process. doing names the work in messages: "rendering the chart".
func within[In, Out any](ctx context.Context, b bounds, doing, job string, in In, calls map[string]confine.Call) (Out, error) {
	limits := confine.Limits{Time: b.time, Memory: b.heap.Value()}
	out, err := confine.Run[In, Out](ctx, b.program, limits, job, in, calls)
	var fault *confine.Fault
	switch {
	case errors.Is(err, confine.ErrTime):
		err = b.overtime(doing)
	case errors.Is(err, confine.ErrMemory):
		err = b.overweight(doing)
	case err != nil && ctx.Err() == nil && !errors.As(err, &fault):
		err = fmt.Errorf("%s: %w", doing, err)
	}
	return out, err
}

// logged is b with the log of its children printed, which --debug asks for.
func (b bounds) logged(debug bool) bounds {
	if debug {
		b.program.Log = log.Writer()
	}
	return b
}

func (b bounds) overtime(doing string) error {
	return hinted{error: fmt.Errorf("%s takes longer than %s", doing, b.time), hint: "--render-timeout allows more"}
}

func (b bounds) overweight(doing string) error {
	return hinted{error: fmt.Errorf("%s takes more memory than %s", doing, b.heap.String()), hint: "--render-memory allows more"}
}
