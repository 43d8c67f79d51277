//go:build unix

package files

import (
	"fmt"
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

// TestUpdateFollowsLinks checks that a link that the user named stays a link, also one to a file that is not there yet, and that the file
// behind it keeps its permissions.
func TestUpdateFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	target, link, late := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "late")
	if err := os.WriteFile(target, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{link: "target", late: "later"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range map[string]string{link: target, late: filepath.Join(dir, "later")} {
		if err := Update(name, []byte("new"), Public); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", name, info, err)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "new" {
			t.Errorf("%s has %q, %v", file, text, err)
		}
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the target has %v, %v", info, err)
	}
}

// TestUpdateOfAnOpenFile checks that /dev/fd/N and /proc/self/fd/N are written, and neither replaced nor refused. What the file has already
// stays.
func TestUpdateOfAnOpenFile(t *testing.T) {
	for _, folder := range []string{"/dev/fd", "/proc/self/fd"} {
		if _, err := os.Stat(folder); err != nil {
			continue // not on every system
		}
		file, err := os.Create(filepath.Join(t.TempDir(), "report"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString("before, "); err != nil {
			t.Fatal(err)
		}
		if err := Update(fmt.Sprint(folder, "/", file.Fd()), []byte("new"), Public); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
		if text, err := os.ReadFile(file.Name()); err != nil || string(text) != "before, new" {
			t.Errorf("%s: the file has %q, %v", folder, text, err)
		}
		_ = file.Close()
	}
}
