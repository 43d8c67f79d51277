package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v3/pkg/provenance"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/tempdir"
)

// Options are Helm's flags and settings for finding a chart. A field without a comment is the flag of its name. The zero value finds
// charts on this machine, and charts whose URL needs no credentials.
type Options struct {
	// Version is a version or a constraint. If it is empty, the latest stable version is taken.
	Version string
	// Devel includes development versions if Version is empty.
	Devel bool
	// RepoURL is --repo.
	RepoURL string
	// Remote leaves out the files and directories of this machine, which otherwise come before everything else.
	Remote bool
	// Refuse returns an error for an address that must not be connected to. It is nil if all may.
	Refuse func(netip.Addr) error
	// Verify demands a provenance file that is signed by a key of Keyring.
	Verify  bool
	Keyring string

	Username, Password                                string
	CertFile, KeyFile, CAFile                         string
	InsecureSkipTLSVerify, PlainHTTP, PassCredentials bool

	// RepositoryConfig is the file that helm repo add writes, RepositoryCache the directory of the indexes that helm
	// repo update writes, and RegistryConfig the file that helm registry login writes. They are only read.
	RepositoryConfig, RepositoryCache, RegistryConfig string

	// MaxAnswer bounds the length of one answer in bytes. If it is 0 or more than 128 MiB, the bound is 128 MiB.
	MaxAnswer int64
	// Plugins fetch from URLs of other schemes than http, https and oci.
	Plugins Plugins
	// ReadIndex answers a question about indexes, which are foreign text and take many times their size in memory. It
	// defaults to IndexQuery.Answer.
	ReadIndex func(context.Context, IndexQuery) (IndexAnswer, error)
	// KeepIndex keeps the index of RepoURL for other calls: it returns the file with the index of a key, and reads the index if it has no
	// such file. A key is comparable; calls that may get different indexes have different keys. If it is nil, each call fetches its own.
	KeepIndex func(key any, read func() ([]byte, error)) (file string, err error)
}

// AllowsLoopback reports whether Refuse lets this machine be a server.
func (o Options) AllowsLoopback() bool {
	return o.Refuse == nil || o.Refuse(netip.IPv6Loopback()) == nil
}

// IsLocal reports whether ref names a file or directory on this machine. Such a file comes before everything else,
// and RepoURL is then ignored.
func IsLocal(ref string) bool {
	_, err := os.Stat(strings.TrimSpace(ref))
	return err == nil
}

// Chart fetches the chart that ref names and returns the path of its directory or archive. Done removes what was downloaded; it is never
// nil. Errors have one line, name the chart and contain no credentials; most have a Hint() string.
func Chart(ctx context.Context, ref string, o Options) (path string, done func(), err error) {
	ref, o.Version = strings.TrimSpace(ref), strings.TrimSpace(o.Version)
	if o.Version == "" && o.Devel {
		o.Version = ">0.0.0-0"
	}
	done = func() {}
	f := fetcher{Options: o, ctx: ctx}
	switch {
	case !o.Remote && IsLocal(ref):
		path, err = f.local(ref)
	case !o.Remote && (filepath.IsAbs(ref) || strings.HasPrefix(ref, ".")):
		err = problem{message: "no such file or directory"}
	default:
		if f.dir, err = tempdir.New(); err == nil {
			done = func() { _ = os.RemoveAll(f.dir) }
			path, err = await(ctx, func() (string, error) { return f.download(ref) })
		}
	}
	if err != nil {
		done()
		return "", func() {}, f.asError("fetching chart "+WithoutLogin(ref), err)
	}
	return path, done, nil
}

// fetcher is one call of Chart or ReadFile.
type fetcher struct {
	Options
	ctx context.Context
	// dir is a temporary directory that only this user can read (0700).
	dir string
}

// local returns the absolute path of a local chart.
func (f fetcher) local(ref string) (string, error) {
	path, err := filepath.Abs(ref)
	if err != nil {
		return "", err
	}
	return path, f.verify(path)
}

// verify checks the signature of a chart if Options.Verify is set.
func (f fetcher) verify(path string) error {
	if !f.Verify {
		return nil
	}
	if err := verify(path, f.Keyring); err != nil {
		return problem{message: "it cannot be verified", err: err, hint: "--keyring names the file of the public keys that are trusted; " +
			"an archive needs its .prov file beside it"}
	}
	return nil
}

// verify checks the signature of an archive (helm v3.22.0 pkg/downloader/chart_downloader.go VerifyChart).
func verify(path, keyring string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("unpacked charts cannot be verified")
	case !strings.EqualFold(filepath.Ext(path), ".tgz"):
		return errors.New("chart must be a tgz file")
	}
	if _, err := os.Stat(path + theProvenance); err != nil {
		return fmt.Errorf("could not load provenance file %s: %w", path+theProvenance, err)
	}
	keys, err := provenance.NewFromKeyring(keyring, "")
	if err != nil {
		return fmt.Errorf("failed to load keyring: %w", err)
	}
	_, err = keys.Verify(path, path+theProvenance)
	return err
}

// download fetches the archive, and its provenance file if Options.Verify is set.
func (f fetcher) download(ref string) (string, error) {
	from, err := f.locate(ref)
	if err != nil {
		return "", err
	}
	const accept = "application/gzip,application/octet-stream"
	archive, err := from.read(theFile, accept)
	if err != nil {
		return "", from.withVersions(err)
	}
	if err := from.checkDigest(archive); err != nil {
		return "", err
	}
	path := filepath.Join(f.dir, from.fileName())
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		return "", err
	}
	if !f.Verify {
		return path, nil
	}
	signature, err := from.read(theProvenance, accept)
	if err != nil {
		return "", wrapProblem(err, "it cannot be verified, because its provenance file cannot be fetched",
			"only charts that were packaged with helm package --sign have one")
	}
	if err := os.WriteFile(path+theProvenance, signature, 0o600); err != nil {
		return "", err
	}
	return path, f.verify(path)
}

// await runs work and returns when it ends or when ctx ends: a credential helper may wait for its user and ignore ctx.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if cause := recover(); cause != nil {
				a.err = fmt.Errorf("internal error: %v", cause)
			}
			answered <- a
		}()
		a.value, a.err = work()
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// ReadFile reads a values file, or a file that --set-file names: a path, "-" for stdin, or a URL, which a plugin may serve. As in Helm, it
// uses neither the credentials nor the certificates of the chart (helm v3.22.0 pkg/cli/values/options.go readFile).
func ReadFile(ctx context.Context, name string, stdin io.Reader, plugins Plugins) ([]byte, error) {
	f := fetcher{ctx: ctx}
	read := func(subject string, from func() ([]byte, error)) ([]byte, error) {
		text, err := await(ctx, from)
		if err != nil {
			return nil, f.asError(subject, err)
		}
		return text, nil
	}
	if strings.TrimSpace(name) == "-" {
		return read("standard input", func() ([]byte, error) {
			if stdin == nil {
				return nil, errors.New("it is not available")
			}
			return io.ReadAll(stdin)
		})
	}
	u, err := url.Parse(name)
	if err != nil && strings.Contains(name, "://") {
		// The error itself may have a part of a password.
		return nil, hint.New(errors.New(WithoutLogin(name)+" is not a valid URL"),
			"check the address: white space, /, ?, #, % or @ in the user name or the password must be percent-encoded")
	}
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return read(WithoutLogin(name), func() ([]byte, error) { return f.source(u, access{owner: name}).read(theFile, "") })
	}
	if err != nil || !isPlugin(u.Scheme) {
		return os.ReadFile(name)
	}
	if plugins.find(u.Scheme) == nil {
		text, err := os.ReadFile(name) // a file whose name has a colon
		if err == nil || !strings.Contains(name, "://") {
			return text, err
		}
	}
	return read(WithoutLogin(name), func() ([]byte, error) { return plugins.download(ctx, u.Scheme, name, access{}, true) })
}
