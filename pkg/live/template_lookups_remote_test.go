package live

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/livetest"
)

// TestRemoteLookups checks that a client in another process can read the cluster without the credentials, and can do
// nothing else.
func TestRemoteLookups(t *testing.T) {
	f := livetest.New(t)
	f.Add("ConfigMap", "prod", "web", nil)
	cfg := &rest.Config{Host: f.URL, BearerToken: "hunter2"}
	c, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, send, err := c.Lookups()
	if err != nil || server != f.URL {
		t.Fatalf("%s, %v", server, err)
	}
	asked := 0
	far := RemoteLookups(server, func(q LookupRequest) (LookupAnswer, error) {
		asked++
		return send(context.Background(), q)
	})
	if far.BearerToken != "" || strings.Contains(far.String(), "hunter2") {
		t.Errorf("the other side has the token: %v", far)
	}
	client, err := dynamic.NewForConfig(far)
	if err != nil {
		t.Fatal(err)
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("prod")
	for range 2 {
		got, err := maps.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil || got.GetName() != "web" {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if _, err := maps.Get(t.Context(), "none", metav1.GetOptions{}); !isObjectNotFound(err) {
		t.Errorf("error %v", err)
	}
	if asked != 3 || len(f.Seen()) != 2 {
		t.Errorf("asked %d times, the server saw %v", asked, f.Seen())
	}
	if err := maps.Delete(t.Context(), "web", metav1.DeleteOptions{}); err == nil || !strings.Contains(err.Error(), "DELETE /api/v1/namespaces/prod/configmaps/web is refused") {
		t.Errorf("a deletion: %v", err)
	}
	for _, path := range []string{"https://elsewhere.example/api", "elsewhere.example/api"} {
		if _, err := send(t.Context(), LookupRequest{Path: path}); err == nil {
			t.Errorf("%s is sent", path)
		}
	}
}
