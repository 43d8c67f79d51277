package helmfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/casetest"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestCalls reads the cases of testdata/calls. A case has what helmfile build prints for the environment prod in state, the recorded calls
// in calls, one in each line as JSON, and in want what is made of them.
func TestCalls(t *testing.T) {
	casetest.Run(t, "testdata/calls/*.txtar", func(t *testing.T, inputs *txtar.Archive) string {
		casetest.Inputs(t, inputs, "state", "calls")
		return describe(t, inputs.Files[0].Data, inputs.Files[1].Data)
	})
}

// describe returns what is made of a state and of calls, one line for each thing that is not empty.
func describe(t *testing.T, text, lines []byte) string {
	t.Helper()
	state, err := ReadState(text, "prod")
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var calls []Call
	for line := range bytes.Lines(lines) {
		var c Call
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "helm: %s\n", state.Helm)
	for _, r := range releases(state, calls, "helmfile failed") {
		fmt.Fprintf(&out, "release: %s\n", strings.Trim(r.Context+"/"+r.Namespace+"/"+r.Name, "/"))
		line := func(name string, value any) {
			if text := strings.Trim(fmt.Sprint(value), "[]"); text != "" && text != "false" && text != "0" {
				fmt.Fprintf(&out, "  %s: %s\n", name, text)
			}
		}
		line("fault", r.Fault)
		line("uninstalled", !r.IsInstalled)
		line("may-reinstall", r.MayReinstall)
		a := r.arguments
		if a == nil {
			continue
		}
		line("chart", a.chart)
		line("version", a.source.Version)
		line("files", a.files())
		line("keyring", a.source.Keyring)
		line("set", a.values.Set)
		line("set-string", a.values.SetString)
		line("server-side", a.serverSide)
		line("post-renderer", append([]string{a.postRenderer}, a.postRendererArgs...))
		var flags []string
		for name, isSet := range map[string]bool{
			"reset": a.reset, "reuse": a.reuse, "force": a.force, "force-conflicts": a.forceConflicts, "take-ownership": a.takeOwnership,
			"no-hooks": a.noHooks, "create-namespace": a.createNamespace, "skip-schema": a.skipSchema, "atomic": a.atomic,
			"skip-crds": a.skipCRDs, "recreate-pods": a.recreatePods, "verify": a.source.Verify, "plain-http": a.source.PlainHTTP,
		} {
			if isSet {
				flags = append(flags, name)
			}
		}
		slices.Sort(flags)
		line("flags", flags)
	}
	return out.String()
}

// TestServe calls the program in the place of helm. Only what is harmless gets to the real helm.
func TestServe(t *testing.T) {
	run, err := NewRun("/bin/true")
	if err == nil {
		err = run.passTo("real-helm", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	dir := t.TempDir()
	chart := filepath.Join(run.Temp(), "chartify", "web")
	for name, text := range map[string]string{filepath.Join(dir, "values.yaml"): "a: 1\n", filepath.Join(chart, "Chart.yaml"): "name: web\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args       string
		passed     bool
		code       int
		complaints string
	}{
		{"version --short", true, 0, ""},
		{"--kube-context prod list --filter ^web$", true, 0, ""},
		{"--debug repo add x https://charts.example.com", true, 0, ""},
		{"secrets decrypt secrets.yaml", true, 0, ""},
		{"template web chart --dry-run=server", true, 0, ""},
		{"upgrade --install web chart", false, 1, "helm upgrade --install is not called, since helmdrift only compares"},
		{"--namespace list upgrade --install web chart", false, 1, "helm upgrade --install is not called"},
		{"delete web", false, 1, "helm delete web is not called"},
		{"uninstall web", false, 1, "is not called"},
		{"rollback web 1", false, 1, "is not called"},
		{"plugin install https://example.com/p", false, 1, "helm plugin install is not called"},
		{"secrets encrypt x", false, 1, "is not called"},
		{"diff rollback web 1", false, 1, "is not called"},
		{"diff upgrade --allow-unreleased web " + chart + " --values values.yaml", false, 0, ""},
		{"diff upgrade --allow-unreleased web chart --values gone.yaml", false, 0, ""},
		{"diff upgrade --allow-unreleased web chart --adopt deploy/web", false, 0, ""},
	} {
		passed := ""
		var said bytes.Buffer
		code := Serve(Caller{
			Program: run.Program, Dir: dir, Err: &said,
			Pass: func(helm string, args []string, copyTo io.Writer) int {
				passed = helm + " " + strings.Join(args, " ")
				if copyTo != nil {
					_, _ = copyTo.Write([]byte("key: hunter2\n"))
				}
				return 0
			},
		}, strings.Fields(test.args))
		if (passed == "real-helm "+test.args) != test.passed || code != test.code || !strings.Contains(said.String(), test.complaints) {
			t.Errorf("%s: passed %q, exit code %d, said %q", test.args, passed, code, said.String())
		}
	}
	calls, err := run.calls()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(chart); err != nil {
		t.Fatal(err)
	}
	var kept, faults int
	for _, c := range calls {
		if c.Fault != "" {
			faults++
		}
		if c.Chart != "" {
			kept++
			if text, err := os.ReadFile(filepath.Join(c.Chart, "Chart.yaml")); err != nil || string(text) != "name: web\n" {
				t.Errorf("the copy of the chart has %q: %v", text, err)
			}
			if got := string(c.Files["values.yaml"]); got != "a: 1\n" {
				t.Errorf("the copy of the values is %q", got)
			}
		}
	}
	if kept != 1 || faults != 2 {
		t.Errorf("%d charts are kept and %d calls have a fault, want 1 and 2", kept, faults)
	}
	decrypted := decrypted(calls)
	if len(decrypted) != 1 || !slices.Contains(Secrets(decrypted[0]), Secret{"key", "hunter2"}) {
		t.Errorf("%q was decrypted", decrypted)
	}
}

// TestKeeps checks that a chart that a hook may delete is copied when helmfile calls helm.
func TestKeeps(t *testing.T) {
	state, err := ReadState([]byte("releases: [{name: web, chart: ./web, hooks: [{events: [prepare, cleanup], command: x}]}]"), DefaultEnvironment)
	if err != nil || !state.CleansUp {
		t.Fatalf("the hook is not seen: %v", err)
	}
	run, err := NewRun("/bin/true")
	if err == nil {
		err = run.passTo("real-helm", state.CleansUp)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	dir := t.TempDir()
	chart := filepath.Join(dir, "web")
	if err := errors.Join(os.Mkdir(chart, 0o700), os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("name: web\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"./web", "repository/web"} {
		Serve(Caller{Program: run.Program, Dir: dir, Err: io.Discard}, []string{"diff", "upgrade", "web", ref})
	}
	if err := os.RemoveAll(chart); err != nil {
		t.Fatal(err)
	}
	calls, err := run.calls()
	if err != nil || len(calls) != 2 {
		t.Fatalf("%v, %v", calls, err)
	}
	for _, c := range calls {
		text, _ := os.ReadFile(filepath.Join(c.Chart, "Chart.yaml"))
		if isLocal := slices.Contains(c.Args, "./web"); isLocal != (string(text) == "name: web\n") || c.Fault != "" {
			t.Errorf("%q: the copy has %q; %s", c.Args, text, c.Fault)
		}
	}
}

// TestServeAlone calls the program without a run.
func TestServeAlone(t *testing.T) {
	var said bytes.Buffer
	code := Serve(Caller{Program: filepath.Join(t.TempDir(), Name), Err: &said}, []string{"version"})
	if code != 1 || !strings.Contains(said.String(), "does nothing else") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}

// TestChoose chooses releases by name and namespace.
func TestChoose(t *testing.T) {
	all := []Release{{Declared: Declared{Name: "api", Namespace: "shop"}}, {Declared: Declared{Name: "web", Namespace: "shop"}}, {Declared: Declared{Name: "web", Namespace: "old"}}}
	for _, test := range []struct {
		names, namespaces []string
		want              int
		err               string
	}{
		{nil, nil, 3, ""},
		{[]string{"web"}, nil, 2, ""},
		{[]string{"web"}, []string{"old"}, 1, ""},
		{[]string{"api"}, []string{"old"}, 0, "no release api in namespace old"},
		{[]string{"web", "api"}, []string{"old"}, 0, "no release api in namespace old"},
		{[]string{"web", "api"}, []string{"old", "shop"}, 3, ""},
		{nil, []string{"elsewhere"}, 0, "no release in namespace elsewhere"},
		{[]string{"wbe"}, nil, 0, "no release wbe"},
	} {
		got, err := Choose(all, test.names, test.namespaces)
		if len(got) != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%v %v: %d releases, %v", test.names, test.namespaces, len(got), err)
		}
	}
	if _, err := Choose(nil, nil, nil); err == nil {
		t.Error("an empty helmfile is no error")
	}
}

// TestRecreatePods checks that the report of an upgrade says that pods go which it does not show, by the code that --fail-on restart and
// downtime look at, and that Helm 4 does not know the flag.
func TestRecreatePods(t *testing.T) {
	for _, test := range []struct {
		action     report.DeployerAction
		isSet, has bool
	}{
		{report.DeployerUpgrade, true, true},
		{report.DeployerUpgrade, false, false},
		{report.DeployerInstall, true, false},
	} {
		s := &Step{release: Release{arguments: &arguments{recreatePods: test.isSet}}, action: test.action}
		r := &report.Release{}
		s.Finish(&drift.Result{Comparison: &threeway.Comparison{}}, r)
		has := slices.ContainsFunc(r.Warnings, func(m report.Message) bool {
			return m.Code == report.CodeEffects && strings.HasPrefix(m.Message, "recreatePods is set")
		})
		if has != test.has {
			t.Errorf("%s, set %t: warnings %v", test.action, test.isSet, r.Warnings)
		}
	}
	r := &Release{Declared: Declared{IsInstalled: true, OnlyUpgrade: []string{"--recreate-pods"}}}
	for helm, want := range map[string]string{"3": "", "4": "helmfile fails to upgrade it: recreatePods needs Helm 3"} {
		if got := r.refusedBy(helm); got != want {
			t.Errorf("Helm %s: %q, want %q", helm, got, want)
		}
	}
}

// TestOnlyUpgrade checks that helm upgrade gets the values of syncArgs before those of the release.
func TestOnlyUpgrade(t *testing.T) {
	call := Call{Args: []string{"diff", "upgrade", "web", "./chart", "--values", "web.yaml", "--set", "a=1", "--set", "b=1"}}
	a, err := parse(call, "--set", "a=2", "--values", "all.yaml", "--force-conflicts", "--set-string", "c=2")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(a.values.Files, a.values.Set, a.values.SetString, a.forceConflicts)
	if want := "[all.yaml web.yaml] [a=2 a=1 b=1] [c=2] true"; got != want {
		t.Errorf("the values are %s, want %s", got, want)
	}
	if got := withoutSelector([]string{"--file", "f", "--selector", "a", "--selector", "b", "-q"}); !slices.Equal(got, []string{"--file", "f", "-q"}) {
		t.Errorf("without selectors: %q", got)
	}
}

// TestForbidden says which immutable fields make helmfile install a release anew with updateStrategy: reinstallIfForbidden.
func TestForbidden(t *testing.T) {
	for _, test := range []struct {
		kind      string
		immutable string
		want      bool
	}{
		{"StatefulSet", "spec.serviceName", true},
		{"StorageClass", "parameters volumeBindingMode", true},
		{"StorageClass", "volumeBindingMode", false},
		{"Deployment", "spec.selector", false},
		{"StatefulSet", "", false},
	} {
		var immutable []object.Path
		for _, text := range strings.Fields(test.immutable) {
			immutable = append(immutable, object.TablePath(text))
		}
		if got := isForbidden(test.kind, immutable); got != test.want {
			t.Errorf("%s, %s: %t", test.kind, test.immutable, got)
		}
	}
}
