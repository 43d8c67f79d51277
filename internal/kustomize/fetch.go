package kustomize

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/tempdir"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// Fetcher fetches the bases that a tree names and does not have, each once. It is safe for concurrent use.
type Fetcher struct {
	// Time is how long git may run, and MaxOutput bounds the length of a commit or a file in bytes.
	Time      time.Duration
	MaxOutput int64

	fetched once.Map[Base, string]

	mu   sync.Mutex
	done []func()
}

// Fetch fetches a base and returns the folder that has it.
func (f *Fetcher) Fetch(ctx context.Context, base Base) (string, error) {
	return f.fetched.Get(base, func() (string, error) {
		dir, done, err := f.fetch(ctx, base)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.done = append(f.done, done)
		return dir, err
	})
}

// fetch fetches a base into a new folder. Done removes it; it is never nil.
func (f *Fetcher) fetch(ctx context.Context, base Base) (dir string, done func(), err error) {
	done = func() {}
	at, err := url.Parse(base.URL)
	if err != nil || at.Scheme != "https" {
		return "", done, errors.New("it is no address of https")
	}
	addresses := address.Lookup(at.Hostname())
	for _, one := range addresses {
		if err := address.Check(one, "it", true); err != nil {
			return "", done, err
		}
	}
	if !base.IsFile {
		archive, err := program.Remote{URL: base.URL, Ref: base.Ref, Addresses: addresses, Time: f.Time, MaxOutput: f.MaxOutput}.Fetch(ctx)
		if err != nil {
			return "", done, err
		}
		return files.Unpack(archive, false)
	}
	text, err := fetch.File(ctx, base.URL, fetch.Options{MaxAnswer: f.MaxOutput, Refuse: func(ip netip.Addr) error {
		return address.Check(ip, "it", true)
	}})
	if err != nil {
		return "", done, err
	}
	if dir, err = tempdir.New(); err != nil {
		return "", done, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, os.WriteFile(filepath.Join(dir, path.Base(at.Path)), text, 0o600)
}

// Close removes what was fetched.
func (f *Fetcher) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, done := range f.done {
		done()
	}
	f.done = nil
}
