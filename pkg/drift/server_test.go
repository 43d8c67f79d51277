package drift_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// servedKinds are the kinds of the API server in these tests, by the paths of their collections.
var servedKinds = map[string]metav1.GroupVersionKind{
	"/api/v1/namespaces":                                            {Version: "v1", Kind: "Namespace"},
	"/api/v1/namespaces/prod/secrets":                               {Version: "v1", Kind: "Secret"},
	"/api/v1/namespaces/prod/configmaps":                            {Version: "v1", Kind: "ConfigMap"},
	"/apis/apps/v1/namespaces/prod/deployments":                     {Group: "apps", Version: "v1", Kind: "Deployment"},
	"/apis/ex.com/v1/namespaces/prod/things":                        {Group: "ex.com", Version: "v1", Kind: "Thing"},
	"/apis/autoscaling/v2/namespaces/prod/horizontalpodautoscalers": {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": {
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// apiServer answers gets and lists of these objects, by their paths.
type apiServer map[string]map[string]any

// connect serves a release web of this record beside live objects in YAML, and connects to the server.
func connect(t *testing.T, record map[string]any, objects string) drift.Connection {
	t.Helper()
	s := apiServer{}
	s.add(storedRecord(record))
	for doc := range strings.SplitSeq(objects, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			t.Fatal(err)
		}
		s.add(object)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cluster, err := live.Connect(t.Context(), &rest.Config{Host: server.URL}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storage, err := release.Open("", cluster.Metadata(), cluster.Core())
	if err != nil {
		t.Fatal(err)
	}
	return drift.LiveConnection(cluster, "test", storage)
}

func (s apiServer) add(object map[string]any) {
	metadata := object["metadata"].(map[string]any)
	for path, kind := range servedKinds {
		if kind.Kind == object["kind"] {
			metadata["uid"], metadata["resourceVersion"] = "uid-of-"+metadata["name"].(string), "1"
			if strings.Contains(path, "/prod/") {
				metadata["namespace"] = "prod"
			}
			s[path+"/"+metadata["name"].(string)] = object
		}
	}
}

// storedRecord is the Secret where Helm keeps revision 1.
func storedRecord(record map[string]any) map[string]any {
	text, _ := json.Marshal(record)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(text)
	_ = z.Close()
	inner := base64.StdEncoding.EncodeToString(zipped.Bytes())
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{"name": "sh.helm.release.v1.web.v1",
			"labels": map[string]any{"owner": "helm", "name": "web", "version": "1", "status": "deployed"}},
		"data": map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(inner))},
	}
}

// ServeHTTP answers.
func (s apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	kind, isCollection := servedKinds[path]
	switch {
	case path == "/version":
		answer(w, "", map[string]string{"gitVersion": "v1.36.3", "major": "1", "minor": "36"})
	case path == "/api" || path == "/apis":
		answer(w, ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", discovery(path == "/api"))
	case path == "/api/v1": // a lookup of a chart asks in this form
		configMaps := metav1.APIResource{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}
		answer(w, "", metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{configMaps}})
	case isCollection:
		metadataOnly := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
		answer(w, "", s.list(path, kind, metadataOnly, r.URL.Query().Get("labelSelector")))
	case s[path] == nil:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound})
	default:
		answer(w, "", s[path])
	}
}

// list lists the objects of a kind: the records if the selector asks for Helm's, and else those without the label owner.
func (s apiServer) list(path string, kind metav1.GroupVersionKind, metadataOnly bool, selector string) map[string]any {
	items := []any{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		labels, _ := s[name]["metadata"].(map[string]any)["labels"].(map[string]any)
		if strings.HasPrefix(name, path+"/") && (labels["owner"] != nil) == strings.Contains(selector, "owner=helm") {
			items = append(items, s[name])
		}
	}
	list := map[string]any{"apiVersion": metav1.GroupVersion{Group: kind.Group, Version: kind.Version}.String(), "kind": kind.Kind + "List",
		"metadata": map[string]any{}, "items": items}
	if metadataOnly {
		list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	return list
}

// discovery is the aggregated discovery of the core group, or of the others.
func discovery(core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	groups := map[string]*apidiscoveryv2.APIVersionDiscovery{}
	for path, kind := range servedKinds {
		if (kind.Group == "") != core {
			continue
		}
		if groups[kind.Group] == nil {
			groups[kind.Group] = &apidiscoveryv2.APIVersionDiscovery{Version: kind.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
		}
		scope := apidiscoveryv2.ScopeCluster
		if strings.Contains(path, "/prod/") {
			scope = apidiscoveryv2.ScopeNamespace
		}
		groups[kind.Group].Resources = append(groups[kind.Group].Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: path[strings.LastIndex(path, "/")+1:], Scope: scope, Verbs: []string{"get", "list"}, ResponseKind: &kind,
		})
	}
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	for group, version := range groups {
		list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: group}, Versions: []apidiscoveryv2.APIVersionDiscovery{*version}})
	}
	return list
}

func answer(w http.ResponseWriter, parameters string, value any) {
	w.Header().Set("Content-Type", "application/json"+parameters)
	_ = json.NewEncoder(w).Encode(value)
}
