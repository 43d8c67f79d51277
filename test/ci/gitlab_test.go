package ci

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// gitlabFile is as much of a .gitlab-ci.yml as the jobs of the page use, by the keyword reference of GitLab CI (docs.gitlab.com/ci/yaml).
// It finds a misspelt keyword also where TestGitLabSchema is skipped. Neither says that GitLab accepts the file: `glab ci lint` asks a
// server.
type gitlabFile map[string]gitlabJob

type gitlabJob struct {
	Script    []string `json:"script"`
	After     []string `json:"after_script,omitempty"`
	Parallel  int      `json:"parallel,omitempty"`
	Needs     []string `json:"needs,omitempty"`
	Artifacts struct {
		When    string   `json:"when,omitempty"`
		Paths   []string `json:"paths,omitempty"`
		Reports struct {
			JUnit       string `json:"junit,omitempty"`
			CodeQuality string `json:"codequality,omitempty"`
		} `json:"reports"`
	} `json:"artifacts"`
	Rules []struct {
		If string `json:"if"`
	} `json:"rules,omitempty"`
}

// TestGitLab checks the jobs by their keywords, and that the files that they hand on are those that they write.
func TestGitLab(t *testing.T) {
	for _, job := range jobs(t, "GitLab", "yaml") {
		var file gitlabFile
		decode(t, job, &file)
		for name, j := range file {
			script := strings.Join(j.Script, "\n")
			for _, report := range []string{j.Artifacts.Reports.JUnit, j.Artifacts.Reports.CodeQuality} {
				if !strings.Contains(script, report) {
					t.Errorf("%s hands on %s and does not write it", name, report)
				}
			}
			for _, needed := range j.Needs {
				if _, found := file[needed]; !found {
					t.Errorf("%s needs %s, which is no job", name, needed)
				}
			}
			if len(j.Script) == 0 || !slices.Contains([]string{"", "always", "on_success", "on_failure"}, j.Artifacts.When) {
				t.Errorf("%s has no script, or keeps its artifacts at another time: %q", name, j.Artifacts.When)
			}
		}
	}
	if err := yaml.UnmarshalStrict([]byte("a: {scripts: [x]}"), &gitlabFile{}); err == nil {
		t.Error("a misspelt keyword passes")
	}
}
