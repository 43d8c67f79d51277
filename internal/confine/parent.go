package confine

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"syscall"
	"time"
)

// The two bounds, as errors.
var (
	ErrTime   = errors.New("it takes longer than it may")
	ErrMemory = errors.New("it takes more memory than it may")
)

// Program is how to start a child of ourselves.
type Program struct {
	// Name is the argv[0] by which main knows that it is a child.
	Name string
	// Env is the whole environment of the child.
	Env []string
	// Log gets what the child writes to stderr, a line at a time; nil discards it.
	Log io.Writer
}

// Call answers one kind of question that a job has.
type Call func(ctx context.Context, question []byte) ([]byte, error)

// Answer makes a Call of a function whose input and output gob can carry.
func Answer[In, Out any](do func(context.Context, In) (Out, error)) Call {
	return func(ctx context.Context, question []byte) ([]byte, error) {
		in, err := unpack[In](question)
		if err != nil {
			return nil, err
		}
		out, err := do(ctx, in)
		if err != nil {
			return nil, err
		}
		return pack(out)
	}
}

// Run does a job in a child and returns its output. An error is that of the job as a *Fault, ErrTime, ErrMemory, the cause for
// which ctx ended, or what became of the child.
func Run[In, Out any](ctx context.Context, p Program, l Limits, job string, in In, calls map[string]Call) (out Out, err error) {
	input, err := pack(in)
	if err != nil {
		return out, err
	}
	if l.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.Time, ErrTime)
		defer cancel()
	}
	body, err := p.run(ctx, order{Job: job, Limits: l, Log: p.Log != nil, Input: input}, calls)
	if err != nil {
		return out, err
	}
	return unpack[Out](body)
}

// linger is how long the output of a killed child is waited for.
const linger = time.Second

// run starts a child, talks to it, and waits until it is gone.
func (p Program) run(ctx context.Context, o order, calls map[string]Call) ([]byte, error) {
	path, err := self()
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(running, path)
	said := &lastWords{log: p.Log}
	cmd.Args, cmd.Env, cmd.SysProcAttr, cmd.Stderr, cmd.WaitDelay = []string{p.Name}, p.Env, apart(), said, linger
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be all of ours
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("starting a process for it: %w", err)
	}
	last, err := converse(ctx, o, in, out, calls)
	if !brokenOff(err) {
		stop() // its work is done, or it does what it should not
	}
	ended := cmd.Wait()
	switch {
	case err == nil && last.Fault != nil:
		return nil, last.Fault
	case err == nil:
		return last.Body, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, errTooMuch):
		return nil, ErrMemory
	}
	return nil, said.explain(ended, o.Limits.Memory > 0)
}

// brokenOff reports whether the pipes ended, which they do when the child has ended.
func brokenOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE)
}

// converse sends the order, answers questions, and returns the end of the job.
func converse(ctx context.Context, o order, in io.Writer, out io.Reader, calls map[string]Call) (message, error) {
	most := o.Limits.Memory
	if most <= 0 {
		most = math.MaxInt64
	}
	to, from := gob.NewEncoder(in), gob.NewDecoder(&meter{out, most})
	if err := to.Encode(o); err != nil {
		return message{}, err
	}
	for {
		var m message
		if err := from.Decode(&m); err != nil {
			return message{}, err
		}
		if m.Call == "" {
			return m, nil
		}
		if err := to.Encode(answer(ctx, calls[m.Call], m.Body)); err != nil {
			return message{}, err
		}
	}
}

// answer never fails: a call that fails or panics is the child's business.
func answer(ctx context.Context, call Call, question []byte) (m message) {
	defer func() {
		if cause := recover(); cause != nil {
			m = message{Fault: &Fault{Text: fmt.Sprintf("internal error: %v", cause)}}
		}
	}()
	if call == nil {
		return message{Fault: &Fault{Text: "internal error: nobody answers that"}}
	}
	body, err := call(ctx, question)
	return message{Body: body, Fault: faultOf(err)}
}
