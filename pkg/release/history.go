package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/labels"
)

// Entry is the content of one record's labels. Two entries are equal only if nobody wrote the record in between.
type Entry struct {
	// Name is the name of the Secret or ConfigMap.
	Name string
	// Release and Revision are those of the record.
	Release  string
	Revision int
	// Status is the status label, which Helm writes together with the status inside the record.
	Status string
	// ResourceVersion changes with each write of the object.
	ResourceVersion string
}

// History is the list of all records of one release, with what the errors of Choose need.
type History struct {
	// Release is the name of the release. Kind and Namespace are those of the objects that hold its records.
	Release, Kind, Namespace string
	// Entries are ordered from the first revision to the last.
	Entries []Entry
	// LastStatus is the status inside the last record, once it is read; see Choose. Store.Load sets it.
	LastStatus string
}

// Summary describes one release of a namespace by its last revision.
type Summary struct {
	Name     string
	Revision int
	Status   string
}

// History lists the records of a release without reading them. A release without records has an empty history, for
// which Choose returns the error.
func (s *Store) History(ctx context.Context, name string) (History, error) {
	if h, listed := s.listed[name]; listed {
		return h, nil
	}
	h := History{Release: name, Kind: s.kind(), Namespace: s.namespace}
	// An invalid name could change the meaning of the label selector. The text of the error is that of "helm upgrade".
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return h, fmt.Errorf("release name is invalid: %s", name)
	}
	found, err := s.list(ctx, s.namespace, labels.SelectorFromSet(labels.Set{"owner": "helm", "name": name}))
	if err != nil {
		return h, fmt.Errorf("find release %s: %w", name, err)
	}
	var errs []error
	for _, l := range found {
		errs = append(errs, l.Problem)
		h.Entries = append(h.Entries, l.Entry)
	}
	if err := errors.Join(errs...); err != nil {
		return h, fmt.Errorf("find release %s: %w", name, err)
	}
	slices.SortFunc(h.Entries, compareEntries)
	return h, nil
}

// Has reports whether a namespace has the records of a release that is installed, whatever its status. It lists the records and reads none.
func (s *Storage) Has(ctx context.Context, namespace, name string) (bool, error) {
	store, err := s.Namespace(namespace)
	if err != nil {
		return false, err
	}
	h, err := store.History(ctx, name)
	return h.Installed(), err
}

// Installed reports whether the history is that of a release that is installed, whatever its status.
func (h History) Installed() bool {
	return len(h.Entries) > 0 && h.last().Status != string(helm.StatusUninstalled)
}

// Names lists the releases of the namespace, by name, without reading a record. The error reports records with
// invalid labels; the other releases are returned with it.
func (s *Store) Names(ctx context.Context) ([]Summary, error) {
	listed, err := (&Storage{s.backend}).List(ctx, s.namespace, labels.Everything())
	if err != nil {
		return nil, err
	}
	var found []Summary
	var errs []error
	for _, l := range Latest(listed) {
		if l.Revision > 0 {
			found = append(found, Summary{Name: l.Release, Revision: l.Revision, Status: l.Status})
		}
		errs = append(errs, l.Problem)
	}
	return found, errors.Join(errs...)
}

// newerFormat adds the advice for a record that a newer Helm may have written.
func newerFormat(cause error) error {
	return withHint(cause, "it may come from a Helm that is newer than this helmdrift; try the latest helmdrift")
}
