package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/client-go/tools/clientcmd"
)

var updateDocs = flag.Bool("update-docs", false, "write what the commands print into the pages of the documentation")

// TestDocs runs the commands of README.md and of the pages in docs and docs/dev on a control plane of its own, page by page, and compares
// what they print with what the page shows. The situation of a page is testdata/docs/PAGE.txtar:
//
//	setup.sh     runs before the commands
//	before-N.sh  runs before the block N of the page, counting the blocks sh and console from 1
//	after.sh     runs at the end
//	other files  are in the working directory, beside testdata and deploy of the repository
//
// All of them, and the commands of the page, run in one bash, which also has the functions of testdata/docs/lib.sh. Commands that cannot be
// run here are in testdata/docs/not-run.txt, and TestHelmfilePage runs those of docs/helmfile.md. With -update-docs, the pages get what the
// commands print.
func TestDocs(t *testing.T) {
	t.Parallel()
	list := readNotRun(t)
	pages := slices.DeleteFunc(readDocPages(t), func(p *docPage) bool {
		if p.file == helmfilePage { // TestHelmfilePage runs it
			return true
		}
		p.commands = slices.DeleteFunc(p.commands, func(c *docCommand) bool { return find(list, p.file, c) != nil })
		return len(p.commands) == 0
	})
	for _, entry := range list {
		if !entry.used {
			t.Errorf("not-run.txt: %s has no command %q", entry.page, entry.prefix)
		}
	}
	if *noCluster {
		t.Skip("the commands need a cluster")
	}
	for _, tool := range docTools() {
		if _, err := exec.LookPath(tool); err != nil || runtime.GOOS != "linux" { // script(1) has other flags elsewhere
			t.Skipf("the commands of the pages need Linux and %s", tool)
		}
	}
	env := docEnvironment(t)
	for _, p := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(p.file), ".md"), func(t *testing.T) {
			started := time.Now()
			p.run(t, env)
			t.Logf("%d commands in %s", len(p.commands), time.Since(started).Round(time.Second/10))
		})
	}
}

// docTools are the programs that the pages and their situations need, beside those that are built here.
func docTools() []string { return []string{"bash", "jq", "patch", "script"} }

// docEnvironment starts a control plane, builds helm and kubectl, and returns the environment of the commands.
func docEnvironment(t *testing.T) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	plane, err := startPlane(ctx, "--controllers", "--fake-nodes=1")
	must(t, err)
	t.Cleanup(plane.Stop)
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	must(t, os.Mkdir(bin, 0o755))
	for name, program := range map[string]string{
		"helmdrift": suite.binary, "helm": helmProgram(t, "v3"), "helm4": helmProgram(t, "v4"),
		"kubectl": builtTool(t, "kubectl", "./cmd/kubectl"),
	} {
		must(t, os.Symlink(program, filepath.Join(bin, name)))
	}
	return []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8",
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), "PLANE=" + docKubeconfig(t, plane.Kubeconfig, dir)}
}

// docKubeconfig writes a kubeconfig where the cluster also has the names of three stages.
func docKubeconfig(t *testing.T, from, dir string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(from)
	must(t, err)
	first := config.Contexts[config.CurrentContext]
	for _, name := range []string{"dev", "stage", "prod"} {
		context := first.DeepCopy()
		context.Cluster = name
		config.Clusters[name], config.Contexts[name] = config.Clusters[first.Cluster], context
	}
	file := filepath.Join(dir, "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, file))
	return file
}

// run runs the commands of the page in its situation.
func (p *docPage) run(t *testing.T, env []string) {
	dir := t.TempDir()
	situation, err := txtar.ParseFile("testdata/docs/" + strings.TrimSuffix(filepath.Base(p.file), ".md") + ".txtar")
	if err != nil {
		t.Fatalf("%s has commands and no situation: %v", p.file, err)
	}
	for _, file := range situation.Files {
		path := filepath.Join(dir, file.Name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, file.Data, 0o644))
	}
	for _, name := range []string{"testdata", "deploy"} {
		target, err := filepath.Abs("../../" + name)
		must(t, err)
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	lib, err := filepath.Abs("testdata/docs/lib.sh")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, ".page.sh"), []byte(p.script(dir, lib)), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", ".page.sh")
	var out bytes.Buffer
	home, err := filepath.EvalSymlinks(dir)
	must(t, err)
	bash.Env = append(slices.Clip(env), "HOME="+home, "KUBECONFIG="+home+"/kubeconfig", "TMPDIR="+home+"/tmp")
	bash.Dir, bash.Stdout, bash.Stderr = home, &out, &out
	if err := bash.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	p.compare(t, strings.ReplaceAll(out.String(), home, "/src/shop"))
}

// separator stands between the outputs of the commands.
const separator = "\x1e"

// script returns the script of a page. After each command it prints the number of the command and its exit code, and keeps that code.
func (p *docPage) script(dir, lib string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "exec 2>&1 < /dev/null\n. %s\nmkdir tmp\ncp $PLANE kubeconfig\nsituation setup.sh\n", lib)
	block := 0
	for i, c := range p.commands {
		for ; block < c.block; block++ {
			fmt.Fprintf(&b, "situation before-%d.sh\n", block+1)
		}
		text := c.text
		if answer := answered.FindStringSubmatch(c.shown); answer != nil {
			_ = os.WriteFile(filepath.Join(dir, ".command-"+strconv.Itoa(i)), []byte(text), 0o644)
			text = fmt.Sprintf("on_terminal %s .command-%d\n", answer[1], i)
		}
		fmt.Fprintf(&b, "printf '%s'\nrestore_code\n%scode=$?\nprintf '%s%d %%s%s' $code\n", separator, text, separator, i, separator)
	}
	b.WriteString("situation after.sh\nfinish\n")
	return b.String()
}

// compare compares the output of the page's script with the page.
func (p *docPage) compare(t *testing.T, out string) {
	t.Helper()
	parts := strings.Split(out, separator)
	if len(parts) != 1+3*len(p.commands) {
		t.Fatalf("%s: the script ended early:\n%s", p.file, strings.ReplaceAll(out, separator, "\n--\n"))
	}
	for _, noise := range parts[:1] {
		if strings.TrimSpace(noise) != "" {
			t.Logf("the situation printed\n%s", noise)
		}
	}
	text := p.text
	for i, c := range slices.Backward(p.commands) {
		got, status := parts[1+3*i], parts[2+3*i]
		_, code, _ := strings.Cut(status, " ")
		if code != "0" && !c.checked && !(code == "2" && strings.HasPrefix(c.text, "helmdrift")) {
			t.Errorf("%s:%d: %sends with %s:\n%s", p.file, c.line, c.text, code, got)
			continue
		}
		if c.shown == "" || sameOutput(c.shown, got) {
			continue
		}
		if *updateDocs && !strings.Contains("\n"+c.shown, "\n...\n") {
			text = text[:c.from] + strings.TrimRight(onScreen(got), "\n") + "\n" + text[c.to:]
			continue
		}
		t.Errorf("%s:%d: %sthe page shows\n%s\nthe command prints\n%s", p.file, c.line, c.text, c.shown, got)
	}
	if text != p.text {
		must(t, os.WriteFile(filepath.Join("../..", p.file), []byte(text), 0o644))
	}
}
