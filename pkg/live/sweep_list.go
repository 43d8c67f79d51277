package live

import (
	"context"
	"errors"
	"maps"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// sweepPage is the number of objects of a page. Of each kind, one page is held at a time, and the next one is on its way.
const sweepPage = 250

// sharedList is the list of one kind in a sweep: the pages that were read so far, without what was dropped.
type sharedList struct {
	ctx context.Context
	// read reads the page with a token.
	read func(ctx context.Context, token string) (listPage, error)

	mu sync.Mutex
	// objects are in the namespace first or behind it.
	objects map[place]*unstructured.Unstructured
	first   string
	// reached is the namespace of the last object that was read. The namespaces before it are complete.
	reached string
	// done is set after the last page.
	done bool
	// failed is set if no more pages can be read, but perhaps the objects by themselves.
	failed error
	// next is the token of the next page; empty for the first one. It was asked for already if coming is set.
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

// job returns the job that finds a group of objects of one namespace in the list. It leaves those that the list does not have.
func (l *sharedList) job(c *Cluster, group []target) job {
	return job{group, func(ctx context.Context) (answers, []target) {
		found, err := l.find(ctx, group)
		left := unanswered(found, group)
		if err == nil {
			return found, left
		}
		// The reason may concern only the list across all namespaces.
		if rest := (answers{}); mayGetInstead(err) {
			left = rest.run(ctx, c.groupJobs(left))
			maps.Copy(found, rest)
			return found, left
		}
		for _, t := range left {
			found[t.ref] = threeway.Live{Err: t.objectError("list", err)}
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
				found[t.ref] = threeway.Live{Object: o.Object}
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

// readPage waits for the next page and asks for the one after it. It is called with the lock, and gives it up while it waits. All callers
// that wait get the same page or the same error.
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

// resume decides what follows an error. If the API server has forgotten the state in which the list began, the error has a token by which
// the list continues with the present state. After an error that concerns more than this list, such as a lost connection, the next caller
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
