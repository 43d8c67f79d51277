package sweep

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestSweepNarrowOfFew reads single objects of a namespace. It checks that the first two are read by name, and that
// the third begins the list.
func TestSweepNarrowOfFew(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("a")
	refs := f.AddMany("ConfigMap", "a", "m", 5)
	s := newSweep(t, f, false, "a", "a")
	for _, ref := range refs {
		livetest.MustFind(t, s.Read(t.Context(), []object.Ref{ref}), []object.Ref{ref})
	}
	const all = "/api/v1/namespaces/a/configmaps"
	livetest.WantRequests(t, f, all+"/m-000", all+"/m-001", all+"?limit=250")
}

// TestSweepOfSilentKind lets the server give no answer to a list in time. Only the first release waits for it; objects of other kinds are
// read.
func TestSweepOfSilentKind(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("a")
	maps, things := f.AddMany("ConfigMap", "a", "m", 2), f.AddMany("Thing", "a", "t", 1)
	f.Intercept = livetest.Failing(-1, allConfigMaps, func(w http.ResponseWriter) {
		livetest.SendStatus(w, http.StatusInternalServerError, metav1.StatusReasonTimeout, "too late")
	})
	s := newSweep(t, f, true, "a", "a")
	for range 3 {
		for ref, got := range s.Read(t.Context(), maps) {
			livetest.MustError(t, got, cluster.CodeTimeout, "cannot list", ref.Name)
		}
		livetest.MustFind(t, s.Read(t.Context(), things), things)
	}
	asked := 0
	for _, request := range f.Seen() {
		if strings.HasPrefix(request, allConfigMaps) {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the list was asked for %d times: %q", asked, f.Seen())
	}
}

// TestSweepAll reads objects without Helm's label. Those of a namespace are listed, and Secrets, which are mostly records, are read by
// name.
func TestSweepAll(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("a")
	var maps, secrets []object.Ref
	for _, name := range []string{"x", "y", "z"} {
		maps = append(maps, f.Add("ConfigMap", "a", name, map[string]any{}))
		secrets = append(secrets, f.Add("Secret", "a", name, map[string]any{}))
	}
	s := All(t.Context(), connect(t, f))
	t.Cleanup(s.Close)
	s.Window("a", "a")
	livetest.MustFind(t, s.Read(t.Context(), maps), maps)
	livetest.WantRequests(t, f, "/api/v1/namespaces/a/configmaps?limit=250")
	for _, ref := range secrets {
		livetest.MustFind(t, s.Read(t.Context(), []object.Ref{ref}), []object.Ref{ref})
	}
	const all = "/api/v1/namespaces/a/"
	livetest.WantRequests(t, f, all+"configmaps?limit=250", all+"secrets/x", all+"secrets/y", all+"secrets/z")
}
