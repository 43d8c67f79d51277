package argo

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// This file fetches the sources of an Application: charts from a repository, and the files of a commit.

// folder is a source whose files are on this machine.
type folder struct {
	source source
	// number is its place among the sources of the Application.
	number int
	// root is the root of its repository, and dir is the folder in it that the source names.
	root, dir string
	// revision is the commit, or the version of the chart.
	revision string
	isChart  bool
	// inTree is set if it is in the working tree, whose commit is yet to come.
	inTree bool
}

// isRef reports whether the source makes nothing itself: others name its files by its ref.
func (f *folder) isRef() bool {
	return f.source.Ref != "" && f.source.Path == "" && f.source.Chart == ""
}

// refsOf returns the sources that have a ref, by how the paths of other sources begin.
func refsOf(all []*folder) map[string]*folder {
	out := map[string]*folder{}
	for _, f := range all {
		if f.source.Ref != "" {
			out["$"+f.source.Ref] = f
		}
	}
	return out
}

// folders fetches all sources. Done removes what was fetched; it is never nil.
func (q Question) folders(ctx context.Context, a *Application) (out []*folder, done func(), err error) {
	var all []func()
	done = func() {
		for _, one := range all {
			one()
		}
	}
	sources := a.sources()
	switch {
	case len(a.Spec.SourceHydrator) > 0:
		return nil, done, fmt.Errorf("%s has a spec.sourceHydrator, which helmdrift does not resolve", a.title())
	case len(sources) == 0:
		return nil, done, fmt.Errorf("%s has no source", a.title())
	case q.Own && len(sources) > 1:
		return nil, done, fmt.Errorf("%s has several sources, so CHART could be any of them: leave it out", a.title())
	}
	for i, s := range sources {
		f, remove, err := q.folder(ctx, a, s)
		all = append(all, remove)
		if err == nil {
			f.number = i
			err = f.override(a.Metadata.Name)
		}
		if err != nil {
			return nil, done, sourceError(i, len(sources), err)
		}
		if q.Own {
			f.revision = a.Status.Sync.Revision // whatever CHART holds, it stands for the revision that Argo CD has seen
		}
		out = append(out, f)
	}
	return out, done, nil
}

// folder fetches one source.
func (q Question) folder(ctx context.Context, a *Application, s source) (f *folder, done func(), err error) {
	done = func() {}
	switch {
	case q.Own:
		path, remove, err := q.Chart.Fetch(ctx)
		if err != nil {
			return nil, done, err
		}
		return opened(s, path, remove)
	case q.Tree.has(s):
		f, err := q.Tree.folder(s)
		return f, done, err
	case s.Chart != "":
		return q.chart(ctx, a, s)
	case !strings.HasPrefix(s.RepoURL, "https://") && !strings.HasPrefix(s.RepoURL, "http://"):
		return nil, done, hint.New(fmt.Errorf("helmdrift fetches repositories over http and https, and not %s", s.RepoURL),
			"give the folder of the source as CHART, from your own working tree")
	}
	order := CommitOrder{URL: s.RepoURL, Ref: s.TargetRevision, Foreign: a.isForeign(s.RepoURL)}
	if err := address.CheckURL(s.RepoURL, "repoURL", order.Foreign); err != nil {
		return nil, done, err
	}
	if u, err := url.Parse(s.RepoURL); err == nil && order.Foreign {
		order.Addresses = address.Lookup(u.Hostname())
	}
	dir, commit, done, err := q.Commit(ctx, order)
	if err != nil {
		return nil, done, hint.New(fmt.Errorf("fetching %s: %w", s.RepoURL, err), "give the folder of the source as CHART, from your own working tree")
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, done, err
	}
	f, err = folderIn(dir, s, fmt.Sprintf("commit %.12s", commit))
	if err != nil {
		return nil, done, err
	}
	f.revision = commit
	return f, done, nil
}

// folderIn returns the folder of a source below the root of its repository. In names the repository in messages.
func folderIn(root string, s source, in string) (*folder, error) {
	f := &folder{source: s, root: root, dir: filepath.Join(root, filepath.FromSlash(s.Path))}
	if inside, err := filepath.Rel(root, f.dir); err != nil || !filepath.IsLocal(inside) {
		return nil, fmt.Errorf("path %q is outside of the repository", s.Path)
	}
	if info, err := os.Stat(f.dir); s.Ref == "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("%s has no folder %s", in, s.Path)
	}
	return f, nil
}

// chart fetches a chart from a repository of charts. A repository without a scheme is a registry.
func (q Question) chart(ctx context.Context, a *Application, s source) (*folder, func(), error) {
	with := q.Source
	with.Version, with.RepoURL, with.Devel, with.Remote, with.Plugins.Forbidden = s.TargetRevision, "", false, true, true
	ref := s.Chart
	if isRemote(s.RepoURL) && !strings.HasPrefix(s.RepoURL, "oci://") {
		with.RepoURL = s.RepoURL
	} else {
		ref = "oci://" + strings.TrimSuffix(strings.TrimPrefix(s.RepoURL, "oci://"), "/") + "/" + s.Chart
	}
	isForeign := a.isForeign(s.RepoURL)
	if err := address.CheckURL(cmp.Or(with.RepoURL, ref), "repoURL", isForeign); err != nil {
		return nil, func() {}, err
	}
	with.Refuse = func(ip netip.Addr) error { return address.Check(ip, "repoURL", isForeign) }
	path, done, err := q.Fetch(ctx, ref, with)
	if err != nil {
		return nil, func() {}, err
	}
	return opened(s, path, done)
}

// opened returns the folder of a chart that is a folder or an archive.
func opened(s source, path string, done func()) (*folder, func(), error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		real, err := filepath.EvalSymlinks(path)
		return &folder{source: s, root: real, dir: real, isChart: s.Chart != ""}, done, err
	}
	dir, remove, err := extracted(path)
	both := func() {
		remove()
		done()
	}
	if err != nil {
		return nil, both, fmt.Errorf("unpacking the chart: %w", err)
	}
	return &folder{source: s, root: dir, dir: dir, isChart: true}, both, nil
}

// mostChart is how many bytes the files of a chart may have.
const mostChart = 256 << 20

// extracted unpacks the archive of a chart, as the repo-server does, so that value files can be files of the chart.
func extracted(path string) (dir string, done func(), err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the file was fetched for that
	if err != nil {
		return "", func() {}, err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return "", func() {}, err
	}
	archive, err := io.ReadAll(io.LimitReader(unzipped, mostChart+1))
	if err == nil && len(archive) > mostChart {
		err = errors.New("it is too large")
	}
	if err != nil {
		return "", func() {}, err
	}
	if dir, done, err = files.Unpack(archive); err != nil {
		return "", done, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", done, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return "", done, errors.Join(err, errors.New("a chart has one folder"))
	}
	return filepath.Join(dir, entries[0].Name()), done, nil
}

// merged applies a JSON merge patch.
func merged(text, patch []byte) ([]byte, error) { return jsonpatch.MergePatch(text, patch) }

// kind is what a folder is for the repo-server: a chart, manifests, or something that helmdrift does not build.
func (f *folder) kind() (string, error) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			_, err := os.Stat(filepath.Join(f.dir, name))
			return !errors.Is(err, fs.ErrNotExist)
		})
	}
	s := f.source
	switch {
	case isSet(s.Plugin):
		return "", errors.New("a config management plugin makes the manifests, which helmdrift does not run")
	case s.Helm != nil || f.isChart:
		return "chart", nil
	case isSet(s.Kustomize):
		return "", errNoKustomize
	case s.Directory != nil:
		return "directory", nil
	case has("Chart.yaml"):
		return "chart", nil
	case has("kustomization.yaml", "kustomization.yml", "Kustomization"):
		return "", errNoKustomize
	}
	return "directory", nil
}

var errNoKustomize = errors.New("kustomize makes the manifests, which helmdrift does not build for Argo CD")

// isSet reports whether a field that is not decoded is there.
func isSet(raw []byte) bool { return len(raw) > 0 && string(raw) != "null" }

// manifests returns the text of all files of a folder of manifests.
func (f *folder) manifests() (string, error) {
	d := f.source.Directory
	if d == nil {
		d = &directorySource{}
	}
	if isSet(d.Jsonnet) && string(d.Jsonnet) != "{}" {
		return "", errors.New("jsonnet makes the manifests, which helmdrift does not run")
	}
	var out strings.Builder
	err := filepath.WalkDir(f.dir, func(name string, entry fs.DirEntry, err error) error {
		inside, _ := filepath.Rel(f.dir, name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != f.dir && (!d.Recurse || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir(), !slices.Contains([]string{".yaml", ".yml", ".json", ".jsonnet"}, filepath.Ext(name)):
			return nil
		case d.Exclude != "" && matchesGlob(d.Exclude, filepath.ToSlash(inside)), d.Include != "" && !matchesGlob(d.Include, filepath.ToSlash(inside)):
			return nil
		case filepath.Ext(name) == ".jsonnet":
			return fmt.Errorf("%s is jsonnet, which helmdrift does not run", inside)
		}
		text, err := readWithin(f.root, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", filepath.ToSlash(inside), text)
		if out.Len() > mostChart {
			return errors.New("the manifests are too large")
		}
		return nil
	})
	return out.String(), err
}

// fetchRemote returns what fetches a value file of an Application from an address.
func (q Question) fetchRemote(a *Application) func(context.Context, string) ([]byte, error) {
	return func(ctx context.Context, url string) ([]byte, error) {
		if err := address.CheckURL(url, "the address of a value file", a.inTree); err != nil {
			return nil, err
		}
		with := q.Source
		with.Refuse = func(ip netip.Addr) error { return address.Check(ip, "the address of a value file", a.inTree) }
		return fetch.File(ctx, url, with)
	}
}
