package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file compares the releases that a selection finds, in one or several clusters. The reading that they share is in pkg/fleet.

// checkScan refuses flags that need one release.
func (o *diffOptions) checkScan(flags *pflag.FlagSet, hasChart bool) error {
	if hasChart {
		return hinted{error: errors.New("CHART needs one release"), hint: commaHint}
	}
	for _, name := range []string{"to-revision", "revision", "install", "fix"} {
		if flags.Changed(name) {
			return fmt.Errorf("--%s needs one release", name)
		}
	}
	return o.selectionOptions.check(flags)
}

// clustersAtOnce is the number of clusters that are scanned at the same time.
const clustersAtOnce = 4

// runScan compares all selected releases and prints one report.
func runScan(ctx context.Context, s streams, c *connection, o diffOptions, names []string) error {
	known, err := readBaseline(o.baseline)
	if err != nil {
		return err
	}
	options, err := o.comparison(s, c)
	if err != nil {
		return err
	}
	// A flag that is wrong is wrong for every cluster.
	if _, err := o.selection(names, "", s.env); err != nil {
		return err
	}
	connections, err := o.connections(c)
	if err != nil {
		return err
	}
	start := time.Now()
	job := scan{streams: s, diffOptions: o, options: options, names: names, alone: len(connections) == 1}
	if isTerminal(s.err) && !c.debug {
		job.line = output.NewProgress(s.err, s.display(s.err, o.color, start), time.Now)
		job.line.Update(0, 0, 0, 0)
	}
	err = job.clusters(ctx, connections)
	if job.line != nil {
		job.line.Done()
	}
	if err != nil {
		return err
	}
	if o.baseline != "" {
		for i := range job.releases {
			job.releases[i].Accept(known, "--baseline "+filepath.Base(o.baseline))
		}
	}
	now := time.Now()
	job.covered.Seconds = now.Sub(start).Seconds()
	slices.Sort(job.covered.Clusters)
	r := report.NewScan(version, now, job.releases, job.errors, job.covered)
	if len(r.Releases)+len(r.Errors) == 0 && job.covered.Shard == nil {
		return job.nothingFound()
	}
	look := s.display(s.out, o.color, now)
	look.ShowIgnored, look.Verbose = o.showIgnored, o.verbose
	if err := output.Write(s.out, o.format, r, look); err != nil {
		return err
	}
	return o.failOn.status(r)
}

// scan collects what several clusters answer.
type scan struct {
	streams
	diffOptions
	options drift.Options
	names   []string
	// alone is set if there is one cluster: that it does not answer is then the error of the command.
	alone bool

	mu       sync.Mutex
	releases []report.Release
	errors   []report.ScanError
	covered  report.Scan
	// searched are the namespaces that were searched, for the message that nothing was found; total is the number of their releases.
	searched []string
	total    int
	// line shows how far all clusters are; nil without a terminal. progress has the part of each cluster.
	line     *output.Progress
	progress map[*connection]fleet.Progress
}

// clusters scans the cluster of each connection. Of several contexts of one cluster only the first is scanned.
func (j *scan) clusters(ctx context.Context, connections []*connection) error {
	j.progress = map[*connection]fleet.Progress{}
	seen := map[string]string{}
	var group errgroup.Group
	group.SetLimit(clustersAtOnce)
	for _, c := range connections {
		at, err := c.resolve()
		if err != nil && j.alone {
			return err
		}
		if err != nil {
			j.failed(c.context, err)
			continue
		}
		if other, again := seen[at.cluster]; again && at.cluster != "" {
			j.note(fmt.Sprintf("context %s is left out: its cluster is that of context %s", c.context, other))
			continue
		}
		seen[at.cluster] = c.context
		group.Go(func() error {
			err := j.cluster(ctx, c, at)
			if err != nil && !j.alone && ctx.Err() == nil {
				j.failed(at.cluster, err)
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// note prints a message to stderr.
func (j *scan) note(message string) {
	if j.line != nil {
		j.err = j.line
	}
	j.print("", message)
}

// failed adds the error of a cluster that could not be scanned.
func (j *scan) failed(cluster string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	message := j.known.Scrub(err.Error())
	if hint := drift.Hint(err); hint != "" {
		message += " (" + hint + ")"
	}
	j.errors = append(j.errors, report.ScanError{Cluster: cluster, Code: live.ErrorCode(err), Message: message})
}

// cluster scans one cluster.
func (j *scan) cluster(ctx context.Context, c *connection, at target) error {
	selection, err := j.selection(j.names, at.namespace, j.env)
	if err != nil {
		return err
	}
	cluster, err := live.Connect(ctx, at.config, c.options())
	if err != nil {
		return err
	}
	storage, err := c.records(cluster)
	if err != nil {
		return err
	}
	source := fleet.Source{Cluster: cluster, Storage: storage, Name: at.cluster}
	found, err := source.Find(ctx, selection)
	if err != nil {
		return err
	}
	releases, err := source.Compare(ctx, found, fleet.Options{
		Options: j.options, Mask: threeway.Mask{Show: j.showSecrets}, Concurrency: j.concurrency,
		Progress: func(p fleet.Progress) { j.show(c, p) },
	})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.releases, j.errors = append(j.releases, releases...), append(j.errors, found.Errors...)
	j.covered.Clusters = append(j.covered.Clusters, at.cluster)
	j.covered.Requests += cluster.Requests()
	j.covered.Shard = selection.Shard
	j.searched, j.total = append(j.searched, selection.Namespace), j.total+found.Total
	return nil
}

// show shows how far a cluster is.
func (j *scan) show(c *connection, p fleet.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress[c] = p
	var sum fleet.Progress
	for _, p := range j.progress {
		sum.Done, sum.Total, sum.Drifted, sum.Errors = sum.Done+p.Done, sum.Total+p.Total, sum.Drifted+p.Drifted, sum.Errors+p.Errors
	}
	if j.line != nil {
		j.line.Update(sum.Done, sum.Total, sum.Drifted, sum.Errors)
	}
}

// nothingFound returns the error of a selection without a release. A typing error in a name or a label must not look like a clean fleet.
func (j *scan) nothingFound() error {
	where := "any namespace"
	if !j.allNamespaces {
		slices.Sort(j.searched)
		where = "namespace " + strings.Join(slices.Compact(j.searched), ", ")
	}
	if j.total > 0 {
		return hinted{error: fmt.Errorf("none of the %d releases in %s is selected", j.total, where),
			hint: "helmdrift list shows them; check --selector, --filter, --exclude and --status"}
	}
	return hinted{error: fmt.Errorf("there are no releases in %s", where),
		hint: "-n chooses the namespace, -A all of them, and HELM_DRIVER where the records are stored"}
}

// connections returns a connection for each context that is scanned.
func (o *selectionOptions) connections(c *connection) ([]*connection, error) {
	contexts := o.contexts
	if o.allContexts {
		raw, err := c.rawConfig()
		if err != nil {
			return nil, err
		}
		if contexts = slices.Sorted(maps.Keys(raw.Contexts)); len(contexts) == 0 {
			return nil, errors.New("--all-contexts: the kubeconfig has no contexts")
		}
	}
	switch {
	case len(contexts) == 0:
		return []*connection{c}, nil
	case c.driver.Name == "sql":
		return nil, hinted{error: errors.New("several contexts need records that are stored in the clusters, and HELM_DRIVER is sql"),
			hint: "run helmdrift once for each context, with the database of its cluster"}
	}
	var out []*connection
	for _, name := range contexts {
		one := *c
		one.context = name
		out = append(out, &one)
	}
	return out, nil
}
