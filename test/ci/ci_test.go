package ci

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	argo "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/rhysd/actionlint"
	tekton "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// block is a code block of a page.
type block struct{ page, heading, language, text string }

var codeBlock = regexp.MustCompile("(?ms)^(#+ [^\n]*)$|^```(\\w*)\n(.*?)^```$")

// blocks returns the code blocks of the pages, each with the heading above it.
func blocks(t *testing.T) []block {
	t.Helper()
	pages := []string{"../../README.md"}
	for _, dir := range []string{"docs", "docs/dev"} {
		found, err := filepath.Glob("../../" + dir + "/*.md")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", dir, len(found), err)
		}
		pages = append(pages, found...)
	}
	var out []block
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		heading := ""
		for _, found := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			if found[1] != "" {
				heading = strings.TrimLeft(found[1], "# ")
				continue
			}
			out = append(out, block{filepath.Base(page), heading, found[2], found[3]})
		}
	}
	return out
}

// jobs returns the blocks of a language below a heading of docs/ci.md. There is one at least.
func jobs(t *testing.T, heading, language string) []block {
	t.Helper()
	all := slices.DeleteFunc(blocks(t), func(b block) bool { return b.page != "ci.md" || b.heading != heading || b.language != language })
	if len(all) == 0 {
		t.Fatalf("docs/ci.md has no %s below %s", language, heading)
	}
	return all
}

// TestGitHubActions checks the workflow with actionlint: keys, expressions, contexts, permissions, and inputs of well-known actions.
func TestGitHubActions(t *testing.T) {
	for _, job := range jobs(t, "GitHub Actions", "yaml") {
		for _, problem := range lint(t, job.text) {
			t.Error(problem)
		}
	}
	for broken, want := range map[string]string{
		"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    step: []\n":                                                           `"step"`,
		"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ secret.X }}\n":                          "secret",
		"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n        with: {deep: 1}\n": "deep",
	} {
		hasProblem(t, broken, want)
	}
	t.Run("shellcheck", func(t *testing.T) {
		if shellcheck() == "" {
			t.Skip("there is no shellcheck (Debian: apt-get install shellcheck)")
		}
		hasProblem(t, "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: rm $HOME/*.txt\n", "SC2086")
	})
}

// hasProblem checks that actionlint finds a problem in a workflow.
func hasProblem(t *testing.T, workflow, want string) {
	t.Helper()
	if found := lint(t, workflow); !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, want) }) {
		t.Errorf("%s\nhas the problems %v, not one with %s", workflow, found, want)
	}
}

// shellcheck returns the program that checks the scripts of steps, or nothing where it is not installed. make says so.
func shellcheck() string {
	path, _ := exec.LookPath("shellcheck")
	return path
}

// lint returns what actionlint says of a workflow. It starts shellcheck, but not pyflakes.
func lint(t *testing.T, text string) (out []string) {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: shellcheck()})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := linter.Lint("drift.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		out = append(out, p.Error())
	}
	return out
}

// TestTekton decodes the Task strictly into Tekton's own type, and validates it as its webhook does.
func TestTekton(t *testing.T) {
	for _, job := range jobs(t, "Tekton", "yaml") {
		var task tekton.Task
		decode(t, job, &task)
		task.SetDefaults(t.Context())
		if err := task.Validate(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestArgoWorkflows decodes the CronWorkflow strictly into the type of Argo Workflows.
func TestArgoWorkflows(t *testing.T) {
	for _, job := range jobs(t, "Argo Workflows", "yaml") {
		var cron argo.CronWorkflow
		decode(t, job, &cron)
		templates := cron.Spec.WorkflowSpec.Templates
		if !slices.ContainsFunc(templates, func(t argo.Template) bool { return t.Name == cron.Spec.WorkflowSpec.Entrypoint }) {
			t.Errorf("no template is called %q, as the entrypoint is", cron.Spec.WorkflowSpec.Entrypoint)
		}
	}
}

// TestKubernetes decodes the objects of deploy/kubernetes strictly. Those of the pages have a test in cmd/helmdrift.
func TestKubernetes(t *testing.T) {
	types := map[string]func() any{
		"ClusterRole": func() any { return &rbac.ClusterRole{} }, "ClusterRoleBinding": func() any { return &rbac.ClusterRoleBinding{} },
		"Role": func() any { return &rbac.Role{} }, "RoleBinding": func() any { return &rbac.RoleBinding{} },
		"Job": func() any { return &batch.Job{} }, "CronJob": func() any { return &batch.CronJob{} },
		"ConfigMap": func() any { return &core.ConfigMap{} }, "Secret": func() any { return &core.Secret{} },
		"ServiceAccount": func() any { return &core.ServiceAccount{} }, "Namespace": func() any { return &core.Namespace{} },
	}
	files, err := filepath.Glob("../../deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	decoded := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---")) {
			var head struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal(part, &head); err != nil || types[head.Kind] == nil {
				continue
			}
			decode(t, block{page: filepath.Base(file), text: string(part)}, types[head.Kind]())
			decoded++
		}
	}
	if decoded < 3 {
		t.Errorf("only %d objects were decoded", decoded)
	}
}

// decode decodes a block strictly: an unknown key is an error.
func decode(t *testing.T, b block, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(b.text), into); err != nil {
		t.Errorf("%s: %v\n%s", b.page, err, b.text)
	}
}
