package e2e

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// outages is a proxy in front of an API server that can go away: it closes all connections and its port, as a server that is killed.
type outages struct {
	kubeconfig string
	address    string
	pass       http.Handler

	mu     sync.Mutex
	server *http.Server
	// seen counts requests; at the request number at, the server goes away for the duration.
	seen, at int
	away     time.Duration
	// back is done when the server is back.
	back sync.WaitGroup
	// every says which requests are refused with 429, and refused says when, by URI.
	every   int
	refused map[string]time.Time
	sum     int
	early   []string
}

func startOutages(t *testing.T, on *cluster) *outages {
	t.Helper()
	p := &outages{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), refused: map[string]time.Time{}}
	first, err := harness.StartProxy(on.Config, p.kubeconfig, func(next http.Handler) http.Handler {
		p.pass = next
		return http.HandlerFunc(p.handle)
	})
	must(t, err)
	p.address, p.server = first.Listener.Addr().String(), first.Config
	t.Cleanup(p.end)
	return p
}

// begin serves again, at the same address. Another process may have the port for a moment.
func (p *outages) begin() error {
	listener, err := net.Listen("tcp", p.address)
	for end := time.Now().Add(time.Minute); err != nil; listener, err = net.Listen("tcp", p.address) {
		if time.Now().After(end) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = &http.Server{Handler: http.HandlerFunc(p.handle), ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(listener) }(p.server)
	return nil
}

// end closes the port and all connections.
func (p *outages) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.server.Close()
}

// goAway plans an outage at a request from now on; a negative number plans none.
func (p *outages) goAway(at int, away time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.at, p.away = 0, at, away
}

// requests returns how many requests came since goAway.
func (p *outages) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// throttle refuses every nth request once.
func (p *outages) throttle(every int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every = every
}

// repeated returns how many requests were refused, and which of them the client repeated too early.
func (p *outages) repeated() (refused int, early []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sum, p.early
}

func (p *outages) handle(w http.ResponseWriter, r *http.Request) {
	goes, refuses := p.count(r)
	switch {
	case goes:
		p.end()
		time.AfterFunc(p.away, func() {
			defer p.back.Done()
			_ = p.begin()
		})
	case refuses:
		throttle(w, r, nil)
	default:
		p.pass.ServeHTTP(w, r)
	}
}

// count counts a request and decides what happens to it.
func (p *outages) count(r *http.Request) (goes, refuses bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen++
	uri := r.URL.RequestURI()
	if at, again := p.refused[uri]; again {
		if time.Since(at) < time.Second {
			p.early = append(p.early, uri)
		}
		delete(p.refused, uri)
		return false, false
	}
	if p.every > 0 && p.seen%p.every == 0 {
		p.sum++
		p.refused[uri] = time.Now()
		return false, true
	}
	goes = p.at > 0 && p.seen == p.at
	if goes {
		p.back.Add(1)
	}
	return goes, false
}

// testOutage takes the API server away in the middle of scans. Everything in such a report is right or an error, and the next scan is
// right.
func testOutage(c *fleetCluster) {
	c.fill()
	p := startOutages(c.t, c.on)
	scan := func() scanRun {
		out, err := c.runFor(context.Background(), p.kubeconfig, "diff", "-A", "-o", "json")
		must(c.t, err)
		return out
	}
	p.goAway(-1, 0)
	before := scan()
	want, err := before.byID()
	must(c.t, err)
	total := p.requests()
	failed := 0
	for i := range outageScans {
		at, away := 1+i*total/outageScans, []time.Duration{0, 50 * time.Millisecond, time.Second}[i%3]
		p.goAway(at, away)
		got := scan()
		p.goAway(-1, 0) // a request may still be on its way, if the scan has ended without its answer
		if got.exit == 1 {
			failed++
		}
		checkOutage(c.t, fmt.Sprintf("at request %d of %d for %v", at, total, away), got, want)
		p.back.Wait()
	}
	if failed == 0 {
		c.t.Errorf("no outage of %d had an effect", outageScans)
	}
	p.goAway(-1, 0)
	if after := scan(); after.exit != before.exit || !equalJSON(after.Releases, before.Releases) {
		c.t.Errorf("exit %d after the outages:\n%s%s", after.exit, after.summary(), after.stderr)
	}
}

// outageScans is the number of scans with an outage.
const outageScans = 6

// checkOutage checks that a report has every release, that everything in it is right or an error, and that an error
// makes the exit code 1.
func checkOutage(t *testing.T, when string, got scanRun, want map[releaseID]map[string]any) {
	t.Helper()
	found, err := got.byID()
	must(t, err)
	errors := len(got.Errors)
	for id, release := range found {
		said := state(release)
		if len(said) > 5 && said[:5] == "error" {
			errors++
			checkPartly(t, when, id, release, want[id])
			continue
		}
		warned := len(release["warnings"].([]any)) > 0 && said == state(want[id])
		if !warned && !equalJSON(release, want[id]) {
			t.Errorf("%s: %s is %s, not %s", when, id, said, state(want[id]))
		}
	}
	switch {
	case errors > 0 && got.exit != 1, errors == 0 && got.exit == 1 && len(found) > 0:
		t.Errorf("%s: exit %d with %d errors\n%s", when, got.exit, errors, got.stderr)
	case len(found) == 0 && (got.exit != 1 || got.stderr == ""):
		t.Errorf("%s: exit %d without a release and a reason", when, got.exit)
	case len(found) > 0 && len(found) != len(want):
		t.Errorf("%s: %d releases, not %d", when, len(found), len(want))
	}
}

// checkPartly checks the report of a release with an error: an object without an error is as before, except for its effect, which depends
// on other lists.
func checkPartly(t *testing.T, when string, id releaseID, got, want map[string]any) {
	t.Helper()
	right := map[string]any{}
	for _, o := range want["objects"].([]any) {
		right[objectName(o)] = withoutEffect(o)
	}
	for _, o := range got["objects"].([]any) {
		if object := withoutEffect(o); object["error"] == nil && !equalJSON(object, right[objectName(o)]) {
			t.Errorf("%s: %s: %s is not right: %v", when, id, objectName(o), object)
		}
	}
}

func objectName(o any) string {
	object := o.(map[string]any)
	return fmt.Sprint(object["kind"], " ", object["namespace"], "/", object["name"])
}

// withoutEffect returns a copy of an object of a report without its effect.
func withoutEffect(o any) map[string]any {
	out := maps.Clone(o.(map[string]any))
	delete(out, "effect")
	return out
}
