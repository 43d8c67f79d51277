package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/helmpath"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
)

// locate finds out where the archive of a chart lies.
func (f fetcher) locate(ref string) (source, error) {
	if f.RepoURL != "" {
		return f.inRepositoryAt(ref)
	}
	if registry.IsOCI(ref) {
		return f.inRegistry(ref)
	}
	if u, err := url.Parse(ref); err == nil && u.IsAbs() && u.Host != "" && u.Path != "" {
		return f.at(u, f.access())
	}
	name, chart, found := strings.Cut(ref, "/")
	if !found {
		return source{}, problem{what: "there is no such file or directory here",
			hint: "a chart is given by its path, as REPO/CHART, by a URL, as oci://HOST/PATH, or by its name and --repo URL"}
	}
	return f.inRepository(name, chart)
}

// access is what the flags say about getting in.
func (f fetcher) access() access {
	return access{
		username: f.Username, password: f.Password, everywhere: f.PassCredentials,
		certFile: f.CertFile, keyFile: f.KeyFile, caFile: f.CAFile, insecure: f.InsecureSkipTLSVerify,
	}
}

// inRepositoryAt looks into the index that the repository of --repo serves (helm v3.22.0 pkg/repo/chartrepo.go
// FindChartInAuthAndTLSAndPassRepoURL, which goes through Helm's cache). Credentials go to charts elsewhere only with
// --pass-credentials.
func (f fetcher) inRepositoryAt(name string) (source, error) {
	if registry.IsOCI(f.RepoURL) {
		return source{}, problem{what: "a registry is no chart repository", hint: "give oci://HOST/PATH as the chart, without --repo"}
	}
	where := "the repository " + shown(f.RepoURL)
	index, err := f.indexOf(f.RepoURL)
	if err != nil {
		return source{}, err
	}
	found, err := pick(index, f.RepoURL, where, name, f.Version, "")
	if err != nil {
		return source{}, err
	}
	login := f.access()
	if base, err := url.Parse(f.RepoURL); err != nil || !login.everywhere && !sameHost(base, found.url) {
		login.username, login.password = "", ""
	}
	from, err := f.at(found.url, login)
	from.digest, from.where = found.digest, where
	return from, err
}

// indexOf gets the index of a repository.
func (f fetcher) indexOf(base string) (*repo.IndexFile, error) {
	at, err := repo.ResolveReferenceURL(base, "index.yaml")
	if err != nil {
		return nil, problem{what: "--repo is no URL"}
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return nil, problem{what: "--repo is no URL"}
	}
	login := f.access()
	login.owner = base
	text, err := f.source(u, login).read("")
	if err != nil {
		return nil, because(err, "the index of the repository cannot be fetched", "")
	}
	file := filepath.Join(f.dir, "index.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	index, err := repo.LoadIndexFile(file)
	if err != nil {
		return nil, problem{what: shown(at) + " is no index of a chart repository", err: errors.Unwrap(err)}
	}
	return index, nil
}

// inRepository looks into the index that helm repo update left.
func (f fetcher) inRepository(name, chart string) (source, error) {
	known, err := f.repositories()
	if err != nil {
		return source{}, err
	}
	entry := known.Get(name)
	if entry == nil || entry.URL == "" {
		return source{}, problem{what: fmt.Sprintf("repo %s not found", shown(name)), hint: fmt.Sprintf("helm repo list shows those that are "+
			"known; helm repo add %s URL adds one, or give --repo URL", shown(name))}
	}
	index, err := repo.LoadIndexFile(f.indexFile(name))
	if err != nil {
		return source{}, problem{what: fmt.Sprintf("the index of repo %s cannot be read", name), err: err, hint: "helm repo update " + name}
	}
	found, err := pick(index, entry.URL, "repo "+name, chart, f.Version, "helm repo update "+name+", if it is new")
	if err != nil {
		return source{}, err
	}
	from := f.source(found.url, f.access().of(entry))
	from.digest, from.where = found.digest, "repo "+name
	return from, nil
}

func (f fetcher) indexFile(name string) string {
	return filepath.Join(f.RepositoryCache, helmpath.CacheIndexFile(name))
}

// repositories are those of helm repo add; none where the file is not there. Errors do not quote it, as it holds passwords.
func (f fetcher) repositories() (*repo.File, error) {
	known, err := repo.LoadFile(f.RepositoryConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return &repo.File{}, nil
	}
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return nil, problem{what: "the list of repositories cannot be read", err: file}
	}
	if err != nil {
		return nil, problem{what: fmt.Sprintf("the list of repositories, %s, cannot be read as YAML", f.RepositoryConfig)}
	}
	known.Repositories = slices.DeleteFunc(known.Repositories, func(e *repo.Entry) bool { return e == nil })
	return known, nil
}

// at is a chart at a URL. The first known repository whose index lists it says how to get in.
func (f fetcher) at(u *url.URL, login access) (source, error) {
	known, err := f.repositories()
	if err != nil {
		return source{}, err
	}
	login.owner = u.String()
	for _, entry := range known.Repositories {
		index, err := repo.LoadIndexFile(f.indexFile(entry.Name))
		if err == nil && lists(index, u) {
			login = login.of(entry)
			break
		}
	}
	return f.source(u, login), nil
}

// lists tells whether an index has this very URL. Relative ones do not count (pkg/downloader scanReposForURL).
func lists(index *repo.IndexFile, u *url.URL) bool {
	wanted := cleaned(u)
	for _, versions := range index.Entries {
		for _, version := range versions {
			for _, listed := range version.URLs {
				if l, err := url.Parse(listed); err == nil && cleaned(l) == wanted {
					return true
				}
			}
		}
	}
	return false
}

func cleaned(u *url.URL) string {
	c := *u
	c.Path = path.Clean("/" + c.Path)
	if !u.IsAbs() {
		c.Path = path.Clean(u.Path)
	}
	return c.String()
}

// picked is a version of a chart in an index.
type picked struct {
	url *url.URL
	// digest is empty where the index gives none.
	digest string
}

// pick chooses the version of a chart as Helm does (pkg/repo/index.go Get). hint is for what cannot be found.
func pick(index *repo.IndexFile, base, where, chart, version, hint string) (picked, error) {
	versions := index.Entries[chart]
	if len(versions) == 0 {
		return picked{}, problem{what: fmt.Sprintf("%s has no chart %s", where, chart), hint: hint}
	}
	chosen, err := index.Get(chart, version)
	if err != nil {
		var names []string
		for _, v := range versions {
			names = append(names, v.Version)
		}
		return picked{}, noVersion(where, chart, version, names, hint)
	}
	if len(chosen.URLs) == 0 {
		return picked{}, problem{what: fmt.Sprintf("%s gives no URL for %s %s", where, chart, chosen.Version)}
	}
	full, err := repo.ResolveReferenceURL(base, chosen.URLs[0])
	if err != nil {
		return picked{}, problem{what: fmt.Sprintf("%s gives %s %s a URL that is none", where, chart, chosen.Version)}
	}
	u, err := url.Parse(full)
	if err != nil {
		return picked{}, problem{what: fmt.Sprintf("%s gives %s %s a URL that is none", where, chart, chosen.Version)}
	}
	return picked{u, chosen.Digest}, nil
}

// noVersion names the newest versions that there are; names begin with the newest.
func noVersion(where, chart, version string, names []string, hint string) error {
	const few = 5
	listed := strings.Join(names[:min(few, len(names))], ", ")
	if more := len(names) - few; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	p := problem{
		what: fmt.Sprintf("%s has no version of %s that is %s; there are %s", where, chart, version, listed),
		hint: hint,
	}
	if version == "" {
		p.what = fmt.Sprintf("%s has only development versions of %s: %s", where, chart, listed)
		p.hint = "--devel takes them too, or name one with --version"
	}
	return p
}

// inRegistry finds the tag for a version; the client asks the registry for its tags where that needs to be known
// (pkg/registry/client.go ValidateReference).
func (f fetcher) inRegistry(ref string) (source, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return source{}, problem{what: "it is no URL"}
	}
	if u.User != nil {
		return source{}, problem{what: "the URL of a registry takes no credentials", hint: fmt.Sprintf(hintRegistry, u.Host)}
	}
	login := f.access()
	login.owner = ref
	from := f.source(u, login)
	from.chart, from.version = strings.TrimPrefix(ref, registry.OCIScheme+"://"), f.Version
	if err := from.connect(); err != nil {
		return source{}, err
	}
	tagged := *u
	if from.url, err = from.client.ValidateReference(ref, f.Version, &tagged); err != nil {
		from.url = u
		return source{}, from.noTag(failed{from, err})
	}
	return from, nil
}

// noTag says which versions a registry has, where the wanted one is not among them.
func (s source) noTag(cause error) error {
	tags, err := s.client.Tags(s.chart)
	if err != nil || len(tags) == 0 {
		return cause
	}
	if _, err := registry.GetTagMatchingVersionOrConstraint(tags, s.version); err == nil {
		return cause
	}
	host, name, _ := strings.Cut(s.chart, "/")
	return noVersion(host, name, s.version, tags, "")
}
