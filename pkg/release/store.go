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
	// pageSize is how many objects one list request asks for, kubectl's own number.
	pageSize = 500
	// maxPages is more than any namespace has: half a million records, which no etcd could hold.
	maxPages = 1000
)

// Store is the place where Helm keeps the records of one namespace. It only ever lists and gets.
type Store struct {
	kind      string // Secret or ConfigMap
	resource  string // secrets or configmaps
	namespace string
	meta      metadata.ResourceInterface
	objects   dynamic.ResourceInterface
}

// Open gives the store that a value of HELM_DRIVER means to Helm, in one namespace. It sends no request.
func Open(driver, namespace string, meta metadata.Interface, dyn dynamic.Interface) (*Store, error) {
	if namespace == "" {
		// An empty namespace would make the requests below cluster-wide, and mix releases of the same name.
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

// Resource is the resource in which the records are: secrets or configmaps.
func (s *Store) Resource() string { return s.resource }

// refuseDriver says why a driver cannot be opened. Helm knows sql and memory as well, and spells all in lower case.
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

// storedAs names an object of the store for people.
func (s *Store) storedAs(name string) string { return s.kind + " " + s.namespace + "/" + name }

// list reads the metadata of all records that carry the labels of selector.
func (s *Store) list(ctx context.Context, selector string) ([]metav1.PartialObjectMetadata, error) {
	opts := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	var items []metav1.PartialObjectMetadata
	for range maxPages {
		page, err := s.meta.List(ctx, opts)
		if apierrors.IsResourceExpired(err) && opts.Continue != "" {
			// The state that the pages are read from was compacted away. What came so far may not fit what comes now,
			// so start over, in one request that cannot expire.
			items, opts.Continue, opts.Limit = nil, "", 0
			continue
		}
		if err != nil {
			return nil, s.refused("list", fmt.Errorf("list %s in namespace %s: %w", s.resource, s.namespace, err))
		}
		items = append(items, page.Items...)
		if page.Continue == "" {
			return items, nil
		}
		if page.Continue == opts.Continue || len(page.Items) == 0 {
			return nil, s.endless() // a page that leads to itself, or nowhere
		}
		opts.Continue = page.Continue
	}
	return nil, s.endless()
}

// endless is the error of a list without an end.
func (s *Store) endless() error {
	return withHint(fmt.Errorf("list %s in namespace %s: the server sends one page after the other without an end", s.resource, s.namespace),
		"something between here and the API server is broken, or hostile: see what kubectl get %s -n %s --chunk-size=%d does",
		s.resource, s.namespace, pageSize)
}

// refused adds to a forbidden request what permission it needs. Other errors pass as they are.
func (s *Store) refused(verb string, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	other := "get"
	if verb == "get" {
		other = "list"
	}
	return withHint(err, "reading a release takes the verbs %s and %s on %s in namespace %s; "+
		"see what you may do there with: kubectl auth can-i %s %s -n %s",
		verb, other, s.resource, s.namespace, verb, s.resource, s.namespace)
}

// objectName is the name under which Helm stores a revision.
func objectName(release string, revision int) string {
	return fmt.Sprintf("%s%s.v%d", namePrefix, release, revision)
}

// namePrefix begins the name of every record of the one format there is; newerPrefix that of any format to come.
const (
	namePrefix  = newerPrefix + "v1."
	newerPrefix = "sh.helm.release."
)

// newerName tells whether an object is named like a record of a format that this package does not know.
func newerName(name string) bool {
	return strings.HasPrefix(name, newerPrefix) && !strings.HasPrefix(name, namePrefix)
}
