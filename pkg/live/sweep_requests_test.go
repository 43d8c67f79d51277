package live

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestSweepNarrowOfFew reads single objects of a namespace. It checks that the first two are read by name, and that
// the third begins the list.
func TestSweepNarrowOfFew(t *testing.T) {
	f := newFakeAPI(t)
	f.namespace("a")
	refs := f.addMany("ConfigMap", "a", "m", 5)
	s := newSweep(t, f, false, "a", "a")
	for _, ref := range refs {
		mustFind(t, s.Read(t.Context(), []object.Ref{ref}), []object.Ref{ref})
	}
	const all = "/api/v1/namespaces/a/configmaps"
	wantRequests(t, f, all+"/m-000", all+"/m-001", all+"?limit=250")
}

// TestSweepOfSilentKind lets the server give no answer to a list in time. Only the first release waits for it; objects of other kinds are
// read.
func TestSweepOfSilentKind(t *testing.T) {
	f := newFakeAPI(t)
	f.namespace("a")
	maps, things := f.addMany("ConfigMap", "a", "m", 2), f.addMany("Thing", "a", "t", 1)
	f.intercept = failing(-1, allConfigMaps, func(w http.ResponseWriter) {
		status(w, http.StatusInternalServerError, metav1.StatusReasonTimeout, "too late")
	})
	s := newSweep(t, f, true, "a", "a")
	for range 3 {
		for ref, got := range s.Read(t.Context(), maps) {
			mustError(t, got, cluster.CodeTimeout, "cannot list", ref.Name)
		}
		mustFind(t, s.Read(t.Context(), things), things)
	}
	asked := 0
	for _, request := range f.seen() {
		if strings.HasPrefix(request, allConfigMaps) {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the list was asked for %d times: %q", asked, f.seen())
	}
}

// TestSweepAll reads objects without Helm's label. Those of a namespace are listed, and Secrets, which are mostly records, are read by name.
func TestSweepAll(t *testing.T) {
	f := newFakeAPI(t)
	f.namespace("a")
	var maps, secrets []object.Ref
	for _, name := range []string{"x", "y", "z"} {
		maps = append(maps, f.add("ConfigMap", "a", name, map[string]any{}))
		secrets = append(secrets, f.add("Secret", "a", name, map[string]any{}))
	}
	s := f.connect(Options{}).SweepAll(t.Context())
	t.Cleanup(s.Close)
	s.Window("a", "a")
	mustFind(t, s.Read(t.Context(), maps), maps)
	wantRequests(t, f, "/api/v1/namespaces/a/configmaps?limit=250")
	for _, ref := range secrets {
		mustFind(t, s.Read(t.Context(), []object.Ref{ref}), []object.Ref{ref})
	}
	const all = "/api/v1/namespaces/a/"
	wantRequests(t, f, all+"configmaps?limit=250", all+"secrets/x", all+"secrets/y", all+"secrets/z")
}
