package confine

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"time"
)

// Limits are what a job may take. Zero is no limit.
type Limits struct {
	Time   time.Duration
	Memory int64
}

// order is the first message to a child.
type order struct {
	Job    string
	Limits Limits
	// Log says that somebody reads what the child logs.
	Log   bool
	Input []byte
}

// message is every later one, in both directions. From the child it is a question where Call names one, and else the end of
// the job. To the child it is the answer to a question.
type message struct {
	Call  string
	Body  []byte
	Fault *Fault
}

// Fault is an error that crossed a pipe: its words, and the advice that came with it.
type Fault struct{ Text, Advice string }

// Error is the text of the error.
func (f *Fault) Error() string { return f.Text }

// Hint says what to try; it may be empty.
func (f *Fault) Hint() string { return f.Advice }

// faultOf makes an error fit for a pipe; nil stays nil.
func faultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	f := &Fault{Text: err.Error()}
	var advice interface{ Hint() string }
	if errors.As(err, &advice) {
		f.Advice = advice.Hint()
	}
	return f
}

func pack(value any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(value)
	return b.Bytes(), err
}

func unpack[T any](body []byte) (value T, err error) {
	err = gob.NewDecoder(bytes.NewReader(body)).Decode(&value)
	return value, err
}

// meter ends a stream that brings more than it may.
type meter struct {
	io.Reader
	left int64
}

var errTooMuch = errors.New("the child sends more than it may")

// Read reads on while there is something left.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.left -= int64(n); m.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}
