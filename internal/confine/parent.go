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
	// Pool keeps children for later jobs. Nil ends each child with its job.
	Pool *Pool
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
	body, err := p.run(ctx, order{Job: job, Limits: l, Log: p.Log != nil, Input: input, Again: p.Pool != nil}, calls)
	if err != nil {
		return out, err
	}
	return unpack[Out](body)
}

// linger is how long Run waits for the output of a killed child.
const linger = time.Second

// run waits for a place in the pool, and does a job within its time, in a child of the pool or in a new one. If a child of the pool ends, a
// new one does the job again, so that no error depends on the jobs before.
func (p Program) run(ctx context.Context, o order, calls map[string]Call) ([]byte, error) {
	ctx, leave, err := p.Pool.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if o.Limits.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Limits.Time, ErrTime)
		defer cancel()
	}
	if c := p.Pool.take(o.Limits.Memory); c != nil {
		body, err := p.do(ctx, c, o, calls)
		if fault := (*Fault)(nil); err == nil || errors.As(err, &fault) || ctx.Err() != nil {
			return body, err
		}
	}
	c, err := p.start(o.Limits.Memory)
	if err != nil {
		return nil, err
	}
	return p.do(ctx, c, o, calls)
}

// do does a job in a child. Afterwards the child is in the pool, or has ended.
func (p Program) do(ctx context.Context, c *child, o order, calls map[string]Call) ([]byte, error) {
	unwatch := context.AfterFunc(ctx, c.kill)
	last, err := c.converse(ctx, o, calls)
	if err != nil || !last.Stays || !unwatch() || !p.Pool.put(c) {
		if !isPipeClosed(err) {
			c.kill() // the job is done, or the child breaks the protocol
		}
		ended := c.cmd.Wait()
		unwatch()
		c.kill()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, errTooMuch):
			return nil, ErrMemory
		default:
			return nil, c.said.explain(ended, o.Limits.Memory > 0)
		}
	}
	switch {
	case last.Fault == nil:
	case ctx.Err() != nil: // a call ended with the time, and the child answered that as its own error before it was killed
		return nil, context.Cause(ctx)
	default:
		return nil, last.Fault
	}
	return last.Body, nil
}

// child is a process that does one job after the other.
type child struct {
	cmd *exec.Cmd
	// kill ends it.
	kill func()
	said *stderrLog
	to   *gob.Encoder
	from *gob.Decoder
	out  *boundedReader
	// memory is its limit.
	memory int64
}

// start starts a child.
func (p Program) start(memory int64) (*child, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	running, kill := context.WithCancel(context.Background())
	cmd, said := exec.CommandContext(running, path), &stderrLog{log: p.Log}
	cmd.Args, cmd.Env, cmd.SysProcAttr, cmd.Stderr, cmd.WaitDelay = []string{p.Name}, p.Env, childAttributes(), said, linger
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean the environment of this process
	}
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		kill()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		kill()
		return nil, fmt.Errorf("starting a process for it: %w", err)
	}
	bounded := &boundedReader{Reader: out}
	return &child{cmd: cmd, kill: kill, said: said, to: gob.NewEncoder(in), from: gob.NewDecoder(bounded), out: bounded, memory: memory}, nil
}

// isPipeClosed reports whether the pipes were closed, which happens when the child ends.
func isPipeClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE)
}

// converse sends the order, answers the child's questions, and returns its last message.
func (c *child) converse(ctx context.Context, o order, calls map[string]Call) (message, error) {
	if c.out.left = o.Limits.Memory; c.out.left <= 0 {
		c.out.left = math.MaxInt64
	}
	if err := c.to.Encode(message{Order: &o}); err != nil {
		return message{}, err
	}
	for {
		var m message
		if err := c.from.Decode(&m); err != nil {
			return message{}, err
		}
		if m.Call == "" {
			return m, nil
		}
		if err := c.to.Encode(answer(ctx, calls[m.Call], m.Body)); err != nil {
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
