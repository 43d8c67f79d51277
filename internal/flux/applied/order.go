package applied

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/worktree"
)

// This file reads what the user says about a working tree.

// Order returns the order for a folder of a working tree, or for rendered objects from stdin if it is "-". Sources are of the form
// KIND/NAMESPACE/NAME=FOLDER.
func Order(dir string, sources []string, stdin io.Reader) (tree.Order, error) {
	out := tree.Order{Dir: dir}
	for _, text := range sources {
		name, folder, found := strings.Cut(text, "=")
		parts := strings.Split(name, "/")
		if !found || folder == "" || len(parts) != 3 || slices.Contains(parts, "") {
			return out, hint.New(fmt.Errorf("--local-source %s is not KIND/NAMESPACE/NAME=FOLDER", text),
				"for example: --local-source GitRepository/flux-system/apps=../apps")
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return out, fmt.Errorf("--local-source %s: %s is not a folder", text, folder)
		}
		out.Sources = append(out.Sources, tree.LocalSource{Kind: parts[0], Namespace: parts[1], Name: parts[2], Dir: folder})
	}
	if dir == "-" {
		text, err := files.ReadAll("it", stdin, maxRendered)
		if err != nil {
			return out, fmt.Errorf("reading the objects from stdin: %w", err)
		}
		out.Rendered, out.Text = true, text
		return out, nil
	}
	root, remotes, err := worktree.Find(dir)
	out.Root, out.Remotes = root, remotes
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = hint.New(fmt.Errorf("--from %s: there is no such folder", dir), "it is the folder that a Kustomization of Flux names in spec.path")
	case err != nil:
		err = fmt.Errorf("--from %s: %w", dir, err)
	}
	return out, err
}

// maxRendered bounds what is read from stdin, in bytes.
const maxRendered = 64 << 20
