package release

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Listed is one record of a list.
type Listed struct {
	Entry
	// Namespace is the namespace of the storage.
	Namespace string
	// Labels are the labels of the record: name, owner, status and version, createdAt and modifiedAt, and the user's
	// own.
	Labels map[string]string
	// Created is when the record was stored, which is the start of the operation that made the revision.
	Created time.Time
	// Problem is the reason why the revision is unknown: labels that were edited, or a newer format. Revision is 0
	// then, and Release can be empty.
	Problem error
}

// List lists the records of a namespace, or of all namespaces if it is empty, ordered by namespace, release and
// revision. It reads no record. The selector applies to the labels of each record. Records of one release can have
// different labels, so the last revision of a list with a selector need not be the last revision of the release: a
// caller that selects releases lists everything, takes the last revision of each and then applies its selector, as
// "helm list" does (helm v3.22.0 pkg/action/list.go, List.Run).
func (s *Storage) List(ctx context.Context, namespace string, selector labels.Selector) ([]Listed, error) {
	requirements, selectable := selector.Requirements()
	if !selectable {
		return nil, nil // labels.Nothing
	}
	owned := labels.SelectorFromSet(labels.Set{"owner": "helm"}).Add(requirements...)
	found, err := list(ctx, s.backend, namespace, owned)
	if err != nil {
		return nil, fmt.Errorf("find releases: %w", err)
	}
	order.Sort(found, func(a, b Listed) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Release, b.Release), compareEntries(a.Entry, b.Entry))
	})
	return found, nil
}

// list lists the records of a backend. The revision of a record whose name shows a format that this package does not know is
// unknown, whatever the backend says.
func list(ctx context.Context, b Backend, namespace string, selector labels.Selector) ([]Listed, error) {
	found, err := b.List(ctx, namespace, selector)
	for i := range found {
		if l := &found[i]; hasNewerFormat(l.Name) {
			l.Revision = 0
			l.Problem = NewerFormat(fmt.Errorf("%s is a release record of an unknown format", storedAs(b, l.Namespace, l.Name)))
			l.Problem = report.About(l.Problem, recordSubject(b, "read", l.Namespace, l.Name, "its format is unknown"))
		}
	}
	if err != nil {
		return found, report.About(err, recordSubject(b, "list", namespace, "", ""))
	}
	return found, nil
}

// recordSubject returns the subject of an error about the records of a backend. An empty reason leaves it to the caller of this package to
// name the cause, which is an error of the API server or of a database.
func recordSubject(b Backend, verb, namespace, name, reason string) report.Subject {
	return report.Subject{Verb: verb, Resource: cmp.Or(b.Resource(), b.Kind()), Namespace: namespace, Name: name, Reason: reason}
}

// compareEntries orders the records of a release by revision. Two records of one revision are ordered by name, so that
// the order does not depend on the server.
func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
}
