package links

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// TestCheck checks files in a Git working tree and outside of it. A link outside of any tree belongs to the user.
func TestCheck(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree/.git/config", "tree/values.yaml", "tree/envs/dev.yaml", "home/.kube/config", "mount/..data/values.yaml"} {
		name = filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"tree/inside.yaml": "envs/dev.yaml", "tree/leak.yaml": "../home/.kube/config", "tree/git.yaml": ".git/config", "tree/folder": "../home",
		"tree/system.yaml": "/proc/self/environ", "mount/values.yaml": "..data/values.yaml", "link-to-tree": "tree", "tree/back": "../home",
	} {
		if err := os.Symlink(to, filepath.Join(top, from)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	t.Chdir(top)
	for name, want := range map[string]string{
		"tree/values.yaml": "", "tree/inside.yaml": "", "mount/values.yaml": "", "link-to-tree/values.yaml": "", "-": "", "https://example.com/a": "",
		"home/.kube/config": "", "nothing": "", "tree/leak.yaml": "leak.yaml leads to", "tree/git.yaml": "hidden folder",
		"tree/folder/.kube/config": "tree/folder leads to", "tree/system.yaml": "system.yaml leads to", "link-to-tree/leak.yaml": "leak.yaml leads to",
		"tree/back/../tree/values.yaml": "tree/back leads to",
	} {
		for _, name := range []string{name, filepath.ToSlash(top) + "/" + name} {
			err := Check(name)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: error %v", name, err)
			}
			never := strings.HasSuffix(name, "system.yaml")
			if err := CheckAllowed(name, true); (err != nil) != never {
				t.Errorf("%s, if it is allowed: error %v", name, err)
			}
			if advice := hint.Of(CheckAllowed(name, false)); (advice != "") != (want != "" && !never) {
				t.Errorf("%s: the hint is %q", name, advice)
			}
		}
	}
}
