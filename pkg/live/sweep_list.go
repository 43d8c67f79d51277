package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/cluster"
)

// sweepPage is the number of objects of a page. For each kind, one page is in memory while the next one is being read.
const sweepPage = 250

// sharedList is the list of one kind in a sweep: the pages that were read so far, without what was dropped.
type sharedList struct {
	ctx context.Context
	// read reads the page with a token.
	read func(ctx context.Context, token string) (listPage, error)
	of   listOf
	// see is called with each object that was read; nil for none.
	see func(o map[string]any)

	mu sync.Mutex
	// objects has no objects from namespaces before first.
	objects map[place]*unstructured.Unstructured
	first   string
	// reached is the namespace of the last object that was read. The namespaces before it are complete.
	reached string
	// done is set after the last page.
	done bool
	// failed is set if no more pages can be read. The objects may still be readable by name.
	failed error
	// next is the token of the next page; it is empty for the first one. If coming is set, that page was
	// already asked for.
	next   string
	coming *comingPage
}

// place is the place of an object among those of its kind.
type place struct{ namespace, name string }

// comingPage is a page that was asked for. It is complete when done is closed.
type comingPage struct {
	listPage
	err  error
	done chan struct{}
}

func newSharedList(ctx context.Context, read func(context.Context, string) (listPage, error), first string) *sharedList {
	return &sharedList{ctx: ctx, read: read, first: first, objects: map[place]*unstructured.Unstructured{}}
}

// job returns the job that finds a group of objects of one namespace in the list. The job leaves the objects that the list
// does not have.
func (l *sharedList) job(c *Cluster, group []target) job {
	return job{group, func(ctx context.Context) (answers, []target) {
		found, err := l.find(ctx, group)
		left := unanswered(found, group)
		if err == nil {
			return found, left
		}
		// The error may concern only the list across all namespaces.
		if rest := (answers{}); mayGetInstead(err) {
			left = rest.run(ctx, c.groupJobs(left))
			maps.Copy(found, rest)
			return found, left
		}
		for _, t := range left {
			found[t.ref] = cluster.Live{Err: t.objectError("list", err)}
		}
		return found, nil
	}}
}

// find returns those of the objects that the list has. It reads pages until it has all of them, or has passed their namespace.
func (l *sharedList) find(ctx context.Context, group []target) (answers, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, namespace := answers{}, group[0].namespace()
	for {
		for _, t := range group {
			if o := l.objects[place{namespace, t.ref.Name}]; o != nil && t.matches(o) {
				found[t.ref] = cluster.Live{Object: o.Object}
			}
		}
		if len(found) == len(group) || l.done || CompareNamespaces(l.reached, namespace) > 0 {
			return found, nil
		}
		if l.failed != nil {
			return found, l.failed
		}
		if err := l.readPage(ctx); err != nil {
			return found, err
		}
	}
}

// readPage waits for the next page and asks for the one after it. The caller holds the lock; readPage releases it while it waits. All
// callers that wait get the same page or the same error.
func (l *sharedList) readPage(ctx context.Context) error {
	if l.coming == nil {
		l.ask()
	}
	page := l.coming
	l.mu.Unlock()
	select {
	case <-ctx.Done():
		l.mu.Lock()
		return ctx.Err()
	case <-page.done:
		l.mu.Lock()
	}
	if l.coming == page {
		l.coming = nil
		l.take(page)
	}
	return page.err
}

// take adds a page to the list.
func (l *sharedList) take(page *comingPage) {
	if page.err != nil {
		page.err = l.resume(page.err)
		if page.err != nil && mayGetInstead(page.err) {
			l.failed = page.err
		}
		return
	}
	l.add(page.items)
	l.next = page.next
	l.done = l.next == "" || len(page.items) == 0
	if !l.done {
		l.ask()
	}
}

// ask asks for the next page.
func (l *sharedList) ask() {
	page, token := &comingPage{done: make(chan struct{})}, l.next
	l.coming = page
	go func() {
		defer close(page.done)
		defer recoverError(&page.err)
		page.listPage, page.err = l.read(l.ctx, token)
	}()
}

// resume decides what follows an error. If the API server no longer has the state that the list began with, its error has a token that
// continues the list with the present state. After an error that concerns more than this list, such as a lost connection, the next caller
// asks for the page again.
func (l *sharedList) resume(err error) error {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) || l.next == "" {
		return err
	}
	if token := status.Status().Continue; token != "" && token != l.next {
		l.next = token
		return nil
	}
	return err
}

// add adds the objects of a page.
func (l *sharedList) add(items []any) {
	for _, item := range items {
		content, _ := item.(map[string]any)
		o := &unstructured.Unstructured{Object: content}
		if l.see != nil {
			l.see(content)
		}
		l.reached = o.GetNamespace()
		if CompareNamespaces(l.reached, l.first) >= 0 || l.reached == "" {
			l.objects[place{l.reached, o.GetName()}] = o
		}
	}
}

// drop forgets the objects in the namespaces before first.
func (l *sharedList) drop(first string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first = first
	maps.DeleteFunc(l.objects, func(at place, _ *unstructured.Unstructured) bool {
		return at.namespace != "" && CompareNamespaces(at.namespace, first) < 0
	})
}

// listPage is one page of a list: objects, and the token of the next page, which is empty after the last one.
type listPage struct {
	items []any
	next  string
}

// readPage reads a page of the objects that a selector selects, in one namespace or, if it is empty, in all.
//
// The objects are the same as those of client-go's dynamic client, which decodes a list three times (apimachinery v0.37.1
// pkg/apis/meta/v1/unstructured/helpers.go decodeToList). Most of the objects of a fleet are untouched, so decoding them is much of the work.
func (c *Cluster) readPage(ctx context.Context, of listOf, selector, token string) (listPage, error) {
	path := []string{"apis", of.Group, of.Version}
	if of.Group == "" {
		path = []string{"api", of.Version}
	}
	if of.namespace != "" {
		path = append(path, "namespaces", of.namespace)
	}
	request := c.objects.Get().AbsPath(append(path, of.Resource)...).Param("limit", strconv.Itoa(sweepPage))
	if selector != "" {
		request = request.Param("labelSelector", selector)
	}
	if token != "" {
		request = request.Param("continue", token)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return listPage{}, err
	}
	text, err := result.Raw()
	if err != nil {
		return listPage{}, err
	}
	var list struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`
		Items           []any `json:"items"`
	}
	if err := utiljson.Unmarshal(text, &list); err != nil {
		return listPage{}, fmt.Errorf("decode the list of %s: %w", of.Resource, err)
	}
	kind := strings.TrimSuffix(list.Kind, "List")
	for _, item := range list.Items {
		// The items of built-in kinds have no type of their own.
		if o, _ := item.(map[string]any); o != nil && o["kind"] == nil && o["apiVersion"] == nil {
			o["apiVersion"], o["kind"] = list.APIVersion, kind
		}
	}
	return listPage{items: list.Items, next: list.Continue}, nil
}

// CompareNamespaces orders namespaces as the API server lists their objects. It sorts by the keys of etcd, which are namespace/name, so
// that a-b is before a.
func CompareNamespaces(a, b string) int { return cmp.Compare(a+"/", b+"/") }
