//go:build unix

package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestModes checks who may read written files: a new file gets permissions within the umask, an old file gets no more readers, and nobody
// else may read secrets. The test changes the umask of the process, so it does not run in parallel.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		umask          int
		old, mode, end fs.FileMode
	}{
		{0o022, 0, Public, 0o644},
		{0o077, 0, Public, 0o600},
		{0o027, 0, Public, 0o640},
		{0, 0, Public, 0o644},
		{0, 0, Private, 0o600},
		{0o022, 0o640, Public, 0o640},
		{0o077, 0o644, Public, 0o644},
		{0o022, 0o600, Public, 0o600},
		{0o022, 0o644, Private, 0o600},
		{0o022, 0o400, Private, 0o400},
	} {
		for name, write := range map[string]func(string, []byte, fs.FileMode) error{"Update": Update, "Append": Append} {
			if name == "Append" && c.old != 0 {
				continue // it does not change a file that is there
			}
			file := filepath.Join(t.TempDir(), "report")
			if c.old != 0 {
				if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(file, c.old); err != nil {
					t.Fatal(err)
				}
			}
			was := syscall.Umask(c.umask)
			err := write(file, []byte("new"), c.mode)
			syscall.Umask(was)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := os.ReadFile(file)
			if info.Mode() != c.end || string(text) != "new" {
				t.Errorf("%s %+v: the file has mode %v and %q", name, c, info.Mode(), text)
			}
			if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
				t.Errorf("%s %+v: %d files are there", name, c, len(left))
			}
		}
	}
}
