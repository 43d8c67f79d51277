package fleet

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// TestSharedRecords checks that comparisons list no records that were found, and those of another namespace once, and that Changed finds
// the releases that were deployed or uninstalled since.
func TestSharedRecords(t *testing.T) {
	s := &server{}
	s.install("a", "one", "1")
	s.install("b", "two", "1")
	s.install("b", "three", "1")
	source := s.connect(t)
	found, err := source.Find(t.Context(), Selection{Namespace: "a"})
	if err != nil {
		t.Fatal(err)
	}
	var lists atomic.Int32
	s.mu.Lock()
	s.refuse = func(path string) int {
		if strings.HasSuffix(path, "/secrets") {
			lists.Add(1)
		}
		return 0
	}
	s.mu.Unlock()
	sharing := source.Share(t.Context(), found, false)
	defer sharing.Close()
	all := []drift.Target{{Namespace: "a", Release: "one"}, {Namespace: "b", Release: "two"}, {Namespace: "b", Release: "three"}}
	for _, at := range append(all, all...) {
		records, err := sharing.Records(at.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		history, err := records.History(t.Context(), at.Release)
		loaded, errLoad := records.Load(t.Context(), at.Release, 0, release.Options{})
		if err != nil || errLoad != nil || len(history.Entries) != 1 || loaded.Last.Name != at.Release {
			t.Errorf("%+v: %+v, %v, %v", at, history, err, errLoad)
		}
	}
	if lists.Load() != 1 {
		t.Errorf("%d lists of records", lists.Load())
	}
	for i, isChanged := range sharing.Changed(t.Context(), all) {
		if isChanged {
			t.Errorf("%+v has not changed", all[i])
		}
	}
	s.mu.Lock()
	s.refuse = func(path string) int {
		if path == "/api/v1/secrets" {
			return http.StatusForbidden
		}
		return 0
	}
	s.mu.Unlock()
	sharing = sharing.Wide(t.Context()) // the role may list each namespace only
	defer sharing.Close()
	for i, isChanged := range sharing.Changed(t.Context(), all) {
		if isChanged {
			t.Errorf("%+v has not changed for a role of each namespace", all[i])
		}
	}
	s.uninstall("b", "two")
	s.mu.Lock()
	s.refuse = func(path string) int {
		if path == "/api/v1/secrets" || path == "/api/v1/namespaces/a/secrets" {
			return http.StatusForbidden
		}
		return 0
	}
	s.mu.Unlock()
	if got := sharing.Changed(t.Context(), all); !got[0] || !got[1] || got[2] {
		t.Errorf("changed: %v", got)
	}
}

// TestSharedOfCluster checks that a release copies nothing of what the others of a large cluster have.
func TestSharedOfCluster(t *testing.T) {
	s, going := &shared{wide: true, answers: &answers{}}, map[string]bool{}
	scaled := map[object.Key]object.Autoscaler{}
	for i := range 2000 {
		namespace := fmt.Sprintf("n%d", i)
		going[namespace] = i%2 == 0
		scaled[object.Key{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: "web"}] = object.Autoscaler{Name: "web"}
	}
	s.namespaces.Get("", func() (answer[string, bool], bool) { return answer[string, bool]{found: going}, true })
	s.autoscalers.Get("", func() (a answer[object.Key, object.Autoscaler], read bool) {
		a.found = scaled
		return a, true
	})
	names := []string{"n0", "n1", "absent"}
	if found, unread := s.Terminating(t.Context(), names); len(found) != 1 || !found["n0"] || unread != nil {
		t.Errorf("namespaces %v, %v", found, unread)
	}
	if found, warnings := s.Autoscalers(t.Context(), names); len(found) != len(scaled) || warnings != nil {
		t.Errorf("%d autoscalers, %v", len(found), warnings)
	}
	if count := testing.AllocsPerRun(10, func() { _, _ = s.Terminating(t.Context(), names) }); count > 6 {
		t.Errorf("%.0f allocations for the namespaces", count)
	}
	if count := testing.AllocsPerRun(10, func() { _, _ = s.Autoscalers(t.Context(), names) }); count > 6 {
		t.Errorf("%.0f allocations for the autoscalers", count)
	}
}
