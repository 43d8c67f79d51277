package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestStories runs the scripts of testdata/stories. Their commands:
//
//	helm VERB [FLAGS] [CHART|REVISION]                 Helm 3's library; flags of helmCall
//	helm4 VERB …                                       Helm 4's; with --as NAME, a program of that name calls the library
//	patch MANAGER KIND/NAME BODY                       an edit; BODY is YAML
//	scale KIND/NAME N                                  kubectl scale
//	create MANAGER FILE                                objects made without Helm
//	apply FILE                                         kubectl apply, client-side
//	server-apply MANAGER FILE                          kubectl apply --server-side --force-conflicts
//	restore                                            helm get manifest | kubectl apply
//	delete KIND/NAME
//	forge FILE                                         the last record gets another manifest
//	status STATUS                                      the last record gets another status
//	await-gone KIND/NAME                               until it is
//	await KIND/NAME PATH VALUE                         until a controller has done that
//	await-unserved GROUP/VERSION                       until discovery says so
//	diff [CHART] [FLAGS]                               prints the report's lines and the exit code
//	fix [ARGS]                                         puts back what drifted; prints plan, results and the exit code
//	helmdrift ARGS                                     any other run of the binary; prints its stdout and exit code
//	proves                                             upgrades, rolls back or installs for real: exactly what the last diff said happens
//	namespace NAME, storage NAME                       another namespace; where records are kept
//
// CHART is a folder of the script, a lone template of it, or a folder of
// testdata/charts. NS, the story's namespace, is printed as NS. A diff may
// contain nothing that its want file does not list. -stories runs the stories
// of another folder.
func TestStories(t *testing.T) {
	t.Cleanup(func() {
		t.Log(storyTolerances.sum)
		files, _ := filepath.Glob(filepath.Join(*storyDir, "*.txtar"))
		for _, text := range storyTolerances.sum.exceeded(len(files)) {
			t.Errorf("the judge of the stories let too much through: %s", text)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:           *storyDir,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			c, err := openCase(suite.cluster, env.WorkDir, storyName(env))
			if err != nil {
				return err
			}
			env.Defer(c.close)
			env.Setenv("NS", c.ns)
			env.Values[caseKey{}] = c
			return nil
		},
		Cmds: commands(),
	})
}

// storyName is the script's own name, which its work folder bears.
func storyName(env *testscript.Env) string {
	_, name, _ := strings.Cut(env.WorkDir, "script-")
	return name
}

type caseKey struct{}

// command is one command of the scripts on a story; it returns what it prints.
type command func(c *Case, args []string) (string, error)

func commands() map[string]func(*testscript.TestScript, bool, []string) {
	out := map[string]func(*testscript.TestScript, bool, []string){}
	for name, do := range map[string]command{
		"helm":           func(c *Case, args []string) (string, error) { return "", c.helm(false, args...) },
		"helm4":          func(c *Case, args []string) (string, error) { return "", c.helm(true, args...) },
		"patch":          scriptPatch,
		"scale":          scriptScale,
		"create":         scriptCreate,
		"apply":          scriptApply,
		"server-apply":   scriptServerApply,
		"restore":        scriptRestore,
		"delete":         scriptDelete,
		"await":          scriptAwait,
		"await-gone":     scriptAwaitGone,
		"await-unserved": scriptAwaitUnserved,
		"diff":           scriptDiff,
		"fix":            scriptFix,
		"helmdrift":      scriptBinary,
		"proves":         func(c *Case, _ []string) (string, error) { return "", c.proves() },
		"forge":          scriptForge,
		"status":         scriptStatus,
		"namespace":      scriptNamespace,
		"storage":        scriptStorage,
	} {
		out[name] = adapt(do)
	}
	return out
}

// adapt makes a testscript command of ours; "! command" wants it to fail, and
// its error is then on stderr.
func adapt(do command) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		c := ts.Value(caseKey{}).(*Case)
		c.env = map[string]string{"HELM_DRIVER": ts.Getenv("HELM_DRIVER")}
		text, err := do(c, args)
		fmt.Fprint(ts.Stdout(), strings.ReplaceAll(text, c.ns, "NS"))
		switch {
		case neg && err == nil:
			ts.Fatalf("did not fail")
		case neg:
			fmt.Fprintln(ts.Stderr(), err)
		case err != nil:
			ts.Fatalf("%v", err)
		}
	}
}

// need checks the number of a command's arguments.
func checkArgs(args []string, n int, usage string) error {
	if len(args) != n {
		return fmt.Errorf("usage: %s", usage)
	}
	return nil
}

func scriptPatch(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 3, "patch MANAGER KIND/NAME BODY"); err != nil {
		return "", err
	}
	return "", c.patch(args[0], args[1], args[2])
}

func scriptScale(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 2, "scale KIND/NAME N"); err != nil {
		return "", err
	}
	return "", c.scale(args[0], args[1])
}

func scriptCreate(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 2, "create MANAGER FILE"); err != nil {
		return "", err
	}
	text, err := c.file(args[1])
	if err != nil {
		return "", err
	}
	return "", c.cluster.create(context.Background(), text, c.ns, args[0])
}

func scriptApply(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "apply FILE"); err != nil {
		return "", err
	}
	text, err := c.file(args[0])
	if err != nil {
		return "", err
	}
	return "", c.cluster.kubectlApply(context.Background(), text, c.ns)
}

func scriptServerApply(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 2, "server-apply MANAGER FILE"); err != nil {
		return "", err
	}
	text, err := c.file(args[1])
	if err != nil {
		return "", err
	}
	return "", c.cluster.serverApply(context.Background(), text, c.ns, args[0])
}

// file reads a file of the story, the namespace filled in.
func (c *Case) file(name string) (string, error) {
	text, err := os.ReadFile(c.dir + "/" + name)
	return strings.ReplaceAll(string(text), "$NS", c.ns), err
}

func scriptRestore(c *Case, _ []string) (string, error) {
	manifest, err := c.manifest()
	if err != nil {
		return "", err
	}
	return "", c.cluster.kubectlApply(context.Background(), manifest, c.ns)
}

func scriptDelete(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "delete KIND/NAME"); err != nil {
		return "", err
	}
	r, err := c.ref(args[0])
	if err != nil {
		return "", err
	}
	return "", c.cluster.delete(context.Background(), r)
}

func scriptAwait(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 3, "await KIND/NAME PATH VALUE"); err != nil {
		return "", err
	}
	r, err := c.ref(args[0])
	if err != nil {
		return "", err
	}
	path := strings.Split(args[1], ".")
	return "", c.cluster.waitFor(context.Background(), r, args[1]+"="+args[2], func(obj *unstructured.Unstructured) bool {
		got, found, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
		return err == nil && (found && fmt.Sprint(got) == args[2] || !found && args[2] == "")
	})
}

func scriptForge(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "forge FILE"); err != nil {
		return "", err
	}
	text, err := c.file(args[0])
	if err != nil {
		return "", err
	}
	return "", c.forge(func(r *release.Release) { r.Manifest = text })
}

func scriptStatus(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "status STATUS"); err != nil {
		return "", err
	}
	return "", c.forge(func(r *release.Release) { r.Info.Status = release.Status(args[0]) })
}

func scriptAwaitGone(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "await-gone KIND/NAME"); err != nil {
		return "", err
	}
	r, err := c.ref(args[0])
	if err != nil {
		return "", err
	}
	return "", c.cluster.waitUntilGone(context.Background(), r)
}

func scriptAwaitUnserved(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "await-unserved GROUP/VERSION"); err != nil {
		return "", err
	}
	return "", c.cluster.waitUntilUnserved(context.Background(), args[0])
}

func scriptDiff(c *Case, args []string) (string, error) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		chart, err := c.chart(args[0])
		if err != nil {
			return "", err
		}
		args = append([]string{c.release, chart}, args[1:]...)
	}
	out, err := c.diff(args...)
	if err != nil {
		return out.stderr, err
	}
	if err := os.WriteFile(c.dir+"/report.json", []byte(out.stdout), 0o600); err != nil {
		return "", err
	}
	text := out.stderr
	if out.report != nil {
		text += strings.Join(append(out.report.lines(), ""), "\n")
	}
	if len(out.traffic.dryRuns) > 0 {
		text += fmt.Sprintf("tried %d writes\n", len(out.traffic.dryRuns))
	}
	return text + fmt.Sprintf("exit %d\n", out.exit), nil
}

func scriptBinary(c *Case, args []string) (string, error) {
	out, err := c.binary(args...)
	return out.stdout + out.stderr + fmt.Sprintf("exit %d\n", out.exit), err
}

func scriptNamespace(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "namespace NAME"); err != nil {
		return "", err
	}
	return "", c.cluster.create(context.Background(), "{apiVersion: v1, kind: Namespace, metadata: {name: "+args[0]+"}}", "", "kubectl-create")
}

func scriptStorage(c *Case, args []string) (string, error) {
	if err := checkArgs(args, 1, "storage NAMESPACE"); err != nil {
		return "", err
	}
	c.storage = args[0]
	return "", nil
}
