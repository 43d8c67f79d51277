package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
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
	file, at, err := f.fetchIndex(f.RepoURL)
	if err != nil {
		return source{}, err
	}
	found, err := f.pick(IndexQuery{Files: []string{file}, Base: f.RepoURL, Where: where, Chart: name, Version: f.Version})
	if bad := (unreadable{}); errors.As(err, &bad) {
		return source{}, problem{what: shown(at) + " is no index of a chart repository", err: bad.cause}
	}
	if err != nil {
		return source{}, err
	}
	login := f.access()
	base, err := url.Parse(f.RepoURL)
	if err != nil || !sameHost(base, found.url) && (!login.everywhere || downgrades(base, found.url)) {
		login.username, login.password = "", ""
	}
	from, err := f.at(found.url, login)
	from.digest, from.where = found.digest, where
	return from, err
}

// fetchIndex brings the index of a repository into a file. at is where it was.
func (f fetcher) fetchIndex(base string) (file, at string, err error) {
	at, err = repo.ResolveReferenceURL(base, "index.yaml")
	if err != nil {
		return "", "", problem{what: "--repo is no URL"}
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return "", "", problem{what: "--repo is no URL"}
	}
	login := f.access()
	login.owner = base
	text, err := f.source(u, login).read("")
	if err != nil {
		return "", "", because(err, "the index of the repository cannot be fetched", "")
	}
	file = filepath.Join(f.dir, "index.yaml")
	return file, at, os.WriteFile(file, text, 0o600)
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
	found, err := f.pick(IndexQuery{Files: []string{f.indexFile(name)}, Base: entry.URL, Where: "repo " + name, Chart: chart, Version: f.Version,
		Hint: "helm repo update " + name + ", if it is new"})
	if bad := (unreadable{}); errors.As(err, &bad) {
		return source{}, problem{what: fmt.Sprintf("the index of repo %s cannot be read", name), err: bad, hint: "helm repo update " + name}
	}
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
	var files []string
	for _, entry := range known.Repositories {
		files = append(files, f.indexFile(entry.Name))
	}
	if len(files) == 0 {
		return f.source(u, login), nil
	}
	answer, err := f.ask(IndexQuery{Files: files, URL: u.String()})
	if err != nil {
		return source{}, err
	}
	if answer.Listed {
		login = login.of(known.Repositories[answer.File])
	}
	return f.source(u, login), nil
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
