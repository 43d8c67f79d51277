package sweep

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Sweep reads the objects of many releases with lists that they share. The API server lists objects by namespace and then by name. If the
// releases are read in that order (lists.CompareNamespaces), one paged list of each kind goes along with them: a page is read when a
// release needs it, and dropped when the releases of its namespaces are done. So the memory does not grow with the number of releases.
//
// What the lists do not have is read as Cluster.Read does: objects that lost Helm's label, objects in a namespace that was dropped or is
// still far ahead, and everything of a kind that cannot be listed.
//
// A Sweep is safe for concurrent use. Close ends its requests.
type Sweep struct {
	cluster *live.Cluster
	options Options
	// selector selects what the lists have.
	selector string
	// ctx is the context of the lists, which outlive a call of Read.
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	lists map[listOf]*sharedList
	// wanted counts, for each list that has not begun, the objects that were wanted from it.
	wanted map[listOf]int
	// silent has the kinds whose list the server did not answer in time. They are not asked for again, since each release would wait as
	// long.
	silent map[schema.GroupVersionResource]error
	// The current releases are in the namespaces from first to last.
	first, last string
	// begun has all lists, if Options.Whole is set.
	begun map[listOf]*sharedList
}

// Options say what a sweep lists.
type Options struct {
	// Wide lists across all namespaces, which is cheaper if most namespaces have releases. Otherwise each namespace has lists of its own.
	Wide bool
	// See is called with each object that the lists have, wanted or not. Several goroutines call it, and it must not change the object. It
	// may be nil.
	See func(o map[string]any)
	// Whole lists every kind that is wanted, however few of its objects are wanted, so that Rest can read the lists to their ends.
	Whole bool
}

// listOf identifies a list. The namespace is empty if it goes across all namespaces.
type listOf struct {
	schema.GroupVersionResource
	namespace string
}

// New starts to read many releases.
func New(ctx context.Context, c *live.Cluster, o Options) *Sweep {
	ctx, cancel := context.WithCancel(ctx)
	return &Sweep{cluster: c, options: o, selector: live.HelmSelector, ctx: ctx, cancel: cancel, lists: map[listOf]*sharedList{},
		wanted: map[listOf]int{}, silent: map[schema.GroupVersionResource]error{}, begun: map[listOf]*sharedList{}}
}

// All starts to read many objects that need not have Helm's label. It lists by namespace alone, and lists neither Secrets, among which
// are the records of Helm, nor objects without a namespace: such lists would mostly have what belongs to others.
func All(ctx context.Context, c *live.Cluster) *Sweep {
	s := New(ctx, c, Options{})
	s.selector = ""
	return s
}

// Close ends all requests of the sweep.
func (s *Sweep) Close() { s.cancel() }

// Window sets the namespaces of the current releases, from first to last. Neither may go back. Objects in namespaces before first are
// dropped.
func (s *Sweep) Window(first, last string) {
	s.mu.Lock()
	moved := first != s.first
	s.first, s.last = first, last
	maps.DeleteFunc(s.lists, func(of listOf, _ *sharedList) bool {
		return of.namespace != "" && lists.CompareNamespaces(of.namespace, first) < 0
	})
	all := slices.Collect(maps.Values(s.lists))
	if s.options.Whole {
		all = slices.Collect(maps.Values(s.begun))
	}
	s.mu.Unlock()
	if !moved {
		return
	}
	for _, l := range all {
		l.drop(first)
	}
}

// Read returns what Cluster.Read returns.
func (s *Sweep) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	return s.cluster.ReadFrom(ctx, wanted, func(group live.Group) live.Find {
		if err := s.silence(group.GroupVersionResource); err != nil {
			return func(context.Context) (map[string]*unstructured.Unstructured, error) { return nil, err }
		}
		list := s.list(group)
		if list == nil {
			return nil
		}
		return func(ctx context.Context) (map[string]*unstructured.Unstructured, error) { return list.find(ctx, group) }
	})
}

// silence returns the error of a kind whose list was not answered in time; nil for other kinds.
func (s *Sweep) silence(of schema.GroupVersionResource) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent[of]
}

// readPage reads a page of a list, and remembers that the kind did not answer in time.
func (s *Sweep) readPage(ctx context.Context, of listOf, token string) (lists.Page, error) {
	if err := s.silence(of.GroupVersionResource); err != nil {
		return lists.Page{}, err
	}
	page, err := lists.ReadPage(ctx, s.cluster, of.GroupVersionResource, of.namespace, s.selector, pageSize, token)
	if err != nil && live.ErrorCode(err) == cluster.CodeTimeout && ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.silent[of.GroupVersionResource] = err
	}
	return page, err
}

// list returns the list that should have the targets of a group, or nil if they should be read by name. The list may not have begun. The
// list of a namespace begins only when several of its objects were wanted, because it may be long.
func (s *Sweep) list(group live.Group) *sharedList {
	key := listOf{GroupVersionResource: group.GroupVersionResource}
	s.mu.Lock()
	defer s.mu.Unlock()
	namespace := group.Namespace
	switch outside := lists.CompareNamespaces(namespace, s.first) < 0 || lists.CompareNamespaces(namespace, s.last) > 0; {
	case !group.Listed || group.Namespaced && outside,
		s.selector == "" && (!group.Namespaced || group.Group == "" && group.Resource == "secrets"):
		return nil
	case group.Namespaced && !s.options.Wide:
		key.namespace = namespace
	}
	if s.lists[key] == nil {
		if s.wanted[key] += len(group.Names); key.namespace != "" && s.wanted[key] < live.ListFrom && !s.options.Whole {
			return nil
		}
		s.lists[key] = s.begin(key)
	}
	return s.lists[key]
}

// begin begins a list. The caller holds the lock.
func (s *Sweep) begin(key listOf) *sharedList {
	l := &sharedList{
		ctx: s.ctx, of: key, see: s.options.See, first: s.first, objects: map[place]*unstructured.Unstructured{},
		read: func(ctx context.Context, token string) (lists.Page, error) { return s.readPage(ctx, key, token) },
	}
	if s.options.Whole {
		s.begun[key] = l
	}
	return l
}
