package source

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file fetches the sources of an Application: charts from a repository, and the files of a commit.

// Folder is a source whose files are on this machine.
type Folder struct {
	Source api.Source
	// Number is its place among the sources of the Application.
	Number int
	// Root is the root of its repository, and dir is the folder in it that the source names.
	Root, Dir string
	// Revision is the commit, or the version of the chart.
	Revision string
	IsChart  bool
	// OfSeveral is set if the Application has a list of sources. Then a path that begins with a dollar names one of them.
	OfSeveral bool
	// InTree is set if it is in the working tree, whose commit is yet to come.
	InTree bool
	// OfCommit is set if Root has the files of a commit alone, and no link leads out of it.
	OfCommit bool
}

// IsRef reports whether the source makes nothing itself: others name its files by its ref.
func (f *Folder) IsRef() bool {
	return f.Source.Ref != "" && f.Source.Path == "" && f.Source.Chart == ""
}

// Refs returns the sources that have a ref, by how the paths of other sources begin.
func Refs(all []*Folder) map[string]*Folder {
	out := map[string]*Folder{}
	for _, f := range all {
		if f.Source.Ref != "" {
			out["$"+f.Source.Ref] = f
		}
	}
	return out
}

// Fetcher fetches the sources of Applications.
type Fetcher struct {
	// Chart is the chart of the user, if Own is set. It stands for the folder of the only source.
	Chart *drift.Chart
	Own   bool
	// Source are the user's own logins and settings for fetching.
	Source fetch.Options
	// Fetch fetches a chart, and Commit fetches the files of a branch, a tag or a commit into a folder and returns the commit.
	Fetch  func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)
	Commit func(ctx context.Context, o CommitOrder) (dir, commit string, done func(), err error)
}

// Local returns the folder of a source in a working tree, and false if the tree does not have the source.
type Local func(s api.Source) (f *Folder, has bool, err error)

// Folders returns all sources, and fetches those that the working tree does not have. Keep gets the functions that remove what was fetched.
func (q Fetcher) Folders(ctx context.Context, a *api.Application, tree Local, keep func(done func())) (out []*Folder, err error) {
	sources := a.Sources()
	switch {
	case api.IsSet(a.Spec.SourceHydrator):
		return nil, fmt.Errorf("%s has a spec.sourceHydrator, which helmdrift does not resolve", a.Title())
	case len(sources) == 0:
		return nil, fmt.Errorf("%s has no source", a.Title())
	case q.Own && len(sources) > 1:
		return nil, fmt.Errorf("%s has several sources, so CHART could be any of them: leave it out", a.Title())
	}
	for i := range sources {
		f, err := q.folder(ctx, a, i, tree, keep)
		if err == nil {
			f.Number, f.OfSeveral = i, len(a.Spec.Sources) > 0
			err = f.Override(a.InstanceName())
		}
		if err != nil {
			return nil, WithNumber(i, len(sources), err)
		}
		if q.Own {
			f.Revision = a.Status.Sync.Revision // whatever CHART holds, it stands for the revision that Argo CD has seen
		}
		out = append(out, f)
	}
	return out, nil
}

// folder fetches one source, which has a number among those of the Application.
func (q Fetcher) folder(ctx context.Context, a *api.Application, number int, tree Local, keep func(done func())) (*Folder, error) {
	s := a.Sources()[number]
	if q.Own {
		path, done, err := q.Chart.Fetch(ctx)
		if err != nil {
			return nil, err
		}
		keep(done)
		f, err := opened(s, path, keep)
		if err == nil {
			err = f.ownedByUser()
		}
		return f, err
	}
	if f, has, err := tree(s); has {
		return f, err
	}
	switch {
	case s.Chart != "":
		return q.chart(ctx, a, s, keep)
	case !strings.HasPrefix(s.RepoURL, "https://") && !strings.HasPrefix(s.RepoURL, "http://"):
		return nil, hint.New(fmt.Errorf("helmdrift fetches repositories over http and https, and not %s", s.RepoURL),
			"give the folder of the source as CHART, from your own working tree")
	}
	order := CommitOrder{URL: s.RepoURL, Ref: s.TargetRevision, Foreign: a.IsForeign(s.RepoURL)}
	if err := address.CheckURL(s.RepoURL, "repoURL", order.Foreign); err != nil {
		return nil, err
	}
	if s.TagPrefix != "" || isRange(s.TargetRevision) {
		if order.Ref = a.Found(number); order.Ref == "" {
			return nil, hint.New(
				fmt.Errorf("targetRevision %s%s is a range of versions, and Argo CD has not said which commit that is",
					s.TagPrefix, s.TargetRevision),
				"wait until Argo CD has compared the Application, or give the folder of the source as CHART")
		}
	}
	if u, err := url.Parse(s.RepoURL); err == nil && order.Foreign {
		order.Addresses = address.Lookup(u.Hostname())
	}
	dir, commit, done, err := q.Commit(ctx, order)
	keep(done)
	if err != nil {
		return nil, hint.New(fmt.Errorf("fetching %s: %w", s.RepoURL, err), "give the folder of the source as CHART, from your own working tree")
	}
	return InCommit(dir, s, commit)
}

// InCommit returns the folder of a source in a folder that has the files of a commit and nothing else.
func InCommit(dir string, s api.Source, commit string) (*Folder, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	f, err := In(root, s, fmt.Sprintf("commit %.12s", commit))
	if err == nil {
		f.Revision, f.OfCommit = commit, true
	}
	return f, err
}

// isRange reports whether a revision of Git is a range of versions, which means the newest tag within it (argo-cd v3.6.1
// util/versions/tags.go IsConstraint).
func isRange(revision string) bool {
	if _, err := semver.NewVersion(revision); err == nil || revision == "" {
		return false
	}
	_, err := semver.NewConstraint(revision)
	return err == nil
}

// In returns the folder of a source below the root of its repository, which is a path without links, and so is that of the folder. In names
// the repository in messages.
func In(root string, s api.Source, in string) (*Folder, error) {
	f := &Folder{Source: s, Root: root, Dir: filepath.Join(root, filepath.FromSlash(s.Path))}
	if inside, err := filepath.Rel(root, f.Dir); err != nil || !filepath.IsLocal(inside) {
		return nil, fmt.Errorf("path %q is outside of the repository", s.Path)
	}
	real, err := filepath.EvalSymlinks(f.Dir)
	info, statErr := os.Stat(f.Dir)
	switch inside, relErr := filepath.Rel(root, real); {
	case err != nil || statErr != nil || !info.IsDir():
		return nil, fmt.Errorf("%s has no folder %s", in, s.Path)
	case relErr != nil || !filepath.IsLocal(inside) || isOfGit(root, real):
		return nil, fmt.Errorf("path %q is a link that leads out of %s", s.Path, in)
	}
	f.Dir = real
	if !f.IsRef() {
		err = lacksSubmodule(root, real)
	}
	return f, err
}

// chart fetches a chart from a repository of charts. A repository without a scheme is a registry.
func (q Fetcher) chart(ctx context.Context, a *api.Application, s api.Source, keep func(done func())) (*Folder, error) {
	with := q.Source
	with.Version, with.RepoURL, with.Devel, with.Remote, with.Plugins.Forbidden = s.TargetRevision, "", false, true, true
	ref := s.Chart
	if IsRemote(s.RepoURL) && !strings.HasPrefix(s.RepoURL, "oci://") {
		with.RepoURL = s.RepoURL
	} else {
		ref = "oci://" + strings.TrimSuffix(strings.TrimPrefix(s.RepoURL, "oci://"), "/") + "/" + s.Chart
	}
	isForeign := a.IsForeign(s.RepoURL)
	if err := address.CheckURL(cmp.Or(with.RepoURL, ref), "repoURL", isForeign); err != nil {
		return nil, err
	}
	with.Refuse = func(ip netip.Addr) error { return address.Check(ip, "repoURL", isForeign) }
	path, done, err := q.Fetch(ctx, ref, with)
	if err != nil {
		return nil, err
	}
	keep(done)
	f, err := opened(s, path, keep)
	if err == nil {
		f.Revision, err = f.version()
	}
	return f, err
}

// version returns the version of a chart as Argo CD names it: targetRevision, or if that is a range, the one that was found (argo-cd v3.6.1
// reposerver/repository/repository.go newHelmClientResolveRevision).
func (f *Folder) version() (string, error) {
	if _, err := semver.NewVersion(f.Source.TargetRevision); err == nil {
		return f.Source.TargetRevision, nil
	}
	var chart struct{ Version string }
	text, err := ReadWithin(f.Root, filepath.Join(f.Dir, "Chart.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &chart)
	}
	if err != nil {
		return "", fmt.Errorf("the version of the chart: %w", err)
	}
	return chart.Version, nil
}

// opened returns the folder of a chart that is a folder or an archive.
func opened(s api.Source, path string, keep func(done func())) (*Folder, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		real, err := filepath.EvalSymlinks(path)
		return &Folder{Source: s, Root: real, Dir: real, IsChart: s.Chart != ""}, err
	}
	dir, err := extracted(path, keep)
	if err != nil {
		return nil, fmt.Errorf("unpacking the chart: %w", err)
	}
	return &Folder{Source: s, Root: dir, Dir: dir, IsChart: true}, nil
}

// ownedByUser completes a folder that the user gives for a source. A kustomization may need files beside its folder, so the root is that of
// the working tree then. Anything else that is no chart is what the source makes, such as the output of a plugin.
func (f *Folder) ownedByUser() error {
	f.Source.Plugin = nil
	kind, err := (&Folder{Dir: f.Dir}).Kind()
	if err == nil && kind == KindKustomize {
		f.Root, _, err = worktree.Find(f.Dir)
		return err
	}
	f.Source.Kustomize = nil
	if own, other := f.Kind(); own != KindDirectory || other != nil || f.Source.Directory != nil {
		return err
	}
	files, err := f.Manifests()
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no chart, no kustomization and no manifests", f.Dir)
	}
	return err
}

// mostBytes is how many bytes the files of a chart may have.
const mostBytes = 256 << 20

// extracted unpacks the archive of a chart, as the repo-server does, so that value files can be files of the chart.
func extracted(path string, keep func(done func())) (string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the file was fetched for that
	if err != nil {
		return "", err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	archive, err := io.ReadAll(io.LimitReader(unzipped, mostBytes+1))
	if err == nil && len(archive) > mostBytes {
		err = errors.New("it is too large")
	}
	if err != nil {
		return "", err
	}
	dir, done, err := files.Unpack(archive, false)
	keep(done)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return "", errors.Join(err, errors.New("a chart has one folder"))
	}
	return filepath.Join(dir, entries[0].Name()), nil
}

// These are the kinds of folders.
const (
	KindChart     = "chart"
	KindKustomize = "kustomize"
	KindDirectory = "directory"
)

// Kind is what a folder is for the repo-server: a chart, a kustomization, or manifests. What the source says counts before what is in the
// folder (argo-cd v3.6.1 pkg/apis/application/v1alpha1/types.go ExplicitType, util/app/discovery/discovery.go Discover).
func (f *Folder) Kind() (string, error) {
	s := f.Source
	var said []string
	for _, one := range []struct {
		kind  string
		isSet bool
	}{
		{KindKustomize, s.Kustomize != nil}, {KindChart, s.Helm != nil}, {KindDirectory, s.Directory != nil}, {"plugin", api.IsSet(s.Plugin)},
	} {
		if one.isSet {
			said = append(said, one.kind)
		}
	}
	switch {
	case len(said) > 1:
		return "", fmt.Errorf("the source is of several kinds, which Argo CD refuses: %s", strings.Join(said, ", "))
	case len(said) == 1 && said[0] == "plugin":
		return "", errors.New("a config management plugin makes the manifests, which helmdrift does not run")
	case len(said) == 1:
		return said[0], nil
	case f.IsChart:
		return KindChart, nil
	}
	entries, err := os.ReadDir(f.Dir)
	kind := KindDirectory
	for _, entry := range entries { // the last one counts
		switch name := entry.Name(); {
		case entry.IsDir():
		case strings.HasSuffix(name, "Chart.yaml"):
			kind = KindChart
		case kustomize.IsKustomization(name):
			kind = KindKustomize
		}
	}
	return kind, err
}

// FetchRemote returns what fetches a value file of an Application from an address.
func (q Fetcher) FetchRemote(a *api.Application) func(context.Context, string) ([]byte, error) {
	return func(ctx context.Context, url string) ([]byte, error) {
		if err := address.CheckURL(url, "the address of a value file", a.InTree); err != nil {
			return nil, err
		}
		with := q.Source
		with.Refuse = func(ip netip.Addr) error { return address.Check(ip, "the address of a value file", a.InTree) }
		return fetch.File(ctx, url, with)
	}
}

// WithNumber names the source of an error if there are several. The error of a template keeps its place.
func WithNumber(i, all int, err error) error {
	if _, isOfTemplate := errors.AsType[*render.Error](err); all == 1 || isOfTemplate {
		return err
	}
	return fmt.Errorf("source %d: %w", i+1, err)
}
