package deployer

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/tempdir"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// FetchChart fetches a chart. Done removes its files; it may be nil.
type FetchChart = func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)

// Fetched keeps what was fetched for many releases until it is closed, so that each chart and each index is fetched once. The zero value is
// ready for use.
type Fetched struct {
	indexes once.Map[any, string]
	charts  once.Map[chartKey, string]

	mu   sync.Mutex
	done []func()
}

// chartKey is what decides which chart is fetched: its reference and all options. Nothing may be fetched from this machine for a source in
// a working tree, not even by a redirect. So it does not get a chart that was fetched for a source of the cluster.
type chartKey struct {
	ref, version, repository, username, password, keyring, certFile, keyFile, caFile string
	repositoryConfig, repositoryCache, registryConfig, pluginDirs                    string
	devel, remote, verify, insecure, plain, passCredentials, noPlugins, loopback     bool
	maxAnswer                                                                        int64
}

// keyOf returns the key of a chart.
func keyOf(ref string, o fetch.Options) chartKey {
	return chartKey{
		ref, o.Version, o.RepoURL, o.Username, o.Password, o.Keyring, o.CertFile, o.KeyFile, o.CAFile,
		o.RepositoryConfig, o.RepositoryCache, o.RegistryConfig, o.Plugins.Dirs,
		o.Devel, o.Remote, o.Verify, o.InsecureSkipTLSVerify, o.PlainHTTP, o.PassCredentials, o.Plugins.Forbidden, o.AllowsLoopback(),
		o.MaxAnswer,
	}
}

// Charts returns a function that keeps the answers of another one.
func (f *Fetched) Charts(fetchChart FetchChart) FetchChart {
	return func(ctx context.Context, ref string, o fetch.Options) (string, func(), error) {
		path, err := f.charts.Get(keyOf(ref, o), func() (string, error) {
			o.KeepIndex = f.keepIndex
			path, done, err := fetchChart(ctx, ref, o)
			f.Keep(done)
			return path, err
		})
		return path, func() {}, err
	}
}

// keepIndex returns the file with the index of a key. Only the first call with a key reads the index.
func (f *Fetched) keepIndex(key any, read func() ([]byte, error)) (string, error) {
	return f.indexes.Get(key, func() (string, error) {
		dir, err := tempdir.New()
		if err != nil {
			return "", err
		}
		f.Keep(func() { _ = os.RemoveAll(dir) })
		text, err := read()
		if err != nil {
			return "", err
		}
		name := filepath.Join(dir, "index.yaml")
		return name, os.WriteFile(name, text, 0o600)
	})
}

// Keep lets Close call done, which may be nil.
func (f *Fetched) Keep(done func()) {
	if done == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, done)
}

// Close removes the files.
func (f *Fetched) Close() {
	for _, done := range f.done {
		done()
	}
}
