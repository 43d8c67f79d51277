package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/kubeconfig"
	"github.com/helmdrift/helmdrift/internal/output/progress"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// clustersAtOnce is the number of clusters that are searched at the same time.
const clustersAtOnce = 4

// Search finds releases, and collects what concerns no single release.
type Search struct {
	cli.Streams
	flags       Flags
	names       []string
	connections []*cli.Connection

	// ByDeployers is set if deployers compare their releases. They may make a namespace, and say themselves that they have no release.
	ByDeployers bool

	mu sync.Mutex
	// Errors say what could not be searched, and Covered what was. They are complete when InClusters returns.
	Errors  []report.ScanError
	Covered report.Scan
	// taken counts the calls of Take.
	taken int
	// namespaces are the searched namespaces, for the message that nothing was found, and total is the number of their releases.
	namespaces []string
	total      int
	// withoutNamespace adds to the message that nothing was found that the only namespace does not exist. It may be nil.
	withoutNamespace func(error) error
	// line shows how far all clusters are. It is nil without a terminal. progress has the part of each cluster.
	line     *progress.Scan
	progress map[*cli.Connection]fleet.Progress
}

// New returns the search for what the flags and the names select.
func New(s cli.Streams, c *cli.Connection, flags Flags, names []string) (*Search, error) {
	// Check the flags once, because a wrong flag is wrong for every cluster.
	if _, err := flags.selection(names, "", s.Env); err != nil {
		return nil, err
	}
	connections, err := flags.connections(c)
	if err != nil {
		return nil, err
	}
	return &Search{Streams: s, flags: flags, names: names, connections: connections, progress: map[*cli.Connection]fleet.Progress{}}, nil
}

// alone reports whether there is only one cluster. If it does not answer, that is then the error of the command.
func (j *Search) alone() bool { return len(j.connections) == 1 }

// ShowProgress makes the search show its progress, if stderr is a terminal without a log on it.
func (j *Search) ShowProgress(line *progress.Scan) {
	if terminal.IsTerminal(j.Err) && !j.connections[0].Debug {
		j.line = line
		j.line.Update(0, 0, 0, 0)
	}
}

// InClusters searches the cluster of each connection, calls read with the selected releases, and returns what it read from all
// clusters. Read calls show to report its progress.
func InClusters[T any](
	ctx context.Context, j *Search, read func(source fleet.Source, found fleet.Found, show func(fleet.Progress)) ([]T, error),
) ([]T, error) {
	if j.line != nil {
		defer j.line.Done()
	}
	var all []T
	err := j.each(ctx, func(c *cli.Connection, at kubeconfig.Target) error {
		source, found, err := j.find(ctx, c, at)
		if err != nil {
			return err
		}
		some, err := read(source, found, func(p fleet.Progress) { j.show(c, p) })
		if err != nil && len(some) == 0 {
			return err
		}
		if err != nil { // an interrupt: report what is there, and that it is incomplete
			j.failed(at.Cluster, errInterrupted)
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		all = append(all, some...)
		for _, e := range found.Errors {
			j.Errors = append(j.Errors, e.Map(j.Known.ScrubProblem))
		}
		j.total += found.Total
		j.Covered.Clusters = append(j.Covered.Clusters, at.Cluster)
		j.Covered.Requests += source.Cluster.Requests()
		return nil
	})
	slices.Sort(j.Covered.Clusters)
	j.Covered.Clusters = slices.Compact(j.Covered.Clusters)
	if len(all) == 0 && err == nil {
		err = ctx.Err()
	}
	return all, err
}

// Take adds what the comparison of a cluster found besides the reports of releases, and returns these.
func (j *Search) Take(c fleet.Compared) []report.Release {
	j.mu.Lock()
	j.Covered.Orphans, j.Covered.Overlaps = append(j.Covered.Orphans, c.Orphans...), append(j.Covered.Overlaps, c.Overlaps...)
	j.taken++
	j.Covered.OrphansSought = c.OrphansSought && (j.taken == 1 || j.Covered.OrphansSought)
	j.mu.Unlock()
	for _, e := range c.Errors {
		j.Add(e)
	}
	return c.Releases
}

// errInterrupted is the error of a cluster that was not read to the end.
var errInterrupted = errors.New("interrupted")

// each calls do for the cluster of each connection. If several contexts have the same cluster and search the same namespaces, it uses only
// the first.
func (j *Search) each(ctx context.Context, do func(*cli.Connection, kubeconfig.Target) error) error {
	seen := map[string]string{}
	var group errgroup.Group
	group.SetLimit(clustersAtOnce)
	for _, c := range j.connections {
		at, err := c.Resolve()
		if err != nil && j.alone() {
			return err
		}
		if err != nil {
			j.failed(c.Context, err)
			continue
		}
		place, same := at.Cluster, "cluster"
		if !j.flags.allNamespaces {
			place, same = place+" "+at.Namespace, "cluster and namespace"
		}
		if other, again := seen[place]; again && at.Cluster != "" {
			j.Note(fmt.Sprintf("context %s is left out: context %s has the same %s", c.Context, other, same))
			continue
		}
		seen[place] = c.Context
		group.Go(func() error {
			err := do(c, at)
			if err != nil && ctx.Err() != nil {
				err = errInterrupted
			}
			if err != nil && !j.alone() {
				j.failed(at.Cluster, err)
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// Note prints a message to stderr, without the secrets in it.
func (j *Search) Note(message string) {
	if j.line != nil {
		j.Err = j.line
	}
	j.Print("", j.Known.ScrubProblem(message))
}

// failed adds the error of a cluster that could not be searched.
func (j *Search) failed(cluster string, err error) {
	j.Add(fleet.NewScanError(cluster, "", live.ErrorCode(err), err))
}

// Add adds an error.
func (j *Search) Add(e report.ScanError) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Errors = append(j.Errors, e.Map(j.Known.ScrubProblem))
}

// find returns the selected releases of one cluster.
func (j *Search) find(ctx context.Context, c *cli.Connection, at kubeconfig.Target) (source fleet.Source, found fleet.Found, err error) {
	selection, err := j.flags.selection(j.names, at.Namespace, j.Env)
	if err != nil {
		return source, found, err
	}
	cluster, storage, err := c.Connect(ctx, at)
	if err != nil {
		return source, found, err
	}
	source = fleet.Source{Cluster: cluster, Storage: storage, Name: at.Cluster}
	if found, err = source.Find(ctx, selection); err != nil {
		return source, found, err
	}
	found.Errors = cli.WithSuggestions(ctx, found.Errors, storage, selection.Namespace, selection.Names)
	found.Errors = append(found.Errors, j.missingNamespace(ctx, source, found, selection)...)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Covered.Shard = selection.Shard
	j.namespaces = append(j.namespaces, selection.Namespace)
	if j.alone() && selection.Namespace != "" {
		j.withoutNamespace = func(err error) error { return cli.WithNamespace(ctx, err, cluster, selection.Namespace) }
	}
	return source, found, nil
}

// missingNamespace returns an error if the searched namespace does not exist: the releases of other places must not hide a typing error.
// Only a namespace without releases costs the request that asks for it. If it is the only place, CheckFound asks, but not for a shard. Of
// several shards, the first one asks.
func (j *Search) missingNamespace(
	ctx context.Context, source fleet.Source, found fleet.Found, selection fleet.Selection,
) []report.ScanError {
	namespace, shard := selection.Namespace, selection.Shard
	isSaid := len(found.Errors) > 0 || j.ByDeployers || j.alone() && shard == nil || shard != nil && shard.Index > 0
	if namespace == "" || found.Total > 0 || isSaid {
		return nil
	}
	isMissing, advice := cli.MissingNamespace(ctx, source.Cluster, namespace)
	if !isMissing {
		return nil
	}
	err := fmt.Errorf("there is no namespace %s", namespace)
	if source.Name != "" {
		err = fmt.Errorf("%w in cluster %s", err, source.Name)
	}
	return []report.ScanError{fleet.NewScanError(source.Name, namespace, report.ErrorNotFound, hint.New(err, advice))}
}

// show shows how far a cluster is.
func (j *Search) show(c *cli.Connection, p fleet.Progress) {
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

// CheckFound returns an error if nothing was found, unless something could not be searched or another shard may have releases: the command
// report checks that all shards together have one. A typing error in a name or a label must not look like a clean fleet.
func (j *Search) CheckFound(releases int) error {
	if releases+len(j.Errors) > 0 || j.Covered.Shard != nil || j.ByDeployers {
		return nil
	}
	where := "any namespace"
	if !j.flags.allNamespaces {
		slices.Sort(j.namespaces)
		where = "namespace " + strings.Join(slices.Compact(j.namespaces), ", ")
	} else if j.total > 0 {
		where = "all namespaces"
	}
	if j.total > 0 {
		return hint.New(fmt.Errorf("the flags select 0 of %d releases in %s", j.total, where),
			"helmdrift list shows the releases; check --selector, --filter, --exclude and --status")
	}
	none := hint.New(fmt.Errorf("there are no releases in %s", where),
		"-n chooses the namespace, -A all of them, and HELM_DRIVER where the records are stored")
	if j.withoutNamespace != nil {
		return j.withoutNamespace(none)
	}
	return none
}

// connections returns a connection for each context and each of several namespaces that is searched.
func (o *Flags) connections(c *cli.Connection) ([]*cli.Connection, error) {
	contexts := o.contexts
	if o.allContexts {
		all, err := c.Contexts()
		if err != nil {
			return nil, err
		}
		if contexts = all; len(contexts) == 0 {
			return nil, errors.New("--all-contexts: the kubeconfig has no contexts")
		}
	}
	inContexts, err := []*cli.Connection{c}, error(nil)
	if len(contexts) > 0 {
		inContexts, err = c.ForContexts(contexts)
	}
	if o.allNamespaces {
		return inContexts, err
	}
	var all []*cli.Connection
	for _, one := range inContexts {
		all = append(all, one.ForNamespaces()...)
	}
	return all, err
}
