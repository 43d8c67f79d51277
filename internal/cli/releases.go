package cli

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/release"
)

// releasesOf returns the last record of each release of a namespace, by name, without reading one. The error reports records with invalid
// labels; the other releases are returned with it.
func releasesOf(ctx context.Context, storage *release.Storage, namespace string) (found []release.Listed, err error) {
	listed, err := storage.List(ctx, namespace, labels.Everything())
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, l := range latest(listed) {
		if l.Revision > 0 {
			found = append(found, l)
		}
		errs = append(errs, l.Problem)
	}
	return found, errors.Join(errs...)
}

// latest returns the last revision of each release in a list of records, in the same order. If the revision of any record of a release is
// unknown, its Problem is set, because that record could be the last one. Records that do not name their release are returned as they are.
func latest(listed []release.Listed) []release.Listed {
	var out []release.Listed
	for i, l := range listed {
		if i == 0 || l.Release == "" || l.Namespace != listed[i-1].Namespace || l.Release != listed[i-1].Release {
			out = append(out, l)
			continue
		}
		last := &out[len(out)-1]
		l.Problem = errors.Join(last.Problem, l.Problem)
		*last = l
	}
	return out
}
