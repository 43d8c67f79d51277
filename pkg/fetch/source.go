package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/registry"
)

// access is what a server needs to grant access: credentials and certificates.
type access struct {
	// owner is the URL whose host may see the credentials.
	owner              string
	username, password string
	// passAll lets all hosts see them.
	passAll                   bool
	certFile, keyFile, caFile string
	insecure                  bool
}

// forRepository overrides the flags with the settings of a known repository (helm v3.22.0 pkg/downloader/chart_downloader.go
// ResolveChartVersion). Its setting for unverified certificates applies only to its index.
func (a access) forRepository(entry *repository) access {
	a.owner = entry.URL
	if entry.CertFile != "" || entry.KeyFile != "" || entry.CAFile != "" {
		a.certFile, a.keyFile, a.caFile = entry.CertFile, entry.KeyFile, entry.CAFile
	}
	if entry.Username != "" && entry.Password != "" {
		a.username, a.password, a.passAll = entry.Username, entry.Password, entry.PassCredentialsAll
	}
	return a
}

// withholds reports whether there are credentials that are not sent to this URL.
func (a access) withholds(u *url.URL) bool {
	owner, err := url.Parse(a.owner)
	return a.password != "" && (err != nil || !sameHost(owner, u) && (!a.passAll || downgrades(owner, u)))
}

// sameHost reports whether two URLs have the same scheme, host and port.
func sameHost(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// source is the place of a file, and how to read it.
type source struct {
	url     *url.URL
	access  access
	fetcher fetcher
	// client is nil until the registry is asked.
	client *registry.Client
	// digest is the archive's digest in the index, and where is the name of that index.
	digest, where string
	// chart and version are what the registry was asked for.
	chart, version string
}

// source returns the source of a file at a URL.
func (f fetcher) source(u *url.URL, login access) source {
	return source{url: u, access: login, fetcher: f}
}

// A source has these files.
const (
	theFile       = ""
	theProvenance = ".prov"
)

// read reads the file, or the provenance file of an archive. Accept is a header for servers of http, and may be empty.
func (s source) read(which, accept string) (text []byte, err error) {
	switch s.url.Scheme {
	case "http", "https":
		text, err = s.get(which, accept)
	case registry.OCIScheme:
		if s.client == nil {
			// The URL comes from an index. The credentials of its repository are not sent to the registry.
			s.access.username, s.access.password = "", ""
			if err := s.connect(); err != nil {
				return nil, err
			}
		}
		text, err = s.pull(which)
	default:
		return s.download(which)
	}
	if err != nil {
		return nil, fetchError{s, err}
	}
	return text, nil
}

// pull fetches a file from the registry (helm v3.22.0 pkg/getter/ocigetter.go get).
func (s source) pull(which string) ([]byte, error) {
	ref := strings.TrimPrefix(s.url.String(), registry.OCIScheme+"://")
	if which == theProvenance {
		result, err := s.client.Pull(ref, registry.PullOptWithChart(false), registry.PullOptWithProv(true))
		if err != nil {
			return nil, err
		}
		return result.Prov.Data, nil
	}
	result, err := s.client.Pull(ref)
	if err != nil {
		return nil, err
	}
	return result.Chart.Data, nil
}

// withVersions adds the versions of the chart to the error of a registry that does not have the wanted one.
func (s source) withVersions(err error) error {
	if s.client != nil && s.chart != "" && statusOf(err) == 404 {
		return s.noTag(err)
	}
	return err
}

// fileName returns the name for the stored archive. The signature in a provenance file contains this name
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

// checkDigest compares an archive with its digest in the index, which may have the name of the algorithm in front.
// For a registry, its client compares the digest.
func (s source) checkDigest(archive []byte) error {
	want := strings.ToLower(strings.TrimPrefix(s.digest, "sha256:"))
	if raw, err := hex.DecodeString(want); err != nil || len(raw) != sha256.Size || s.url.Scheme == registry.OCIScheme {
		return nil
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != want {
		return problem{
			message: fmt.Sprintf("the archive from %s does not match its digest in the index of %s", s.url.Host, s.where),
			hint: "run helm repo update if the version was published again, " +
				"or fetch it with helm pull, which compares no digest, and give its path",
		}
	}
	return nil
}
