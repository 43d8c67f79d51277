package lists

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/live"
)

// namespaces is the path of the list of namespaces.
const namespaces = "/api/v1/namespaces"

// connect connects to a fake API server, and forgets the requests of that.
func connect(t *testing.T, f *livetest.Server) *live.Cluster {
	t.Helper()
	c, err := live.Connect(t.Context(), &rest.Config{Host: f.URL}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Reset()
	return c
}

// TestPagesWithoutEnd lists from a server whose pages lead to themselves, or are empty and lead to another one.
func TestPagesWithoutEnd(t *testing.T) {
	for name, page := range map[string]string{
		"to itself": `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {"continue": "again"}, "items": [{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "prod"}}]}`,
		"empty":     `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {"continue": "again"}, "items": []}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := livetest.New(t)
			f.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != namespaces {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(page))
				return true
			}
			c, of := connect(t, f), corev1.SchemeGroupVersion.WithResource("namespaces")
			if got, err := Namespaces(t.Context(), c); err == nil || !strings.Contains(err.Error(), "list namespaces: the server sends pages without an end") {
				t.Errorf("%v, %v", got, err)
			}
			if got, err := ReadPage(t.Context(), c, of, "", "", 1, "again"); err == nil || !strings.Contains(err.Error(), "without an end") {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// TestPagesInACircle lists namespaces from a server whose pages lead to each other.
func TestPagesInACircle(t *testing.T) {
	f := livetest.New(t)
	f.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != namespaces {
			return false
		}
		next := "a"
		if r.URL.Query().Get("continue") == "a" {
			next = "b"
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {"continue": %q}, `+
			`"items": [{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "prod"}}]}`, next)
		return true
	}
	c := connect(t, f)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := Namespaces(ctx, c); !errors.Is(err, ErrEndless) || len(f.Seen()) != MaxPages {
		t.Errorf("%v, %v after %d requests", got, err, len(f.Seen()))
	}
}
