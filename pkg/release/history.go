package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/order"
)

// Entry is the content of one record's labels. Two entries are equal only if nobody wrote the record in between.
type Entry struct {
	// Name is the name of the Secret or ConfigMap.
	Name string
	// Release and Revision identify the record.
	Release  string
	Revision int
	// Status is the status label, which Helm writes together with the status inside the record.
	Status string
	// ResourceVersion changes with each write of the object.
	ResourceVersion string
}

// History is the list of all records of one release, with what the errors of Choose need.
type History struct {
	// Release is the name of the release. Kind and Namespace say which objects hold its records.
	Release, Kind, Namespace string
	// Entries are ordered from the first revision to the last.
	Entries []Entry
	// LastStatus is the status inside the last record, once it is read; see Choose. Store.Load sets it.
	LastStatus string
}

// History lists the records of a release without reading them. A release without records has an empty history;
// Choose returns the error for it.
func (s *Store) History(ctx context.Context, name string) (History, error) {
	if h, listed := s.listed[name]; listed {
		return h, nil
	}
	h := History{Release: name, Kind: s.backend.Kind(), Namespace: s.namespace}
	// An invalid name could change the meaning of the label selector. "helm upgrade" has the same text for this error.
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return h, fmt.Errorf("release name is invalid: %s", name)
	}
	found, err := list(ctx, s.backend, s.namespace, labels.SelectorFromSet(labels.Set{"owner": "helm", "name": name}))
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
	order.Sort(h.Entries, compareEntries)
	return h, nil
}

// Has reports whether a release is installed in a namespace, whatever its status, or has records there that lack the labels that Helm looks
// for. It lists the records and reads none.
func (s *Storage) Has(ctx context.Context, namespace, name string) (bool, error) {
	store, err := s.Namespace(namespace)
	if err != nil {
		return false, err
	}
	h, err := store.History(ctx, name)
	if err != nil || len(h.Entries) > 0 {
		return h.Installed(), err
	}
	found, err := unlabelled(ctx, s.backend, h)
	return len(found) > 0, err
}

// Installed reports whether the release of the history is installed, whatever its status.
func (h History) Installed() bool {
	return len(h.Entries) > 0 && h.last().Status != string(helm.StatusUninstalled)
}

// NewerFormat adds the advice for a record that a newer Helm may have written.
func NewerFormat(cause error) error {
	return withHint(cause, "it may come from a Helm that is newer than this helmdrift; try the latest helmdrift")
}

// installError is the error of Load if helm upgrade --install would install the release.
type installError struct {
	error
	last int // the number of the last revision, or 0
}

// Unwrap returns the error without the mark.
func (i installError) Unwrap() error { return i.error }

// Installs reports whether err is, or wraps, an error of Load or Choose that means that helm upgrade --install would install:
// the history is empty, or it ends with an uninstall. Last is the number of the last revision, or 0. The installation creates
// the next one (helm v3.22.0 pkg/action/install.go, createRelease and replaceRelease).
func Installs(err error) (last int, ok bool) {
	i, ok := errors.AsType[installError](err)
	return i.last, ok
}

// Installs reports whether helm upgrade --install would install instead of upgrading. This is possible even if a
// plain upgrade has a revision to start from: one that is labelled deployed although the release was uninstalled
// after it.
func (h History) Installs() bool {
	return len(h.Entries) == 0 || h.installsAfter(helm.Status(cmp.Or(h.LastStatus, h.last().Status)))
}

// installsAfter is Installs for a history that is not empty and whose last revision has the given status.
//
// Helm looks for the uninstall in the last record of the server's list (helm v3.22.0 cmd/helm/upgrade.go and helm v4.3.1
// pkg/cmd/upgrade.go, isReleaseUninstalled), and nothing sorts the result of pkg/storage/driver/secrets.go Query. The
// list is in the order of names, with v9 after v10. From ten revisions on, that record is often not the last revision.
// Helm then upgrades, which fails. If Helm does install, pkg/action/install.go availableName looks at the last revision.
func (h History) installsAfter(last helm.Status) bool {
	byName := slices.MaxFunc(h.Entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return last == helm.StatusUninstalled && (byName == h.last() || byName.Status == string(helm.StatusUninstalled))
}
