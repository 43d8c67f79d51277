package fleet

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// scan finds all releases and compares them.
func scan(t *testing.T, source Source, o Options) []report.Release {
	t.Helper()
	found, err := source.Find(t.Context(), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := source.Compare(t.Context(), found, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.Releases
}

// tally counts the releases that are drifted and those with an error.
func tally(releases []report.Release) (drifted, errors int) {
	for _, r := range releases {
		if r.Drifted {
			drifted++
		}
		if r.HasError() {
			errors++
		}
	}
	return drifted, errors
}

// TestCompare compares many releases at once, and checks that the progress counts them one by one.
func TestCompare(t *testing.T) {
	s := &server{}
	want := s.fill(6, 15)
	var last Progress
	out := scan(t, s.connect(t), Options{Concurrency: 32, Progress: func(p Progress) {
		if p.Done != last.Done+1 || p.Total != 90 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}})
	drifted, errors := tally(out)
	if len(out) != 90 || drifted != want || errors != 0 {
		t.Errorf("%d releases, %d drifted and %d with errors, not %d: %+v", len(out), drifted, errors, want, out[0])
	}
	if last != (Progress{Done: 90, Total: 90, Drifted: want}) {
		t.Errorf("%+v", last)
	}
}

// TestPodsAreListedOnce checks that the releases of a namespace share the list of its pods, which only drifted ones need.
func TestPodsAreListedOnce(t *testing.T) {
	var lists atomic.Int32
	s := &server{refuse: func(path string) int {
		if strings.HasSuffix(path, "/pods") {
			lists.Add(1)
			return http.StatusForbidden
		}
		return 0
	}}
	drifted := s.fill(3, 14)
	// A forecast lists the pods of each object that is written.
	forecast := func(ctx context.Context, from effect.Reader, o effect.Operation) effect.Effects {
		out := effect.Effects{Objects: map[object.Key]*report.Effect{}}
		for _, w := range o.Objects {
			if w.Action != report.ActionUpdate {
				continue
			}
			e := &report.Effect{}
			if _, err := from.List(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, w.Namespace); apierrors.IsForbidden(err) {
				e.Inexact = "pods may not be listed"
			}
			out.Objects[w.Key] = e
		}
		return out
	}
	for _, r := range scan(t, s.connect(t), Options{Options: drift.Options{Forecast: forecast}}) {
		inexact := 0
		for _, o := range r.Objects {
			if o.Effect != nil && o.Effect.Inexact == "pods may not be listed" {
				inexact++
			}
		}
		if r.HasError() || r.Drifted != (inexact == 1) {
			t.Errorf("%s: drifted %t, %d effects without pods", r.Name, r.Drifted, inexact)
		}
	}
	if n := lists.Load() / 2; n != 3 || // the server asks twice about a request that it refuses
		drifted <= 3 {
		t.Errorf("%d lists of pods for 3 namespaces with %d drifted releases", n, drifted)
	}
}

// TestOneReleaseFails lets the server refuse one record. That is an error of its release only.
func TestOneReleaseFails(t *testing.T) {
	s := &server{refuse: func(path string) int {
		if strings.HasSuffix(path, "/sh.helm.release.v1.r004.v1") {
			return http.StatusForbidden
		}
		return 0
	}}
	want := s.fill(4, 5)
	out := scan(t, s.connect(t), Options{})
	if drifted, errors := tally(out); len(out) != 20 || drifted != want || errors != 1 {
		t.Errorf("%d releases, %d drifted, %d with errors", len(out), drifted, errors)
	}
}

// TestPanic checks that a panic while one release is compared is the error of that release.
func TestPanic(t *testing.T) {
	s := &server{}
	s.fill(2, 3)
	source := s.connect(t)
	found, err := source.Find(t.Context(), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	c := source.newComparison(t.Context(), found, Options{})
	defer c.sharing.cluster.sweep.Close()
	out := c.compare(t.Context(), nil, found.Releases[0]) // without a comparer
	if !out.HasError() || !strings.Contains(out.Errors[0].Message, "internal error") || out.Name != found.Releases[0].Last.Release {
		t.Errorf("%+v", out)
	}
}

// TestUninstalledMeanwhile checks that a release that is uninstalled after it was found is left out.
func TestUninstalledMeanwhile(t *testing.T) {
	s := &server{}
	s.fill(3, 2)
	source := s.connect(t)
	found, err := source.Find(t.Context(), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	s.uninstall("n01", "r004")
	out, err := source.Compare(t.Context(), found, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, errors := tally(out.Releases); len(out.Releases) != 5 || errors != 0 {
		t.Errorf("%d releases, %d with errors", len(out.Releases), errors)
	}
}

// TestChangedReleasesTogether checks that the releases that changed are compared again at the same time.
func TestChangedReleasesTogether(t *testing.T) {
	s := &server{}
	s.fill(4, 8)
	source := s.connect(t)
	found, err := source.Find(t.Context(), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range found.Releases {
		found.Releases[i].History.Entries = []release.Entry{{Name: "gone", Release: found.Releases[i].Last.Release, Revision: 9}}
	}
	out, err := source.Compare(t.Context(), found, Options{Concurrency: 8})
	if err != nil {
		t.Fatal(err)
	}
	if _, errors := tally(out.Releases); len(out.Releases) != 32 || errors != 0 {
		t.Errorf("%d releases, %d with errors", len(out.Releases), errors)
	}
}

// TestInterrupted ends a comparison at several moments. It returns the error of its context, and leaves no goroutine behind.
func TestInterrupted(t *testing.T) {
	s := &server{}
	s.fill(5, 20)
	source := s.connect(t)
	scan(t, source, Options{}) // opens the connections
	before := runtime.NumGoroutine()
	for after := range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		found, err := source.Find(ctx, Selection{})
		if err != nil {
			t.Fatal(err)
		}
		var done atomic.Int32
		_, err = source.Compare(ctx, found, Options{Progress: func(Progress) {
			if int(done.Add(1)) == 1+15*after {
				cancel()
			}
		}})
		if err == nil || ctx.Err() == nil {
			t.Errorf("interrupted after %d releases: %v", 1+15*after, err)
		}
		cancel()
	}
	const connections = 20 // of an HTTP client and its server
	for range 3000 {
		if runtime.NumGoroutine() <= before+connections {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines became %d", before, runtime.NumGoroutine())
}

// TestShardListsTheCluster compares a third of the releases, which are in all namespaces. One list for the whole cluster then reads no
// more objects than a list for each namespace, with fewer requests. If the releases are in a single namespace, only that one is listed.
func TestShardListsTheCluster(t *testing.T) {
	s := &server{}
	s.fill(6, 15)
	source := s.connect(t)
	for _, c := range []struct {
		selection Selection
		wide      bool
	}{{Selection{Shard: &report.Shard{Index: 1, Count: 3}}, true}, {Selection{Namespace: "n03"}, false}, {Selection{}, true}} {
		found, err := source.Find(t.Context(), c.selection)
		if err != nil {
			t.Fatal(err)
		}
		compared := source.newComparison(t.Context(), found, Options{})
		compared.sharing.cluster.sweep.Close()
		if compared.sharing.cluster.wide != c.wide {
			t.Errorf("%+v: %d of %d releases, wide is %v", c.selection, len(found.Releases), found.Total, compared.sharing.cluster.wide)
		}
	}
}
