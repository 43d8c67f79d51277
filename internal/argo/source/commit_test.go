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

// TestLinksOutOfCommit checks that a commit with a link that leads out of it is refused, and a source whose folder is a link to nothing.
func TestLinksOutOfCommit(t *testing.T) {
	for name, c := range map[string]struct{ link, to, fails string }{
		"a file":            {"app/l.yaml", "/etc/hostname", "app/l.yaml, which leads out of its folder"},
		"the folder above":  {"app", "..", "app, which leads out of its folder"},
		"a folder anywhere": {"app", "/etc", "app, which leads out of its folder"},
		"nothing":           {"app", "gone", "the commit has no folder app"},
	} {
		t.Run(name, func(t *testing.T) {
			archive := filestest.Tar(t, tar.Header{Name: c.link, Typeflag: tar.TypeSymlink, Linkname: c.to})
			commits := Commits(func(context.Context, CommitOrder) ([]byte, error) { return archive, nil }, func([]byte) string { return "" })
			dir, _, done, err := commits(t.Context(), CommitOrder{})
			defer done()
			if err == nil {
				_, err = In(dir, api.Source{Path: "app"}, "the commit")
			}
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Error(err)
			}
		})
	}
}
