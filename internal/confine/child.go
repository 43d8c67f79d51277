package confine

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"runtime"
	"time"
)

// A child ends itself with these exit codes; see also exitCrash.
const (
	exitRefused  = 1 // it was not started by Run
	exitMemory   = 3
	exitTime     = 4
	exitOrphaned = 5 // the parent is dead
)

// grace is how much longer than its time a child may live before it ends itself. The parent kills it earlier, unless the parent is stopped.
const grace = 5 * time.Second

// Job is work that a child can do.
type Job func(ctx context.Context, p *Parent, input []byte) ([]byte, error)

// NewJob returns the Job of a function whose input and output gob can encode.
func NewJob[In, Out any](do func(context.Context, *Parent, In) (Out, error)) Job {
	return func(ctx context.Context, p *Parent, input []byte) ([]byte, error) {
		return NewCall(func(ctx context.Context, in In) (Out, error) { return do(ctx, p, in) })(ctx, input)
	}
}

// Child is this process as a child.
type Child struct {
	In       io.Reader
	Out, Err io.Writer
	// Exit ends the process.
	Exit func(code int)
	// Quiet is called if nobody reads the log.
	Quiet func()
	Jobs  map[string]Job
}

// Serve does the jobs that the parent sends, one after the other, and returns the exit code.
func (c Child) Serve() int {
	in := gob.NewDecoder(c.In)
	var m message
	if err := in.Decode(&m); err != nil || m.Order == nil || c.Jobs[m.Order.Job] == nil {
		fmt.Fprintln(c.Err, "This is an internal process of helmdrift, which only helmdrift itself can start.")
		return exitRefused
	}
	if !m.Order.Log && c.Quiet != nil {
		c.Quiet()
	}
	if m.Order.Limits.Memory > 0 {
		limitMemory(m.Order.Limits.Memory)
	}
	p := &Parent{turn: make(chan struct{}, 1), out: gob.NewEncoder(c.Out), answers: make(chan message)}
	go c.listen(in, p.answers)
	for before := runtime.NumGoroutine(); ; m = <-p.answers {
		last := c.do(p, *m.Order)
		last.Stays = m.Order.Again && leftNothing(before)
		if err := p.out.Encode(last); err != nil {
			return exitOrphaned
		}
		if !last.Stays {
			return 0
		}
	}
}

// do does a job within its limits, and returns the last message about it.
func (c Child) do(p *Parent, o order) message {
	if o.Limits.Time > 0 {
		defer time.AfterFunc(o.Limits.Time+grace, func() { c.Exit(exitTime) }).Stop()
	}
	if o.Limits.Memory > 0 {
		done := make(chan struct{})
		defer close(done)
		go c.watch(o.Limits.Memory, done)
	}
	body, err := runSafely(c.Jobs[o.Job], p, o.Input)
	return message{Body: body, Fault: faultOf(err)}
}

// mostKept is the memory that a child may hold, used or not, to get another job.
const mostKept = 256 << 20

// leftNothing reports whether a job left no goroutine beside those before it, and little memory.
func leftNothing(before int) bool {
	for range 20 { // goroutines that the job waited for are about to end
		if runtime.NumGoroutine() <= before {
			return !exceeds("/memory/classes/total:bytes", mostKept)
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// listen reads the answers and orders of the parent. It never stops reading, so that it notices the parent's death.
func (c Child) listen(in *gob.Decoder, answers chan<- message) {
	for {
		var m message
		if in.Decode(&m) != nil {
			c.Exit(exitOrphaned)
			return
		}
		answers <- m
	}
}

// runSafely turns a panic of a job into its error.
func runSafely(job Job, p *Parent, input []byte) (body []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("internal error: %v", cause)
		}
	}()
	return job(context.Background(), p, input)
}

// Parent lets a job ask the process that started this one.
type Parent struct {
	// turn is held by the question that is waiting for its answer.
	turn    chan struct{}
	out     *gob.Encoder
	answers chan message
}

// Ask asks the parent a question and returns the answer. It is safe for concurrent use: only one question is sent at a time.
func Ask[In, Out any](p *Parent, call string, in In) (out Out, err error) {
	body, err := pack(in)
	if err != nil {
		return out, err
	}
	answer, err := p.ask(message{Call: call, Body: body})
	if err != nil {
		return out, err
	}
	return unpack[Out](answer)
}

// ask sends one question and waits for the answer.
func (p *Parent) ask(question message) ([]byte, error) {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if err := p.out.Encode(question); err != nil {
		return nil, err
	}
	answer := <-p.answers
	if answer.Fault != nil {
		return nil, answer.Fault
	}
	return answer.Body, nil
}
