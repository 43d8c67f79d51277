package fetch

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/helmpath"
	"helm.sh/helm/v3/pkg/registry"
)

// locate finds the archive of a chart, in the order of the package comment.
func (f fetcher) locate(ref string) (source, error) {
	if f.RepoURL != "" {
		return f.locateByRepoURL(ref)
	}
	if registry.IsOCI(ref) {
		return f.locateInRegistry(ref)
	}
	if u, err := url.Parse(ref); err == nil && u.IsAbs() && u.Host != "" && u.Path != "" {
		return f.locateURL(u, f.access())
	}
	name, chart, found := strings.Cut(ref, "/")
	if !found {
		return source{}, problem{message: "no such file or directory",
			hint: "a chart is given by its path, as REPO/CHART, by a URL, as oci://HOST/PATH, or by its name and --repo URL"}
	}
	return f.locateInRepository(name, chart)
}

// access returns the credentials and certificates of the flags.
func (f fetcher) access() access {
	return access{
		username: f.Username, password: f.Password, passAll: f.PassCredentials,
		certFile: f.CertFile, keyFile: f.KeyFile, caFile: f.CAFile, insecure: f.InsecureSkipTLSVerify,
	}
}

// locateByRepoURL looks up the chart in the index of the repository of --repo (helm v3.22.0 pkg/repo/chartrepo.go
// FindChartInAuthAndTLSAndPassRepoURL, which goes through Helm's cache). Other hosts get the credentials only with --pass-credentials.
func (f fetcher) locateByRepoURL(name string) (source, error) {
	if registry.IsOCI(f.RepoURL) {
		return source{}, problem{
			message: "--repo names a registry, not a chart repository",
			hint:    "give oci://HOST/PATH as the chart, without --repo",
		}
	}
	where := "the repository " + WithoutLogin(f.RepoURL)
	file, at, err := f.fetchIndex(f.RepoURL)
	if err != nil {
		return source{}, err
	}
	found, digest, err := f.pickVersion(IndexQuery{Files: []string{file}, Base: f.RepoURL, Where: where, Chart: name, Version: f.Version})
	if bad := (unreadableIndex{}); errors.As(err, &bad) {
		return source{}, problem{message: WithoutLogin(at) + " is not the index of a chart repository", err: bad.cause}
	}
	if err != nil {
		return source{}, err
	}
	login := f.access()
	base, err := url.Parse(f.RepoURL)
	if err != nil || !sameHost(base, found) && (!login.passAll || downgrades(base, found)) {
		login.username, login.password = "", ""
	}
	from, err := f.locateURL(found, login)
	from.digest, from.where = digest, where
	return from, err
}

// indexKey is a URL and who asks for it: somebody else may get another index. If loopback is not set, no redirect to this machine may have
// delivered the index.
type indexKey struct {
	url string
	access
	loopback bool
}

// fetchIndex downloads the index of a repository into a file. At is the URL of the index.
func (f fetcher) fetchIndex(base string) (file, at string, err error) {
	at, err = resolveURL(base, "index.yaml")
	u, invalid := url.Parse(at)
	if err != nil || invalid != nil || u.Host == "" {
		return "", "", problem{message: "--repo is not a URL"}
	}
	login := f.access()
	login.owner = base
	read := func() ([]byte, error) {
		text, err := f.source(u, login).read(theFile, "")
		if err != nil {
			return nil, wrapProblem(err, "the index of the repository cannot be fetched", "")
		}
		return text, nil
	}
	if f.KeepIndex != nil {
		file, err = f.KeepIndex(indexKey{at, login, f.AllowsLoopback()}, read)
		return file, at, err
	}
	text, err := read()
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(f.dir, "index.yaml")
	return file, at, os.WriteFile(file, text, 0o600)
}

// locateInRepository looks up the chart in the index that helm repo update left.
func (f fetcher) locateInRepository(name, chart string) (source, error) {
	known, err := f.repositories()
	if err != nil {
		return source{}, err
	}
	i := slices.IndexFunc(known, func(r *repository) bool { return r.Name == name })
	if i < 0 || known[i].URL == "" {
		return source{}, problem{message: fmt.Sprintf("repo %s not found", WithoutLogin(name)), hint: fmt.Sprintf("helm repo list shows the "+
			"known repositories; helm repo add %s URL adds one, or give --repo URL", WithoutLogin(name))}
	}
	entry := known[i]
	found, digest, err := f.pickVersion(IndexQuery{Files: []string{f.indexFile(name)}, Base: entry.URL, Where: "repo " + name,
		Chart: chart, Version: f.Version, Hint: "helm repo update " + name + " finds new charts and versions"})
	if bad := (unreadableIndex{}); errors.As(err, &bad) {
		return source{}, problem{message: fmt.Sprintf("the index of repo %s cannot be read", name), err: bad, hint: "helm repo update " + name}
	}
	if err != nil {
		return source{}, err
	}
	from := f.source(found, f.access().forRepository(entry))
	from.digest, from.where = digest, "repo "+name
	return from, nil
}

// indexFile returns the path of the index that helm repo update wrote for a repository.
func (f fetcher) indexFile(name string) string {
	return filepath.Join(f.RepositoryCache, helmpath.CacheIndexFile(name))
}

// locateURL returns the source of a chart at a URL. The first known repository whose index lists the URL provides the credentials.
func (f fetcher) locateURL(u *url.URL, login access) (source, error) {
	known, err := f.repositories()
	if err != nil {
		return source{}, err
	}
	login.owner = u.String()
	var files []string
	for _, entry := range known {
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
		login = login.forRepository(known[answer.File])
	}
	return f.source(u, login), nil
}

// locateInRegistry finds the tag for a version. The client asks the registry for its tags if needed
// (pkg/registry/client.go ValidateReference).
func (f fetcher) locateInRegistry(ref string) (source, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return source{}, problem{message: "it is not a URL"}
	}
	if u.User != nil {
		return source{}, problem{message: "the URL of a registry must not contain credentials", hint: fmt.Sprintf(hintRegistry, u.Host)}
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
		return source{}, from.noTag(fetchError{from, err})
	}
	return from, nil
}

// noTag returns an error that names the versions of a chart in the registry, if the wanted one is not among them.
func (s source) noTag(cause error) error {
	tags, err := s.client.Tags(s.chart)
	if err != nil || len(tags) == 0 {
		return cause
	}
	if _, err := registry.GetTagMatchingVersionOrConstraint(tags, s.version); err == nil {
		return cause
	}
	host, name, _ := strings.Cut(s.chart, "/")
	return noVersionProblem(host, name, s.version, tags, "")
}
