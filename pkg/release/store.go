package release

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

// The kinds of object that Helm stores records in.
const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

const (
	// pageSize is the number of objects per list request, the same as kubectl's.
	pageSize = 500
	// maxPages allows half a million records, which no etcd could hold.
	maxPages = 1000
)

// Store is where Helm keeps the records of one namespace. It only lists and gets.
type Store struct {
	kind      string // Secret or ConfigMap
	resource  string // secrets or configmaps
	namespace string
	meta      metadata.ResourceInterface
	objects   dynamic.ResourceInterface
}

// Open returns the store for a value of HELM_DRIVER in one namespace. It sends no request.
func Open(driver, namespace string, meta metadata.Interface, dyn dynamic.Interface) (*Store, error) {
	if namespace == "" {
		// With an empty namespace the requests would be cluster-wide and mix releases of the same name.
		return nil, errors.New("open the release storage: no namespace given")
	}
	s := &Store{namespace: namespace}
	switch driver {
	case "", "secret", "secrets":
		s.kind, s.resource = kindSecret, "secrets"
	case "configmap", "configmaps":
		s.kind, s.resource = kindConfigMap, "configmaps"
	default:
		return nil, refuseDriver(driver)
	}
	gvr := schema.GroupVersionResource{Version: "v1", Resource: s.resource}
	s.meta = meta.Resource(gvr).Namespace(namespace)
	s.objects = dyn.Resource(gvr).Namespace(namespace)
	return s, nil
}

// Resource returns the resource that holds the records: secrets or configmaps.
func (s *Store) Resource() string { return s.resource }

// refuseDriver returns the reason why a driver cannot be used. Helm also has sql and memory, and accepts only lower
// case.
func refuseDriver(driver string) error {
	const supported = "the supported values of HELM_DRIVER are secret (the default) and configmap"
	switch driver {
	case "sql":
		return withHint(errors.New("storage driver sql is not supported yet"), "%s; sql comes in a later version", supported)
	case "memory":
		return withHint(errors.New("storage driver memory holds nothing that another process can read"), supported)
	default:
		return withHint(fmt.Errorf("unknown driver %q", driver), supported)
	}
}

// storedAs names an object of the store in messages.
func (s *Store) storedAs(name string) string { return s.kind + " " + s.namespace + "/" + name }

// list reads the metadata of all records that match the label selector.
func (s *Store) list(ctx context.Context, selector string) ([]metav1.PartialObjectMetadata, error) {
	opts := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	var items []metav1.PartialObjectMetadata
	for range maxPages {
		page, err := s.meta.List(ctx, opts)
		if apierrors.IsResourceExpired(err) && opts.Continue != "" {
			// The snapshot behind the pages was compacted. The pages so far may not match the later ones, so the
			// list starts again, in one request that cannot expire.
			items, opts.Continue, opts.Limit = nil, "", 0
			continue
		}
		if err != nil {
			return nil, s.withPermissionHint("list", fmt.Errorf("list %s in namespace %s: %w", s.resource, s.namespace, err))
		}
		items = append(items, page.Items...)
		if page.Continue == "" {
			return items, nil
		}
		if page.Continue == opts.Continue || len(page.Items) == 0 {
			return nil, s.endlessError() // the page leads to itself, or is empty
		}
		opts.Continue = page.Continue
	}
	return nil, s.endlessError()
}

// endlessError is the error of a list that does not end.
func (s *Store) endlessError() error {
	return withHint(fmt.Errorf("list %s in namespace %s: the server sends pages without an end", s.resource, s.namespace),
		"a proxy in front of the API server may be broken or hostile: see what kubectl get %s -n %s --chunk-size=%d does",
		s.resource, s.namespace, pageSize)
}

// withPermissionHint adds the needed permissions to the error of a forbidden request, and returns other errors
// unchanged.
func (s *Store) withPermissionHint(verb string, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	other := "get"
	if verb == "get" {
		other = "list"
	}
	return withHint(err, "reading a release needs the verbs %s and %s on %s in namespace %s; "+
		"see what you may do there with: kubectl auth can-i %s %s -n %s",
		verb, other, s.resource, s.namespace, verb, s.resource, s.namespace)
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
