package lists

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/livetest"
)

// TestSelect checks that a list is read page by page with its selector, and that what cannot be read is named.
func TestSelect(t *testing.T) {
	f := livetest.New(t)
	f.AddMany("ConfigMap", "prod", "conf", selectPage+3)
	f.Add("ConfigMap", "prod", "other", map[string]any{"app": "web"})
	c := Pods{connect(t, f)}
	of := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	all, err := c.Select(t.Context(), of, "prod", metav1.ListOptions{})
	if err != nil || len(all) != selectPage+4 {
		t.Errorf("%d objects: %v", len(all), err)
	}
	one, err := c.Select(t.Context(), of, "prod", metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(one) != 1 {
		t.Errorf("%d objects: %v", len(one), err)
	}
	if want := "/api/v1/namespaces/prod/configmaps?limit=500"; !slices.Equal(f.Seen(), []string{want, want, want}) {
		t.Errorf("requests %q", f.Seen())
	}
	f.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		livetest.SendStatus(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no")
		return true
	}
	if _, err := c.Select(t.Context(), of, "prod", metav1.ListOptions{}); err == nil || err.Error() != "configmaps: forbidden" {
		t.Errorf("%v", err)
	}
}

// TestLog checks the request for a log, and that the result is bounded whatever the server sends.
func TestLog(t *testing.T) {
	f := livetest.New(t)
	c := Pods{connect(t, f)}
	var asked string
	f.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		asked = r.URL.Path + "?" + r.URL.Query().Encode()
		fmt.Fprint(w, strings.Repeat("line\n", logLimit))
		return true
	}
	text, err := c.Log(t.Context(), "prod", "web-1", "app", true, 100)
	if err != nil || len(text) != logLimit {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if want := "/api/v1/namespaces/prod/pods/web-1/log?container=app&limitBytes=1048576&previous=true&tailLines=100"; asked != want {
		t.Errorf("asked %s", asked)
	}
	asked = ""
	if _, err := c.Log(t.Context(), "prod", "../secrets/web", "app", false, 1); err == nil || asked != "" {
		t.Errorf("asked %q: %v", asked, err)
	}
	f.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		livetest.SendStatus(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no")
		return true
	}
	if _, err := c.Log(t.Context(), "prod", "web-1", "app", false, 1); err == nil || err.Error() != "pods/log: forbidden" {
		t.Errorf("%v", err)
	}
}
