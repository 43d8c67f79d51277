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

	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// Bases fetches the bases that a working tree names and does not have, each once. It is safe for concurrent use.
type Bases struct {
	// Commit fetches the files of a commit from one of the addresses of its server, as a tar archive.
	Commit func(ctx context.Context, url, ref string, addresses []netip.Addr) ([]byte, error)
	// MaxFile bounds the length of a file in bytes.
	MaxFile int64

	mu   sync.Mutex
	dirs map[tree.Base]string
}

// Fetch fetches a base and returns the folder that has it.
func (b *Bases) Fetch(ctx context.Context, base tree.Base) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if dir, isFetched := b.dirs[base]; isFetched {
		return dir, nil
	}
	address, err := url.Parse(base.URL)
	if err != nil || address.Scheme != "https" {
		return "", errors.New("it is no address of https")
	}
	addresses := addressesOf(address.Hostname())
	for _, one := range addresses {
		if err := refuseAddress(one, "it", true); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp("", "helmdrift-")
	if err != nil {
		return "", err
	}
	if b.dirs == nil {
		b.dirs = map[tree.Base]string{}
	}
	b.dirs[base] = dir // Close removes it whatever happens
	if err = b.fetch(ctx, base, path.Base(address.Path), addresses, dir); err != nil {
		delete(b.dirs, base)
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// fetch fetches a base into a folder.
func (b *Bases) fetch(ctx context.Context, base tree.Base, name string, addresses []netip.Addr, dir string) error {
	if !base.IsFile {
		archive, err := b.Commit(ctx, base.URL, base.Ref, addresses)
		if err != nil {
			return err
		}
		return unpack(archive, dir)
	}
	text, err := fetch.File(ctx, base.URL, fetch.Options{MaxAnswer: b.MaxFile, Refuse: func(ip netip.Addr) error {
		return refuseAddress(ip, "it", true)
	}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600)
}

// Close removes what was fetched. It may be called again, and nil has nothing.
func (b *Bases) Close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, dir := range b.dirs {
		_ = os.RemoveAll(dir)
	}
	b.dirs = nil
}
