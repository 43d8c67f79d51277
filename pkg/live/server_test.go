package live

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
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// fakeKind is a kind that the fake API server serves, or fails to discover if it is stale.
type fakeKind struct {
	group, version, kind, plural string
	cluster, stale               bool
	verbs                        []string
}

func (k fakeKind) root() string {
	if k.group == "" {
		return "/api/" + k.version
	}
	return "/apis/" + k.group + "/" + k.version
}

func (k fakeKind) collection(namespace string) string {
	if k.cluster {
		return k.root() + "/" + k.plural
	}
	return k.root() + "/namespaces/" + namespace + "/" + k.plural
}

func (k fakeKind) apiVersion() string {
	return strings.TrimPrefix(strings.TrimPrefix(k.root(), "/apis/"), "/api/")
}

// fakeAPI speaks just enough of the Kubernetes API: discovery, gets, and lists with selector and pages. It counts its
// requests, and fails the test on anything but a GET or a dry run unless the test is about writes.
type fakeAPI struct {
	t      *testing.T
	url    string
	kinds  []fakeKind
	legacy bool // answers discovery like servers before Kubernetes 1.26
	fair   bool // sends the header of priority and fairness
	// intercept answers a request instead of the server if it returns true.
	intercept func(w http.ResponseWriter, r *http.Request) bool
	// judge answers dry runs, and store answers writes.
	judge, store func(w http.ResponseWriter, r *http.Request)

	mu       sync.Mutex
	objects  map[string]map[string]any
	requests []string
	agents   []string
	bytes    int
}

// commonKinds returns the kinds that charts use most, one of them custom and one cluster-scoped, and the namespaces.
func commonKinds() []fakeKind {
	return []fakeKind{
		{version: "v1", kind: "ConfigMap", plural: "configmaps"},
		{version: "v1", kind: "Secret", plural: "secrets"},
		{version: "v1", kind: "Service", plural: "services"},
		{version: "v1", kind: "ServiceAccount", plural: "serviceaccounts"},
		{version: "v1", kind: "Namespace", plural: "namespaces", cluster: true},
		{group: "apps", version: "v1", kind: "Deployment", plural: "deployments"},
		{group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers"},
		{group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs"},
		{group: "ex.com", version: "v1", kind: "Thing", plural: "things"},
		{group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", plural: "clusterroles", cluster: true},
		{group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles"},
	}
}

func newFakeAPI(t *testing.T) *fakeAPI {
	f := &fakeAPI{t: t, kinds: commonKinds(), fair: true, objects: map[string]map[string]any{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	f.namespace("prod")
	return f
}

func (f *fakeAPI) connect(opts Options) *Cluster {
	f.t.Helper()
	c, err := Connect(f.t.Context(), &rest.Config{Host: f.url}, opts)
	if err != nil {
		f.t.Fatal(err)
	}
	f.reset()
	return c
}

// reset forgets the requests so far, so that a test counts only its own.
func (f *fakeAPI) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests, f.bytes = nil, 0
}

func (f *fakeAPI) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.requests))
}

func (f *fakeAPI) kind(name string) fakeKind {
	i := slices.IndexFunc(f.kinds, func(k fakeKind) bool { return k.kind == name })
	if i < 0 {
		f.t.Fatalf("the fake server has no kind %s", name)
	}
	return f.kinds[i]
}

func (f *fakeAPI) namespace(name string) { f.add("Namespace", "", name, nil) }

// add stores an object with Helm's label and returns its Ref. Labels other than nil replace Helm's.
func (f *fakeAPI) add(kind, namespace, name string, set map[string]any) object.Ref {
	k := f.kind(kind)
	if set == nil {
		set = map[string]any{"app.kubernetes.io/managed-by": "Helm"}
	}
	metadata := map[string]any{"name": name, "labels": set}
	if !k.cluster {
		metadata["namespace"] = namespace
	}
	f.objects[k.collection(namespace)+"/"+name] = map[string]any{"metadata": metadata, "big": int64(9007199254740993)}
	return f.ref(kind, namespace, name)
}

func (f *fakeAPI) ref(kind, namespace, name string) object.Ref {
	k := f.kind(kind)
	return object.Ref{Key: object.Key{Group: k.group, Kind: kind, Namespace: namespace, Name: name}, Version: k.version}
}

// addMany stores n objects "NAME-000" … and returns their Refs.
func (f *fakeAPI) addMany(kind, namespace, name string, n int) (refs []object.Ref) {
	for i := range n {
		refs = append(refs, f.add(kind, namespace, fmt.Sprintf("%s-%03d", name, i), nil))
	}
	return refs
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	request := r.URL.Path
	if limit := r.URL.Query().Get("limit"); limit != "" {
		request += "?limit=" + limit
	}
	f.requests = append(f.requests, request)
	f.agents = append(f.agents, r.UserAgent())
	f.mu.Unlock()
	dry := r.URL.Query().Get("dryRun") == metav1.DryRunAll
	write := r.Method != http.MethodGet && !dry
	if write && f.store == nil {
		f.t.Errorf("%s %s: only a read or a dry run is expected", r.Method, r.URL)
	}
	if f.fair {
		w.Header().Set("X-Kubernetes-PF-FlowSchema-UID", "5e0b")
	}
	if f.intercept != nil && f.intercept(w, r) {
		return
	}
	switch {
	case dry:
		f.judge(w, r)
	case write:
		f.store(w, r)
	default:
		f.answer(w, r)
	}
}

func (f *fakeAPI) answer(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case path == "/version":
		f.send(w, "application/json", map[string]string{"gitVersion": "v1.36.3", "major": "1", "minor": "36"})
	case (path == "/api" || path == "/apis") && !f.legacy:
		f.send(w, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", f.aggregated(path == "/api"))
	case f.legacy && f.legacyDiscovery(w, path):
	case f.objects[path] != nil:
		f.send(w, "application/json", f.complete(path, f.objects[path]))
	default:
		f.list(w, r)
	}
}

// complete adds the apiVersion and kind that a get returns and that the items of a built-in list lack.
func (f *fakeAPI) complete(path string, object map[string]any) map[string]any {
	out := maps.Clone(object)
	for _, k := range f.kinds {
		meta := object["metadata"].(map[string]any)
		namespace, _ := meta["namespace"].(string)
		if path == k.collection(namespace)+"/"+meta["name"].(string) {
			out["apiVersion"], out["kind"] = k.apiVersion(), k.kind
		}
	}
	return out
}

func (f *fakeAPI) list(w http.ResponseWriter, r *http.Request) {
	for _, k := range f.kinds {
		rest, ok := strings.CutPrefix(r.URL.Path, k.root()+"/")
		if !ok || !strings.HasSuffix(rest, k.plural) {
			continue
		}
		f.sendList(w, r, k)
		return
	}
	status(w, http.StatusNotFound, metav1.StatusReasonNotFound, "object not found")
}

func (f *fakeAPI) sendList(w http.ResponseWriter, r *http.Request, k fakeKind) {
	query := r.URL.Query()
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		f.t.Error(err)
	}
	var items []any
	for _, path := range slices.Sorted(maps.Keys(f.objects)) {
		object := unstructured.Unstructured{Object: f.objects[path]}
		everywhere := r.URL.Path == k.root()+"/"+k.plural && path == k.collection(object.GetNamespace())+"/"+object.GetName()
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
	f.send(w, "application/json", map[string]any{"apiVersion": k.apiVersion(), "kind": k.kind + "List", "metadata": meta, "items": items})
}

func (f *fakeAPI) aggregated(core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	for _, k := range f.kinds {
		if (k.group == "") != core {
			continue
		}
		i := slices.IndexFunc(list.Items, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == k.group })
		if i < 0 {
			i = len(list.Items)
			list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: k.group}})
		}
		addKind(&list.Items[i], k)
	}
	return list
}

func addKind(group *apidiscoveryv2.APIGroupDiscovery, k fakeKind) {
	i := slices.IndexFunc(group.Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == k.version })
	if i < 0 {
		i = len(group.Versions)
		group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{Version: k.version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent})
	}
	if k.stale {
		group.Versions[i].Freshness = apidiscoveryv2.DiscoveryFreshnessStale
		return
	}
	scope := apidiscoveryv2.ScopeNamespace
	if k.cluster {
		scope = apidiscoveryv2.ScopeCluster
	}
	verbs := k.verbs
	if verbs == nil {
		verbs = []string{"get", "list"}
	}
	group.Versions[i].Resources = append(group.Versions[i].Resources, apidiscoveryv2.APIResourceDiscovery{
		Resource: k.plural, Scope: scope, Verbs: verbs,
		ResponseKind: &metav1.GroupVersionKind{Group: k.group, Version: k.version, Kind: k.kind},
		Subresources: []apidiscoveryv2.APISubresourceDiscovery{{
			Subresource: "status", ResponseKind: &metav1.GroupVersionKind{Group: k.group, Version: k.version, Kind: k.kind},
		}},
	})
}

// legacyDiscovery answers the many requests of discovery before it was aggregated. A stale kind makes its version
// fail.
func (f *fakeAPI) legacyDiscovery(w http.ResponseWriter, path string) bool {
	switch path {
	case "/api":
		f.send(w, "application/json", metav1.APIVersions{Versions: []string{"v1"}})
		return true
	case "/apis":
		list := metav1.APIGroupList{}
		for _, k := range f.kinds {
			if k.group != "" && !slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == k.group }) {
				version := metav1.GroupVersionForDiscovery{GroupVersion: k.group + "/" + k.version, Version: k.version}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: k.group, Versions: []metav1.GroupVersionForDiscovery{version}})
			}
		}
		f.send(w, "application/json", list)
		return true
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}}
	for _, k := range f.kinds {
		if k.root() != path {
			continue
		}
		if k.stale {
			status(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "no endpoints")
			return true
		}
		list.GroupVersion = strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.plural, Kind: k.kind, Namespaced: !k.cluster, Verbs: []string{"get", "list"}})
	}
	if list.GroupVersion == "" {
		return false
	}
	f.send(w, "application/json", list)
	return true
}

func (f *fakeAPI) send(w http.ResponseWriter, contentType string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	f.bytes += len(data)
	f.mu.Unlock()
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(data)
}

// status answers with an error of the Kubernetes API.
func status(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

func forbid(w http.ResponseWriter) {
	status(w, http.StatusForbidden, metav1.StatusReasonForbidden, `things "a" is forbidden: User "ci" cannot do this`)
}

// failing answers the first n requests whose path ends in suffix with an error, or every one if n is negative.
func failing(n int, suffix string, answer func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
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
