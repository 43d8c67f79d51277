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
)

// This file looks for submodules of Git. Argo CD fetches them, and helmdrift does not.

// mostModules is how many bytes the list of submodules may have.
const mostModules = 1 << 20

// lacksSubmodule returns an error if the folder of a source is a submodule without files, is in one or has one in it. Git leaves an empty
// folder in the place of a submodule that was not fetched, so its objects would be missing without an error.
func lacksSubmodule(root, dir string) error {
	list, err := files.Read(filepath.Join(root, ".gitmodules"), mostModules)
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
		if !isBelow(module, dir) && !isBelow(dir, module) {
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

// isBelow reports whether a path is a folder or is below it.
func isBelow(path, folder string) bool {
	inside, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(inside)
}
