package live

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/livetest"
)

// rendered renders one template with Helm's own engine.
func rendered(cfg *rest.Config, template string) (string, error) {
	c := &chart.Chart{
		Metadata:  &chart.Metadata{Name: "c", Version: "1.0.0", APIVersion: "v2"},
		Templates: []*chart.File{{Name: "templates/t.yaml", Data: []byte(template)}},
	}
	values, err := chartutil.ToRenderValues(c, nil, chartutil.ReleaseOptions{Name: "web", Namespace: "prod"}, nil)
	if err != nil {
		return "", err
	}
	out, err := engine.New(cfg).Render(c, values)
	return out["c/templates/t.yaml"], err
}

func TestLookupsAreReplayed(t *testing.T) {
	f := livetest.New(t)
	f.Legacy = true
	f.Add("ConfigMap", "prod", "web", nil)
	f.Add("ConfigMap", "prod", "other", nil)
	const template = `{{ $n := .Release.Namespace -}}
{{ (lookup "v1" "ConfigMap" $n "web").metadata.labels }} {{ (lookup "v1" "ConfigMap" $n "web").big }}
{{ lookup "v1" "ConfigMap" $n "missing" }} {{ range (lookup "v1" "ConfigMap" $n "").items }}{{ .metadata.name }} {{ end -}}
{{ (lookup "ex.com/v1" "Thing" $n "").items }}`
	const want = "map[app.kubernetes.io/managed-by:Helm] 9007199254740993\nmap[] other web []"

	cfg := Lookups(&rest.Config{Host: f.URL}, Options{UserAgent: "helmdrift/test"})
	for range 2 {
		got, err := rendered(cfg, template)
		if err != nil || got != want {
			t.Errorf("rendered %q, error %v; want %q", got, err, want)
		}
		// Later changes must not appear in the second rendering.
		f.Add("ConfigMap", "prod", "web", map[string]any{"changed": "meanwhile"})
		f.Add("ConfigMap", "prod", "missing", nil)
	}
	livetest.WantRequests(t, f, "/api/v1", configMaps, configMaps+"/missing", configMaps+"/web", "/apis/ex.com/v1",
		"/apis/ex.com/v1/namespaces/prod/things")
	for _, agent := range f.Agents {
		if agent != "helmdrift/test" {
			t.Errorf("user agent %q", agent)
		}
	}

	// Another config has its own recording.
	if got, err := rendered(Lookups(&rest.Config{Host: f.URL}, Options{}), template); err != nil || !strings.Contains(got, "meanwhile") {
		t.Errorf("rendered %q, error %v", got, err)
	}
}

func TestForbiddenLookup(t *testing.T) {
	f := livetest.New(t)
	f.Legacy = true
	f.Intercept = livetest.Failing(-1, "/configmaps/web", livetest.Forbid)
	cfg := Lookups(&rest.Config{Host: f.URL}, Options{})
	for range 2 {
		_, err := rendered(cfg, `{{ lookup "v1" "ConfigMap" "prod" "web" }}`)
		if err == nil || !strings.Contains(err.Error(), `error calling lookup: things "a" is forbidden`) {
			t.Errorf("error %v", err)
		}
	}
	livetest.WantRequests(t, f, "/api/v1", configMaps+"/web")
}

// TestLookupsRetryBrokenConnections checks that a broken connection is no answer: the transport repeats the request,
// and nothing is recorded.
func TestLookupsRetryBrokenConnections(t *testing.T) {
	f := livetest.New(t)
	f.Legacy = true
	f.Add("ConfigMap", "prod", "web", nil)
	f.Intercept = livetest.Failing(1, "/configmaps/web", breakOff)
	got, err := rendered(Lookups(&rest.Config{Host: f.URL}, Options{}), `{{ (lookup "v1" "ConfigMap" "prod" "web").kind }}`)
	if err != nil || got != "ConfigMap" {
		t.Errorf("rendered %q, error %v", got, err)
	}
	livetest.WantRequests(t, f, "/api/v1", configMaps+"/web", configMaps+"/web")

	cfg := Lookups(&rest.Config{Host: f.URL}, Options{QPS: -1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := dynamic.NewForConfigOrDie(cfg).Resource(resourceOf(f, "ConfigMap")).Namespace("prod")
	if _, err := client.Get(ctx, "web", metav1.GetOptions{}); err == nil {
		t.Error("an interrupted lookup returned an object")
	}
	if _, err := client.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("the interrupt was recorded: %v", err)
	}
}

// TestLookupsDistinguishMediaTypes checks that the Accept header is part of the question: one address serves whole
// objects, metadata or a table.
func TestLookupsDistinguishMediaTypes(t *testing.T) {
	f := livetest.New(t)
	f.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.WriteString(w, r.Header.Get("Accept"))
		return true
	}
	client, err := rest.HTTPClientFor(Lookups(&rest.Config{Host: f.URL}, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, accept := range []string{"a/b", "c/d", "a/b"} {
		req := request(t, t.Context(), http.MethodGet)
		req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(f.URL, "http://")
		req.Header.Set("Accept", accept)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != accept || resp.Body.Close() != nil {
			t.Errorf("accepting %q brought %q, error %v", accept, body, err)
		}
	}
	if n := len(f.Seen()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestConcurrentLookups checks that questions that are asked at the same time get the same answer.
func TestConcurrentLookups(t *testing.T) {
	f := livetest.New(t)
	f.Add("ConfigMap", "prod", "web", nil)
	cfg := Lookups(&rest.Config{Host: f.URL}, Options{})
	versions := make([]string, 20)
	f.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"`+strings.Repeat("1", len(f.Requests))+`"}}`)
		return true
	}
	var group sync.WaitGroup
	for i := range versions {
		group.Go(func() {
			object, err := dynamic.NewForConfigOrDie(cfg).Resource(resourceOf(f, "ConfigMap")).Namespace("prod").Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			versions[i] = object.GetResourceVersion()
		})
	}
	group.Wait()
	for _, version := range versions {
		if version != versions[0] {
			t.Errorf("answers differ: %q", versions)
			break
		}
	}
}

func TestLookupsRefuseWrites(t *testing.T) {
	f := livetest.New(t)
	client := dynamic.NewForConfigOrDie(Lookups(&rest.Config{Host: f.URL}, Options{})).Resource(resourceOf(f, "ConfigMap")).Namespace("prod")
	dry := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	for what, err := range map[string]error{
		"POST": func() error {
			_, err := client.Create(t.Context(), objectOf(`{"kind":"ConfigMap","apiVersion":"v1"}`), metav1.CreateOptions{})
			return err
		}(),
		"DELETE": client.Delete(t.Context(), "web", dry),
	} {
		if err == nil || !strings.Contains(err.Error(), "the templates of a chart may only read the cluster: "+what+" "+configMaps) {
			t.Errorf("%s: %v", what, err)
		}
	}
	livetest.WantRequests(t, f)
}

func TestLookupsKeepTheConfig(t *testing.T) {
	cfg := &rest.Config{Host: "https://example.com", UserAgent: "mine", QPS: 5}
	Lookups(cfg, Options{UserAgent: "helmdrift"})
	if cfg.UserAgent != "mine" || cfg.QPS != 5 || cfg.WrapTransport != nil || cfg.WarningHandler != nil {
		t.Errorf("changed: %+v", cfg)
	}
}
