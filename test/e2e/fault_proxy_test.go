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

// harm is done to a write on its way. It may let it pass, once.
type writeFault func(w http.ResponseWriter, r *http.Request, pass http.Handler)

// faultProxy stands before the proxy of a case and harms writes.
type faultProxy struct {
	server *httptest.Server

	mu sync.Mutex
	// writes counts the writes since harmful was called; choose says what is done to the nth, nil where nothing.
	writes int
	choose func(n int, r *http.Request) writeFault
}

// startFaults puts itself before the proxy of a case.
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
	if r.Method == http.MethodGet {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes++
	if p.choose == nil {
		return nil
	}
	return p.choose(p.writes, r)
}

// harmful chooses what is done to the writes from now on.
func (p *faultProxy) setFaults(choose func(n int, r *http.Request) writeFault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes, p.choose = 0, choose
}

// inTurn does one harm after the other to the writes, beginning with one of them.
func inTurn(from int, harms ...writeFault) func(int, *http.Request) writeFault {
	return func(n int, _ *http.Request) writeFault { return harms[(from+n)%len(harms)] }
}

// beforehand does as inTurn, but lets every other write pass: the one that is tried again.
func everyFirstTry(from int, harms ...writeFault) func(int, *http.Request) writeFault {
	return func(n int, _ *http.Request) writeFault {
		if n%2 == 0 {
			return nil
		}
		return harms[(from+n/2)%len(harms)]
	}
}

// only does harm to the nth write.
func nthWrite(at int, does writeFault) func(int, *http.Request) writeFault {
	return func(n int, _ *http.Request) writeFault {
		if n != at {
			return nil
		}
		return does
	}
}

// says is an answer of the API server.
func respond(code int, reason metav1.StatusReason) writeFault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "said by the proxy"})
	}
}

// throttles is the answer of the API server's priority and fairness, which is no Status.
func throttle(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
}

// cuts breaks the connection off.
func closeConnection(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = connection.Close()
	}
}

// hangs gives no answer until the client has enough.
func withholdAnswer(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the client has gone
	<-r.Context().Done()
}

// acting lets the API server act first, and keeps its answer back.
func afterServer(then writeFault) writeFault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(httptest.NewRecorder(), r)
		then(w, r, pass)
	}
}

// meanwhile does something else before the write passes.
func afterDoing(do func()) writeFault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		do()
		pass.ServeHTTP(w, r)
	}
}
