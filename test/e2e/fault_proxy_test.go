package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeFault handles a write in transit. It may let it pass, once.
type writeFault func(w http.ResponseWriter, r *http.Request, pass http.Handler)

// faultProxy is in front of the proxy of a case and applies faults to writes.
type faultProxy struct {
	server *httptest.Server

	mu sync.Mutex
	// writes counts the writes since the last call of setFaults; choose returns the fault for the nth write, or nil.
	writes int
	// requests counts all requests. The functions that setFaults gets may read it.
	requests int
	choose   func(n int, r *http.Request) writeFault
}

// startFaults starts a fault proxy in front of the proxy of a case.
func startFaults(t *testing.T, c *Case) *faultProxy {
	t.Helper()
	target, err := url.Parse(c.proxy.server.URL)
	must(t, err)
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1}
	p := &faultProxy{}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if does := p.next(r); does != nil {
			does(w, r, pass)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(p.server.Close)
	text, err := os.ReadFile(c.proxy.kubeconfig)
	must(t, err)
	must(t, os.WriteFile(c.proxy.kubeconfig, []byte(strings.ReplaceAll(string(text), c.proxy.server.URL, p.server.URL)), 0o600))
	return p
}

func (p *faultProxy) next(r *http.Request) writeFault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests++; r.Method == http.MethodGet {
		return nil
	}
	p.writes++
	if p.choose == nil {
		return nil
	}
	return p.choose(p.writes, r)
}

// setFaults chooses the faults of all following writes.
func (p *faultProxy) setFaults(choose func(n int, r *http.Request) writeFault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes, p.choose = 0, choose
}

// inTurn applies one fault after the other to the writes, beginning at an index.
func inTurn(from int, harms ...writeFault) func(int, *http.Request) writeFault {
	return func(n int, _ *http.Request) writeFault { return harms[(from+n)%len(harms)] }
}

// everyFirstTry does the same as inTurn, but lets every second write pass: the repetition.
func everyFirstTry(from int, harms ...writeFault) func(int, *http.Request) writeFault {
	return func(n int, _ *http.Request) writeFault {
		if n%2 == 0 {
			return nil
		}
		return harms[(from+n/2)%len(harms)]
	}
}

// nthWrite applies a fault to the nth write.
func nthWrite(at int, does writeFault) func(int, *http.Request) writeFault {
	return func(n int, _ *http.Request) writeFault {
		if n != at {
			return nil
		}
		return does
	}
}

// respond answers like the API server.
func respond(code int, reason metav1.StatusReason) writeFault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "answer of the proxy"})
	}
}

// throttle answers like the API server's priority and fairness, which sends no Status.
func throttle(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
}

// closeConnection closes the connection without an answer.
func closeConnection(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = connection.Close()
	}
}

// withholdAnswer sends no answer until the client gives up.
func withholdAnswer(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client has gone
	<-r.Context().Done()
}

// afterServer lets the API server act first and discards its answer.
func afterServer(then writeFault) writeFault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(httptest.NewRecorder(), r)
		then(w, r, pass)
	}
}

// afterDoing does something else before the write passes.
func afterDoing(do func()) writeFault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		do()
		pass.ServeHTTP(w, r)
	}
}
