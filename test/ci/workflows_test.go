package ci

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is what the tests read of a workflow.
type workflow struct {
	Permissions any
	Jobs        map[string]struct {
		TimeoutMinutes int `json:"timeout-minutes"`
		Steps          []struct {
			Uses, Run string
			With      map[string]any
		}
	}
}

// pinned is an action with its full commit hash and its version.
var pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// makeTarget is a call of make.
var makeTarget = regexp.MustCompile(`make ((?: ?[a-z][\w/-]*)+)`)

// TestWorkflows checks the workflows of this repository with actionlint, and what actionlint does not demand: actions are pinned by hash,
// the token reads unless a job says more, checkout keeps no credentials, every job ends, and targets of make exist.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	makefile := readFile(t, "../../Makefile")
	for _, file := range files {
		name, text := filepath.Base(file), readFile(t, file)
		for _, problem := range lint(t, text) {
			t.Errorf("%s: %s", name, problem)
		}
		for _, uses := range regexp.MustCompile(`uses: (.*)`).FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(uses[1]) {
				t.Errorf("%s: %s is not pinned by the hash of a commit, with its version after it", name, uses[1])
			}
		}
		var w workflow
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatal(err)
		}
		if p, ok := w.Permissions.(map[string]any); !ok || len(p) != 1 || p["contents"] != "read" {
			t.Errorf("%s: the permissions of all jobs are %v, not contents: read", name, w.Permissions)
		}
		for id, job := range w.Jobs {
			if job.TimeoutMinutes == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", name, id)
			}
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: checkout in job %s keeps the token", name, id)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: job %s puts an expression into a script: use env", name, id)
				}
				for _, call := range makeTarget.FindAllStringSubmatch(step.Run, -1) {
					for _, target := range strings.Fields(call[1]) {
						if !regexp.MustCompile(`(?m)^([\w/ -]* )?` + regexp.QuoteMeta(target) + `( [\w/ -]*)?:`).MatchString(makefile) {
							t.Errorf("%s: make has no target %s", name, target)
						}
					}
				}
			}
		}
	}
}

// TestCosign checks that the workflow of releases installs the cosign that test/signing signs and verifies with.
func TestCosign(t *testing.T) {
	var w workflow
	if err := yaml.Unmarshal([]byte(readFile(t, "../../.github/workflows/release.yaml")), &w); err != nil {
		t.Fatal(err)
	}
	modules, installed := readFile(t, "../signing/go.mod"), 0
	for id, job := range w.Jobs {
		for _, step := range job.Steps {
			if !strings.HasPrefix(step.Uses, "sigstore/cosign-installer@") {
				continue
			}
			installed++
			if release := fmt.Sprint(step.With["cosign-release"]); !strings.Contains(modules, "\tgithub.com/sigstore/cosign/v3 "+release+" ") {
				t.Errorf("job %s installs cosign %s, which test/signing/go.mod does not have", id, release)
			}
		}
	}
	if installed != 2 {
		t.Errorf("%d jobs install cosign, not the one that signs and the one that verifies", installed)
	}
}

// TestDependabot checks that updates are proposed for every module and for the actions.
func TestDependabot(t *testing.T) {
	var config struct {
		Version int
		Updates []struct {
			PackageEcosystem string `json:"package-ecosystem"`
			Directory        string
			Directories      []string
			Schedule         struct{ Interval string }
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, "../../.github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	actions := false
	for _, update := range config.Updates {
		actions = actions || update.PackageEcosystem == "github-actions"
		if update.Schedule.Interval == "" {
			t.Errorf("%s has no schedule", update.PackageEcosystem)
		}
		if update.PackageEcosystem == "gomod" {
			got = append(append(got, update.Directories...), slices.DeleteFunc([]string{update.Directory}, func(s string) bool { return s == "" })...)
		}
	}
	for _, pattern := range []string{"", "*/", "*/*/"} {
		modules, err := filepath.Glob("../../" + pattern + "go.mod")
		if err != nil {
			t.Fatal(err)
		}
		for _, module := range modules {
			want = append(want, "/"+filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(filepath.Dir(module), "../.."), "/")))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("dependabot looks at the modules\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !actions {
		t.Error("dependabot does not look at the actions")
	}
}

// readFile returns the text of a file.
func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
