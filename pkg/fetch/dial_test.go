package fetch

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

// refuseLoopback refuses the addresses of test servers.
func refuseLoopback(ip netip.Addr) error {
	if ip.IsLoopback() {
		return errors.New(ip.String() + " is refused")
	}
	return nil
}

// TestRefuse checks that no connection is made to a refused address, whatever name it has: for a file, an index and a registry.
func TestRefuse(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("text"))
	}))
	defer server.Close()
	named := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	o := Options{Refuse: refuseLoopback, Remote: true, PlainHTTP: true}
	for _, address := range []string{server.URL, named} {
		if _, err := File(t.Context(), address+"/a.yaml", o); err == nil || !strings.Contains(err.Error(), "is refused") {
			t.Errorf("a file of %s: %v", address, err)
		}
		with := o
		with.RepoURL = address
		if _, _, err := Chart(t.Context(), "web", with); err == nil || !strings.Contains(err.Error(), "is refused") {
			t.Errorf("a repository at %s: %v", address, err)
		}
		registry := "oci://" + strings.TrimPrefix(address, "http://") + "/charts/web"
		if _, _, err := Chart(t.Context(), registry, o); err == nil || !strings.Contains(err.Error(), "is refused") {
			t.Errorf("%s: %v", registry, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
	text, err := File(t.Context(), named+"/a.yaml", Options{})
	if err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFileFails checks the errors of a file.
func TestFileFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/other", http.StatusFound)
		case "/long":
			_, _ = w.Write(make([]byte, 100))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{"/moved": "redirects to", "/long": "longer than", "/none": "(404)"} {
		if _, err := File(t.Context(), server.URL+path, Options{MaxAnswer: 10}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
