package fleet

import (
	"context"
	"maps"
	"slices"
	"sync"

	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/reread"
	"github.com/helmdrift/helmdrift/internal/sweep"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Sharing is a connection for many comparisons that read once what they have in common, for comparisons that a Source does not make
// itself. Each of them gets the answers that it would get alone.
type Sharing struct {
	drift.Connection
	cluster *shared
}

// Share starts such comparisons. They are cheap if they come in the order of their namespaces (see Each). If wide is set, objects are
// listed across all namespaces. The comparisons also share records: those of what was found, without a selection, are not listed again, and
// those of other namespaces once. They do not see what is deployed later; Changed reports it. The caller closes the Sharing.
func (s Source) Share(ctx context.Context, found Found, wide bool) Sharing {
	out := s.share(sweep.New(ctx, s.Cluster, sweep.Options{Wide: wide}), wide)
	searched := found.Namespaces
	if searched == nil {
		searched = []string{found.Namespace}
	}
	for _, namespace := range searched {
		out.cluster.histories.Get(namespace, func() (histories, bool) { return historiesOf(found.Releases), true })
	}
	return out.withRecords()
}

// share starts comparisons that read objects with a sweep.
func (s Source) share(objects *sweep.Sweep, wide bool) Sharing {
	out := Sharing{
		Connection: drift.LiveConnection(s.Cluster, s.Name, s.Storage),
		cluster:    &shared{Cluster: s.Cluster, storage: s.Storage, sweep: objects, wide: wide, answers: &answers{}},
	}
	out.Cluster = out.cluster
	return out
}

// ShareAll starts comparisons of objects that need not have Helm's label; see sweep.All. The caller closes it.
func (s Source) ShareAll(ctx context.Context) Sharing {
	return s.share(sweep.All(ctx, s.Cluster), false)
}

// withRecords returns the sharing with records that comparisons share.
func (s Sharing) withRecords() Sharing {
	from := s.cluster
	s.Records = func(namespace string) (drift.Records, error) {
		records, err := from.storage.Namespace(namespace)
		return sharedRecords{records, from, namespace}, err
	}
	return s
}

// Each calls do with the index of each of the namespaces, which must be in the order of lists.CompareNamespaces: those of the comparisons
// that do makes. Up to concurrency calls run at the same time. What was read of a namespace is forgotten when its comparisons are done.
// After the end of ctx, no call begins.
func (s Sharing) Each(ctx context.Context, namespaces []string, concurrency int, do func(i int)) {
	var mu sync.Mutex
	next, first, done := 0, 0, make([]bool, len(namespaces))
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(namespaces) || ctx.Err() != nil {
			return 0, false
		}
		i := next
		next++
		for done[first] {
			first++
		}
		s.cluster.sweep.Window(namespaces[first], namespaces[i])
		return i, true
	}
	var workers sync.WaitGroup
	for range min(concurrency, len(namespaces)) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				do(i)
				mu.Lock()
				done[i] = true
				mu.Unlock()
			}
		})
	}
	workers.Wait()
}

// place is where the records of a release are.
type place struct{ namespace, release string }

// Changed lists records again, and reports which of the releases have other records than the comparisons have seen. A release whose records
// cannot be listed counts as changed.
func (s Sharing) Changed(ctx context.Context, releases []drift.Target) []bool {
	places, out := make([]place, len(releases)), make([]bool, len(releases))
	for i, r := range releases {
		places[i] = place{r.Namespace, r.Release}
	}
	now := s.cluster.listAgain(ctx, places)
	for i, at := range places {
		present, isListed := now[at]
		out[i] = !isListed || !slices.Equal(present.History.Entries, s.cluster.seen(ctx, at.namespace)[at].Entries)
	}
	return out
}

// Wide returns the comparisons of Share with lists across all namespaces, which are cheaper if most of what they have is wanted. They share
// with s what both read, except objects. If s is wide, Wide returns it. The caller closes both.
func (s Sharing) Wide(ctx context.Context) Sharing {
	if s.cluster.wide {
		return s
	}
	wide := *s.cluster
	wide.sweep, wide.wide = sweep.New(ctx, wide.Cluster, sweep.Options{Wide: true}), true
	s.cluster, s.Cluster = &wide, &wide
	return s.withRecords()
}

// Close ends all requests.
func (s Sharing) Close() { s.cluster.sweep.Close() }

// shared is the cluster that the comparisons of a fleet read. It reads once what they have in common. It answers as the cluster that it
// embeds, so a release has the same report as if it were compared alone.
type shared struct {
	*live.Cluster
	storage *release.Storage
	sweep   *sweep.Sweep
	// wide reports whether namespaces and autoscalers are listed for the whole cluster.
	wide bool
	*answers
}

// answers are what was read for all comparisons, but for their objects.
type answers struct {
	definitions reread.Map[schema.GroupKind, answer[schema.GroupKind, map[string]any]]
	documents   reread.Map[schema.GroupVersion, answer[schema.GroupVersion, []byte]]
	lists       reread.Map[listKey, outcome[[]map[string]any]]
	// The keys of these are namespaces, or "" for all. The namespaces themselves are those that are being deleted.
	autoscalers reread.Map[string, answer[object.Key, object.Autoscaler]]
	namespaces  reread.Map[string, answer[string, bool]]
	histories   reread.Map[string, histories]
	// capabilities are what charts see of the cluster. They have one key.
	capabilities reread.Map[string, outcome[*chartutil.Capabilities]]
}

// histories are the lists of the records of releases.
type histories map[place]release.History

// historiesOf returns the histories of releases that were listed. One that cannot be trusted is left out.
func historiesOf(found []Released) histories {
	out := histories{}
	for _, r := range found {
		if r.Problem == nil {
			out[place{r.Last.Namespace, r.Last.Release}] = r.History
		}
	}
	return out
}

// seen returns the histories of the releases of a namespace, and maybe of others. It lists them at the first question.
func (s *shared) seen(ctx context.Context, namespace string) histories {
	of := func(namespace string) histories {
		return s.histories.Get(namespace, func() (histories, bool) {
			listed, err := s.storage.List(ctx, namespace, labels.Everything())
			if err != nil {
				return nil, apierrors.IsForbidden(err)
			}
			found, _ := groupByRelease(s.storage, listed)
			return historiesOf(found), true
		})
	}
	if s.wide {
		if all := of(""); all != nil {
			return all
		}
	}
	return of(namespace)
}

// sharedRecords are the records of a namespace that many comparisons read.
type sharedRecords struct {
	*release.Store
	from      *shared
	namespace string
}

// History implements drift.Records.
func (r sharedRecords) History(ctx context.Context, name string) (release.History, error) {
	return r.listed(ctx, name).History(ctx, name)
}

// Load implements drift.Records.
func (r sharedRecords) Load(ctx context.Context, name string, revision int, o release.Options) (*release.Loaded, error) {
	return r.listed(ctx, name).Load(ctx, name, revision, o)
}

// LoadRollback implements drift.Records.
func (r sharedRecords) LoadRollback(ctx context.Context, name string, to int, o release.Options) (*release.Loaded, error) {
	return r.listed(ctx, name).LoadRollback(ctx, name, to, o)
}

// listed returns the records with the history of a release, if it was listed.
func (r sharedRecords) listed(ctx context.Context, name string) *release.Store {
	if h, found := r.from.seen(ctx, r.namespace)[place{r.namespace, name}]; found {
		return r.from.storage.Listed(r.namespace, map[string]release.History{name: h})
	}
	return r.Store
}

// Capabilities implements drift.Cluster.
func (s *shared) Capabilities(ctx context.Context) (*chartutil.Capabilities, error) {
	c := s.capabilities.Get("", func() (c outcome[*chartutil.Capabilities], read bool) {
		c.value, c.err = s.Cluster.Capabilities(ctx)
		return c, c.err == nil
	})
	return c.value, c.err
}

// listKey names a list of all objects of a kind in a namespace.
type listKey struct {
	kind      schema.GroupVersionKind
	namespace string
}

// outcome is what was read, or why it could not be read.
type outcome[T any] struct {
	value T
	err   error
}

// answer is what was found for one key, and the messages about what could not be read.
type answer[K comparable, T any] struct {
	found    map[K]T
	warnings []report.Message
}

// Read implements drift.Cluster with the lists of the sweep.
func (s *shared) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	return s.sweep.Read(ctx, wanted)
}

// Terminating implements drift.Cluster.
func (s *shared) Terminating(ctx context.Context, names []string) (map[string]bool, []report.Message) {
	if s.wide {
		all := s.namespaces.Get("", func() (a answer[string, bool], read bool) {
			found, err := lists.Namespaces(ctx, s.Cluster)
			a.found = found
			return a, err == nil
		})
		if all.found != nil { // otherwise the role may not list them
			going := map[string]bool{}
			for _, name := range names {
				if all.found[name] {
					going[name] = true
				}
			}
			return going, nil
		}
	}
	going := map[string]bool{}
	var unread []report.Message
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		one := s.namespaces.Get(name, func() (a answer[string, bool], read bool) {
			a.found, a.warnings = s.Cluster.Terminating(ctx, []string{name})
			return a, true
		})
		maps.Copy(going, one.found)
		unread = append(unread, one.warnings...)
	}
	return going, unread
}

// CRDs implements drift.Cluster.
func (s *shared) CRDs(ctx context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	return collect(&s.definitions, kinds, func(kind schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
		return s.Cluster.CRDs(ctx, []schema.GroupKind{kind})
	})
}

// OpenAPI implements drift.Cluster.
func (s *shared) OpenAPI(ctx context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return collect(&s.documents, wanted, func(gv schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
		return s.Cluster.OpenAPI(ctx, []schema.GroupVersion{gv})
	})
}

// collect returns the answers about several keys. It does not ask again for a key that was answered.
func collect[Q, K comparable, T any](
	all *reread.Map[Q, answer[K, T]], keys []Q, ask func(Q) (map[K]T, []report.Message),
) (map[K]T, []report.Message) {
	out := map[K]T{}
	var warnings []report.Message
	for _, key := range keys {
		a := answerTo(all, key, ask)
		maps.Copy(out, a.found)
		warnings = append(warnings, a.warnings...)
	}
	return out, warnings
}

// answerTo returns the answer about a key.
func answerTo[Q, K comparable, T any](
	all *reread.Map[Q, answer[K, T]], key Q, ask func(Q) (map[K]T, []report.Message),
) answer[K, T] {
	return all.Get(key, func() (a answer[K, T], read bool) {
		a.found, a.warnings = ask(key)
		return a, len(a.warnings) == 0
	})
}

// Autoscalers implements drift.Cluster. If the autoscalers of the whole cluster cannot be listed, it lists each namespace. Releases share
// the map of the whole cluster, which is not copied for each of them.
func (s *shared) Autoscalers(ctx context.Context, names []string) (map[object.Key]object.Autoscaler, []report.Message) {
	ask := func(namespace string) (map[object.Key]object.Autoscaler, []report.Message) {
		return s.Cluster.Autoscalers(ctx, []string{namespace})
	}
	if s.wide {
		if all := answerTo(&s.autoscalers, "", ask); len(all.warnings) == 0 {
			return all.found, nil
		}
	}
	return collect(&s.autoscalers, names, ask)
}

// List implements drift.Cluster. Releases of one namespace share its list.
func (s *shared) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
	l := s.lists.Get(listKey{kind, namespace}, func() (l outcome[[]map[string]any], read bool) {
		l.value, l.err = s.Cluster.List(ctx, kind, namespace)
		return l, l.err == nil || apierrors.IsForbidden(l.err)
	})
	return l.value, l.err
}
