package flux

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// Bases fetches the bases that a working tree names and does not have, each once. It is safe for concurrent use.
type Bases struct {
	// Commit fetches the files of a commit from one of the addresses of its server, as a tar archive.
	Commit func(ctx context.Context, url, ref string, addresses []netip.Addr) ([]byte, error)
	// MaxFile bounds the length of a file in bytes.
	MaxFile int64

	fetched once.Map[tree.Base, string]

	mu   sync.Mutex
	done []func()
}

// Fetch fetches a base and returns the folder that has it.
func (b *Bases) Fetch(ctx context.Context, base tree.Base) (string, error) {
	return b.fetched.Get(base, func() (string, error) {
		dir, done, err := b.fetch(ctx, base)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.done = append(b.done, done)
		return dir, err
	})
}

// fetch fetches a base into a new folder. Done removes it; it is never nil.
func (b *Bases) fetch(ctx context.Context, base tree.Base) (dir string, done func(), err error) {
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
		archive, err := b.Commit(ctx, base.URL, base.Ref, addresses)
		if err != nil {
			return "", done, err
		}
		return files.Unpack(archive)
	}
	text, err := fetch.File(ctx, base.URL, fetch.Options{MaxAnswer: b.MaxFile, Refuse: func(ip netip.Addr) error {
		return address.Check(ip, "it", true)
	}})
	if err != nil {
		return "", done, err
	}
	if dir, err = files.TempDir(); err != nil {
		return "", done, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, os.WriteFile(filepath.Join(dir, path.Base(at.Path)), text, 0o600)
}

// Close removes what was fetched.
func (b *Bases) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, done := range b.done {
		done()
	}
	b.done = nil
}
