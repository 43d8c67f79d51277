package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/order"
)

// Storage is where Helm keeps the records of all namespaces. It only reads.
type Storage struct{ backend Backend }

// Store is the part of a Storage that belongs to one namespace.
type Store struct {
	backend   Backend
	namespace string
	// listed has the histories that were listed before, by release.
	listed map[string]History
}

// Backend reads records from where one driver of Helm stores them. Helm calls a record sh.helm.release.v1.NAME.vREVISION in every
// backend. The methods are safe for concurrent use, and none of them writes.
type Backend interface {
	// Resource returns the resource of the cluster that holds the records, secrets or configmaps; empty if they are elsewhere.
	Resource() string
	// Kind returns what holds one record, for messages: Secret, ConfigMap or SQL row.
	Kind() string
	// List returns the records of one namespace, or of all if it is empty, whose labels match. It reads no record.
	List(ctx context.Context, namespace string, selector labels.Selector) ([]Listed, error)
	// Text returns the text of one record for Decode. If the record was read but has no such text, problem says why.
	// If there is no record of the name, apierrors.IsNotFound holds for err.
	Text(ctx context.Context, namespace, name string) (text []byte, problem, err error)
	// Close ends the connections that belong to the backend alone.
	Close() error
}

// NewStorage returns the storage of the records in a backend.
func NewStorage(b Backend) *Storage { return &Storage{b} }

// Open returns the storage of a driver whose records are in the cluster. The driver is a value of HELM_DRIVER: "secret" or "secrets",
// "configmap" or "configmaps"; empty means secrets. Any other is an error, also "sql", whose database package postgres opens. Core is a
// client for the core group that knows Secrets and ConfigMaps, such as that of live.Cluster.Core or of a typed clientset. Open sends no
// request, and the clients belong to the caller.
func Open(driver string, meta metadata.Interface, core rest.Interface) (*Storage, error) {
	switch driver {
	case "", "secret", "secrets":
		return NewStorage(newObjects(kindSecret, "secrets", meta, core)), nil
	case "configmap", "configmaps":
		return NewStorage(newObjects(kindConfigMap, "configmaps", meta, core)), nil
	case "sql":
		return nil, errors.New("storage driver sql keeps its records in a database, which package pkg/release/postgres opens")
	default:
		return nil, refuseDriver(driver)
	}
}

// Others returns the storages of the cluster with other drivers than this one. HELM_DRIVER chooses the driver for each call of Helm, so any
// of them may have releases. The clients are those of Open.
func (s *Storage) Others(meta metadata.Interface, core rest.Interface) (out []*Storage) {
	for _, driver := range []string{"secrets", "configmaps"} {
		if driver != s.backend.Resource() {
			other, _ := Open(driver, meta, core) // it knows both
			out = append(out, other)
		}
	}
	return out
}

// Close ends the connections to a database. The clients of the cluster belong to the caller.
func (s *Storage) Close() error { return s.backend.Close() }

// Kind returns what holds one record, for messages: Secret, ConfigMap or SQL row.
func (s *Storage) Kind() string { return s.backend.Kind() }

// Namespace returns the store of one namespace. It sends no request.
func (s *Storage) Namespace(namespace string) (*Store, error) {
	if namespace == "" {
		// Without a namespace, the requests would be cluster-wide and mix releases of the same name.
		return nil, errors.New("open the release storage: no namespace given")
	}
	return &Store{backend: s.backend, namespace: namespace}, nil
}

// Listed returns the store of one namespace whose History knows the releases that were listed before. It does not list
// their records again.
func (s *Storage) Listed(namespace string, listed map[string]History) *Store {
	return &Store{backend: s.backend, namespace: namespace, listed: listed}
}

// Resource returns the resource of the cluster that holds the records, secrets or configmaps; empty if they are elsewhere.
func (s *Store) Resource() string { return s.backend.Resource() }

// refuseDriver returns the reason why a driver cannot be used. Helm also has memory, and accepts only lower case.
func refuseDriver(driver string) error {
	err := fmt.Errorf("unknown driver %q", driver)
	if driver == "memory" {
		err = errors.New("storage driver memory holds nothing that another process can read")
	}
	return withHint(err, "the supported values of HELM_DRIVER are secret (the default), configmap and sql")
}

// storedAs names a record of the store in messages.
func (s *Store) storedAs(name string) string { return storedAs(s.backend, s.namespace, name) }

// storedAs names a record in messages.
func storedAs(b Backend, namespace, name string) string {
	return b.Kind() + " " + namespace + "/" + name
}

// objectName returns the name that Helm stores a revision under.
func objectName(release string, revision int) string {
	return fmt.Sprintf("%s%s.v%d", namePrefix, release, revision)
}

// namePrefix begins the name of every record in the known format, and anyPrefix the name of every
// record in any format.
const (
	namePrefix = anyPrefix + "v1."
	anyPrefix  = "sh.helm.release."
)

// hasNewerFormat reports whether an object is named like a record in a format that this package does not know.
func hasNewerFormat(name string) bool {
	return strings.HasPrefix(name, anyPrefix) && !strings.HasPrefix(name, namePrefix)
}

// Helm finds a record by its labels alone. It misses a Secret that was restored without labels, or whose labels somebody removed,
// although the name shows that it is a record.

// unlabelledError is the error for a release without a record that Helm finds, but with objects that are named like its records.
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
	return e.error.Error() + ", but " + last + " is named like a record of it, and lacks labels that Helm looks for"
}

// Is reports whether target is ErrUnlabelled.
func (unlabelledError) Is(target error) bool { return target == ErrUnlabelled }

// Unwrap returns the error without the objects.
func (e unlabelledError) Unwrap() error { return e.error }

// noRecord returns the error of Load for an empty history. It lists the metadata of the namespace once more, without labels. A list that
// fails adds nothing.
func (s *Store) noRecord(ctx context.Context, h History, none error) error {
	found, err := unlabelled(ctx, s.backend, h)
	if err != nil || len(found) == 0 {
		return none
	}
	out := unlabelledError{error: none, kind: h.Kind}
	if found[0].Revision == 1 { // the record that an installation would create exists already
		out.error = h.noRelease()
	}
	for _, e := range found {
		out.names = append(out.names, h.Namespace+"/"+e.Name)
	}
	return withHint(out, "%s", s.labelAdvice(ctx, h, found[len(found)-1], len(found) > 1))
}

// unlabelled lists the objects of a namespace that are named like records of a release, by revision. Rows of a database have none.
func unlabelled(ctx context.Context, b Backend, h History) (found []Entry, err error) {
	o, ofCluster := b.(objects)
	if !ofCluster {
		return nil, nil
	}
	all, err := o.List(ctx, h.Namespace, labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		number, named := strings.CutPrefix(l.Name, namePrefix+h.Release+".v")
		if revision, err := strconv.Atoi(number); named && err == nil && l.Name == objectName(h.Release, revision) {
			found = append(found, Entry{Name: l.Name, Release: h.Release, Revision: revision})
		}
	}
	order.Sort(found, func(a, b Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	return found, nil
}

// labelAdvice says which labels the last of the objects needs. Its status is in the record itself.
func (s *Store) labelAdvice(ctx context.Context, h History, last Entry, several bool) string {
	r, err := s.Get(ctx, last, Options{})
	if err != nil {
		return fmt.Sprintf("it holds no record that can be read (%v)", err)
	}
	status := cmp.Or(r.Status, string(helm.StatusDeployed))
	advice := fmt.Sprintf("kubectl label --overwrite -n %s %s %s owner=helm name=%s version=%d status=%s lets Helm find it",
		h.Namespace, strings.ToLower(h.Kind), last.Name, hint.ShellWord(h.Release), last.Revision, hint.ShellWord(status))
	if several {
		advice += "; the others need the same labels, each with its own version and status"
	}
	return advice
}

// withHint adds advice to err.
func withHint(err error, format string, args ...any) error {
	return hint.New(err, fmt.Sprintf(format, args...))
}
