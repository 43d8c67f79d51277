package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var fluxTrees = flag.Int("flux.trees", 10, "how many random scripts TestFluxTree runs; -flux.seed is the first")

// fluxParallel is how many scripts of TestFluxTree run at once. They mostly wait for the controllers.
const fluxParallel = 3

// TestFluxTree runs the scripts of testdata/flux/tree, where Flux deploys from a Git repository: source-controller clones it,
// kustomize-controller builds it, and helm-controller deploys what it makes. Each script has a helm-controller of its own, which it may
// end. PATH has sops and age-keygen. Besides the commands of TestStories and the command publish and push of TestFlux, the scripts have:
//
//	repository         makes a Git repository of the folder repo, serves it, and makes a GitRepository of Flux of it, git, and the
//	                   Kustomization that repo/clusters/prod/root.yaml has
//	edit FILE BODY     changes the object in a file of the tree; BODY is a merge patch
//	freeze             ends the helm-controller until merge, so that it does not act on an edit before diff has predicted that. A new one
//	                   sees everything that changed at once. One that was only stopped might see the HelmRelease before its chart, and
//	                   would upgrade twice.
//	settle             asks every source of a chart to look again, and waits until they have
//	predict [FLAG...] NAME...
//	                   runs diff hr/NAME --from repo/clusters/prod for each name and prints the lines of the reports and the exit codes
//	merge              commits and pushes the tree, lets Flux act on it, and checks that it does what was predicted; see fluxTree.judge
func TestFluxTree(t *testing.T) {
	if *fluxDir == "" {
		t.Skip("-flux names no folder with the controllers of Flux; make flux builds them")
	}
	startFluxSources(t)
	startController(t, "kustomize-controller", nil, "--requeue-dependency=2s")
	repositories := t.TempDir()
	server, err := gitServer(repositories)
	must(t, err)
	git := httptest.NewServer(server)
	t.Cleanup(git.Close)
	added := fluxCommands(t)
	for name, cmd := range map[string]treeCommand{
		"repository": func(f *fluxTree, _ []string) (string, error) {
			return "", f.open(filepath.Join(repositories, f.ns+".git"), git.URL+"/"+f.ns+".git")
		},
		"edit":    func(f *fluxTree, args []string) (string, error) { return "", f.edit(args[0], args[1]) },
		"freeze":  func(f *fluxTree, _ []string) (string, error) { return "", f.controller.signal("KILL") },
		"settle":  func(f *fluxTree, _ []string) (string, error) { return "", f.settleSources() },
		"predict": (*fluxTree).predict,
		"merge":   func(f *fluxTree, _ []string) (string, error) { return "", f.judge() },
	} {
		added[name] = adaptTree(name, cmd)
	}
	slots := make(chan struct{}, fluxParallel)
	setup := func(env *testscript.Env) error {
		slots <- struct{}{}
		env.Defer(func() { <-slots })
		if err := openStory(env); err != nil {
			return err
		}
		env.Setenv("PATH", *fluxDir+string(filepath.ListSeparator)+env.Getenv("PATH"))
		f := &fluxTree{Case: env.Values[caseKey{}].(*Case)}
		f.start = func() {
			if f.controller != (fluxController{}) {
				_ = f.controller.signal("KILL") // unless it was ended before
			}
			f.controller = startController(env.T().(testing.TB), "helm-controller", []string{"RUNTIME_NAMESPACE=" + f.ns},
				"--watch-all-namespaces=false", "--requeue-dependency=2s")
		}
		f.start()
		env.Values[fluxTreeKey{}] = f
		return nil
	}
	files := fluxTreeScripts(t)
	defer fluxTreeCounts.log(t)
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, testscript.Params{Files: files, UpdateScripts: *update, Setup: setup, Cmds: added})
	})
}

// gitServer serves the repositories below a folder for reading, as git itself does it.
func gitServer(dir string) (*cgi.Handler, error) {
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, err
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"},
	}, nil
}

// fluxTree is a script with a working tree.
type fluxTree struct {
	*Case
	// controller is the helm-controller of the script, and start starts it.
	controller fluxController
	start      func()
	// remote is the folder of the bare repository.
	remote    string
	predicted []*fluxPrediction
}

type fluxTreeKey struct{}

// treeCommand is a command of a script with a working tree.
type treeCommand func(f *fluxTree, args []string) (string, error)

// adaptTree makes a testscript command of one of ours.
func adaptTree(name string, cmd treeCommand) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		f := ts.Value(fluxTreeKey{}).(*fluxTree)
		adapt(name, command{run: func(_ *Case, args []string) (string, error) { return cmd(f, args) }})(ts, neg, args)
	}
}

// git runs git in the tree.
func (f *fluxTree) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = filepath.Join(f.dir, "repo")
	cmd.Env = []string{"HOME=" + f.dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// open makes a Git repository of the tree, with the namespace of the script wherever its files have $NS, and lets Flux watch it.
func (f *fluxTree) open(remote, url string) error {
	f.remote = remote
	err := filepath.WalkDir(filepath.Join(f.dir, "repo"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, []byte(f.withNamespace(string(text))), 0o600)
	})
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"init", "-q", "--bare", "-b", "main", remote}, {"remote", "add", "origin", url},
		{"commit", "-q", "--allow-empty", "-m", "empty"}, {"push", "-q", remote, "main"},
	} {
		if err == nil {
			_, err = f.git(args...)
		}
	}
	if err != nil {
		return err
	}
	root, err := os.ReadFile(filepath.Join(f.dir, treeDir, "root.yaml"))
	if err != nil {
		return err
	}
	return f.cluster.serverApply(context.Background(), string(root)+fmt.Sprintf(`
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: git}
spec: {url: %q, interval: 1h, ref: {branch: main}}
`, url), f.ns, "flux")
}

// edit applies a merge patch to the object in a file of the tree.
func (f *fluxTree) edit(name, body string) error {
	name = filepath.Join(f.dir, name)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var object, patch map[string]any
	if err := errors.Join(yaml.Unmarshal(text, &object), yaml.Unmarshal([]byte(f.withNamespace(body)), &patch)); err != nil {
		return err
	}
	if text, err = yaml.Marshal(applyMergePatch(object, patch)); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}

// applyMergePatch applies a merge patch (RFC 7386).
func applyMergePatch(to, patch map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, to)
	for key, value := range patch {
		below, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(out, key)
		case isMap:
			was, _ := out[key].(map[string]any)
			out[key] = applyMergePatch(was, below)
		default:
			out[key] = value
		}
	}
	return out
}

// push commits the tree and pushes it. It returns the commit.
func (f *fluxTree) push() (string, error) {
	for _, args := range [][]string{
		{"add", "-A", "--force"}, {"commit", "-q", "--allow-empty", "-m", "change"}, {"push", "-q", f.remote, "main"},
	} {
		if _, err := f.git(args...); err != nil {
			return "", err
		}
	}
	return f.git("rev-parse", "HEAD")
}

// asked asks a controller to look at an object now and waits until it has, and done reports true.
func (f *fluxTree) asked(object string, done func(*unstructured.Unstructured) bool) error {
	r, err := f.ref(object)
	if err != nil {
		return err
	}
	now := time.Now().Format(time.RFC3339Nano)
	if err := f.patch("flux", object, fmt.Sprintf("{metadata: {annotations: {%s: %q}}}", reconcileRequest, now)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), fluxTimeout)
	defer cancel()
	conditions := ""
	err = f.cluster.waitFor(ctx, r, "its reconciliation", func(o *unstructured.Unstructured) bool {
		handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
		conditions = conditionsOf(o)
		return handled == now && done(o)
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, conditions)
	}
	return nil
}

// fluxTimeout limits how long a controller may take for an object.
const fluxTimeout = 2 * time.Minute

// isSettled reports whether a controller has looked at an object as it is and says whether it is ready. After a failure it tries again
// later.
func isSettled(o *unstructured.Unstructured) bool {
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	ready, _ := conditionOf(o, "Ready")
	_, retries := conditionOf(o, "Reconciling")
	return ready == "True" && observed == o.GetGeneration() || ready == "False" && (retries == "" || retries == "ProgressingWithRetry")
}

// conditionOf returns the status and the reason of a condition.
func conditionOf(o *unstructured.Unstructured, kind string) (status, reason string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == kind {
			return fmt.Sprint(c["status"]), fmt.Sprint(c["reason"])
		}
	}
	return "", ""
}

// observedBy returns the generation of the object that a condition is about.
func observedBy(o *unstructured.Unstructured, kind string) int64 {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == kind {
			generation, _ := c["observedGeneration"].(int64)
			return generation
		}
	}
	return 0
}

// settleSources asks the repositories of charts, and then the charts, to look again.
func (f *fluxTree) settleSources() error {
	for _, kind := range []string{"helmrepositories", "ocirepositories", "helmcharts"} {
		resource := kind + ".source.toolkit.fluxcd.io"
		all, err := f.list(resource)
		if err != nil {
			return err
		}
		for _, o := range all {
			if kind == "helmrepositories" && fmt.Sprint(o.Object["spec"].(map[string]any)["type"]) == "oci" {
				continue // it has no status
			}
			if err := f.asked(resource+"/"+o.GetName(), isSettled); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleTree waits until Flux has applied a commit. Apps depends on root, which makes it. Otherwise the controller may build apps as it was
// with the new commit, before root changes it. It returns why Flux could not build or apply apps, or "".
func (f *fluxTree) settleTree(commit string) (string, error) {
	err := f.asked("gitrepositories.source.toolkit.fluxcd.io/git", func(o *unstructured.Unstructured) bool {
		revision, _, _ := unstructured.NestedString(o.Object, "status", "artifact", "revision")
		return strings.HasSuffix(revision, commit)
	})
	if err != nil {
		return "", err
	}
	fault := ""
	for _, name := range []string{"root", "apps"} {
		object := "kustomizations.kustomize.toolkit.fluxcd.io/" + name
		r, err := f.ref(object)
		if err != nil {
			return "", err
		}
		o, err := f.cluster.get(context.Background(), r)
		if apierrors.IsNotFound(err) || err == nil && o.GetDeletionTimestamp() != nil {
			if err := f.cluster.waitUntilGone(context.Background(), r); err != nil {
				return "", err
			}
			continue
		}
		if err != nil {
			return "", err
		}
		if isSuspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); isSuspended {
			continue
		}
		if err := f.asked(object, func(now *unstructured.Unstructured) bool {
			attempted, _, _ := unstructured.NestedString(now.Object, "status", "lastAttemptedRevision")
			o = now
			return strings.HasSuffix(attempted, commit) && isSettled(now)
		}); err != nil {
			return "", err
		}
		if ready, _ := conditionOf(o, "Ready"); ready != "True" {
			fault += name + ": " + conditionsOf(o)
		}
	}
	return fault, f.settleSources()
}

// list lists the objects of a resource in the namespace of the script.
func (f *fluxTree) list(resource string) ([]unstructured.Unstructured, error) {
	client, _, err := f.cluster.clientFor(ref{resource: resource, namespace: f.ns})
	if err != nil {
		return nil, err
	}
	all, err := client.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return all.Items, nil
}
