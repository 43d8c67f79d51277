package confine

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

const childName = "confine-test-child"

// TestMain turns the test binary into a child if Run started it.
func TestMain(m *testing.M) {
	if os.Args[0] == childName {
		debug.SetTraceback("single")
		os.Exit(Child{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit, Jobs: jobs()}.Serve())
	}
	os.Exit(m.Run())
}

const mib = 1 << 20

// kept prevents the compiler from removing allocations.
var kept [][]byte

func jobs() map[string]Job {
	return map[string]Job{
		"echo":  NewJob(func(_ context.Context, _ *Parent, in string) (string, error) { return in, nil }),
		"fault": NewJob(func(_ context.Context, _ *Parent, in string) (string, error) { return "", advised{errors.New(in)} }),
		"panic": NewJob(func(_ context.Context, _ *Parent, in string) (string, error) { panic(in) }),
		"crash": NewJob(func(_ context.Context, _ *Parent, in string) (string, error) {
			go panic(in)
			select {}
		}),
		"loop": NewJob(func(context.Context, *Parent, string) (string, error) {
			for n := 0; ; n++ {
				kept = nil
			}
		}),
		"ask": NewJob(func(_ context.Context, p *Parent, in string) (string, error) {
			var all sync.WaitGroup
			answers := make([]string, 20)
			for i := range answers {
				all.Go(func() { answers[i], _ = Ask[string, string](p, "double", fmt.Sprint(in, i)) })
			}
			all.Wait()
			_, refused := Ask[string, string](p, "double", "no")
			_, unknown := Ask[string, string](p, "unknown", "")
			return strings.Join(answers, " ") + "; " + refused.Error() + "; " + unknown.Error(), nil
		}),
		"environment": NewJob(func(context.Context, *Parent, string) (string, error) {
			return strings.Join(os.Environ(), "\n") + strings.Join(os.Args, "\n"), nil
		}),
		"print": NewJob(func(_ context.Context, _ *Parent, in string) (string, error) {
			fmt.Fprintln(os.Stderr, in)
			return "", nil
		}),
		"answer": NewJob(func(_ context.Context, _ *Parent, n int) ([]byte, error) { return bytes.Repeat([]byte("x"), n), nil }),
		// hold allocates n bytes at once, fill piece by piece. churn holds n bytes and makes four times as much garbage.
		"hold": NewJob(func(_ context.Context, _ *Parent, n int) (int, error) { return len(strings.Repeat("x", n)), nil }),
		"fill": NewJob(func(_ context.Context, _ *Parent, n int) (int, error) {
			for range n / mib {
				kept = append(kept, make([]byte, mib))
			}
			defer runtime.KeepAlive(kept)
			return n, nil
		}),
		"churn": NewJob(func(_ context.Context, _ *Parent, n int) (int, error) {
			for range n / 4096 {
				kept = append(kept, make([]byte, 4096))
			}
			made := 0
			for range 4 * n / 65536 {
				made += len(make([]byte, 65536))
			}
			runtime.KeepAlive(kept)
			return made, nil
		}),
		"recurse": NewJob(func(_ context.Context, _ *Parent, n int) (int, error) { return deep(n, [64]int{}), nil }),
		"process": NewJob(func(context.Context, *Parent, string) (int, error) { return os.Getpid(), nil }),
		"leave": NewJob(func(context.Context, *Parent, string) (int, error) {
			go func() { select {} }()
			return os.Getpid(), nil
		}),
		// spoil crashes the next time that it runs in the same process.
		"spoil": NewJob(func(context.Context, *Parent, string) (int, error) {
			if kept != nil {
				os.Exit(9)
			}
			kept = [][]byte{{}}
			return os.Getpid(), nil
		}),
		"meet": NewJob(func(_ context.Context, p *Parent, _ string) (string, error) {
			return Ask[string, string](p, "meet", "")
		}),
		"wait": NewJob(func(context.Context, *Parent, string) (string, error) { select {} }),
	}
}

func deep(n int, pad [64]int) int {
	if n == 0 {
		return pad[0]
	}
	pad[n%64]++
	return deep(n-1, pad) + pad[1]
}

type advised struct{ error }

func (advised) Hint() string { return "try again" }

func program() Program { return Program{Name: childName} }

// generous is a time limit that no test reaches, even on a busy machine.
const generous = 2 * time.Minute

func TestAnswers(t *testing.T) {
	const text = "any bytes: \xff\x00 and ümlauts"
	got, err := Run[string, string](t.Context(), program(), Limits{generous, 256 * mib}, "echo", text, nil)
	if err != nil || got != text {
		t.Fatalf("%q, %v", got, err)
	}
	long := strings.Repeat(text, 100_000)
	if got, err = Run[string, string](t.Context(), program(), Limits{}, "echo", long, nil); err != nil || got != long {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

func TestFaults(t *testing.T) {
	for job, want := range map[string]string{"fault": "words", "panic": "internal error: words", "crash": "its process crashed with exit code 2"} {
		_, err := Run[string, string](t.Context(), program(), Limits{generous, 256 * mib}, job, "words", nil)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", job, err)
		}
		var advice interface{ Hint() string }
		if job == "fault" && (!errors.As(err, &advice) || advice.Hint() != "try again") {
			t.Errorf("%s lost its hint: %v", job, err)
		}
	}
}

func TestQuestions(t *testing.T) {
	double := NewCall(func(_ context.Context, in string) (string, error) {
		if in == "no" {
			return "", errors.New("refused")
		}
		return in + in, nil
	})
	got, err := Run[string, string](t.Context(), program(), Limits{generous, 256 * mib}, "ask", "a", map[string]Call{"double": double})
	if err != nil || !strings.HasPrefix(got, "a0a0 a1a1 a2a2") || !strings.HasSuffix(got, "a19a19; refused; internal error: there is no such call") {
		t.Fatalf("%s, %v", got, err)
	}
}

// TestMemory checks that a job that exceeds its memory is always an error, and that a smaller job is not. The result does not
// depend on the speed of the machine: either the watchdog in the child sees the excess, or the kernel refuses the memory.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux refuses a large allocation")
	}
	for name, test := range map[string]struct {
		job string
		in  int
		err error
	}{
		"at once":                  {"hold", 3_000_000_000, ErrMemory},
		"more than there is":       {"hold", 1 << 45, ErrMemory},
		"piece by piece":           {"fill", 3_000_000_000, ErrMemory},
		"on the stack":             {"recurse", 100_000_000, ErrMemory},
		"at once, but less":        {"hold", 100 * mib, nil},
		"piece by piece, but less": {"fill", 150 * mib, nil},
		"mostly garbage":           {"churn", 100 * mib, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run[int, int](t.Context(), program(), Limits{generous, 200 * mib}, test.job, test.in, nil)
			if !errors.Is(err, test.err) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
		})
	}
	t.Run("answer", func(t *testing.T) {
		if _, err := Run[int, []byte](t.Context(), program(), Limits{generous, 200 * mib}, "answer", 600*mib, nil); !errors.Is(err, ErrMemory) {
			t.Fatal(err)
		}
	})
}

// TestPool checks that jobs share a child, and that a job that fails, ends its child or leaves something behind costs nothing but itself.
func TestPool(t *testing.T) {
	p := program()
	p.Pool = NewPool(2)
	defer p.Pool.Close()
	do := func(job string, l Limits) (int, error) { return Run[string, int](t.Context(), p, l, job, "", nil) }
	limits := Limits{generous, 200 * mib}
	process := func() int {
		t.Helper()
		out, err := do("process", limits)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := process()
	if _, err := do("panic", limits); err == nil || process() != first {
		t.Errorf("error %v; another child after a job that failed", err)
	}
	if other, err := do("process", Limits{generous, 100 * mib}); err != nil || other == first {
		t.Errorf("a child with another limit of memory, %v", err)
	}
	for job, l := range map[string]Limits{"crash": limits, "loop": {Time: 100 * time.Millisecond, Memory: 200 * mib}} {
		before := process()
		if _, err := do(job, l); err == nil || process() == before {
			t.Errorf("%s: error %v, or the same child afterwards", job, err)
		}
	}
	if _, err := Run[int, int](t.Context(), p, limits, "fill", 3_000_000_000, nil); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	if left, err := do("leave", limits); err != nil || process() == left {
		t.Errorf("a child with a goroutine of another job, %v", err)
	}
	spoilt, err := do("spoil", limits)
	again, errAgain := do("spoil", limits)
	if err != nil || errAgain != nil || spoilt == again {
		t.Errorf("%v, %v: an error depends on the jobs before", err, errAgain)
	}
	p.Pool.Close()
	if last := process(); last == process() {
		t.Error("a child stays after Close")
	}
	if pid := zombie(); pid > 0 {
		t.Errorf("child %d was never waited for", pid)
	}
}

// TestPlaces checks that as many jobs run at once as a pool allows, and more while some wait for something slow. A job that waits for its
// turn loses no time.
func TestPlaces(t *testing.T) {
	for _, isSlow := range []bool{false, true} {
		p := program()
		p.Pool = NewPool(1)
		defer p.Pool.Close()
		var mu sync.Mutex
		now, most := 0, 0
		meet := NewCall(func(context.Context, string) (string, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(300 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			now--
			return "", nil
		})
		if isSlow {
			meet = Slow(meet)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := Run[string, string](t.Context(), p, Limits{Time: generous}, "meet", "", map[string]Call{"meet": meet}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if isSlow != (most > 1) {
			t.Errorf("slow: %t, and %d at once", isSlow, most)
		}
	}
}

// TestTime checks that a job that does not end is killed, whether it obeys its context or not, and that the error names the reason.
func TestTime(t *testing.T) {
	for _, job := range []string{"loop", "wait"} {
		if _, err := Run[string, string](t.Context(), program(), Limits{Time: 100 * time.Millisecond}, job, "", nil); !errors.Is(err, ErrTime) {
			t.Errorf("%s: %v", job, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("interrupted")) })
		if _, err := Run[string, string](ctx, program(), Limits{}, job, "", nil); err == nil || err.Error() != "interrupted" {
			t.Errorf("%s: %v", job, err)
		}
	}
}

// TestNothingLeaks checks that the child sees only the environment that it was given, and that its stderr goes to the
// log.
func TestNothingLeaks(t *testing.T) {
	t.Setenv("CANARY", "hunter2")
	p := program()
	p.Env = []string{"TZ=UTC"}
	got, err := Run[string, string](t.Context(), p, Limits{}, "environment", "hunter2", nil)
	if err != nil || got != "TZ=UTC"+childName {
		t.Errorf("%q, %v", got, err)
	}
	var log bytes.Buffer
	p.Log = &log
	if _, err := Run[string, string](t.Context(), p, Limits{}, "print", "one\ntwo", nil); err != nil || log.String() != "one\ntwo\n" {
		t.Errorf("%q, %v", &log, err)
	}
}

// TestRefusesUsers checks that a child without an order does nothing.
func TestRefusesUsers(t *testing.T) {
	var said bytes.Buffer
	code := Child{In: strings.NewReader("hello\n"), Out: io.Discard, Err: &said, Jobs: jobs()}.Serve()
	if code != exitRefused || !strings.Contains(said.String(), "only helmdrift itself") {
		t.Errorf("exit %d, %s", code, &said)
	}
}

// TestNoChildIsLeft checks that a child that loops ends when its parent is dead, and that no child is left as a zombie.
func TestNoChildIsLeft(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	listening := Child{In: in, Exit: func(code int) { ended <- code }}
	go listening.listen(gob.NewDecoder(in), make(chan message))
	_ = out.Close()
	select {
	case code := <-ended:
		if code != exitOrphaned {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(generous):
		t.Error("it does not end without its parent")
	}
	if pid := zombie(); pid > 0 {
		t.Errorf("child %d was never waited for", pid)
	}
}
