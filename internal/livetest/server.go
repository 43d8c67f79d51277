// Package livetest has a fake API server, for faults of a server that a real one cannot be made to show, and for counting requests.
// The tests of pkg/live, pkg/live/lists and internal/sweep use it.
package livetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Kind is a kind that the fake API server serves, or fails to discover if it is stale.
type Kind struct {
	Group, Version, Kind, Plural string
	Cluster, Stale               bool
	Verbs                        []string
}

func (k Kind) root() string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.Group + "/" + k.Version
}

// Collection returns the path of the objects of the kind in a namespace.
func (k Kind) Collection(namespace string) string {
	if k.Cluster {
		return k.root() + "/" + k.Plural
	}
	return k.root() + "/namespaces/" + namespace + "/" + k.Plural
}

func (k Kind) apiVersion() string {
	return strings.TrimPrefix(strings.TrimPrefix(k.root(), "/apis/"), "/api/")
}

// Server speaks just enough of the Kubernetes API: discovery, gets, and lists with selector and pages. It counts its
// requests, and fails the test on anything but a GET or a dry run unless the test is about writes.
type Server struct {
	T      *testing.T
	URL    string
	Kinds  []Kind
	Legacy bool // answers discovery like servers before Kubernetes 1.26
	Fair   bool // sends the header of priority and fairness
	// Intercept answers a request instead of the server if it returns true.
	Intercept func(w http.ResponseWriter, r *http.Request) bool
	// Judge answers dry runs, and Store answers writes.
	Judge, Store func(w http.ResponseWriter, r *http.Request)

	Mu       sync.Mutex
	Objects  map[string]map[string]any
	Requests []string
	Agents   []string
	Bytes    int
}

// commonKinds returns the kinds that charts use most, one of them custom and one cluster-scoped, and the namespaces.
func commonKinds() []Kind {
	return []Kind{
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps"},
		{Version: "v1", Kind: "Secret", Plural: "secrets"},
		{Version: "v1", Kind: "Service", Plural: "services"},
		{Version: "v1", Kind: "ServiceAccount", Plural: "serviceaccounts"},
		{Version: "v1", Kind: "Namespace", Plural: "namespaces", Cluster: true},
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments"},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers"},
		{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs"},
		{Group: "ex.com", Version: "v1", Kind: "Thing", Plural: "things"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Plural: "clusterroles", Cluster: true},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role", Plural: "roles"},
	}
}

// New starts a server, which ends with the test.
func New(t *testing.T) *Server {
	f := &Server{T: t, Kinds: commonKinds(), Fair: true, Objects: map[string]map[string]any{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.URL = server.URL
	f.Namespace("prod")
	return f
}

// Reset forgets the requests so far, so that a test counts only its own.
func (f *Server) Reset() {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Requests, f.Bytes = nil, 0
}

// Seen returns the requests so far, sorted.
func (f *Server) Seen() []string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return slices.Sorted(slices.Values(f.Requests))
}

// Kind returns a kind that the server has.
func (f *Server) Kind(name string) Kind {
	i := slices.IndexFunc(f.Kinds, func(k Kind) bool { return k.Kind == name })
	if i < 0 {
		f.T.Fatalf("the fake server has no kind %s", name)
	}
	return f.Kinds[i]
}

// Namespace stores a namespace.
func (f *Server) Namespace(name string) { f.Add("Namespace", "", name, nil) }

// Add stores an object with Helm's label and returns its Ref. Labels other than nil replace Helm's.
func (f *Server) Add(kind, namespace, name string, set map[string]any) object.Ref {
	k := f.Kind(kind)
	if set == nil {
		set = map[string]any{"app.kubernetes.io/managed-by": "Helm"}
	}
	metadata := map[string]any{"name": name, "labels": set}
	if !k.Cluster {
		metadata["namespace"] = namespace
	}
	f.Objects[k.Collection(namespace)+"/"+name] = map[string]any{"metadata": metadata, "big": int64(9007199254740993)}
	return f.Ref(kind, namespace, name)
}

// Ref returns the Ref of an object.
func (f *Server) Ref(kind, namespace, name string) object.Ref {
	k := f.Kind(kind)
	return object.Ref{Key: object.Key{Group: k.Group, Kind: kind, Namespace: namespace, Name: name}, Version: k.Version}
}

// AddMany stores n objects "NAME-000" … and returns their Refs.
func (f *Server) AddMany(kind, namespace, name string, n int) (refs []object.Ref) {
	for i := range n {
		refs = append(refs, f.Add(kind, namespace, fmt.Sprintf("%s-%03d", name, i), nil))
	}
	return refs
}

// ServeHTTP implements http.Handler.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.Mu.Lock()
	request := r.URL.Path
	if limit := r.URL.Query().Get("limit"); limit != "" {
		request += "?limit=" + limit
	}
	f.Requests = append(f.Requests, request)
	f.Agents = append(f.Agents, r.UserAgent())
	f.Mu.Unlock()
	dry := r.URL.Query().Get("dryRun") == metav1.DryRunAll
	write := r.Method != http.MethodGet && !dry
	if write && f.Store == nil {
		f.T.Errorf("%s %s: only a read or a dry run is expected", r.Method, r.URL)
	}
	if f.Fair {
		w.Header().Set("X-Kubernetes-PF-FlowSchema-UID", "5e0b")
	}
	if f.Intercept != nil && f.Intercept(w, r) {
		return
	}
	switch {
	case dry:
		f.Judge(w, r)
	case write:
		f.Store(w, r)
	default:
		f.answer(w, r)
	}
}

func (f *Server) answer(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case path == "/version":
		f.send(w, "application/json", map[string]string{"gitVersion": "v1.36.3", "major": "1", "minor": "36"})
	case (path == "/api" || path == "/apis") && !f.Legacy:
		f.send(w, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", f.aggregated(path == "/api"))
	case f.Legacy && f.legacyDiscovery(w, path):
	case f.Objects[path] != nil:
		f.send(w, "application/json", f.complete(path, f.Objects[path]))
	default:
		f.list(w, r)
	}
}

// complete adds the apiVersion and kind that a get returns and that the items of a built-in list lack.
func (f *Server) complete(path string, object map[string]any) map[string]any {
	out := maps.Clone(object)
	for _, k := range f.Kinds {
		meta := object["metadata"].(map[string]any)
		namespace, _ := meta["namespace"].(string)
		if path == k.Collection(namespace)+"/"+meta["name"].(string) {
			out["apiVersion"], out["kind"] = k.apiVersion(), k.Kind
		}
	}
	return out
}

func (f *Server) list(w http.ResponseWriter, r *http.Request) {
	for _, k := range f.Kinds {
		if rest, ok := strings.CutPrefix(r.URL.Path, k.root()+"/"); ok && strings.HasSuffix(rest, k.Plural) {
			f.sendList(w, r, k)
			return
		}
	}
	SendStatus(w, http.StatusNotFound, metav1.StatusReasonNotFound, "object not found")
}

func (f *Server) sendList(w http.ResponseWriter, r *http.Request, k Kind) {
	query := r.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		f.T.Error(err)
	}
	var items []any
	for _, path := range slices.Sorted(maps.Keys(f.Objects)) {
		object := unstructured.Unstructured{Object: f.Objects[path]}
		everywhere := r.URL.Path == k.root()+"/"+k.Plural && path == k.Collection(object.GetNamespace())+"/"+object.GetName()
		if (everywhere || path == r.URL.Path+"/"+object.GetName()) && selector.Matches(labels.Set(object.GetLabels())) {
			items = append(items, object.Object)
		}
	}
	from, _ := strconv.Atoi(query.Get("continue"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	meta := map[string]any{"resourceVersion": "7"}
	items = items[min(from, len(items)):]
	if limit > 0 && len(items) > limit {
		items = items[:limit]
		meta["continue"] = strconv.Itoa(from + limit)
	}
	f.send(w, "application/json", map[string]any{"apiVersion": k.apiVersion(), "kind": k.Kind + "List", "metadata": meta, "items": items})
}

func (f *Server) aggregated(core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	for _, k := range f.Kinds {
		if (k.Group == "") != core {
			continue
		}
		i := slices.IndexFunc(list.Items, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == k.Group })
		if i < 0 {
			i = len(list.Items)
			list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: k.Group}})
		}
		addKind(&list.Items[i], k)
	}
	return list
}

func addKind(group *apidiscoveryv2.APIGroupDiscovery, k Kind) {
	i := slices.IndexFunc(group.Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == k.Version })
	if i < 0 {
		i = len(group.Versions)
		group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{Version: k.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent})
	}
	if k.Stale {
		group.Versions[i].Freshness = apidiscoveryv2.DiscoveryFreshnessStale
		return
	}
	scope := apidiscoveryv2.ScopeNamespace
	if k.Cluster {
		scope = apidiscoveryv2.ScopeCluster
	}
	verbs := k.Verbs
	if verbs == nil {
		verbs = []string{"get", "list"}
	}
	group.Versions[i].Resources = append(group.Versions[i].Resources, apidiscoveryv2.APIResourceDiscovery{
		Resource: k.Plural, Scope: scope, Verbs: verbs,
		ResponseKind: &metav1.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind},
		Subresources: []apidiscoveryv2.APISubresourceDiscovery{{
			Subresource: "status", ResponseKind: &metav1.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind},
		}},
	})
}

// legacyDiscovery answers the many requests of discovery before it was aggregated. A stale kind makes its version fail.
func (f *Server) legacyDiscovery(w http.ResponseWriter, path string) bool {
	switch path {
	case "/api":
		f.send(w, "application/json", metav1.APIVersions{Versions: []string{"v1"}})
		return true
	case "/apis":
		list := metav1.APIGroupList{}
		for _, k := range f.Kinds {
			if k.Group != "" && !slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == k.Group }) {
				version := metav1.GroupVersionForDiscovery{GroupVersion: k.Group + "/" + k.Version, Version: k.Version}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: k.Group, Versions: []metav1.GroupVersionForDiscovery{version}})
			}
		}
		f.send(w, "application/json", list)
		return true
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}}
	for _, k := range f.Kinds {
		if k.root() != path {
			continue
		}
		if k.Stale {
			SendStatus(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "no endpoints")
			return true
		}
		list.GroupVersion = k.apiVersion()
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.Plural, Kind: k.Kind, Namespaced: !k.Cluster, Verbs: []string{"get", "list"}})
	}
	if list.GroupVersion == "" {
		return false
	}
	f.send(w, "application/json", list)
	return true
}

func (f *Server) send(w http.ResponseWriter, contentType string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		f.T.Error(err)
	}
	f.Mu.Lock()
	f.Bytes += len(data)
	f.Mu.Unlock()
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(data)
}

// SendStatus answers with an error of the Kubernetes API.
func SendStatus(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

// Forbid refuses a request.
func Forbid(w http.ResponseWriter) {
	SendStatus(w, http.StatusForbidden, metav1.StatusReasonForbidden, `things "a" is forbidden: User "ci" cannot do this`)
}

// Failing answers the first n requests whose path ends in suffix with an error, or every one if n is negative.
func Failing(n int, suffix string, answer func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 || !strings.HasSuffix(r.URL.Path, suffix) {
			return false
		}
		n--
		answer(w)
		return true
	}
}

// MustFind checks that all objects were found, and that big integers were kept.
func MustFind(t *testing.T, got map[object.Ref]cluster.Live, refs []object.Ref) {
	t.Helper()
	if len(got) != len(refs) {
		t.Errorf("%d answers to %d refs", len(got), len(refs))
	}
	for _, ref := range refs {
		live := got[ref]
		if live.Err != nil || live.Object == nil {
			t.Errorf("%v: %q %+v", ref.Key, live.Absence, live.Err)
			continue
		}
		name := live.Object["metadata"].(map[string]any)["name"]
		if name != ref.Name || live.Object["kind"] != ref.Kind || live.Object["apiVersion"] != ref.APIVersion() {
			t.Errorf("%v: got %v %v %v", ref.Key, live.Object["apiVersion"], live.Object["kind"], name)
		}
		if live.Object["big"] != int64(9007199254740993) {
			t.Errorf("%v: an integer became %T %v", ref.Key, live.Object["big"], live.Object["big"])
		}
	}
}

// MustError checks that an answer is an error with a code and with parts of a message.
func MustError(t *testing.T, live cluster.Live, code string, parts ...string) {
	t.Helper()
	if live.Err == nil || live.Err.Code != code || live.Object != nil || live.Absence != "" {
		t.Fatalf("want error %q, got %+v, error %+v", code, live, live.Err)
	}
	for _, part := range parts {
		if !strings.Contains(live.Err.Message, part) {
			t.Errorf("message lacks %q: %s", part, live.Err.Message)
		}
	}
	if s := live.Err.Subject; s == nil || s.Verb == "" || s.Resource == "" || s.Reason == "" {
		t.Errorf("the subject is %+v", s)
	}
}

// WantRequests checks which requests the server has seen.
func WantRequests(t *testing.T, f *Server, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.Seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
