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

// These are the errors of a job that exceeds its limits.
var (
	ErrTime   = errors.New("it takes longer than allowed")
	ErrMemory = errors.New("it takes more memory than allowed")
)

// Program says how to start a child of this program.
type Program struct {
	// Name is the argv[0] of a child. Main recognises a child by it.
	Name string
	// Env is the whole environment of the child.
	Env []string
	// Log receives the child's stderr, one line at a time. Nil discards it.
	Log io.Writer
}

// Call answers one kind of question of a job.
type Call func(ctx context.Context, question []byte) ([]byte, error)

// NewCall returns the Call of a function whose input and output gob can encode.
func NewCall[In, Out any](do func(context.Context, In) (Out, error)) Call {
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

// Run does a job in a child and returns its output. The error is the job's own error as a *Fault, ErrTime, ErrMemory,
// the cause of ctx, or a description of how the child ended.
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

// linger is how long Run waits for the output of a killed child.
const linger = time.Second

// run starts a child, talks to it, and waits until it has ended.
func (p Program) run(ctx context.Context, o order, calls map[string]Call) ([]byte, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(running, path)
	said := &stderrLog{log: p.Log}
	cmd.Args, cmd.Env, cmd.SysProcAttr, cmd.Stderr, cmd.WaitDelay = []string{p.Name}, p.Env, childAttributes(), said, linger
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean the environment of this process
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
	if !isPipeClosed(err) {
		stop() // the job is done, or the child breaks the protocol
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

// isPipeClosed reports whether the pipes were closed, which happens when the child ends.
func isPipeClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE)
}

// converse sends the order, answers the child's questions, and returns its last message.
func converse(ctx context.Context, o order, in io.Writer, out io.Reader, calls map[string]Call) (message, error) {
	most := o.Limits.Memory
	if most <= 0 {
		most = math.MaxInt64
	}
	to, from := gob.NewEncoder(in), gob.NewDecoder(&boundedReader{out, most})
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

// answer answers one question. It never fails: the error or panic of a call is sent to the child.
func answer(ctx context.Context, call Call, question []byte) (m message) {
	defer func() {
		if cause := recover(); cause != nil {
			m = message{Fault: &Fault{Text: fmt.Sprintf("internal error: %v", cause)}}
		}
	}()
	if call == nil {
		return message{Fault: &Fault{Text: "internal error: there is no such call"}}
	}
	body, err := call(ctx, question)
	return message{Body: body, Fault: faultOf(err)}
}
