package sweep

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// watched collects the names of the objects that a sweep shows.
type watched struct {
	mu    sync.Mutex
	names []string
}

func (w *watched) see(o map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	metadata := object.Child(o, "metadata")
	w.names = append(w.names, metadata["namespace"].(string)+"/"+metadata["name"].(string))
}

// TestSweepWatch checks that a watcher sees what the lists have, and with Rest all of it: the pages behind the last object that was wanted,
// and the namespaces where nothing of the kind was wanted.
func TestSweepWatch(t *testing.T) {
	for _, wide := range []bool{true, false} {
		f := livetest.New(t)
		for _, name := range []string{"a", "b", "c"} {
			f.Namespace(name)
			f.AddMany("ConfigMap", name, "m", 2*pageSize+1)
		}
		var w watched
		s := newSweepOf(t, f, Options{Wide: wide, See: w.see, Whole: true}, "a", "a")
		wanted := []object.Ref{f.Ref("ConfigMap", "a", "m-000")}
		livetest.MustFind(t, s.Read(t.Context(), wanted), wanted)
		s.Window("b", "b") // drops the list of a
		if errs := s.Rest(t.Context(), []string{"a", "b"}); len(errs) > 0 {
			t.Fatal(errs)
		}
		later := []object.Ref{f.Ref("ConfigMap", "b", "m-000"), f.Ref("ConfigMap", "b", "m-500")}
		livetest.MustFind(t, s.Read(t.Context(), later), later)
		slices.Sort(w.names)
		namespaces := 2
		if wide {
			namespaces = 3
		}
		if got := len(slices.Compact(w.names)); got != namespaces*(2*pageSize+1) || got != len(w.names) {
			t.Errorf("wide %v: %d objects, %d of them different", wide, len(w.names), got)
		}
	}
}

// TestSweepRestRefused checks that a list that is refused is an error, although its objects could be read by name.
func TestSweepRestRefused(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("a")
	maps, things := f.AddMany("ConfigMap", "a", "m", 1), f.AddMany("Thing", "a", "t", 1)
	f.Intercept = livetest.Failing(-1, allConfigMaps, func(w http.ResponseWriter) {
		livetest.SendStatus(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no")
	})
	var w watched
	s := newSweepOf(t, f, Options{Wide: true, See: w.see, Whole: true}, "a", "a")
	livetest.MustFind(t, s.Read(t.Context(), maps), maps)
	livetest.MustFind(t, s.Read(t.Context(), things), things)
	errs := s.Rest(t.Context(), nil)
	if len(errs) != 1 || live.ErrorCode(errs[0]) != "forbidden" || !strings.HasPrefix(errs[0].Error(), "cannot list configmaps in all namespaces: ") {
		t.Errorf("%v", errs)
	}
	if len(w.names) != 1 {
		t.Errorf("seen: %q", w.names)
	}
}
