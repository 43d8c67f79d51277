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
		tar.Header{Name: "shared/web.json", Typeflag: tar.TypeReg},
		tar.Header{Name: "apps/prod/web.json", Typeflag: tar.TypeSymlink, Linkname: "../../shared/web.json"},
		tar.Header{Name: "current", Typeflag: tar.TypeSymlink, Linkname: "apps/prod"},
	)
	fetch := Commits(func(context.Context, CommitOrder) ([]byte, error) { return archive, nil }, func([]byte) string { return "c" })
	for _, path := range []string{"apps/prod", "current"} {
		f, err := Fetcher{Commit: fetch}.folder(t.Context(), applicationOf(api.Source{RepoURL: "http://127.0.0.1/x", Path: path}), 0,
			func(api.Source) (*Folder, bool, error) { return nil, false, nil }, t.Cleanup)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Manifests(); err == nil || !strings.Contains(err.Error(), "web.json is not JSON: invalid character 'x'") {
			t.Errorf("%s: %v", path, err)
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

// applicationOf returns an Application with one source.
func applicationOf(s api.Source) *api.Application {
	a := &api.Application{}
	a.Spec.Source = &s
	return a
}

// TestRange checks that a range of versions is the commit that the controller has found for it, as long as the source is the same.
func TestRange(t *testing.T) {
	for name, c := range map[string]struct {
		revision, prefix, compared, want, fails string
	}{
		"a branch":            {revision: "main", compared: "main", want: "main"},
		"a version":           {revision: "v1.2", compared: "v1.2", want: "v1.2"},
		"none":                {want: ""},
		"a range":             {revision: ">=1.0 <2", compared: ">=1.0 <2", want: "c0ffee"},
		"any patch":           {revision: "1.2.*", compared: "1.2.*", want: "c0ffee"},
		"another range":       {revision: "1.3.*", compared: "1.2.*", fails: "targetRevision 1.3.* is a range of versions"},
		"a tag with a prefix": {revision: "1.0.0", prefix: "web/", compared: "1.0.0", fails: "targetRevision web/1.0.0 is a range"},
	} {
		a := applicationOf(api.Source{RepoURL: "https://192.0.2.1/x", TargetRevision: c.revision, TagPrefix: c.prefix})
		a.Status.Sync.Revision, a.Status.Sync.ComparedTo.Source = "c0ffee", api.Source{RepoURL: "https://192.0.2.1/x", TargetRevision: c.compared}
		got := "nothing"
		q := Fetcher{Commit: func(_ context.Context, o CommitOrder) (string, string, func(), error) {
			got = o.Ref
			return t.TempDir(), "x", func() {}, nil
		}}
		_, err := q.folder(t.Context(), a, 0, func(api.Source) (*Folder, bool, error) { return nil, false, nil }, t.Cleanup)
		if c.fails == "" && (err != nil || got != c.want) || c.fails != "" && (err == nil || got != "nothing" || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: fetched %q, %v", name, got, err)
		}
	}
}
