package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

// Storage is where Helm keeps the records of all namespaces. It only reads.
type Storage struct{ backend }

// Store is the part of a Storage that belongs to one namespace.
type Store struct {
	backend
	namespace string
	// listed are the histories that were listed before, by release.
	listed map[string]History
}

// backend reads records from where one driver of Helm stores them. The name of a record is that of objectName.
type backend interface {
	// Resource returns the resource of the cluster that holds the records, secrets or configmaps; empty if they are elsewhere.
	Resource() string
	// kind returns what holds one record, for messages: Secret, ConfigMap or SQL row.
	kind() string
	// list returns the records of one namespace, or of all if it is empty, whose labels match. It reads no record.
	list(ctx context.Context, namespace string, selector labels.Selector) ([]Listed, error)
	// text returns the text of one record, which Decode takes. Problem is the reason why a record that was read has no
	// such text.
	text(ctx context.Context, namespace, name string) (text []byte, problem, err error)
	// close ends the connections that belong to the backend alone.
	close() error
}

// Driver says where Helm keeps its records.
type Driver struct {
	// Name is a value of HELM_DRIVER: "secret" or "secrets", "configmap" or "configmaps", or "sql"; empty means secrets. Any other is an error
	// of Open.
	Name string
	// Connection is a value of HELM_DRIVER_SQL_CONNECTION_STRING. Only the driver sql needs it.
	Connection string
	// Timeout limits each request to the database, and the time to connect to it; 0 means no limit. Requests to the
	// cluster have the limit of its clients.
	Timeout time.Duration
}

// Open returns the storage of a driver. It sends no request. The clients belong to the caller and are not used, and may be nil, for the
// driver sql. Close the storage afterwards.
func Open(d Driver, meta metadata.Interface, dyn dynamic.Interface) (*Storage, error) {
	switch d.Name {
	case "", "secret", "secrets":
		return &Storage{newObjects(kindSecret, "secrets", meta, dyn)}, nil
	case "configmap", "configmaps":
		return &Storage{newObjects(kindConfigMap, "configmaps", meta, dyn)}, nil
	case "sql":
		b, err := newDatabase(d)
		if err != nil {
			return nil, err
		}
		return &Storage{b}, nil
	default:
		return nil, refuseDriver(d.Name)
	}
}

// Close ends the connections to a database. The clients of the cluster belong to the caller.
func (s *Storage) Close() error { return s.close() }

// Namespace returns the store of one namespace. It sends no request.
func (s *Storage) Namespace(namespace string) (*Store, error) {
	if namespace == "" {
		// With an empty namespace the requests would be cluster-wide and mix releases of the same name.
		return nil, errors.New("open the release storage: no namespace given")
	}
	return &Store{backend: s.backend, namespace: namespace}, nil
}

// Listed returns the store of one namespace whose History knows the releases that were listed before. It does not list
// their records again.
func (s *Storage) Listed(namespace string, listed map[string]History) *Store {
	return &Store{backend: s.backend, namespace: namespace, listed: listed}
}

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
func storedAs(b backend, namespace, name string) string {
	return b.kind() + " " + namespace + "/" + name
}

// objectName returns the name under which Helm stores a revision.
func objectName(release string, revision int) string {
	return fmt.Sprintf("%s%s.v%d", namePrefix, release, revision)
}

// namePrefix begins the name of every record in the known format, and anyPrefix that in any format.
const (
	namePrefix = anyPrefix + "v1."
	anyPrefix  = "sh.helm.release."
)

// hasNewerFormat reports whether an object is named like a record in a format that this package does not know.
func hasNewerFormat(name string) bool {
	return strings.HasPrefix(name, anyPrefix) && !strings.HasPrefix(name, namePrefix)
}
