package sweep

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Rest reads what the lists of a sweep with Options.Whole have not read yet, so that See has seen every object of each kind that was
// wanted: in each of the namespaces or, if the sweep is wide, in all. It returns an error for each list that could not be read. It keeps no
// object of these lists: Read gets them by their names later.
func (s *Sweep) Rest(ctx context.Context, namespaces []string) []error {
	s.mu.Lock()
	kinds := map[schema.GroupVersionResource]bool{}
	for key := range s.begun {
		kinds[key.GroupVersionResource] = kinds[key.GroupVersionResource] || key.namespace != ""
	}
	for kind, isNamespaced := range kinds {
		for _, namespace := range namespaces {
			if key := (listOf{kind, namespace}); isNamespaced && s.begun[key] == nil {
				s.lists[key] = s.begin(key)
			}
		}
	}
	lists := slices.Collect(maps.Values(s.begun))
	s.mu.Unlock()
	errs := make([]error, len(lists))
	var group errgroup.Group
	group.SetLimit(live.InFlight)
	for i, l := range lists {
		group.Go(func() error {
			if err := l.readAll(ctx); err != nil {
				errs[i] = l.of.failed(err)
			}
			return nil
		})
	}
	_ = group.Wait() // no list returns an error
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// failed returns the error of a list with its subject.
func (of listOf) failed(err error) error {
	where := "in all namespaces"
	if of.namespace != "" {
		where = "in namespace " + of.namespace
	}
	return report.About(fmt.Errorf("cannot list %s %s: %w", of.GroupResource(), where, err),
		report.Subject{Verb: "list", Resource: of.GroupResource().String(), Namespace: of.namespace})
}

// readAll reads the list to its end, and keeps none of its objects.
func (l *sharedList) readAll(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.done {
		if l.failed != nil {
			return l.failed
		}
		if err := l.readPage(ctx); err != nil {
			return err
		}
		clear(l.objects)
	}
	clear(l.objects)
	return nil
}
