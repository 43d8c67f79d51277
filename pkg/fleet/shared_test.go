package fleet

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/drift"
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
	sharing := source.Share(t.Context(), false).WithRecords(found)
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
	sharing.Widen(t.Context()) // the role may list each namespace only
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

// TestOnceAgain checks that a value that cannot be read is read again for later callers, a few times, and then stays as it is.
func TestOnceAgain(t *testing.T) {
	var values once[string, int]
	calls := 0
	read := func(from int) func() (int, bool) {
		return func() (int, bool) {
			calls++
			return calls, calls >= from
		}
	}
	for i, want := range []int{1, 2, 2, 2} {
		if got := values.get("second attempt", read(2)); got != want {
			t.Errorf("call %d: %d, not %d", i, got, want)
		}
	}
	calls = 0
	for i, want := range []int{1, 2, 3, 3, 3} {
		if got := values.get("never", read(9)); got != want {
			t.Errorf("call %d: %d, not %d", i, got, want)
		}
	}
}
