package live

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// script is a transport that returns one answer after the other, and repeats the last one.
type script struct {
	answers []func() (*http.Response, error)
	sent    int
}

func (s *script) RoundTrip(*http.Request) (*http.Response, error) {
	answer := s.answers[min(s.sent, len(s.answers)-1)]
	s.sent++
	return answer()
}

func answer(code int, retryAfter, body string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		header := http.Header{}
		if retryAfter != "" {
			header.Set("Retry-After", retryAfter)
		}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func broken(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

// halfway returns an answer that breaks off in its body.
func halfway() (*http.Response, error) {
	body := io.MultiReader(strings.NewReader("half"), cutOff{})
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
}

type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestRetry measures the pauses with the clock of the synctest bubble, so nothing here waits.
func TestRetry(t *testing.T) {
	fine := answer(200, "", "ok")
	type answers = []func() (*http.Response, error)
	for _, test := range []struct {
		name     string
		answers  answers
		sent     int
		code     int // 0: an error
		min, max time.Duration
	}{
		{"fine", answers{fine}, 1, 200, 0, 0},
		{"throttled once", answers{answer(429, "", ""), fine}, 2, 200, 125 * time.Millisecond, 375 * time.Millisecond},
		{"throttled, told when", answers{answer(429, "3", ""), fine}, 2, 200, 3 * time.Second, 4 * time.Second},
		{"throttled for ever", answers{answer(429, "1", "")}, maxAttempts, 429, 4 * time.Second, 6 * time.Second},
		{"told to wait too long", answers{answer(503, "3600", "")}, 1, 503, 0, 0},
		{"told to wait longer than time can count", answers{answer(503, "10000000000", "")}, 1, 503, 0, 0},
		{"told nonsense", answers{answer(429, "-5", ""), fine}, 2, 200, 125 * time.Millisecond, 375 * time.Millisecond},
		{"down for ever", answers{answer(503, "", "")}, maxAttempts, 503, 1875 * time.Millisecond, 5625 * time.Millisecond},
		{"gateway", answers{answer(502, "", ""), answer(504, "", ""), fine}, 3, 200, 0, 2 * time.Second},
		{"new leader", answers{answer(500, "", "rpc error: etcdserver: leader changed"), fine}, 2, 200, 0, time.Second},
		{"slow etcd", answers{answer(500, "", "etcdserver: request timed out, possibly due to x"), fine}, 2, 200, 0, time.Second},
		{"a fault for good", answers{answer(500, "", "etcdserver: mvcc: corrupt")}, 1, 500, 0, 0},
		{"forbidden", answers{answer(403, "1", "")}, 1, 403, 0, 0},
		{"reset", answers{broken(syscall.ECONNRESET), broken(io.EOF), fine}, 3, 200, 0, 2 * time.Second},
		{"reset for ever", answers{broken(syscall.ECONNRESET)}, maxAttempts, 0, 0, 6 * time.Second},
		{"broken off", answers{halfway, fine}, 2, 200, 0, time.Second},
		{"refused", answers{broken(syscall.ECONNREFUSED)}, 1, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &script{answers: test.answers}
				start := time.Now()
				resp, err := (&retryTransport{next: server, rateLimit: newRateLimit(-1, 0)}).RoundTrip(request(t, t.Context(), http.MethodGet))
				took := time.Since(start)
				if (err == nil) != (test.code != 0) || err == nil && resp.StatusCode != test.code {
					t.Errorf("got %v, %v", resp, err)
				}
				if server.sent != test.sent || took < test.min || took > test.max {
					t.Errorf("sent %d times in %v", server.sent, took)
				}
				mustBeFinal(t, resp, err)
			})
		})
	}
}

func request(t *testing.T, ctx context.Context, method string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/api", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustBeFinal fails if client-go would repeat the request by its own rules.
func mustBeFinal(t *testing.T, resp *http.Response, err error) {
	t.Helper()
	if resp != nil && (resp.StatusCode == 429 || resp.StatusCode >= 500) && resp.Header.Get("Retry-After") != "" {
		t.Error("client-go would repeat this answer")
	}
	var lost *connectionLostError
	if isConnectionLost(err) && !errors.As(err, &lost) || err != nil && strings.Contains(err.Error(), "reset") {
		t.Errorf("client-go would repeat after %v", err)
	}
}

func TestRetryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &script{answers: []func() (*http.Response, error){answer(429, "5", "")}}
		rt := &retryTransport{next: server, rateLimit: newRateLimit(-1, 0)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		// The deadline comes before the pause ends: the refusal, which says more than a timeout, is returned at once.
		if resp, err := rt.RoundTrip(request(t, ctx, http.MethodGet)); err != nil || resp.StatusCode != 429 || ctx.Err() != nil {
			t.Errorf("%v %v", resp, err)
		}
		ctx, cancel2 := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel2)
		if _, err := rt.RoundTrip(request(t, ctx, http.MethodGet)); !errors.Is(err, context.Canceled) {
			t.Errorf("after an interrupt: %v", err)
		}
	})
}

func TestOnlyReadsAreRepeated(t *testing.T) {
	server := &script{answers: []func() (*http.Response, error){answer(503, "", "")}}
	resp, err := (&retryTransport{next: server, rateLimit: newRateLimit(-1, 0)}).RoundTrip(request(t, t.Context(), http.MethodPatch))
	if err != nil || resp.StatusCode != 503 || server.sent != 1 {
		t.Errorf("sent %d times: %v %v", server.sent, resp, err)
	}
}

// TestReadSurvivesTemporaryFailures runs the whole stack, with client-go on top, over a real connection.
func TestReadSurvivesTemporaryFailures(t *testing.T) {
	for name, fail := range map[string]func(w http.ResponseWriter){
		"throttled": func(w http.ResponseWriter) {
			livetest.SendStatus(w, 429, metav1.StatusReasonTooManyRequests, "slow down")
		},
		"told when": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			livetest.SendStatus(w, 429, metav1.StatusReasonTooManyRequests, "slow down")
		},
		"new leader": func(w http.ResponseWriter) { livetest.SendStatus(w, 500, "", "etcdserver: leader changed") },
		"broken off": func(w http.ResponseWriter) { breakOff(w) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := livetest.New(t)
			refs := f.AddMany("ConfigMap", "prod", "a", 4)
			c := connect(f, Options{})
			f.Intercept = livetest.Failing(1, "/configmaps", fail)
			livetest.MustFind(t, c.Read(t.Context(), refs), refs)
			page := configMaps + "?limit=50"
			livetest.WantRequests(t, f, page, page)
		})
	}
}

func breakOff(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = connection.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"kind\":"))
		_ = connection.Close()
	}
}

// atOnce refuses the request and allows a retry without a pause.
func atOnce(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Retry-After", "0")
	livetest.SendStatus(w, code, reason, "not now")
}

func TestLastingFailuresEndAsErrors(t *testing.T) {
	for code, test := range map[string]func(w http.ResponseWriter){
		cluster.CodeThrottled:   func(w http.ResponseWriter) { atOnce(w, 429, metav1.StatusReasonTooManyRequests) },
		cluster.CodeServerError: func(w http.ResponseWriter) { atOnce(w, 503, metav1.StatusReasonServiceUnavailable) },
		cluster.CodeTimeout:     func(w http.ResponseWriter) { atOnce(w, 504, metav1.StatusReasonTimeout) },
		cluster.CodeConnection:  breakOff,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			f := livetest.New(t)
			ref := f.Add("ConfigMap", "prod", "a", nil)
			c := connect(f, Options{})
			var sent atomic.Int32
			f.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				sent.Add(1)
				test(w)
				return true
			}
			livetest.MustError(t, c.Read(t.Context(), []object.Ref{ref})[ref], code, `configmaps "a"`)
			if sent.Load() != maxAttempts {
				t.Errorf("sent %d times", sent.Load())
			}
		})
	}
}
