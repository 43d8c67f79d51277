package live

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestReadRejectsOtherObjects checks that an answer with a list or another object is an error of the object that was
// asked for: it is neither compared nor called missing, and a repair writes nothing to it.
func TestReadRejectsOtherObjects(t *testing.T) {
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
			f := livetest.New(t)
			ref := f.Add("ConfigMap", "prod", "a", nil)
			f.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/configmaps/a") {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, answer.body)
				return true
			}
			c := connect(f, Options{})
			got := c.Read(t.Context(), []object.Ref{ref})[ref]
			if got.Err == nil || got.Err.Code != cluster.CodeOtherObject || got.Object != nil || got.Absence != "" ||
				!strings.Contains(got.Err.Message, `configmaps "a" in namespace "prod": the server answered with `+answer.names+",") {
				t.Errorf("got %+v", got)
			}
			if live, err := c.Get(t.Context(), ref); live != nil || err == nil {
				t.Errorf("got %v, %v", live, err)
			}
		})
	}
}
