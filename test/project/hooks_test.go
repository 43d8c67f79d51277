package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHooks checks that each hook calls a target of the Makefile, and uses nothing from elsewhere.
func TestHooks(t *testing.T) {
	var config struct {
		Types []string `yaml:"default_install_hook_types"`
		Repos []struct {
			Repo  string `yaml:"repo"`
			Hooks []struct {
				ID            string   `yaml:"id"`
				Name          string   `yaml:"name"`
				Entry         string   `yaml:"entry"`
				Language      string   `yaml:"language"`
				Types         []string `yaml:"types"`
				Files         string   `yaml:"files"`
				PassFilenames bool     `yaml:"pass_filenames"`
				AlwaysRun     bool     `yaml:"always_run"`
			} `yaml:"hooks"`
		} `yaml:"repos"`
	}
	readStrictly(t, root+"/.pre-commit-config.yaml", &config)
	makefile := read(t, root+"/Makefile")
	for _, repo := range config.Repos {
		for _, hook := range repo.Hooks {
			target, isMake := strings.CutPrefix(hook.Entry, "make -s ")
			if !isMake || repo.Repo != "local" || hook.Language != "system" || !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("the hook %s calls no target of the Makefile: %s", hook.ID, hook.Entry)
			}
			if _, err := regexp.Compile(hook.Files); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestHooksRun sets up the hooks in a repository whose Makefile only notes which targets are called, and commits and pushes there.
func TestHooksRun(t *testing.T) {
	if _, err := exec.LookPath("pre-commit"); err != nil {
		t.Skip("there is no pre-commit (Debian: apt-get install pre-commit)")
	}
	if testing.Short() {
		t.Skip("the hooks of git start many programs")
	}
	makefile := read(t, root+"/Makefile")
	prePush := regexp.MustCompile(`(?m)^pre-push:.*\n(\t.*\n)+`).FindString(makefile)
	dir := t.TempDir()
	// A hook that runs this test sets variables that lead to its own repository.
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") || strings.HasPrefix(variable, "PRE_COMMIT_")
	})
	env = append(env, "PRE_COMMIT_HOME="+filepath.Join(t.TempDir(), "pre-commit"), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".pre-commit-config.yaml", read(t, root+"/.pre-commit-config.yaml"))
	write("Makefile", "fmt-check modules docs-check check:\n\t@echo $@ >> called\n\t@test ! -e bad\n\n"+prePush)
	git := func(args ...string) (called string, err error) {
		t.Helper()
		_ = os.Remove(filepath.Join(dir, "called"))
		cmd := exec.Command("git", append([]string{"-c", "user.name=test", "-c", "user.email=test@invalid"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		t.Logf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		text, _ := os.ReadFile(filepath.Join(dir, "called"))
		lines := strings.Fields(string(text))
		slices.Sort(lines)
		return strings.Join(lines, " "), err
	}
	remote := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"init", "-q", "--bare", remote}, {"remote", "add", "origin", remote},
		{"add", ".pre-commit-config.yaml"}, {"commit", "-q", "-m", "hooks"},
	} {
		if _, err := git(args...); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("pre-commit", "install")
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pre-commit install: %v\n%s", err, out)
	}
	for _, c := range []struct{ file, want string }{
		{"text.txt", ""}, {"main.go", "docs-check fmt-check"}, {"go.mod", "docs-check modules"}, {"README.md", "docs-check"},
	} {
		write(c.file, c.file)
		if _, err := git("add", c.file); err != nil {
			t.Fatal(err)
		}
		if called, err := git("commit", "-q", "-m", c.file); err != nil || called != c.want {
			t.Errorf("a commit of %s calls %q (%v), want %q", c.file, called, err, c.want)
		}
	}
	if called, err := git("push", "-q", "origin", "main"); err != nil || !strings.Contains(" "+called+" ", " check ") {
		t.Errorf("a push calls %q: %v", called, err)
	}
	write("main.go", "changed")
	write("bad", "")
	if _, err := git("commit", "-q", "-a", "-m", "bad"); err == nil {
		t.Error("a commit passes although make fmt-check fails")
	}
}

// read returns the text of a file.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
