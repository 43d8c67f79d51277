package source

import (
	"context"
	"net/netip"

	"github.com/helmdrift/helmdrift/internal/files"
)

// CommitOrder names a commit to fetch.
type CommitOrder struct {
	URL, Ref string
	// Tree is the root of a working tree whose repository has the commit. There is no URL then, and nothing is fetched from elsewhere.
	Tree string
	// Foreign is set if only a working tree names the address: it gets no credentials of the user, and git connects to these addresses alone.
	Foreign   bool
	Addresses []netip.Addr
}

// Commits returns the function Fetcher.Commit for one that fetches a commit as a tar archive, and one that says which commit an archive
// has. The folder has the symbolic links of the commit. As Argo CD does, it refuses a commit with one that leads out of it (argo-cd v3.6.1
// util/app/path/path.go CheckOutOfBoundsSymlinks).
func Commits(
	fetch func(context.Context, CommitOrder) ([]byte, error), commitOf func(archive []byte) string,
) func(context.Context, CommitOrder) (dir, commit string, done func(), err error) {
	return func(ctx context.Context, o CommitOrder) (dir, commit string, done func(), err error) {
		archive, err := fetch(ctx, o)
		if err != nil {
			return "", "", func() {}, err
		}
		dir, done, err = files.Unpack(archive, true)
		return dir, commitOf(archive), done, err
	}
}
