package fetch

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/helmdrift/helmdrift/internal/tempdir"
)

// Indexes keeps the indexes of repositories, so that several calls of Chart fetch each of them once. The zero value is ready to use. Close
// removes the files.
type Indexes struct {
	mu    sync.Mutex
	dir   string
	files map[indexKey]func() (string, error)
}

// indexKey is a URL and who asks for it: somebody else may get another index. If loopback is not set, no redirect to this machine may have
// delivered the index.
type indexKey struct {
	url string
	access
	loopback bool
}

// file returns the file with an index. Only the first call with a key reads the index.
func (x *Indexes) file(key indexKey, read func() ([]byte, error)) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.files == nil {
		dir, err := tempdir.New()
		if err != nil {
			return "", err
		}
		x.dir, x.files = dir, map[indexKey]func() (string, error){}
	}
	get := x.files[key]
	if get == nil {
		name := filepath.Join(x.dir, strconv.Itoa(len(x.files))+".yaml")
		get = sync.OnceValues(func() (string, error) {
			text, err := read()
			if err != nil {
				return "", err
			}
			return name, os.WriteFile(name, text, 0o600)
		})
		x.files[key] = get
	}
	x.mu.Unlock() // the repository may be slow
	defer x.mu.Lock()
	return get()
}

// Close removes the files.
func (x *Indexes) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.files != nil {
		_ = os.RemoveAll(x.dir)
		x.files = nil
	}
}
