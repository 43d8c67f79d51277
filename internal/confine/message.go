package confine

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// Limits bound a job. Zero means no limit.
type Limits struct {
	Time   time.Duration
	Memory int64
}

// order is a job for a child. All orders of one child have the same limit of memory.
type order struct {
	Job    string
	Limits Limits
	// Log is set if somebody reads the child's log.
	Log   bool
	Input []byte
	// Again is set if the child may get another order.
	Again bool
}

// message is what crosses the pipes, in both directions. A message to the child is an order, or the answer to a question. A message from
// the child is a question if it has a Call, and otherwise the end of the job.
type message struct {
	Order *order
	Call  string
	Body  []byte
	Fault *Fault
	// Stays is set if the child waits for another order.
	Stays bool
}

// Fault is an error that crossed a pipe: its text, and its advice.
type Fault struct{ Text, Advice string }

// Error returns the text of the error.
func (f *Fault) Error() string { return f.Text }

// Hint returns what the user can try. It may be empty.
func (f *Fault) Hint() string { return f.Advice }

// faultOf converts an error for a pipe; nil stays nil.
func faultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	return &Fault{Text: err.Error(), Advice: hint.Of(err)}
}

// pack encodes a value.
func pack(value any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(value)
	return b.Bytes(), err
}

// unpack decodes a value.
func unpack[T any](body []byte) (value T, err error) {
	err = gob.NewDecoder(bytes.NewReader(body)).Decode(&value)
	return value, err
}

// boundedReader is a stream that fails when it exceeds its bound.
type boundedReader struct {
	io.Reader
	left int64
}

var errTooMuch = errors.New("the child sends more than allowed")

// Read fails once the bound is exceeded.
func (m *boundedReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.left -= int64(n); m.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}
