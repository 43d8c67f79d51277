//go:build unix

package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDistrust checks that a file that the user did not name is used only if nobody else can have written it.
func TestDistrust(t *testing.T) {
	const somebody, caller = 4711, 4712
	for name, c := range map[string]struct {
		file, dir fs.FileMode
		owner     int    // of the file; 0 is who runs the test
		folder    int    // the owner of its directory
		group     int    // of the file and of its directory
		link      string // "mine" and "theirs" put the file elsewhere, behind a link
		sudo      string
		want      string
	}{
		"one's own": {},
		"one's own, of the group with one's own name":  {file: 0o664, dir: 0o775},
		"of a group that may write":                    {file: 0o664, group: somebody, want: "a group (4711) may write to it"},
		"of a group that may read":                     {file: 0o640, dir: 0o750, group: somebody},
		"in a directory that a group may write to":     {dir: 0o775, group: somebody, want: "a group (4711) may write to DIR"},
		"in a directory of somebody else":              {folder: somebody, want: "DIR belongs to somebody else (user 4711)"},
		"in a directory of who called sudo":            {folder: caller, sudo: strconv.Itoa(caller)},
		"somebody else's":                              {owner: somebody, want: "it belongs to somebody else (user 4711)"},
		"somebody else's, behind a link":               {owner: somebody, link: "mine", want: "it belongs to somebody else (user 4711)"},
		"a link by somebody else":                      {link: "theirs", want: "it belongs to somebody else (user 4711)"},
		"one's own, behind a link":                     {link: "mine"},
		"of the user who called sudo":                  {owner: caller, sudo: strconv.Itoa(caller)},
		"of another one than who called sudo":          {owner: somebody, sudo: strconv.Itoa(caller), want: "it belongs to somebody else (user 4711)"},
		"one's own under sudo":                         {sudo: strconv.Itoa(caller)},
		"somebody else's, and no number in SUDO_UID":   {owner: somebody, sudo: "x", want: "it belongs to somebody else (user 4711)"},
		"a file that anybody may write to":             {file: 0o646, want: "anybody may write to it"},
		"a directory that anybody may write to":        {dir: 0o777, want: "anybody may write to DIR"},
		"a directory for everybody, with a sticky bit": {dir: 0o777 | fs.ModeSticky, want: "anybody may write to DIR"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "in", FileName)
		place(t, dir, "in/", "elsewhere/")
		file := path
		if c.link != "" {
			file = filepath.Join(dir, "elsewhere", "rules.yaml")
			must(t, os.Symlink(file, path))
		}
		must(t, os.WriteFile(file, nil, 0o600))
		must(t, os.Chmod(file, orMode(c.file, 0o644)))
		must(t, os.Chmod(filepath.Dir(path), orMode(c.dir, 0o755)))
		if c.owner != 0 || c.folder != 0 || c.group != 0 || c.file&group != 0 || c.link == "theirs" {
			if os.Geteuid() != 0 {
				continue // only root can make files of others, and has a group of its own on each system
			}
			switch {
			case c.link == "theirs":
				must(t, os.Lchown(path, somebody, -1))
			case c.owner != 0:
				must(t, os.Chown(file, c.owner, -1))
			}
			must(t, os.Chown(filepath.Dir(path), c.folder, c.group))
			must(t, os.Chown(file, -1, c.group))
		}
		got, err := reasonToDistrust(path, func(string) string { return c.sudo })
		if want := strings.ReplaceAll(c.want, "DIR", filepath.Dir(path)); err != nil || got != want {
			t.Errorf("%s: %q, %v, not %q", name, got, err, want)
		}
	}
}

func orMode(mode, otherwise fs.FileMode) fs.FileMode {
	if mode == 0 {
		return otherwise
	}
	return mode
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
