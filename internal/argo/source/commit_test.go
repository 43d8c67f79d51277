package source

import (
	"archive/tar"
	"context"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/files/filestest"
)

// TestLinksOfCommit checks that a manifest behind a symbolic link of a commit counts, also if the folder of the source is such a link.
func TestLinksOfCommit(t *testing.T) {
	archive := filestest.Tar(t,
		tar.Header{Name: "shared/web.yaml", Typeflag: tar.TypeReg},
		tar.Header{Name: "apps/prod/web.yaml", Typeflag: tar.TypeSymlink, Linkname: "../../shared/web.yaml"},
		tar.Header{Name: "current", Typeflag: tar.TypeSymlink, Linkname: "apps/prod"},
	)
	fetch := Commits(func(context.Context, CommitOrder) ([]byte, error) { return archive, nil }, func([]byte) string { return "c" })
	for _, path := range []string{"apps/prod", "current"} {
		f, done, err := Fetcher{Commit: fetch}.folder(t.Context(), &api.Application{}, api.Source{RepoURL: "http://127.0.0.1/x", Path: path},
			func(api.Source) (*Folder, bool, error) { return nil, false, nil })
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if text, err := f.Manifests(); err != nil || !strings.Contains(text, "# Source: web.yaml\nx\n") {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}
