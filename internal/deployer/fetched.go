package deployer

import (
	"context"
	"net/netip"
	"sync"

	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// FetchChart fetches a chart. Done removes its files; it may be nil.
type FetchChart = func(ctx context.Context, ref string, o fetch.Options) (path string, done func(), err error)

// Fetched keeps what was fetched for many releases until it is closed, so that each chart and each index is fetched once. The zero value is
// ready for use.
type Fetched struct {
	indexes fetch.Indexes
	charts  once.Map[chartKey, string]

	mu   sync.Mutex
	done []func()
}

// chartKey is what decides which chart is fetched. Another login may get another chart. A source in a working tree may not be fetched from
// this machine, also not by a redirect, so it does not get what a source of the cluster got.
type chartKey struct {
	ref, version, repository, username, password, keyring string
	plain, verify, local                                  bool
}

// Charts returns a function that keeps the answers of another one.
func (f *Fetched) Charts(fetchChart FetchChart) FetchChart {
	return func(ctx context.Context, ref string, o fetch.Options) (string, func(), error) {
		local := o.Refuse == nil || o.Refuse(netip.IPv6Loopback()) == nil
		key := chartKey{ref, o.Version, o.RepoURL, o.Username, o.Password, o.Keyring, o.PlainHTTP, o.Verify, local}
		path, err := f.charts.Get(key, func() (string, error) {
			o.Indexes = &f.indexes
			path, done, err := fetchChart(ctx, ref, o)
			f.Keep(done)
			return path, err
		})
		return path, func() {}, err
	}
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
	f.indexes.Close()
	for _, done := range f.done {
		done()
	}
}
