package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/links"
)

// This file looks for submodules of Git. Argo CD fetches them, and helmdrift does not.

// mostModules is how many bytes the list of submodules may have.
const mostModules = 1 << 20

// lacksSubmodule returns an error if the folder of a source is a submodule without files, is in one or has one in it. Git leaves an empty
// folder in the place of a submodule that was not fetched, so its objects would be missing without an error.
func lacksSubmodule(root, dir string) error {
	file := filepath.Join(root, ".gitmodules")
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 { // what it leads to may be a secret
		return errors.New(".gitmodules is a symbolic link, which Git does not follow either")
	}
	list, err := files.Read(file, mostModules)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(list)) {
		key, value, _ := strings.Cut(line, "=")
		if !strings.EqualFold(strings.TrimSpace(key), "path") {
			continue
		}
		name := strings.Trim(strings.TrimSpace(value), `"`)
		module := filepath.Join(root, filepath.FromSlash(name))
		if !links.IsInside(module, dir) && !links.IsInside(dir, module) {
			continue
		}
		if entries, err := os.ReadDir(module); err == nil && len(entries) > 0 {
			continue
		}
		return hint.New(fmt.Errorf("%s is a submodule, whose files helmdrift does not fetch", name),
			"give a working tree that has its submodules (git submodule update --init), with --from or as CHART")
	}
	return nil
}
