package e2e

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// testLeak scans many times within one process: whole, and interrupted. Neither leaves goroutines behind.
func testLeak(c *fleetCluster) {
	c.fill()
	cluster, err := live.Connect(context.Background(), c.on.config, live.Options{})
	must(c.t, err)
	storage, err := release.Open(release.Driver{}, cluster.Metadata(), cluster.Dynamic())
	must(c.t, err)
	source := fleet.Source{Cluster: cluster, Storage: storage, Name: "test"}
	scan := func(limit time.Duration) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		found, err := source.Find(ctx, fleet.Selection{})
		if err == nil {
			_, err = source.Compare(ctx, found, fleet.Options{Concurrency: 8})
		}
		if limit > time.Minute {
			must(c.t, err)
		}
	}
	scan(time.Hour)
	before := runtime.NumGoroutine()
	for i := range 8 {
		scan(time.Duration(i*i) * 5 * time.Millisecond)
	}
	scan(time.Hour)
	checkGoroutines(c.t, before)
}

// checkGoroutines waits until no more goroutines than before are there. A few connections may have been opened.
func checkGoroutines(t *testing.T, before int) {
	t.Helper()
	const connections = 10
	for range 100 {
		if runtime.NumGoroutine() <= before+connections {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines became %d\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}
