// Package tempdir makes folders for temporary files, which go away even if the program is interrupted.
package tempdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// made has the paths of the folders that New has made.
var made sync.Map

// RemoveAll removes the folders that New has made, for a process that ends before those who made them.
func RemoveAll() {
	made.Range(func(dir, _ any) bool {
		_ = os.RemoveAll(dir.(string))
		return true
	})
}

// New makes a folder for temporary files, which only this user can read. If there is no place for it, the error names the variable that
// chooses one.
func New() (string, error) {
	dir, err := os.MkdirTemp("", "helmdrift-")
	made.Store(dir, nil)
	var at *fs.PathError
	if errors.As(err, &at) {
		variable := "TMPDIR"
		if runtime.GOOS == "windows" {
			variable = "TMP"
		}
		return "", fmt.Errorf("temporary files need a folder that can be written, and %s is none: %w; %s names it",
			os.TempDir(), at.Err, variable)
	}
	return dir, err
}
