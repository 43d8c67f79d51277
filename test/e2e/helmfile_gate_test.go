package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/helmfile/helmfiletest"
)

// TestHelmfileGate puts helmdrift in the place of helm-diff, with the plugin of docs/helmfile.md, and runs helmfile diff and helmfile apply
// on the inputs of helmfile's own tests, with each Helm. After helmfile sync, diff finds nothing. After somebody has deleted one object, or
// edited it with Helm 3, diff exits with 2, apply upgrades the release of this object and no other, and diff finds nothing again. With Helm
// 4, an edit would be a conflict, which these helmfiles do not force.
func TestHelmfileGate(t *testing.T) {
	plugin := pluginOfPage(t)
	eachHelmfileInput(t, func(t *testing.T, helm string, helm4 bool, of helmfiletest.Integration, in helmfiletest.Input, seed uint64) {
		if strings.HasPrefix(in.Name, "suppress-output-line-regex/") {
			t.Skip("helmdrift refuses --suppress-output-line-regex, since a report has fields and no lines")
		}
		r := newHelmfileInput(t, helm, of, in)
		defer r.uninstall(t, helm)
		folder := filepath.Join(r.dir, ".helm", "plugins", "diff")
		for name, text := range plugin {
			must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755))
		}
		must(t, os.Symlink(suite.binary, filepath.Join(folder, "helmdrift")))
		r.env = append(r.env, "PATH="+folder+":"+*helmfileDir+":"+os.Getenv("PATH")) // the last one counts
		refused := r.predict(t.Context())
		failed, err := r.sync(t.Context())
		must(t, err)
		if failed != nil {
			t.Skipf("helmfile sync fails: %v", failed)
		}
		must(t, refused)
		if slices.ContainsFunc(r.predicted, (*helmfilePrediction).sharesObjects) {
			t.Skip("several releases deploy the same object, so each upgrade changes what another one deployed")
		}
		r.helmfile(t, 0, "diff", "--detailed-exitcode")
		drifted, change := r.driftOne(t, seed, helm4)
		if change == "" {
			t.Skip("no release has an object that can be changed")
		}
		said := r.helmfile(t, 2, "diff", "--detailed-exitcode")
		_, err = r.recordedCalls()
		must(t, err)
		said += r.helmfile(t, 0, "apply")
		calls, err := r.recordedCalls()
		must(t, err)
		if len(calls) != 1 || calls[0].release != drifted.release || calls[0].namespace != drifted.storage || calls[0].err != nil {
			t.Errorf("%s of %s/%s: helmfile apply calls helm %+v\n%s", change, drifted.storage, drifted.release, calls, said)
		}
		r.helmfile(t, 0, "diff", "--detailed-exitcode")
	})
}

// pluginOfPage returns the files of the plugin that docs/helmfile.md has.
func pluginOfPage(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", helmfilePage))
	must(t, err)
	out := map[string]string{}
	for _, name := range []string{"plugin.yaml", "diff.sh"} {
		_, after, _ := strings.Cut(string(text), `cat > "$plugin/`+name+"\" <<'EOF'\n")
		file, _, found := strings.Cut(after, "\nEOF\n")
		if !found {
			t.Fatalf("%s has no %s", helmfilePage, name)
		}
		out[name] = file + "\n"
	}
	return out
}

// helmfile runs a command of helmfile that must end with an exit code, and returns what it prints.
func (r *helmfileRun) helmfile(t *testing.T, want int, args ...string) string {
	t.Helper()
	all := slices.Concat(r.flags, []string{"--file", r.file}, args)
	stdout, stderr, exit, err := r.run(t.Context(), r.env, filepath.Join(*helmfileDir, "helmfile"), all...)
	must(t, err)
	if exit != want {
		t.Fatalf("helmfile %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), exit, want, stdout, stderr)
	}
	return stdout + stderr
}

// driftOne deletes an object of a release, or edits it, and returns the release and what was done.
func (r *helmfileRun) driftOne(t *testing.T, seed uint64, helm4 bool) (of *helmfilePrediction, change string) {
	t.Helper()
	for i := range r.predicted {
		p := r.predicted[(i+int(seed))%len(r.predicted)] // another one in each input
		if !p.isComplete() {
			continue
		}
		for _, o := range p.objects {
			now, err := o.read()
			must(t, err)
			if now == nil || !slices.Contains([]string{"ConfigMap", "Deployment", "Service"}, o.kind.Kind) {
				continue
			}
			name := fmt.Sprintf("%s/%s=%s", strings.ToLower(o.kind.Kind), o.namespace, o.name)
			if key := o.someKey(); !helm4 && o.kind.Kind == "ConfigMap" && key != "all" {
				must(t, r.patch("kubectl-edit", name, "{data: {"+key+": edited}}"))
				return p, "an edit of " + name
			}
			at, err := r.ref(name)
			must(t, errors.Join(err, r.cluster.delete(t.Context(), at)))
			return p, "the deletion of " + name
		}
	}
	return nil, ""
}
