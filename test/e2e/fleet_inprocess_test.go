package e2e

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	helmrelease "helm.sh/helm/v3/pkg/release"

	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// source returns the cluster as pkg/fleet reads it.
func (c *fleetCluster) source() fleet.Source {
	c.t.Helper()
	cluster, err := live.Connect(context.Background(), c.on.Config, live.Options{})
	must(c.t, err)
	storage, err := release.Open("", cluster.Metadata(), cluster.Core())
	must(c.t, err)
	return fleet.Source{Cluster: cluster, Storage: storage, Name: "test"}
}

// testChangedMeanwhile changes releases after a scan has found them and before it compares them. Those that were uninstalled are left out,
// and the others are compared as they are now.
func testChangedMeanwhile(c *fleetCluster) {
	made := map[string]*churned{}
	for _, name := range []string{"deleted", "kept", "untouched", "upgraded", "upgrading"} {
		made[name] = &churned{Case: c.release("meanwhile", name), revision: 1}
		must(c.t, made[name].deploy("install"))
		must(c.t, made[name].patch("kubectl-edit", "configmap/"+name+"-a", "{data: {k: edited}}"))
	}
	source := c.source()
	found, err := source.Find(context.Background(), fleet.Selection{Namespace: "meanwhile"})
	must(c.t, err)
	must(c.t, made["deleted"].uninstall(false))
	must(c.t, made["kept"].uninstall(true))
	made["upgraded"].revision++
	must(c.t, made["upgraded"].deploy("upgrade"))
	must(c.t, c.forgeStatus(made["upgrading"].Case, helmrelease.StatusPendingUpgrade))
	defer func() { must(c.t, c.forgeStatus(made["upgrading"].Case, helmrelease.StatusDeployed)) }()
	releases, err := source.Compare(context.Background(), found, fleet.Options{})
	must(c.t, err)
	var got []string
	for _, r := range releases.Releases {
		got = append(got, fmt.Sprintf("%s of %d drifted %v, %d errors", r.Name, r.Last.Revision, r.Drifted, len(r.Errors)))
	}
	want := []string{"untouched of 1 drifted true, 0 errors", "upgraded of 2 drifted false, 0 errors",
		"upgrading of 1 drifted false, 1 errors"}
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("(-want +got):\n%s", diff)
	}
}

// testLeak scans many times within one process: whole, and interrupted. Neither leaves goroutines behind.
func testLeak(c *fleetCluster) {
	c.fill()
	source := c.source()
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
