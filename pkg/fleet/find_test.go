package fleet

import (
	"net/http"
	"strings"
	"testing"
)

// TestFindOnlyFallback searches as a role that may not list the records of all namespaces, in a cluster whose namespaces cannot be listed.
// The error says why.
func TestFindOnlyFallback(t *testing.T) {
	for status, want := range map[int]string{
		http.StatusForbidden:           "list neither the records of all namespaces nor the namespaces, so only namespace a was searched",
		http.StatusInternalServerError: "not list the records of all namespaces, so only namespace a was searched: list namespaces: ",
	} {
		s := &server{objects: map[string]map[string]any{}}
		s.install("a", "one", "v")
		s.refuse = func(path string) int {
			return map[string]int{"/api/v1/secrets": http.StatusForbidden, "/api/v1/namespaces": status}[path]
		}
		found, err := s.connect(t).Find(t.Context(), Selection{Fallback: "a"})
		if err != nil || len(found.Releases) != 1 || len(found.Errors) != 1 || !strings.HasPrefix(found.Errors[0].Message, "the role may "+want) {
			t.Errorf("%d: %+v, %v, want %s", status, found, err, want)
		}
	}
}
