package fetch

import (
	"errors"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helmdrift/helmdrift/internal/once"
)

// TestKeepIndex fetches charts of one repository at the same time. It checks that the index is fetched once for each login, and that it
// is not kept for those who may fetch nothing from this machine.
func TestKeepIndex(t *testing.T) {
	silent(t)
	dir := web(t)
	index(t, dir, "", nil)
	var asked atomic.Int32
	files := http.FileServer(http.Dir(dir))
	s := serve(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index.yaml") {
			asked.Add(1)
		}
		files.ServeHTTP(w, r)
	}))
	var kept once.Map[any, string]
	keep := func(key any, read func() ([]byte, error)) (string, error) {
		return kept.Get(key, func() (string, error) {
			text, err := read()
			if err != nil {
				return "", err
			}
			name := filepath.Join(t.TempDir(), "index.yaml")
			return name, os.WriteFile(name, text, 0o600)
		})
	}
	var calls sync.WaitGroup
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.1+build.5", "1.0.0"} {
		calls.Go(func() {
			o := settings(t)
			o.RepoURL, o.Version, o.KeepIndex = s.URL, version, keep
			if name, _ := fetched(t, "web", o); name != "web-"+version+".tgz" {
				t.Errorf("version %s: %s", version, name)
			}
		})
	}
	calls.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("the index was fetched %d times", n)
	}
	o := settings(t)
	o.RepoURL, o.Username, o.Password, o.KeepIndex = s.URL, username, password, keep
	fetched(t, "web", o)
	if n := asked.Load(); n != 2 {
		t.Errorf("with another login, the index was fetched %d times", n)
	}
	o.Refuse = func(ip netip.Addr) error {
		if ip.IsLoopback() {
			return errors.New("it is this machine")
		}
		return nil
	}
	_, _, err := Chart(t.Context(), "web", o)
	if err == nil || !strings.Contains(err.Error(), "the index of the repository cannot be fetched") {
		t.Errorf("who may fetch nothing from this machine gets an index from there: %v", err)
	}
}

// TestRemote checks that Remote does not take a folder of this machine for the chart of a repository.
func TestRemote(t *testing.T) {
	silent(t)
	dir := web(t)
	index(t, dir, "", nil)
	s := serve(t, false, http.FileServer(http.Dir(dir)))
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("web", "templates"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := settings(t)
	o.RepoURL, o.Remote = s.URL, true
	if name, _ := fetched(t, "web", o); name != "web-2.0.1+build.5.tgz" {
		t.Errorf("fetched %s", name)
	}
}
