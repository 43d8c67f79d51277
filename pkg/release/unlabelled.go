package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// Helm finds a record by its labels alone. A Secret that was restored without them, or whose labels somebody removed, is no record for
// Helm, but its name shows what it is.

// unlabelledError is the error for a release that has no record for Helm, and objects that are named like its records.
type unlabelledError struct {
	error // of a release without a record
	kind  string
	names []string
}

// Error names the last of the objects.
func (e unlabelledError) Error() string {
	last := e.kind + " " + e.names[len(e.names)-1]
	if more := len(e.names) - 1; more > 0 {
		last += fmt.Sprintf(" (and %d more)", more)
	}
	return e.error.Error() + ", but " + last + " is named like a record of it, and lacks labels by which Helm finds it"
}

// Unwrap returns the error without what was found.
func (e unlabelledError) Unwrap() error { return e.error }

// noRecord returns the error of Load for an empty history. It lists the metadata of the namespace once more, without labels. A list that
// fails adds nothing.
func (s *Store) noRecord(ctx context.Context, h History, none error) error {
	o, ofCluster := s.backend.(objects)
	if !ofCluster {
		return none
	}
	found := o.unlabelled(ctx, h)
	if len(found) == 0 {
		return none
	}
	err := unlabelledError{error: none, kind: h.Kind}
	if found[0].Revision == 1 { // the record that an installation would create exists already
		err.error = h.noRelease()
	}
	for _, e := range found {
		err.names = append(err.names, h.Namespace+"/"+e.Name)
	}
	return withHint(err, "%s", s.labelAdvice(ctx, h, found[len(found)-1], len(found) > 1))
}

// unlabelled lists the objects of a namespace that are named like records of a release, by revision.
func (o objects) unlabelled(ctx context.Context, h History) []Entry {
	all, err := o.list(ctx, h.Namespace, labels.Everything())
	if err != nil {
		return nil
	}
	var found []Entry
	for _, l := range all {
		number, named := strings.CutPrefix(l.Name, namePrefix+h.Release+".v")
		if revision, err := strconv.Atoi(number); named && err == nil && l.Name == objectName(h.Release, revision) {
			found = append(found, Entry{Name: l.Name, Release: h.Release, Revision: revision})
		}
	}
	slices.SortFunc(found, func(a, b Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	return found
}

// labelAdvice says which labels the last of the objects needs. Its status is in the record itself.
func (s *Store) labelAdvice(ctx context.Context, h History, last Entry, several bool) string {
	status := string(helm.StatusDeployed)
	r, err := s.Get(ctx, last, Options{})
	if err != nil {
		return fmt.Sprintf("it holds no record that can be read (%v)", err)
	}
	if r.Status != "" {
		status = r.Status
	}
	advice := fmt.Sprintf("kubectl label --overwrite -n %s %s %s owner=helm name=%s version=%d status=%s lets Helm find it",
		h.Namespace, strings.ToLower(h.Kind), last.Name, hint.ShellWord(h.Release), last.Revision, hint.ShellWord(status))
	if several {
		advice += "; the others need the same labels, each with its own version and status"
	}
	return advice
}
