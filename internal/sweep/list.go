package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
)

// pageSize is the number of objects of a page. For each kind, one page is in memory while the next one is being read.
const pageSize = 250

// sharedList is the list of one kind in a sweep: the pages that were read so far, without what was dropped.
type sharedList struct {
	ctx context.Context
	// read reads the page with a token.
	read func(ctx context.Context, token string) (lists.Page, error)
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
	// pages counts the tokens that next had.
	pages int
}

// place is the place of an object among those of its kind.
type place struct{ namespace, name string }

// comingPage is a page that was asked for. It is complete when done is closed.
type comingPage struct {
	lists.Page
	err  error
	done chan struct{}
}

// find returns those objects of a group that the list has, by name. It reads pages until it has all of them, or has passed their namespace.
func (l *sharedList) find(ctx context.Context, group live.Group) (map[string]*unstructured.Unstructured, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := map[string]*unstructured.Unstructured{}
	for {
		for _, name := range group.Names {
			if o := l.objects[place{group.Namespace, name}]; o != nil {
				found[name] = o
			}
		}
		if len(found) == len(group.Names) || l.done || lists.CompareNamespaces(l.reached, group.Namespace) > 0 {
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
	if page.err == nil {
		l.add(page.Items)
		if l.done = page.Next == ""; l.done {
			return
		}
		if page.err = l.goOn(page.Next); page.err == nil {
			l.ask()
			return
		}
	} else {
		page.err = l.resume(page.err)
	}
	if page.err != nil && live.MayGetInstead(page.err) {
		l.failed = page.err
	}
}

// goOn makes a token that of the next page.
func (l *sharedList) goOn(token string) error {
	if l.pages++; l.pages >= lists.MaxPages {
		return fmt.Errorf("list %s: %w", l.of.Resource, lists.ErrEndless)
	}
	l.next = token
	return nil
}

// ask asks for the next page.
func (l *sharedList) ask() {
	page, token := &comingPage{done: make(chan struct{})}, l.next
	l.coming = page
	go func() {
		defer close(page.done)
		defer func() {
			if p := recover(); p != nil {
				page.err = fmt.Errorf("internal error: %v", p)
			}
		}()
		page.Page, page.err = l.read(l.ctx, token)
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
		return l.goOn(token)
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
		if lists.CompareNamespaces(l.reached, l.first) >= 0 || l.reached == "" {
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
		return at.namespace != "" && lists.CompareNamespaces(at.namespace, first) < 0
	})
}
