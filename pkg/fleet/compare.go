package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/sweep"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Options say how the releases of a fleet are compared.
type Options struct {
	drift.Options
	// Report returns the report of a comparison. Several workers call it at the same time. If it is nil, reports mask all secrets.
	Report func(*drift.Result) report.Release
	// Concurrency is how many releases are compared at the same time; 0 means DefaultConcurrency.
	Concurrency int
	// Progress is called after each release, one call at a time. It may be nil.
	Progress func(Progress)
	// AllOrphans makes Compare list every kind of the manifests in every namespace of the releases, so that no orphan of these kinds is
	// missing, and report what it cannot list. Otherwise it finds the orphans among the objects that it lists for the comparisons.
	AllOrphans bool
}

// Compared is the result of Compare.
type Compared struct {
	// Releases has a report of each release.
	Releases []report.Release
	// Orphans and Overlaps are the objects that the wrong number of deployers claim.
	Orphans  []report.Orphan
	Overlaps []report.Overlap
	// OrphansSought is set if every kind of the manifests was listed in every namespace of the releases. Errors say which lists failed;
	// only Options.AllOrphans makes them.
	OrphansSought bool
	Errors        []report.ScanError
}

// DefaultConcurrency is enough to keep a few processors busy while records are on their way.
const DefaultConcurrency = 16

// Progress says how far a comparison has come.
type Progress struct{ Done, Total, Drifted, Errors int }

// Add counts a report.
func (p *Progress) Add(r report.Release) {
	p.Done++
	if r.Drifted {
		p.Drifted++
	}
	if r.HasError() {
		p.Errors++
	}
}

// wideFrom is the smallest number of namespaces that makes one list across all namespaces cheaper than a list for each, if most of
// what it lists is wanted.
const wideFrom = 3

// lastComparisons is how long the running comparisons go on after the end of the context.
const lastComparisons = 500 * time.Millisecond

// Compare compares the releases and returns a report of each, and the objects that no release claims, or several. If something goes wrong
// with a release, its report has the error. Compare itself returns only the error of the context. Even then, if it has compared a release,
// it returns a report of each, with an error for those that it did not compare.
func (s Source) Compare(ctx context.Context, found Found, o Options) (Compared, error) {
	c := s.newComparison(ctx, found, o)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.sharing.Close()
		c.compareAll(ctx)
		c.compareChanged(ctx)
		c.findOrphans(ctx)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		// A comparison checks the context only when it reads, and comparing a large release may take long.
		select {
		case <-done:
		case <-time.After(lastComparisons):
		}
	}
	out := Compared{Releases: c.reports(), Overlaps: c.claims.overlaps(c.Name)}
	if err := ctx.Err(); err != nil { // orphans are looked for after all comparisons, and may be still
		return out, fmt.Errorf("comparing releases: %w", err)
	}
	out.Orphans, out.Errors, out.OrphansSought = c.orphans, c.errors, c.isSought
	return out, nil
}

// reports returns a report for each release. A release that was not compared before the context ended gets an error.
func (c *comparison) reports() []report.Release {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == 0 && len(c.results) > 0 {
		return nil
	}
	out := make([]report.Release, 0, len(c.results))
	for i, r := range c.results {
		switch {
		case !r.done:
			out = append(out, c.failed(c.found.Releases[i], errInterrupted))
		case !r.gone:
			out = append(out, r.Release)
		}
	}
	return out
}

// errInterrupted is the error of a release that was not read before the context ended.
var errInterrupted = errors.New("interrupted before it was read")

// comparison is one call of Compare.
type comparison struct {
	Source
	Options
	found   Found
	sharing Sharing
	claims  *claims
	// together reads through the sharing and knows the records that were listed; alone reads everything by itself.
	together, alone *drift.Comparer

	mu sync.Mutex
	// read is how many releases were compared before the context ended.
	read     int
	results  []result
	progress Progress
	orphans  []report.Orphan
	errors   []report.ScanError
	isSought bool
}

// result is the report of one release.
type result struct {
	report.Release
	done bool
	// gone is set if the release was uninstalled after it was found.
	gone bool
}

func (s Source) newComparison(ctx context.Context, found Found, o Options) *comparison {
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Report == nil {
		o.Report = func(r *drift.Result) report.Release { return r.Report(threeway.Mask{}) }
	}
	histories := map[string]map[string]release.History{}
	for _, r := range found.Releases {
		if histories[r.Last.Namespace] == nil {
			histories[r.Last.Namespace] = map[string]release.History{}
		}
		histories[r.Last.Namespace][r.Last.Release] = r.History
	}
	wide := found.Namespaces == nil && len(histories) >= wideFrom && 2*found.Beside >= found.Total ||
		o.AllOrphans && found.Namespaces == nil && found.Namespace == ""
	claims, makeReport := newClaims(), o.Report
	o.Report = func(r *drift.Result) report.Release {
		claims.add(r)
		return makeReport(r)
	}
	objects := sweep.New(ctx, s.Cluster, sweep.Options{Wide: wide, See: claims.see, Whole: o.AllOrphans || found.selection.isWhole()})
	c := &comparison{
		Source: s, Options: o, found: found, claims: claims, sharing: s.share(objects, wide),
		results: make([]result, len(found.Releases)), progress: Progress{Total: len(found.Releases)},
	}
	c.alone = drift.New(drift.LiveConnection(s.Cluster, s.Name, s.Storage), o.Options)
	connection := c.sharing.Connection
	connection.Records = func(namespace string) (drift.Records, error) {
		return s.Storage.Listed(namespace, histories[namespace]), nil
	}
	c.together = drift.New(connection, o.Options)
	return c
}

// compareAll compares every release once.
func (c *comparison) compareAll(ctx context.Context) {
	namespaces := make([]string, len(c.found.Releases))
	for i, r := range c.found.Releases {
		namespaces[i] = r.Last.Namespace
	}
	c.sharing.Each(ctx, namespaces, c.Concurrency, func(i int) {
		r, out := c.found.Releases[i], report.Release{}
		if r.Problem != nil {
			out = c.failed(r, fmt.Errorf("find release %s: %w", r.Last.Release, r.Problem))
		} else {
			out = c.compare(ctx, c.together, r)
		}
		c.finish(i, out, ctx.Err() == nil)
	})
}

// finish stores the result of a release, and whether it was there before the context ended.
func (c *comparison) finish(i int, r report.Release, inTime bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if inTime {
		c.read++
	}
	c.results[i] = result{Release: r, done: true}
	c.progress.Add(r)
	if c.Progress != nil {
		c.Progress(c.progress)
	}
}

// compare compares one release. Whatever goes wrong is an error in the report.
func (c *comparison) compare(ctx context.Context, comparer *drift.Comparer, r Released) (out report.Release) {
	defer func() {
		if cause := recover(); cause != nil {
			out = c.failed(r, fmt.Errorf("internal error: %s", c.Known.Scrub(fmt.Sprint(cause)))) // it may quote an object
		}
	}()
	result, err := comparer.Compare(ctx, drift.Target{Namespace: r.Last.Namespace, Release: r.Last.Release})
	switch {
	case err != nil && ctx.Err() != nil:
		return c.failed(r, errInterrupted) // the error of the interrupted request is of no interest
	case err != nil:
		return c.failed(r, err)
	}
	return c.Report(result)
}

// failed returns the report of a release that could not be compared.
func (c *comparison) failed(r Released, err error) report.Release {
	e := c.scanError("", "release", err)
	if !errors.Is(err, errInterrupted) { // an interrupt may have made every text secret
		e = e.Map(c.Known.Scrub)
	}
	out := report.Release{
		Name: r.Last.Release, Namespace: r.Last.Namespace, StorageNamespace: r.Last.Namespace, Cluster: c.Name, Operation: report.OperationDrift,
		Warnings: []report.Message{}, NotCompared: []report.NotCompared{}, Objects: []report.Object{},
		Errors: []report.Message{{Code: e.Code, Message: e.Message, Subject: e.Subject}},
	}
	if r.Last.Revision > 0 { // 0 if the labels of the record were edited
		out.Last = &report.Revision{Revision: r.Last.Revision, Status: r.Last.Status}
	}
	return out
}

// compareChanged compares again the releases whose records changed since they were listed, if their reports could be wrong. A
// comparison that found nothing is right for the revision that it compared.
func (c *comparison) compareChanged(ctx context.Context) {
	var doubtful []int
	var places []place
	for i, r := range c.results {
		if r.HasError() || len(r.Objects) > 0 {
			last := c.found.Releases[i].Last
			doubtful, places = append(doubtful, i), append(places, place{last.Namespace, last.Release})
		}
	}
	if len(doubtful) == 0 || ctx.Err() != nil {
		return
	}
	now := c.sharing.cluster.listAgain(ctx, places)
	var group errgroup.Group
	group.SetLimit(c.Concurrency)
	for n, i := range doubtful {
		r := c.found.Releases[i]
		switch present, listed := now[places[n]]; {
		case listed && (len(present.History.Entries) == 0 || present.Last.Status == statusUninstalled && r.Last.Status != statusUninstalled):
			c.mu.Lock()
			c.results[i].gone = true
			c.mu.Unlock()
		case !listed || !slices.Equal(present.History.Entries, r.History.Entries):
			group.Go(func() error {
				again := c.compare(ctx, c.alone, r)
				c.mu.Lock()
				defer c.mu.Unlock()
				c.results[i].Release = again
				return nil
			})
		}
	}
	_ = group.Wait() // no comparison returns an error
}

// listAgain lists the records of some releases. A release that is not in the result could not be listed; one that was uninstalled has no
// entries.
func (s *shared) listAgain(ctx context.Context, releases []place) map[place]Released {
	var each []string
	for _, at := range releases {
		each = append(each, at.namespace)
	}
	slices.Sort(each)
	each = slices.Compact(each)
	namespaces := each
	if s.wide {
		namespaces = []string{""}
	}
	out := map[place]Released{}
	for len(namespaces) > 0 {
		namespace := namespaces[0]
		namespaces = namespaces[1:]
		listed, err := s.storage.List(ctx, namespace, labels.Everything())
		if namespace == "" && apierrors.IsForbidden(err) {
			namespaces = each
		}
		if err != nil {
			continue // its releases are compared again, and that reports the error
		}
		for _, at := range releases {
			if namespace == "" || at.namespace == namespace {
				out[at] = Released{}
			}
		}
		present, _ := groupByRelease(s.storage, listed)
		for _, r := range present {
			out[place{r.Last.Namespace, r.Last.Release}] = r
		}
	}
	return out
}
