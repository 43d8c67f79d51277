package live

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestReadTakesNoOtherObject: an answer that is a list, or another object, is an error on the object that was asked for. It is neither
// compared nor called missing, and a repair writes nothing on it.
func TestReadTakesNoOtherObject(t *testing.T) {
	obj := func(apiVersion, kind, namespace, name string) string {
		return `{"apiVersion": "` + apiVersion + `", "kind": "` + kind + `", "metadata": {"name": "` + name + `", "namespace": "` + namespace + `"}}`
	}
	for name, answer := range map[string]struct{ body, names string }{
		"list":              {`{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {}, "items": []}`, "v1 ConfigMapList"},
		"another name":      {obj("v1", "ConfigMap", "prod", "b"), "v1 ConfigMap prod/b"},
		"another namespace": {obj("v1", "ConfigMap", "test", "a"), "v1 ConfigMap test/a"},
		"another kind":      {obj("v1", "Secret", "prod", "a"), "v1 Secret prod/a"},
		"another group":     {obj("ex.com/v1", "ConfigMap", "prod", "a"), "ex.com/v1 ConfigMap prod/a"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI(t)
			ref := f.add("ConfigMap", "prod", "a", nil)
			f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/configmaps/a") {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, answer.body)
				return true
			}
			c := f.connect(Options{})
			got := c.Read(t.Context(), []object.Ref{ref})[ref]
			if got.Err == nil || got.Err.Code != CodeOtherObject || got.Object != nil || got.Absence != "" ||
				!strings.Contains(got.Err.Message, `configmaps "a" in namespace "prod": the server answered with `+answer.names+",") {
				t.Errorf("got %+v", got)
			}
			if live, err := c.Get(t.Context(), ref); live != nil || err == nil {
				t.Errorf("got %v, %v", live, err)
			}
		})
	}
}

// TestTerminatingNamespaces: one get each, and what cannot be read is left out.
func TestTerminatingNamespaces(t *testing.T) {
	f := newFakeAPI(t)
	for _, name := range []string{"going", "stays", "closed"} {
		f.add("Namespace", "", name, nil)
	}
	going, _ := f.objects[f.kind("Namespace").collection("")+"/going"]["metadata"].(map[string]any)
	going["deletionTimestamp"] = "2026-11-20T10:00:00Z"
	f.intercept = failing(-1, "/namespaces/closed", forbid)
	got := f.connect(Options{}).Terminating(t.Context(), []string{"going", "stays", "closed", "absent", "going"})
	if len(got) != 1 || !got["going"] {
		t.Errorf("got %v", got)
	}
	if len(f.seen()) != 4 {
		t.Errorf("requests %v", f.seen())
	}
}
