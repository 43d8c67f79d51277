package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmdrift/helmdrift/internal/helmfile/helmfiletest"
)

var (
	helmfileDir      = flag.String("helmfile", "", "folder with helmfile and kustomize, which make helmfile builds")
	helmfileSeeds    = flag.Int("helmfile.n", 20, "how many random helmfiles TestHelmfile tries with each Helm")
	helmfileSeed     = flag.Int("helmfile.seed", 1, "the first seed of these helmfiles")
	helmfileParallel = flag.Int("helmfile.parallel", 3, "how many of these helmfiles are tried at once")
)

// helmfileRounds is how often a random helmfile is edited, predicted and synced.
const helmfileRounds = 3

// TestHelmfile runs the real helmfile with Helm 3 and Helm 4. In random helmfiles, and after random edits of the helmfile and of live
// objects, helmfile sync does what diff --helmfile predicts: see helmfileRun.judge. At the end, diff finds nothing left to do.
func TestHelmfile(t *testing.T) {
	defer helmfileCounts.log(t)
	slots := make(chan struct{}, *helmfileParallel)
	eachHelmfileHelm(t, func(t *testing.T, helm string, helm4 bool) {
		for seed := *helmfileSeed; seed < *helmfileSeed+*helmfileSeeds; seed++ {
			t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				runHelmfileSeed(t, helm, helm4, seed)
			})
		}
	})
}

// eachHelmfileHelm runs a test with the programs of Helm 3 and Helm 4. It skips the test if there is no helmfile.
func eachHelmfileHelm(t *testing.T, test func(t *testing.T, helm string, helm4 bool)) {
	t.Helper()
	if *helmfileDir == "" {
		t.Skip("-helmfile names no folder with helmfile; make helmfile builds it")
	}
	for _, major := range []string{"v3", "v4"} {
		t.Run(major, func(t *testing.T) { test(t, helmProgram(t, major), major == "v4") })
	}
}

// helmfilePage is the page whose commands need helmfile and helm-diff.
const helmfilePage = "docs/helmfile.md"

// TestHelmfilePage runs the commands of docs/helmfile.md with Helm 3 and with Helm 4, as TestDocs does those of the other pages. HELM_DIFF
// names the program of helm-diff.
func TestHelmfilePage(t *testing.T) {
	if *helmfileDir == "" || os.Getenv("HELM_DIFF") == "" {
		t.Skip("make helmfile HELM_DIFF=PROGRAM runs the commands of docs/helmfile.md, with the program of helm-diff")
	}
	pages := readDocPages(t)
	page := pages[slices.IndexFunc(pages, func(p *docPage) bool { return p.file == helmfilePage })]
	eachHelmfileHelm(t, func(t *testing.T, helm string, _ bool) {
		env, bin := docEnvironment(t), t.TempDir()
		must(t, os.Symlink(helm, filepath.Join(bin, "helm")))
		env[0] = strings.Replace(env[0], "PATH=", "PATH="+bin+":"+*helmfileDir+":", 1)
		page.run(t, append(env, "HELM_DIFF="+os.Getenv("HELM_DIFF"), "HELMFILE_UPGRADE_NOTICE_DISABLED=true"))
	})
}

// helmfileRun is a helmfile of a test, and the programs that work on it.
type helmfileRun struct {
	*Case
	// file is the helmfile, and flags are those that choose from it.
	file  string
	flags []string
	// oneByOne is set if releases fetch the same chart: processes of Helm 4 that do so at the same time race for its cache.
	oneByOne bool
	// env is the environment of helmfile, and reads is that of helmdrift, whose cluster refuses writes. Calls is the folder where the calls
	// of helm are recorded that change a release.
	env, reads []string
	calls      string
	predicted  []*helmfilePrediction
	// done has the releases, as NAMESPACE/NAME, that the last sync upgraded or installed, and the call that did it.
	done map[string]helmfileCall
}

// recordingHelm is the program that helmfile calls as helm. It calls the real one, and records what an upgrade and an uninstall end with.
const recordingHelm = `#!/bin/sh
case " $* " in
*" upgrade --install "* | *" uninstall "* | *" delete "*) ;;
*) exec HELM "$@" ;;
esac
call=CALLS/$(date +%s%N)-$$
printf '%s\n' "$@" > "$call.args"
HELM "$@" 2> "$call.err"
code=$?
echo $code > "$call.code"
cat "$call.err" >&2
exit $code
`

// diffPlugin is a plugin of Helm with the name of helm-diff. helmfile asks for its version.
const diffPlugin = "name: diff\nversion: 3.15.11\nusage: x\ndescription: x\ncommand: /bin/false\n"

// newHelmfileRun prepares the environment of helmfile for a case, whose folder has the files.
func newHelmfileRun(c *Case, helm string) (*helmfileRun, error) {
	r := &helmfileRun{Case: c, calls: filepath.Join(c.dir, ".calls")}
	folder := func(name string) string { return filepath.Join(c.dir, ".helm", name) }
	as := filepath.Join(c.dir, ".helm", "helm")
	err := errors.Join(
		os.MkdirAll(r.calls, 0o755), os.MkdirAll(folder("tmp"), 0o755), os.MkdirAll(filepath.Join(folder("plugins"), "diff"), 0o755),
		os.WriteFile(filepath.Join(folder("plugins"), "diff", "plugin.yaml"), []byte(diffPlugin), 0o644),
		os.WriteFile(as, []byte(strings.NewReplacer("HELM", helm, "CALLS", r.calls).Replace(recordingHelm)), 0o755),
		c.writeKubeconfig(folder("reads"), c.proxy.kubeconfig), c.writeKubeconfig(folder("all"), c.cluster.kubeconfig),
	)
	env := []string{
		"HOME=" + c.dir, "PATH=" + *helmfileDir + ":" + os.Getenv("PATH"), "HELMFILE_HELM_BINARY=" + as, "HELM_PLUGINS=" + folder("plugins"),
		"HELMFILE_CACHE_HOME=" + folder("of-helmfile"), "HELM_CACHE_HOME=" + folder("cache"), "HELM_CONFIG_HOME=" + folder("config"),
		"HELM_DATA_HOME=" + folder("data"), "HELMFILE_UPGRADE_NOTICE_DISABLED=true",
		"TMPDIR=" + folder("tmp"),
	}
	r.env = append(slices.Clone(env), "KUBECONFIG="+folder("all"))
	r.reads = append(env, "KUBECONFIG="+folder("reads"), "GOCOVERDIR="+os.Getenv("GOCOVERDIR"))
	return r, err
}

// writeKubeconfig writes a kubeconfig with the contexts that helmfiles name. All are one cluster, and have the namespace of the case.
func (c *Case) writeKubeconfig(to, from string) error {
	config, err := clientcmd.LoadFromFile(from)
	if err != nil {
		return err
	}
	current := *config.Contexts[config.CurrentContext]
	current.Namespace, config.CurrentContext = c.ns, "helmdrift-test"
	config.Contexts = map[string]*api.Context{config.CurrentContext: &current, "minikube": &current, "test-context": &current}
	return clientcmd.WriteToFile(*config, to)
}

// runHelmfileSeed tries a random helmfile. Two of its namespaces are there before.
func runHelmfileSeed(t *testing.T, helm string, helm4 bool, seed int) {
	c := newCase(t, suite.cluster)
	r, err := newHelmfileRun(c, helm)
	must(t, err)
	for _, name := range []string{"shop", "forced"} {
		must(t, c.cluster.create(t.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: "+c.ns+"-"+name+"}}", "", "kubectl-create"))
	}
	tree := helmfiletest.New(seed, helmfiletest.Options{Helm4: helm4, HasDiff: true, Prefix: c.ns + "-"})
	r.file = tree.File
	if tree.Environment != "" {
		r.flags = []string{"--environment", tree.Environment}
	}
	edits := helmfileEdits{Rand: tree.Rand, run: r}
	for round := range helmfileRounds {
		var changes []string
		if round > 0 {
			for range tree.IntN(3) {
				changes = append(changes, tree.Change())
			}
			changes = append(changes, edits.some(t)...)
		}
		must(t, tree.Write(c.dir))
		must(t, r.predict(t.Context()))
		syncErr, err := r.sync(t.Context())
		must(t, err)
		faults := r.judge(syncErr)
		if round == helmfileRounds-1 {
			faults = append(faults, r.judgeAfter(t.Context())...)
		}
		if len(faults) > 0 {
			t.Errorf("round %d, after the changes %q:\n%v\nhelmfile sync: %v\nthe report:\n%s", round, changes, errors.Join(faults...),
				syncErr, strings.Join(r.last.report.lines(), "\n"))
			return
		}
	}
}

// run runs a program in the folder of the case and returns what it prints.
func (r *helmfileRun) run(ctx context.Context, env []string, program string, args ...string) (stdout, stderr string, exit int, err error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	var out, messages strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, env, &out, &messages
	err = cmd.Run()
	if exited := (*exec.ExitError)(nil); errors.As(err, &exited) {
		err = nil
	}
	return out.String(), messages.String(), cmd.ProcessState.ExitCode(), err
}

// diff runs diff --helmfile, which must not write, and returns the report.
func (r *helmfileRun) diff(ctx context.Context) (binaryRun, error) {
	r.proxy.reset(permitReads)
	args := slices.Concat([]string{"diff", "--helmfile", r.file}, r.flags, []string{"-o", "json", "--show-secrets"})
	stdout, stderr, exit, err := r.run(ctx, r.reads, suite.binary, args...)
	out := binaryRun{args: args, exit: exit, stdout: stdout, stderr: stderr, traffic: r.proxy.recorded()}
	if err != nil {
		return out, err
	}
	if len(out.traffic.refused) > 0 {
		return out, fmt.Errorf("helmdrift sent requests that are not permitted: %q", out.traffic.refused)
	}
	if out.report, err = decodeReport(stdout); err != nil {
		return out, fmt.Errorf("%w\n%s", err, stderr)
	}
	if calls, err := os.ReadDir(r.calls); err != nil || len(calls) > 0 {
		return out, fmt.Errorf("diff --helmfile calls helm so that it changes a release: %v, %w", calls, orNothing(err))
	}
	return out, nil
}

// helmfileCall is a call of helm that changes a release.
type helmfileCall struct {
	verb, namespace, release string
	reuses                   bool
	err                      error
}

// sync runs helmfile sync and records what helm does. It returns the error of helmfile.
func (r *helmfileRun) sync(ctx context.Context) (failed, err error) {
	args := append(slices.Clone(r.flags), "--file", r.file, "sync")
	if r.oneByOne {
		args = append(args, "--concurrency", "1")
	}
	_, stderr, exit, err := r.run(ctx, r.env, filepath.Join(*helmfileDir, "helmfile"), args...)
	if exit != 0 {
		failed = fmt.Errorf("exit code %d: %s", exit, stderr)
	}
	return failed, err
}

// recordedCalls returns the recorded calls of helm, and forgets them.
func (r *helmfileRun) recordedCalls() (out []helmfileCall, err error) {
	all, err := filepath.Glob(filepath.Join(r.calls, "*.args"))
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		base := strings.TrimSuffix(name, ".args")
		args, err := os.ReadFile(name)
		code, failed := os.ReadFile(base + ".code")
		text, unread := os.ReadFile(base + ".err")
		if err := errors.Join(err, failed, unread); err != nil {
			return nil, err
		}
		words := strings.Split(strings.TrimSpace(string(args)), "\n")
		call := helmfileCall{namespace: r.ns}
		for i, word := range words {
			switch {
			case word == "--reuse-values":
				call.reuses = true
			case word == "--namespace":
				call.namespace = words[i+1]
			case call.verb == "" && slices.Contains([]string{"upgrade", "uninstall", "delete"}, word):
				call.verb = word
			case call.verb != "" && call.release == "" && !strings.HasPrefix(word, "-"):
				call.release = word
			}
		}
		if strings.TrimSpace(string(code)) != "0" {
			call.err = errors.New(errorOfHelm(string(text)))
		}
		if call.verb == "delete" {
			call.verb = "uninstall"
		}
		out = append(out, call)
	}
	return out, errors.Join(os.RemoveAll(r.calls), os.Mkdir(r.calls, 0o755))
}

// errorOfHelm returns the error that Helm printed, without the warnings before it. If Helm could not undo an upgrade that failed, that is
// the error of the upgrade.
func errorOfHelm(text string) string {
	if i := strings.Index("\n"+text, "\nError: "); i >= 0 {
		text = text[i:]
	}
	if _, original, isUndone := strings.Cut(text, "original upgrade error: "); isUndone {
		original = strings.TrimSpace(original)
		if n := len(original) / 2; n > 0 && original[:n-1] == strings.TrimPrefix(original[n-1:], ": ") { // the upgrade and the rollback fail alike
			original = original[:n-1]
		}
		return original
	}
	for _, prefix := range []string{"Error: ", "UPGRADE FAILED: ", "INSTALLATION FAILED: "} { // the library of Helm has the rest
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
