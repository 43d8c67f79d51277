package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
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

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// server is an API server with records in Secrets and objects in ConfigMaps. It answers gets, and lists in one page.
type server struct {
	mu sync.Mutex
	// objects has the objects of both kinds, by path.
	objects map[string]map[string]any
	// refuse returns the status of a request that fails, or 0.
	refuse func(path string) int
}

// connect serves the objects.
func (s *server) connect(t *testing.T) Source {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	cluster, err := live.Connect(t.Context(), &rest.Config{Host: h.URL}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storage, err := release.Open("", cluster.Metadata(), cluster.Core())
	if err != nil {
		t.Fatal(err)
	}
	return Source{Cluster: cluster, Storage: storage, Name: "test"}
}

// install stores revision 1 of a release with one ConfigMap, whose value is k in the cluster.
func (s *server) install(namespace, name, k string) {
	s.store(namespace, name, 1, "deployed", configMap(name))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add("ConfigMap", namespace, name, map[string]any{"app.kubernetes.io/managed-by": "Helm"}, map[string]any{"k": k})
}

// configMap returns the manifest of some ConfigMaps.
func configMap(names ...string) string {
	out := ""
	for _, name := range names {
		out += "---\n# Source: c/templates/m.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {k: \"1\"}\n"
	}
	return out
}

// store stores a record, of a release in the same namespace unless another one is given.
func (s *server) store(namespace, name string, revision int, status, manifest string, of ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = map[string]map[string]any{}
	}
	record := map[string]any{"name": name, "namespace": append(of, namespace)[0], "version": revision, "info": map[string]any{"status": status},
		"chart":    map[string]any{"metadata": map[string]any{"name": "c", "version": "1.0.0", "apiVersion": "v2"}},
		"manifest": manifest}
	text, _ := json.Marshal(record)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(text)
	_ = z.Close()
	inner := base64.StdEncoding.EncodeToString(zipped.Bytes())
	stored := fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision)
	s.add("Secret", namespace, stored, map[string]any{"owner": "helm", "name": name, "version": strconv.Itoa(revision), "status": status},
		map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(inner))})
}

func (s *server) add(kind, namespace, name string, set, data map[string]any) {
	object := map[string]any{"apiVersion": "v1", "kind": kind, "data": data, "metadata": map[string]any{
		"name": name, "namespace": namespace, "labels": set, "uid": "uid-" + name, "resourceVersion": "1",
		"annotations": map[string]any{"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": namespace}}}
	if kind == "Secret" {
		object["type"] = "helm.sh/release.v1"
	}
	s.objects[collection(kind, namespace)+"/"+name] = object
}

// uninstall deletes the record and the object.
func (s *server) uninstall(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, collection("Secret", namespace)+"/sh.helm.release.v1."+name+".v1")
	delete(s.objects, collection("ConfigMap", namespace)+"/"+name)
}

func collection(kind, namespace string) string {
	return "/api/v1/namespaces/" + namespace + "/" + strings.ToLower(kind) + "s"
}

// ServeHTTP answers.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := r.URL.Path
	w.Header().Set("Content-Type", "application/json")
	code := http.StatusNotFound
	if s.refuse != nil && s.refuse(path) != 0 {
		code = s.refuse(path)
	} else if answer := s.answer(r, w); answer != nil {
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	reason := metav1.StatusReasonNotFound
	if code == http.StatusForbidden {
		reason = metav1.StatusReasonForbidden
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: path})
}

// answer returns the answer to a request, or nil if there is none.
func (s *server) answer(r *http.Request, w http.ResponseWriter) any {
	switch path := r.URL.Path; {
	case path == "/version":
		return map[string]string{"gitVersion": "v1.36.3", "major": "1", "minor": "36"}
	case path == "/api" || path == "/apis":
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		return discovery(path == "/api")
	case strings.HasSuffix(path, "/secrets"), strings.HasSuffix(path, "/configmaps"), strings.HasSuffix(path, "/pods"):
		return s.list(path, r.URL.Query().Get("labelSelector"))
	case s.objects[path] != nil:
		return s.objects[path]
	}
	return nil
}

// list lists a collection, of one namespace or of all.
func (s *server) list(path, labelSelector string) any {
	selector, _ := labels.Parse(labelSelector)
	parent, resource := path[:strings.LastIndex(path, "/")+1], path[strings.LastIndex(path, "/"):]
	items := []any{}
	for _, at := range slices.Sorted(maps.Keys(s.objects)) {
		object := unstructured.Unstructured{Object: s.objects[at]}
		if strings.HasPrefix(at, parent) && strings.Contains(at, resource+"/") && selector.Matches(labels.Set(object.GetLabels())) {
			items = append(items, s.objects[at])
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": items}
}

func discovery(core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	if !core {
		return list
	}
	version := apidiscoveryv2.APIVersionDiscovery{Version: "v1", Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for _, kind := range []string{"Secret", "ConfigMap", "Namespace", "Pod"} {
		scope := apidiscoveryv2.ScopeNamespace
		if kind == "Namespace" {
			scope = apidiscoveryv2.ScopeCluster
		}
		version.Resources = append(version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: strings.ToLower(kind) + "s", Scope: scope, Verbs: []string{"get", "list"},
			ResponseKind: &metav1.GroupVersionKind{Version: "v1", Kind: kind}})
	}
	list.Items = []apidiscoveryv2.APIGroupDiscovery{{Versions: []apidiscoveryv2.APIVersionDiscovery{version}}}
	return list
}

// fill installs releases in several namespaces. Every seventh is drifted.
func (s *server) fill(namespaces, releases int) (drifted int) {
	for n := range namespaces * releases {
		k := "1"
		if n%7 == 3 {
			k = "edited"
			drifted++
		}
		s.install(fmt.Sprintf("n%02d", n%namespaces), fmt.Sprintf("r%03d", n), k)
	}
	return drifted
}
