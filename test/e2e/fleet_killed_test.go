package e2e

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// relay passes connections on to an API server byte by byte, so that the client sees what the process of the server does. When the server
// has sent so many bytes, the relay closes its port, as the system does for a process that is gone, and calls reached.
type relay struct {
	kubeconfig string
	listener   net.Listener
	server     string
	left       atomic.Int64
	reached    func()
}

// startRelay starts a relay in front of a cluster.
func startRelay(t *testing.T, on *cluster, bytes int64, reached func()) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	r := &relay{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), listener: listener, reached: reached,
		server: strings.TrimPrefix(on.Config.Host, "https://")}
	r.left.Store(bytes)
	text, err := os.ReadFile(on.kubeconfig)
	must(t, err)
	must(t, os.WriteFile(r.kubeconfig, []byte(strings.ReplaceAll(string(text), r.server, listener.Addr().String())), 0o600))
	go r.serve()
	return r
}

func (r *relay) serve() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.pass(client)
	}
}

// pass joins a connection with one to the server. Each of the two ends with the other.
func (r *relay) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(io.MultiWriter(client, r), server)
}

// Write counts bytes of the server.
func (r *relay) Write(sent []byte) (int, error) {
	n := int64(len(sent))
	if left := r.left.Add(-n); left < 0 && left+n >= 0 {
		_ = r.listener.Close()
		r.reached()
	}
	return len(sent), nil
}

// testKilledServer kills the process of the API server in the middle of scans and starts it again. Such a scan has errors and exit code 1,
// and everything else in its report is right. The same holds for the scans while the server comes back, until one is as before.
func testKilledServer(c *fleetCluster) {
	c.fill()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	scan := func(kubeconfig string) scanRun {
		out, err := c.runFor(ctx, kubeconfig, "diff", "-A", "-o", "json")
		must(c.t, err)
		return out
	}
	whole := startRelay(c.t, c.on, math.MaxInt64, nil)
	before := scan(whole.kubeconfig)
	want, err := before.byID()
	must(c.t, err)
	total := math.MaxInt64 - whole.left.Load()
	for _, part := range []int64{10, 50, 85} {
		killed := make(chan error, 1)
		r := startRelay(c.t, c.on, total*part/100, func() { killed <- c.plane.Kill(ctx, "kube-apiserver") })
		got := scan(r.kubeconfig)
		when := fmt.Sprintf("killed after %d %% of %d bytes", part, total)
		checkOutage(c.t, when, got, want)
		if got.exit != 1 {
			c.t.Errorf("%s: exit %d\n%s", when, got.exit, got.stderr)
		}
		must(c.t, receive(ctx, killed))
		must(c.t, c.plane.Restart(ctx, "kube-apiserver"))
		c.recovers(when, before, want, func() scanRun { return scan(c.on.kubeconfig) })
	}
}

func receive(ctx context.Context, from <-chan error) error {
	select {
	case err := <-from:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recovers scans until the report is as before. Until then each has errors, and what else it says is right.
func (c *fleetCluster) recovers(when string, before scanRun, want map[releaseID]map[string]any, scan func() scanRun) {
	c.t.Helper()
	for start := time.Now(); ; {
		got := scan()
		checkOutage(c.t, when+", and started again", got, want)
		if got.exit == before.exit && equalJSON(got.Releases, before.Releases) {
			return
		}
		if got.exit != 1 || time.Since(start) > time.Minute {
			c.t.Fatalf("%s, and started again: exit %d\n%s%s", when, got.exit, got.summary(), got.stderr)
		}
	}
}
