package ci

import (
	"strings"
	"testing"
)

// TestJenkins checks the brackets and the sections of the pipeline, and nothing else. The linter of declarative pipelines is a part of a
// Jenkins server (jenkins.io/doc/book/pipeline/development, "Command-line Pipeline Linter"). Without a server, npm-groovy-lint 18.0.0
// checks the style of Groovy and needs Java, jflint asks a server, and jenkinsfilelint-engine 0.2.0 is a program of 500 KB that only PyPI
// has, which not all machines that run these tests reach.
func TestJenkins(t *testing.T) {
	t.Log("NOT LINTED: Jenkins checks declarative pipelines on its server only; brackets and sections are checked here")
	for _, job := range jobs(t, "Jenkins", "groovy") {
		open := ""
		for _, r := range job.text {
			switch {
			case strings.ContainsRune("{[(", r):
				open += string(r)
			case strings.ContainsRune("}])", r) && (open == "" || !strings.Contains("{}[]()", open[len(open)-1:]+string(r))):
				t.Fatalf("a bracket %c closes nothing in\n%s", r, job.text)
			case strings.ContainsRune("}])", r):
				open = open[:len(open)-1]
			}
		}
		if open != "" {
			t.Errorf("brackets %s are open at the end", open)
		}
		for _, section := range []string{"pipeline {", "agent any", "stages {", "stage('drift') {", "steps {", "post {"} {
			if !strings.Contains(job.text, section) {
				t.Errorf("the pipeline has no %s", section)
			}
		}
	}
}
