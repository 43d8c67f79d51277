package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Source is one cluster and the records of its releases.
type Source struct {
	Cluster *live.Cluster
	Storage *release.Storage
	// Name is the name of the cluster in reports.
	Name string
}

// Found is the result of Find.
type Found struct {
	// Releases are the selected releases, in the order that Compare takes them: as the API server lists their objects.
	Releases []Released
	// Total is the number of releases in the namespaces that were searched, selected or not.
	Total int
	// Beside is the number of releases, selected or not, in the namespaces of the selected ones.
	Beside int
	// Errors name what could not be searched.
	Errors []report.ScanError
	// Namespace is the namespace that was searched. It is empty if all were.
	Namespace string
	// Namespaces are the namespaces that were searched one by one because the role may not list all at once. Otherwise it is nil.
	Namespaces []string

	selection Selection
}

// searched reports whether the records of a namespace were searched.
func (f Found) searched(namespace string) bool {
	if f.Namespaces != nil {
		return slices.Contains(f.Namespaces, namespace)
	}
	return f.Namespace == "" || f.Namespace == namespace
}

// Find returns the selected releases. It reads no record. If the role may not list the records of all namespaces at once, Find searches
// each namespace by itself. A selected name that no release has is one of the Errors. Find fails only if nothing could be searched; its
// error wraps the API server's.
func (s Source) Find(ctx context.Context, selection Selection) (Found, error) {
	found := Found{Namespace: selection.Namespace, selection: selection}
	listed, err := s.Storage.List(ctx, selection.Namespace, labels.Everything())
	if selection.Namespace == "" && apierrors.IsForbidden(err) {
		listed, err = s.searchNamespaces(ctx, selection, &found)
	}
	if err != nil {
		return found, err
	}
	all, nameless := groupByRelease(s.Storage, listed)
	found.Total = len(all)
	found.Errors = append(found.Errors, s.unknownNames(selection, all)...)
	for _, l := range nameless {
		found.Errors = append(found.Errors, s.scanError(l.Namespace, "record", l.Problem))
	}
	for _, r := range all {
		if selection.selects(s.Name, r) {
			found.Releases = append(found.Releases, r)
		}
	}
	chosen := map[string]bool{}
	for _, r := range found.Releases {
		chosen[r.Last.Namespace] = true
	}
	for _, r := range all {
		if chosen[r.Last.Namespace] {
			found.Beside++
		}
	}
	order.Sort(found.Releases, func(a, b Released) int {
		return cmp.Or(lists.CompareNamespaces(a.Last.Namespace, b.Last.Namespace), cmp.Compare(a.Last.Release, b.Last.Release))
	})
	return found, nil
}

// unknownNames returns an error for each name that no release has. If there are several shards, the first one reports them.
func (s Source) unknownNames(selection Selection, all []Released) (errs []report.ScanError) {
	if selection.Shard != nil && selection.Shard.Index > 0 {
		return nil
	}
	where := "in any namespace"
	if selection.Namespace != "" {
		where = "in namespace " + selection.Namespace
	}
	for _, name := range selection.Names {
		if !slices.ContainsFunc(all, func(r Released) bool { return r.Last.Release == name }) {
			errs = append(errs, s.scanError(selection.Namespace, report.ErrorNotFound, fmt.Errorf("there is no release %s %s", name, where)))
		}
	}
	return errs
}

// inFlight is the number of namespaces that are searched at the same time.
const inFlight = 16

// searchNamespaces lists the records of each namespace. It adds an error to found for a namespace that the role may not list. If the
// namespaces cannot be listed either, it searches only the fallback.
func (s Source) searchNamespaces(ctx context.Context, selection Selection, found *Found) ([]release.Listed, error) {
	names := []string{selection.Fallback}
	if existing, err := lists.Namespaces(ctx, s.Cluster); err == nil {
		names = object.SortedKeys(existing)
	} else {
		what := fmt.Errorf("the role may not list the records of all namespaces, so only namespace %s was searched: %w",
			selection.Fallback, err)
		if apierrors.IsForbidden(err) {
			what = fmt.Errorf("the role may list neither the records of all namespaces nor the namespaces, so only namespace %s was searched",
				selection.Fallback)
		}
		found.Errors = append(found.Errors, s.scanError("", live.ErrorCode(err), what))
	}
	results, errs := make([][]release.Listed, len(names)), make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(inFlight)
	for i, name := range names {
		group.Go(func() error {
			results[i], errs[i] = s.Storage.List(ctx, name, labels.Everything())
			return nil
		})
	}
	_ = group.Wait() // no search returns an error
	for i, err := range errs {
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			found.Errors = append(found.Errors, s.scanError(names[i], live.ErrorCode(err), err))
		default:
			found.Namespaces = append(found.Namespaces, names[i])
		}
	}
	return slices.Concat(results...), nil
}

// scanError returns the error of a namespace, or of the whole cluster if the namespace is empty.
func (s Source) scanError(namespace, code string, err error) report.ScanError {
	return NewScanError(s.Name, namespace, code, err)
}

// NewScanError returns the error of a namespace of a cluster, or of the whole cluster if the namespace is empty. Its message ends in the
// advice that comes with err.
func NewScanError(cluster, namespace, code string, err error) report.ScanError {
	message := err.Error()
	if hint := drift.Hint(err); hint != "" {
		message += " (" + hint + ")"
	}
	subject := subjectOf(err)
	if subject != nil && subject.Reason == "" {
		subject.Reason = live.ErrorReason(err)
	}
	return report.ScanError{Cluster: cluster, Namespace: namespace, Code: code, Message: message, Subject: subject}
}
