package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	h := History{Release: name, Kind: s.kind, Namespace: s.namespace}
	// An invalid name could change the meaning of the label selector. The text of the error is that of "helm upgrade".
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return h, fmt.Errorf("release name is invalid: %s", name)
	}
	items, err := s.list(ctx, labels.Set{"owner": "helm", "name": name}.AsSelector().String())
	if err != nil {
		return h, fmt.Errorf("find release %s: %w", name, err)
	}
	var errs []error
	for i := range items {
		e, err := s.entry(&items[i])
		errs = append(errs, err)
		h.Entries = append(h.Entries, e)
	}
	if err := errors.Join(errs...); err != nil {
		return h, fmt.Errorf("find release %s: %w", name, err)
	}
	// Two records of one revision are ordered by name, so that the order does not depend on the server.
	slices.SortFunc(h.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
	})
	return h, nil
}

// Names lists the releases of the namespace, by name, without reading a record. The error reports records with
// invalid labels; the other releases are returned with it.
func (s *Store) Names(ctx context.Context) ([]Summary, error) {
	items, err := s.list(ctx, labels.Set{"owner": "helm"}.AsSelector().String())
	if err != nil {
		return nil, fmt.Errorf("find releases: %w", err)
	}
	latest := map[string]Summary{}
	var errs []error
	for i := range items {
		e, err := s.entry(&items[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if e.Revision > latest[e.Release].Revision {
			latest[e.Release] = Summary{Name: e.Release, Revision: e.Revision, Status: e.Status}
		}
	}
	found := slices.SortedFunc(maps.Values(latest), func(a, b Summary) int { return cmp.Compare(a.Name, b.Name) })
	return found, errors.Join(errs...)
}

// entry reads the labels of a record.
func (s *Store) entry(m *metav1.PartialObjectMetadata) (Entry, error) {
	e := Entry{Name: m.Name, Release: m.Labels["name"], Status: m.Labels["status"], ResourceVersion: m.ResourceVersion}
	if hasNewerFormat(m.Name) {
		return e, newerFormat(fmt.Errorf("%s is a release record of an unknown format", s.storedAs(m.Name)))
	}
	if e.Release == "" {
		return e, s.labelError(m.Name, errors.New("it has no label name"))
	}
	version, ok := m.Labels["version"]
	if !ok {
		return e, s.labelError(m.Name, errors.New("it has no label version"))
	}
	revision, err := strconv.Atoi(version)
	if err != nil || revision < 1 {
		return e, s.labelError(m.Name, fmt.Errorf("its label version is %q, not a revision", version))
	}
	e.Revision = revision
	return e, nil
}

// labelError is the error of a record whose labels do not tell its release and revision. Ignoring the record could
// make an older revision the last one.
func (s *Store) labelError(name string, cause error) error {
	return withHint(fmt.Errorf("%s is labelled as a release record of Helm, but %w", s.storedAs(name), cause),
		"Helm takes every %s with the label owner=helm for a release record; correct the labels of this one, "+
			"or remove the label owner if it is something else", s.kind)
}

// newerFormat adds the advice for a record that a newer Helm may have written.
func newerFormat(cause error) error {
	return withHint(cause, "it may come from a Helm that is newer than this helmdrift; try the latest helmdrift")
}
