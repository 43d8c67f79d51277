package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/getter"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
)

// access is what it takes to get in somewhere.
type access struct {
	// owner is the URL whose host may see the credentials.
	owner              string
	username, password string
	// everywhere lets all hosts see them.
	everywhere                bool
	certFile, keyFile, caFile string
	insecure                  bool
}

// of puts what a known repository says over what the flags say (helm v3.22.0 pkg/downloader/chart_downloader.go
// ResolveChartVersion). Its word on unverified certificates counts for its index only.
func (a access) of(entry *repo.Entry) access {
	a.owner = entry.URL
	if entry.CertFile != "" || entry.KeyFile != "" || entry.CAFile != "" {
		a.certFile, a.keyFile, a.caFile = entry.CertFile, entry.KeyFile, entry.CAFile
	}
	if entry.Username != "" && entry.Password != "" {
		a.username, a.password, a.everywhere = entry.Username, entry.Password, entry.PassCredentialsAll
	}
	return a
}

// withheld tells whether there are credentials that this URL does not get.
func (a access) withheld(u *url.URL) bool {
	owner, err := url.Parse(a.owner)
	return a.password != "" && err == nil && !sameHost(owner, u) && (!a.everywhere || downgrades(owner, u))
}

func sameHost(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// source is where a file lies, and how to get it.
type source struct {
	url     *url.URL
	access  access
	fetcher fetcher
	// client is nil until a registry is asked.
	client *registry.Client
	// digest is what the index of where says of the archive.
	digest, where string
	// chart and version are what was asked of a registry.
	chart, version string
}

func (f fetcher) source(u *url.URL, login access) source {
	return source{url: u, access: login, fetcher: f}
}

// read gets the file, or the one whose name has the suffix too.
func (s source) read(suffix string, options ...getter.Option) ([]byte, error) {
	everywhere := s.access.everywhere && !s.access.withheld(s.url) // the getter would send them without TLS too
	options = append(options,
		getter.WithURL(s.access.owner),
		getter.WithBasicAuth(s.access.username, s.access.password),
		getter.WithPassCredentialsAll(everywhere),
	)
	switch s.url.Scheme {
	case "http", "https":
		outer, err := s.fetcher.httpTransport(s.access)
		if err != nil {
			return nil, err
		}
		options = append(options, getter.WithTransport(outer))
	case registry.OCIScheme:
		if s.client == nil {
			// An index led here. Credentials of its repository are not for the registry.
			s.access.username, s.access.password = "", ""
			if err := s.connect(); err != nil {
				return nil, err
			}
		}
		options = append(options, getter.WithRegistryClient(s.client))
	default:
		return nil, problem{what: fmt.Sprintf("%s:// is not supported", s.url.Scheme), hint: hintPlugin}
	}
	get, err := getter.Getters().ByScheme(s.url.Scheme)
	if err != nil {
		return nil, err
	}
	data, err := get.Get(s.url.String()+suffix, options...)
	if err != nil {
		return nil, failed{s, err}
	}
	return data.Bytes(), nil
}

// unread adds to the failure of a registry which versions it has.
func (s source) unread(err error) error {
	if s.client != nil && s.chart != "" && statusOf(err) == 404 {
		return s.noTag(err)
	}
	return err
}

// fileName is the name under which the archive is stored: the signature of a provenance file names it
// (pkg/downloader/chart_downloader.go DownloadTo).
func (s source) fileName() string {
	name := path.Base(s.url.Path)
	if i := strings.LastIndexByte(name, ':'); s.url.Scheme == registry.OCIScheme && i > 0 {
		name = name[:i] + "-" + name[i+1:] + ".tgz"
	}
	if name == "." || name == ".." || strings.ContainsAny(name, `/\:`) {
		return "chart.tgz"
	}
	return name
}

// check compares an archive with the digest in the index, which some write with the name of the algorithm before it. A
// registry answers for what it sends itself.
func (s source) check(archive []byte) error {
	want := strings.ToLower(strings.TrimPrefix(s.digest, "sha256:"))
	if raw, err := hex.DecodeString(want); err != nil || len(raw) != sha256.Size || s.url.Scheme == registry.OCIScheme {
		return nil
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != want {
		return problem{
			what: fmt.Sprintf("what %s sends is not what the index of %s lists: its digest is another", s.url.Host, s.where),
			hint: "helm repo update, if the version was published anew; helm itself does not compare them: helm pull, then give the path",
		}
	}
	return nil
}
