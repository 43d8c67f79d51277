package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestStories runs the scripts of testdata/stories. Their commands:
//
//	helm VERB [FLAGS] [CHART|REVISION]                 calls Helm 3's library; helmCall has the flags
//	helm4 VERB …                                       calls Helm 4's; with --as NAME, as a program of that name
//	patch MANAGER KIND/NAME BODY                       edits an object; BODY is YAML
//	scale KIND/NAME N                                  kubectl scale
//	create MANAGER FILE                                creates objects without Helm
//	apply FILE                                         kubectl apply, client-side
//	server-apply MANAGER FILE                          kubectl apply --server-side --force-conflicts
//	restore                                            helm get manifest | kubectl apply
//	delete KIND/NAME                                   deletes an object
//	forge FILE                                         gives the last record another manifest
//	status STATUS                                      gives the last record another status
//	await-gone KIND/NAME                               waits until an object no longer exists
//	await KIND/NAME PATH VALUE                         waits until a field has a value
//	await-served GROUP/VERSION RESOURCE                waits until discovery has a resource
//	await-unserved GROUP/VERSION                       waits until discovery no longer has a version
//	diff [CHART] [FLAGS]                               prints the lines of the report and the exit code
//	diff-patch [CHART] [FLAGS]                         prints -o diff and the exit code; patched.yaml is the manifest with this patch
//	fix [ARGS]                                         puts back what drifted; prints plan, results and the exit code
//	helmdrift ARGS                                     any other run of the binary; prints its stdout and exit code
//	proves                                             upgrades, rolls back or installs for real: exactly what the last diff said happens
//	namespace NAME                                     creates another namespace
//	storage NAMESPACE                                  sets the namespace of the records
//	release NAME                                       sets the name of the release; at first it is r
//	git-server FOLDER                                  serves the repositories in a folder at $GIT; git.log gets a line for each fetch
//
// CHART is a folder of the script, a single template of it, or a folder of testdata/charts. NS, the story's namespace, is printed as NS. A
// diff must print only what its want file lists. -stories runs the stories of another folder.
func TestStories(t *testing.T) {
	t.Cleanup(func() {
		t.Log(storyTolerances.sum)
		files, _ := filepath.Glob(filepath.Join(*storyDir, "*.txtar"))
		for _, text := range storyTolerances.sum.exceeded(len(files)) {
			t.Errorf("the judge of the stories excused too much: %s", text)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:           *storyDir,
		UpdateScripts: *update,
		Setup:         openStory,
		Cmds:          commands(),
	})
}

// openStory creates the case of a script.
func openStory(env *testscript.Env) error { return openStoryOn(suite.cluster, env) }

// openStoryOn creates the case of a script on a cluster.
func openStoryOn(on *cluster, env *testscript.Env) error {
	c, err := openCase(on, env.WorkDir, storyName(env))
	if err != nil {
		return err
	}
	env.Defer(c.close)
	env.Setenv("NS", c.ns)
	env.Setenv("HELMDRIFT", suite.binary+" --kubeconfig "+c.proxy.kubeconfig) // without the namespace of the release
	env.Values[caseKey{}] = c
	return nil
}

// storyName returns the name of the script, which is part of the name of its work folder.
func storyName(env *testscript.Env) string {
	_, name, _ := strings.Cut(env.WorkDir, "script-")
	return name
}

type caseKey struct{}

// command is one command of the scripts.
type command struct {
	// args names the arguments; nil means that the command checks them itself.
	args []string
	run  func(c *Case, args []string) (string, error)
}

func commands() map[string]func(*testscript.TestScript, bool, []string) {
	kindName, file := "KIND/NAME", "FILE"
	out := map[string]func(*testscript.TestScript, bool, []string){}
	for name, cmd := range map[string]command{
		"helm":  {run: silent(func(c *Case, args []string) error { return c.helm(false, args...) })},
		"helm4": {run: silent(func(c *Case, args []string) error { return c.helm(true, args...) })},
		"patch": {[]string{"MANAGER", kindName, "BODY"}, silent(func(c *Case, args []string) error { return c.patch(args[0], args[1], args[2]) })},
		"patch-status": {[]string{"MANAGER", kindName, "BODY"}, silent(func(c *Case, args []string) error {
			return c.patch(args[0], args[1], args[2], "status")
		})},
		"put":   {[]string{"FOLDER"}, silent(func(c *Case, args []string) error { return storyBuckets().put(c, args[0]) })},
		"scale": {[]string{kindName, "N"}, silent(func(c *Case, args []string) error { return c.scale(args[0], args[1]) })},
		"create": {[]string{"MANAGER", file}, onFile(func(c *Case, text string, args []string) error {
			return c.cluster.create(context.Background(), text, c.ns, args[0])
		})},
		"apply": {[]string{file}, onFile(func(c *Case, text string, _ []string) error {
			return c.cluster.kubectlApply(context.Background(), text, c.ns, "kubectl-client-side-apply")
		})},
		"client-apply": {[]string{"MANAGER", file}, onFile(func(c *Case, text string, args []string) error {
			return c.cluster.kubectlApply(context.Background(), text, c.ns, args[0])
		})},
		"server-apply": {[]string{"MANAGER", file}, onFile(func(c *Case, text string, args []string) error {
			return c.cluster.serverApply(context.Background(), text, c.ns, args[0])
		})},
		"restore": {[]string{}, silent(restore)},
		"delete": {[]string{kindName}, onObject(func(c *Case, r ref, _ []string) error {
			return c.cluster.delete(context.Background(), r)
		})},
		"await": {[]string{kindName, "PATH", "VALUE"}, onObject(await)},
		"await-gone": {[]string{kindName}, onObject(func(c *Case, r ref, _ []string) error {
			return c.cluster.waitUntilGone(context.Background(), r)
		})},
		"await-unserved": {[]string{"GROUP/VERSION"}, silent(func(c *Case, args []string) error {
			return c.cluster.waitUntilUnserved(context.Background(), args[0])
		})},
		"await-served": {[]string{"GROUP/VERSION", "RESOURCE"}, silent(func(c *Case, args []string) error {
			return c.cluster.waitUntilServed(context.Background(), args[0], args[1])
		})},
		"diff":       {run: scriptDiff},
		"diff-patch": {run: scriptPatch},
		"fix":        {run: scriptFix},
		"helmdrift":  {run: scriptBinary},
		"proves":     {[]string{}, silent(func(c *Case, _ []string) error { return c.proves() })},
		"forge": {[]string{file}, onFile(func(c *Case, text string, _ []string) error {
			return c.forge(func(r *release.Release) { r.Manifest = text })
		})},
		"status": {[]string{"STATUS"}, silent(func(c *Case, args []string) error {
			return c.forge(func(r *release.Release) { r.Info.Status = release.Status(args[0]) })
		})},
		"namespace": {[]string{"NAME"}, silent(func(c *Case, args []string) error {
			return c.cluster.create(context.Background(), "{apiVersion: v1, kind: Namespace, metadata: {name: "+args[0]+"}}", "", "kubectl-create")
		})},
		"storage": {[]string{"NAMESPACE"}, silent(func(c *Case, args []string) error { c.storage = args[0]; return nil })},
		"release": {[]string{"NAME"}, silent(func(c *Case, args []string) error { c.release = args[0]; return nil })},
	} {
		out[name] = adapt(name, cmd)
	}
	out["git-server"] = serveGit
	return out
}

// serveGit is the command git-server.
func serveGit(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: git-server FOLDER")
	}
	git, err := gitServer(ts.MkAbs(args[0]))
	ts.Check(err)
	log, err := os.Create(ts.MkAbs("git.log"))
	ts.Check(err)
	ts.Defer(func() { _ = log.Close() })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			fmt.Fprintln(log, r.URL.Path)
		}
		git.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("GIT", server.URL)
}

// adapt makes a testscript command of one of ours; "! command" expects it to fail, and
// its error is then on stderr.
func adapt(name string, cmd command) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if cmd.args != nil && len(args) != len(cmd.args) {
			ts.Fatalf("usage: %s %s", name, strings.Join(cmd.args, " "))
		}
		c := ts.Value(caseKey{}).(*Case)
		c.env = map[string]string{"HELM_DRIVER": ts.Getenv("HELM_DRIVER"), "PATH": ts.Getenv("PATH"), "TMPDIR": ts.Getenv("TMPDIR")}
		text, err := cmd.run(c, args)
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

// silent makes a command of a function that prints nothing.
func silent(do func(c *Case, args []string) error) func(*Case, []string) (string, error) {
	return func(c *Case, args []string) (string, error) { return "", do(c, args) }
}

// onFile makes a command whose last argument is a file of the story; the function gets its text.
func onFile(do func(c *Case, text string, args []string) error) func(*Case, []string) (string, error) {
	return silent(func(c *Case, args []string) error {
		text, err := c.file(args[len(args)-1])
		if err != nil {
			return err
		}
		return do(c, text, args)
	})
}

// onObject makes a command whose first argument names an object; the function gets the other arguments.
func onObject(do func(c *Case, r ref, args []string) error) func(*Case, []string) (string, error) {
	return silent(func(c *Case, args []string) error {
		r, err := c.ref(args[0])
		if err != nil {
			return err
		}
		return do(c, r, args[1:])
	})
}

// file reads a file of the story and fills in the namespace.
func (c *Case) file(name string) (string, error) {
	text, err := os.ReadFile(c.dir + "/" + name)
	return c.withNamespace(string(text)), err
}

// restore is helm get manifest | kubectl apply.
func restore(c *Case, _ []string) error {
	manifest, err := c.manifest()
	if err != nil {
		return err
	}
	return c.cluster.kubectlApply(context.Background(), manifest, c.ns, "kubectl-client-side-apply")
}

// await waits until a field of an object has a value; an empty value stands for an absent field.
func await(c *Case, r ref, args []string) error {
	path, want := args[0], args[1]
	return c.cluster.waitFor(context.Background(), r, path+"="+want, func(obj *unstructured.Unstructured) bool {
		got, found, err := unstructured.NestedFieldNoCopy(obj.Object, strings.Split(path, ".")...)
		return err == nil && (found && fmt.Sprint(got) == want || !found && want == "")
	})
}

func scriptDiff(c *Case, args []string) (string, error) {
	isControlled := len(args) > 0 && (strings.HasPrefix(args[0], "hr/") || strings.HasPrefix(args[0], "app/"))
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !isControlled {
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
	switch {
	case c.rights != nil:
		err = c.rights.check(c, args, false, func() (binaryRun, error) { return c.diff(args...) })
	case !isControlled: // a snapshot has no objects of controllers
		err = c.checkSnapshot(c.named(args), out)
	}
	if err != nil {
		return "", err
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
	run := c.binary
	if slices.Contains(args, "--snapshot") {
		run = c.withoutCluster
	}
	if args[0] == "absorb" && !slices.Contains(args, "--render-timeout") {
		// absorb gives up a candidate that takes a twentieth of this time, which on a very busy machine says nothing about the candidate.
		args = append(slices.Clip(args), "--render-timeout", "10m")
	}
	out, err := run(args...)
	if err == nil && c.rights != nil && diffLine.MatchString("helmdrift "+strings.Join(args, " ")) {
		err = c.rights.check(c, args, true, func() (binaryRun, error) { return c.asJSON(args) })
	}
	return ofStory(out.stdout, time.Since(c.opened)) + out.stderr + fmt.Sprintf("exit %d\n", out.exit), err
}

// minutesAgo matches an age in minutes.
var minutesAgo = regexp.MustCompile(`\b(\d+) min ago`)

// ofStory returns the text with "just now" in place of every age of at most the story's own. On a busy machine, the edits of a story are
// minutes old when the story looks.
func ofStory(text string, age time.Duration) string {
	return minutesAgo.ReplaceAllStringFunc(text, func(ago string) string {
		minutes, err := strconv.Atoi(minutesAgo.FindStringSubmatch(ago)[1])
		if err != nil || time.Duration(minutes)*time.Minute > age {
			return ago
		}
		return "just now"
	})
}

func TestOfStory(t *testing.T) {
	t.Parallel()
	const text = "kubectl-edit, 2 min ago; newest edit 12 min ago"
	if got := ofStory(text, 2*time.Minute); got != "kubectl-edit, just now; newest edit 12 min ago" {
		t.Error(got)
	}
}

// asJSON runs the binary with JSON as its format. It prints also if the arguments say that it should not.
func (c *Case) asJSON(args []string) (binaryRun, error) {
	if i := slices.Index(args, "-o"); i >= 0 {
		args = slices.Concat(args[:i], args[i+2:])
	}
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "-q" })
	out, err := c.binary(append(args, "-o", "json")...)
	if err == nil && strings.HasPrefix(out.stdout, "{") {
		out.report, err = decodeReport(out.stdout)
	}
	return out, err
}
