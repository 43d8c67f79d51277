package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSameBinary builds the program with the flags of .goreleaser.yaml in two folders, and compares the bytes.
func TestSameBinary(t *testing.T) {
	var config struct {
		Builds []struct {
			Flags, Ldflags, Env []string
		}
	}
	configuration(t, &config)
	build := config.Builds[0]
	args := append(append([]string{"build"}, build.Flags...), "-ldflags", strings.Join(build.Ldflags, " "), "-o", "helmdrift", "./cmd/helmdrift")
	var built [2]string
	for i, name := range []string{"one", "another-folder"} {
		dir := filepath.Join(t.TempDir(), name)
		for _, source := range []string{"cmd", "internal", "pkg"} {
			must(t, os.CopyFS(filepath.Join(dir, source), os.DirFS(filepath.Join("../..", source))))
		}
		for _, file := range []string{"go.mod", "go.sum"} {
			must(t, os.WriteFile(filepath.Join(dir, file), []byte(read(t, filepath.Join("../..", file))), 0o644))
		}
		run(t, dir, append(build.Env, "GOOS=linux", "GOARCH=amd64"), "go", args...)
		built[i] = read(t, filepath.Join(dir, "helmdrift"))
	}
	if built[0] != built[1] {
		t.Errorf("two folders make two programs, of %d and of %d bytes", len(built[0]), len(built[1]))
	}
}

// TestSameRelease makes the release again in another folder. Every file for every platform must have the same sum.
func TestSameRelease(t *testing.T) {
	dist := distOf(t)
	source, copied := repository(t), filepath.Join(t.TempDir(), "another-folder")
	for _, file := range strings.Split(run(t, source, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00") {
		info, err := os.Lstat(filepath.Join(source, file))
		if file == "" || os.IsNotExist(err) {
			continue
		}
		must(t, err)
		must(t, os.MkdirAll(filepath.Join(copied, filepath.Dir(file)), 0o755))
		if target, err := os.Readlink(filepath.Join(source, file)); err == nil {
			must(t, os.Symlink(target, filepath.Join(copied, file)))
			continue
		}
		must(t, os.WriteFile(filepath.Join(copied, file), []byte(read(t, filepath.Join(source, file))), info.Mode().Perm()))
	}
	must(t, exec.Command("cp", "-R", filepath.Join(source, ".git"), filepath.Join(copied, ".git")).Run())
	run(t, copied, []string{"GIT_OPTIONAL_LOCKS=0"}, filepath.Join(source, "bin", "goreleaser"), "release", "--snapshot", "--clean", "--skip=sign")
	is, want := read(t, filepath.Join(copied, "dist", "checksums.txt")), read(t, filepath.Join(dist, "checksums.txt"))
	if is != want {
		t.Errorf("two folders make two releases:\n%s\nand\n%s", want, is)
	}
}
