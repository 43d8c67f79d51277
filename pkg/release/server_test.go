package release

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// apiServer answers list and get for Secrets and ConfigMaps over HTTP, so that the real clients are tested: the fakes
// of client-go support neither pages nor lists of metadata.
type apiServer struct {
	t       *testing.T
	url     string
	objects []metav1.Object // *corev1.Secret or *corev1.ConfigMap
	// forbid refuses a verb. expire makes each continue token too old. page bounds the size of a page. endless
	// returns the continue token of every page.
	forbid  string
	expire  bool
	page    int
	endless func(from int) (token string)

	mu       sync.Mutex
	requests []string
}

func newAPIServer(t *testing.T, objects ...metav1.Object) *apiServer {
	t.Helper()
	s := &apiServer{t: t, objects: objects, page: 1000}
	for i, o := range objects {
		if o.GetNamespace() == "" {
			o.SetNamespace("prod")
		}
		o.SetResourceVersion(strconv.Itoa(i + 1))
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// open returns the store of a driver in the namespace prod of this server.
func (s *apiServer) open(driver string) *Store {
	s.t.Helper()
	store, err := s.storage(driver).Namespace("prod")
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

// storage returns the storage of a driver on this server.
func (s *apiServer) storage(driver string) *Storage {
	s.t.Helper()
	config := &rest.Config{Host: s.url, QPS: -1}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	core, err := clientv1.NewForConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	storage, err := Open(driver, meta, core.RESTClient())
	if err != nil {
		s.t.Fatal(err)
	}
	return storage
}

// asked returns the requests so far and forgets them.
func (s *apiServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests
	s.requests = nil
	return r
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, inNamespace := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/")
	namespace, rest, _ := strings.Cut(rest, "/")
	if !inNamespace {
		namespace, rest = "", strings.TrimPrefix(r.URL.Path, "/api/v1/")
	}
	if r.Method != http.MethodGet || r.URL.Query().Has("watch") {
		s.t.Errorf("unexpected request %s %s", r.Method, r.URL)
	}
	resource, name, isGet := strings.Cut(rest, "/")
	verb := "list"
	if isGet {
		verb = "get"
	}
	s.mu.Lock()
	s.requests = append(s.requests, strings.TrimSpace(verb+" "+resource+" "+name))
	s.mu.Unlock()
	switch {
	case s.forbid == verb:
		s.fail(w, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, name, fmt.Errorf("user bob cannot")))
	case isGet:
		s.get(w, resource, namespace, name)
	default:
		s.list(w, r, resource, namespace)
	}
}

func (s *apiServer) get(w http.ResponseWriter, resource, namespace, name string) {
	for _, o := range s.sorted(resource, namespace) {
		if o.GetName() == name {
			s.write(w, http.StatusOK, o)
			return
		}
	}
	s.fail(w, apierrors.NewNotFound(schema.GroupResource{Resource: resource}, name))
}

func (s *apiServer) list(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	if !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
		s.t.Errorf("list asks for whole objects: Accept %q", r.Header.Get("Accept"))
	}
	q := r.URL.Query()
	selector, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		s.t.Errorf("selector: %v", err)
	}
	list := metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
	}
	for _, o := range s.sorted(resource, namespace) {
		if selector.Matches(labels.Set(o.GetLabels())) {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Name: o.GetName(), Namespace: o.GetNamespace(), Labels: o.GetLabels(), ResourceVersion: o.GetResourceVersion(),
				CreationTimestamp: o.GetCreationTimestamp(),
			}})
		}
	}
	from, _ := strconv.Atoi(q.Get("continue"))
	if s.endless != nil {
		list.Continue = s.endless(from)
		s.write(w, http.StatusOK, &list)
		return
	}
	if from > 0 && s.expire {
		s.fail(w, apierrors.NewResourceExpired("the continue token is too old"))
		return
	}
	to := len(list.Items)
	if limit, _ := strconv.Atoi(q.Get("limit")); limit > 0 {
		to = min(to, from+limit, from+s.page)
	}
	if to < len(list.Items) {
		list.Continue = strconv.Itoa(to)
	}
	list.Items = list.Items[from:to]
	s.write(w, http.StatusOK, &list)
}

// sorted returns the objects of a resource in one namespace, or in all if it is empty, in the order of a server.
func (s *apiServer) sorted(resource, namespace string) []metav1.Object {
	var found []metav1.Object
	for _, o := range s.objects {
		_, isSecret := o.(*corev1.Secret)
		if isSecret == (resource == "secrets") && (namespace == "" || namespace == o.GetNamespace()) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b metav1.Object) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	return found
}

func (s *apiServer) fail(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	s.write(w, int(status.Code), status)
}

func (s *apiServer) write(w http.ResponseWriter, code int, v any) {
	switch o := v.(type) {
	case *corev1.Secret:
		o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	case *corev1.ConfigMap:
		o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.t.Errorf("write: %v", err)
	}
}
