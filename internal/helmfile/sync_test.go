package helmfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/helmfile/helmfiletest"
	"github.com/helmdrift/helmdrift/internal/program"
)

var (
	helmfileProgram = flag.String("helmfile", "", "the program helmfile; without it, TestSync is skipped")
	helmPrograms    = flag.String("helms", "helm", "the programs of Helm to try, with commas between them")
	helmfileTests   = flag.String("inputs", "", "the folder test of the source of helmfile; TestSync tries its integration tests")
	onlyInputs      = flag.String("input", "", "only the inputs whose name contains this text")
	generated       = flag.Int("generated", 20, "how many helmfiles to generate")
	encrypted       = flag.String("sops", "", "an encrypted file of YAML; Helm then has the plugins helm-secrets and helm-diff")
	firstSeed       = flag.Int("seed", 1, "the seed of the first of them")
)

// These are the names of this test program while it stands in the place of helm: for helmdrift, and for what helmfile sync really calls.
const syncName = "record-helm-upgrade"

func TestMain(m *testing.M) {
	dir, _ := os.Getwd()
	caller := Caller{Program: os.Args[0], Dir: dir, Err: os.Stderr, Pass: func(helm string, args []string, copyTo io.Writer) int {
		return program.Pass(helm, args, os.Stdin, os.Stdout, os.Stderr, copyTo)
	}}
	switch filepath.Base(os.Args[0]) {
	case Name:
		os.Exit(Serve(caller, os.Args[1:]))
	case syncName:
		os.Exit(serveSync(caller, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// serveSync stands in the place of helm while helmfile sync runs. It records each upgrade and each uninstall and makes none.
func serveSync(c Caller, args []string) int {
	var s settings
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c.Program), settingsName))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	switch words := commandOf(args); {
	case err != nil:
	case words[0] == "upgrade":
		err = s.record(s.upgrade(c, args))
	case !isHarmless(words):
		err = s.record(Call{Args: args, Dir: c.Dir, Refused: true})
	default:
		return c.Pass(s.Helm, args, nil)
	}
	if err != nil {
		fmt.Fprintln(c.Err, "Error:", err)
		return 1
	}
	return 0
}

// upgrade records a call of helm upgrade as that of a diff which gets the same arguments. It copies all that the arguments name.
func (s settings) upgrade(c Caller, args []string) Call {
	i := slices.Index(args, "upgrade")
	out := Call{Args: slices.Concat([]string{"diff"}, args[i:i+1], args[:i], args[i+2:]), Dir: c.Dir, Files: map[string][]byte{}}
	a, err := parseUpgrade(out)
	if err != nil || args[i+1] != "--install" {
		out.Fault = fmt.Sprintf("helm gets %q: %v", args, err)
		return out
	}
	for _, name := range a.files() {
		if out.Files[name], err = readFile(inDir(c.Dir, name)); err != nil {
			out.Fault = err.Error()
		}
	}
	if chart := inDir(c.Dir, a.chart); exists(chart) {
		if out.Chart, err = s.keep(chart); err != nil {
			out.Fault = err.Error()
		}
	}
	return out
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// parseUpgrade reads the arguments of a call of upgrade. All flags count there.
func parseUpgrade(c Call) (*arguments, error) {
	var words, flags []string
	for i := 0; i < len(c.Args); i++ {
		if strings.HasPrefix(c.Args[i], "-") || len(words) == 4 {
			flags = append(flags, c.Args[i])
			if c.Args[i] == "--kube-context" {
				i++
				flags = append(flags, c.Args[i])
			}
			continue
		}
		words = append(words, c.Args[i])
	}
	return parse(Call{Args: words}, flags...)
}

// generatedInputs makes helmfiles by chance.
func generatedInputs(t *testing.T, helm4 bool) (out []input) {
	t.Helper()
	o := helmfiletest.Options{Helm4: helm4, HasDiff: *encrypted != ""}
	if o.HasDiff {
		secrets, err := os.ReadFile(*encrypted)
		if err != nil {
			t.Fatal(err)
		}
		o.Secrets = string(secrets)
	}
	for seed := *firstSeed; seed < *firstSeed+*generated; seed++ {
		tree := helmfiletest.New(seed, o)
		in := input{name: fmt.Sprint("seed ", seed), file: tree.File, environment: tree.Environment, mustRun: true, copy: func(t *testing.T, to string) {
			if err := tree.Write(to); err != nil {
				t.Fatal(err)
			}
		}}
		if strings.Contains(in.name, *onlyInputs) {
			out = append(out, in)
		}
	}
	return out
}

// TestSync compares what is recorded of a helmfile with the helm upgrade that helmfile sync calls for it. It needs the cluster of the
// kubeconfig, only to read it.
func TestSync(t *testing.T) {
	if *helmfileProgram == "" {
		t.Skip("it needs the program helmfile: -args -helmfile FILE -inputs FOLDER -helms HELM3,HELM4")
	}
	t.Setenv("PATH", filepath.Dir(*helmfileProgram)+":"+os.Getenv("PATH"))
	for _, helm := range strings.Split(*helmPrograms, ",") {
		version, err := exec.Command(helm, "version", "--short").Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(string(version[:2]), func(t *testing.T) {
			for _, in := range append(integrationInputs(t), generatedInputs(t, strings.HasPrefix(string(version), "v4"))...) {
				t.Run(in.name, func(t *testing.T) {
					t.Parallel()
					in.compare(t, helm)
				})
			}
		})
	}
}

// input is a helmfile and how to call helmfile with it.
type input struct {
	name, file, environment string
	// set are values for its templates.
	set []string
	// copy writes the files of the input into a folder.
	copy func(t *testing.T, to string)
	// mustRun is set if helmfile needs no network for it.
	mustRun bool
}

// compare compares the two ways.
func (in input) compare(t *testing.T, helm string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in.copy(t, dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HELMFILE_HELM_BINARY=" + helm, "KUBECONFIG=" + contexts(t, dir)}
	for _, name := range []string{"HELMFILE_CACHE_HOME", "HELM_CACHE_HOME", "HELM_CONFIG_HOME"} {
		env = append(env, name+"="+filepath.Join(dir, "of", name))
	}
	var values []StateValue
	for _, set := range in.set {
		values = append(values, StateValue{"state-values-set", set})
	}
	loader := Loader{
		File: filepath.Join(dir, in.file), Environment: in.environment, StateValues: values, Env: env, Self: self,
		ReadState: func(_ context.Context, text []byte) (*State, error) {
			return ReadState(text, cmp.Or(in.environment, DefaultEnvironment))
		},
		ReadSecrets: func(_ context.Context, all [][]byte) (out []Secret, _ error) {
			for _, text := range all {
				out = append(out, Secrets(text)...)
			}
			return out, nil
		},
	}
	real, failed := realCalls(t, loader, helm)
	found, err := loader.Load(t.Context())
	if failed != nil && !in.mustRun && (err != nil || slices.ContainsFunc(found.Releases, func(r Release) bool { return r.Fault != "" })) {
		t.Skipf("helmfile sync fails: %.600v", failed)
	}
	if err != nil {
		t.Fatalf("sync: %v, recording: %v", failed, err)
	}
	defer found.Close()
	ours, refused := map[string]string{}, ""
	for _, r := range found.Releases {
		name := r.Namespace + "/" + r.Name
		switch {
		case !r.IsInstalled:
			ours[name] = "uninstalled"
		case r.Fault != "":
			ours[name] = r.Fault
		case r.refusedBy(found.Helm) != "":
			refused = r.refusedBy(found.Helm)
		default:
			ours[name] = described(t, r.arguments, r.call)
		}
	}
	if (failed == nil) != (refused == "") {
		t.Errorf("sync: %v, recording: %q", failed, refused)
	}
	if failed != nil || refused != "" {
		return
	}
	for name, text := range ours {
		if text == "uninstalled" && real[name] == "" { // helmfile asks for what is not there, and uninstalls nothing
			delete(ours, name)
		}
	}
	if len(real) == 0 && len(ours) == 0 {
		t.Log("no release")
	}
	if diff := gocmp.Diff(real, ours); diff != "" {
		t.Errorf("helm upgrade (-) and what is recorded (+) differ:\n%s", diff)
	}
}

// contexts writes a kubeconfig with the contexts that the integration tests name, which are the current one.
func contexts(t *testing.T, dir string) string {
	t.Helper()
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"minikube", "test-context"} {
		config.Contexts[name] = config.Contexts[config.CurrentContext]
	}
	name := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// realCalls lets helmfile sync run, and returns what it calls for each release.
func realCalls(t *testing.T, l Loader, helm string) (out map[string]string, failed error) {
	run, err := NewRun(l.Self)
	if err == nil {
		err = run.passTo(helm, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	as := filepath.Join(run.folder, syncName)
	if err := os.Symlink(l.Self, as); err != nil {
		t.Fatal(err)
	}
	runner := program.Helmfile{Env: append(slices.Clone(l.Env), "TMPDIR="+run.Temp())}
	if _, failed = runner.Run(t.Context(), append(l.arguments(), "--helm-binary", as, "sync")...); failed != nil {
		return nil, failed
	}
	calls, err := run.calls()
	if err != nil {
		t.Fatal(err)
	}
	out = map[string]string{}
	for _, call := range calls {
		if call.Refused {
			words := commandOf(call.Args)
			namespace := ""
			if i := slices.Index(call.Args, "--namespace"); i >= 0 {
				namespace = call.Args[i+1]
			}
			out[namespace+"/"+words[1]] = "uninstalled"
			continue
		}
		a, err := parseUpgrade(call)
		if err != nil || call.Fault != "" {
			t.Errorf("%s%v", call.Fault, err)
			continue
		}
		out[a.namespace+"/"+a.name] = described(t, a, call)
	}
	return out, nil
}

// described describes the arguments of an upgrade with the contents of the files that they name.
func described(t *testing.T, a *arguments, call Call) string {
	t.Helper()
	var out strings.Builder
	for _, name := range a.files() {
		var values any
		if err := yaml.Unmarshal(call.Files[name], &values); err != nil {
			t.Error(err)
		}
		text, err := yaml.Marshal(values)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&out, "values:\n%s", text)
	}
	chart := call.Chart
	if chart == "" {
		chart = inDir(call.Dir, a.chart)
	}
	copied := *a
	copied.values.Files = nil
	if exists(chart) {
		copied.chart = ""
		fmt.Fprintf(&out, "chart:\n%s", contents(t, chart))
	}
	fmt.Fprintf(&out, "%+v\n", copied)
	return out.String()
}

// contents returns the files of a chart with their texts, without what differs from one run to the next.
func contents(t *testing.T, chart string) string {
	var out bytes.Buffer
	err := filepath.WalkDir(chart, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		inside, _ := filepath.Rel(chart, name)
		if strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".tgz") {
			text = nil
		}
		fmt.Fprintf(&out, "-- %s\n%s", inside, text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return out.String()
}

// integrationInputs are those of helmfile's own tests. Their secrets are encrypted as their scripts do it.
func integrationInputs(t *testing.T) (out []input) {
	t.Helper()
	if *helmfileTests == "" {
		return nil
	}
	of := helmfiletest.Integration{Folder: filepath.Join(*helmfileTests, "integration")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := of.Served(r.URL.Path, r.FormValue("ref"))
		if text == nil || err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	of.Charts = server.URL
	for _, variable := range of.Env() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	all, err := of.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		in := input{name: one.Name, file: one.File, environment: one.Environment, set: one.Set, copy: func(t *testing.T, to string) {
			if err := of.Copy(to); err != nil {
				t.Fatal(err)
			}
			encrypt(t, to)
		}}
		if strings.Contains(in.name, *onlyInputs) {
			out = append(out, in)
		}
	}
	return out
}

// encrypt encrypts the secrets of the integration tests.
func encrypt(t *testing.T, dir string) {
	t.Helper()
	if *encrypted == "" {
		return
	}
	for from, name := range map[string]string{
		"secretssops/input/env-1.secrets.yaml": "secretssops/input/tmp/env-1.secrets.sops.yaml",
		"secretssops/input/env-2.secrets.yaml": "secretssops/input/tmp/env-2.secrets.sops.yaml",
		"hcl-secrets/input/secrets.yaml":       "hcl-secrets/input/tmp/secrets.yaml",
		"hcl-secrets/input/secrets.hcl":        "hcl-secrets/input/tmp/secrets.hcl",
	} {
		name = filepath.Join(dir, "test-cases", name)
		text, err := exec.Command("sops", "--encrypt", filepath.Join(dir, "test-cases", from)).Output()
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
