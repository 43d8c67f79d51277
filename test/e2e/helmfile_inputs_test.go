package e2e

import (
	"errors"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/helmfile/helmfiletest"
)

var helmfileInputs = flag.String("helmfile.inputs", "", "folder test/integration of helmfile's source, for TestHelmfileInputs; it is skipped without one")

// TestHelmfileInputs does with the helmfiles of helmfile's own integration tests what TestHelmfile does with random ones: it predicts the
// installation, which helmfile sync then does, and after random edits of live objects the upgrade. An input that helmfile sync cannot run
// without its network or its plugins is skipped, and diff must fail with it too.
func TestHelmfileInputs(t *testing.T) {
	defer helmfileCounts.log(t)
	eachHelmfileInput(t, func(t *testing.T, helm string, _ bool, of helmfiletest.Integration, in helmfiletest.Input, seed uint64) {
		runHelmfileInput(t, newHelmfileInput(t, helm, of, in), helm, seed)
	})
}

// eachHelmfileInput runs a test with each input and each Helm, and serves the charts.
func eachHelmfileInput(
	t *testing.T, test func(t *testing.T, helm string, helm4 bool, of helmfiletest.Integration, in helmfiletest.Input, seed uint64),
) {
	t.Helper()
	if *helmfileInputs == "" {
		t.Skip("-helmfile.inputs names no folder")
	}
	of := helmfiletest.Integration{Folder: *helmfileInputs}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := of.Served(r.URL.Path, r.FormValue("ref"))
		if text == nil || err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	defer server.Close()
	of.Charts = server.URL
	inputs, err := of.Inputs()
	must(t, err)
	eachHelmfileHelm(t, func(t *testing.T, helm string, helm4 bool) {
		for i, in := range inputs {
			t.Run(in.Name, func(t *testing.T) { test(t, helm, helm4, of, in, uint64(i)) })
		}
	})
}

// newHelmfileInput copies the inputs and prepares to run one of them.
func newHelmfileInput(t *testing.T, helm string, of helmfiletest.Integration, in helmfiletest.Input) *helmfileRun {
	t.Helper()
	c := newCase(t, suite.cluster)
	must(t, of.Copy(c.dir))
	r, err := newHelmfileRun(c, helm)
	must(t, err)
	r.env, r.reads = append(r.env, of.Env()...), append(r.reads, of.Env()...)
	r.file = in.File
	if in.Environment != "" {
		r.flags = []string{"--environment", in.Environment}
	}
	for _, set := range in.Set {
		r.flags = append(r.flags, "--state-values-set", set)
	}
	return r
}

// runHelmfileInput tries one input. Many of them have the same releases, so it uninstalls these at the end.
func runHelmfileInput(t *testing.T, r *helmfileRun, helm string, seed uint64) {
	defer r.uninstall(t, helm)
	edits := helmfileEdits{Rand: rand.New(rand.NewPCG(seed, 35)), run: r}
	for round := range 2 {
		var changes []string
		for tries := 0; round > 0 && changes == nil && tries < 9; tries++ {
			changes = edits.some(t)
		}
		refused := r.predict(t.Context())
		failed, err := r.sync(t.Context())
		must(t, err)
		if refused != nil && failed != nil {
			t.Skipf("helmfile sync fails: %v\ndiff: %v", failed, refused)
		}
		must(t, refused)
		faults := r.judge(failed)
		if round > 0 {
			faults = append(faults, r.judgeAfter(t.Context())...)
		}
		if len(faults) > 0 {
			t.Fatalf("round %d, after the changes %q:\n%v\nhelmfile sync: %v\nthe report:\n%s", round, changes, errors.Join(faults...),
				failed, strings.Join(r.last.report.lines(), "\n"))
		}
		if failed != nil && !slices.ContainsFunc(r.predicted, (*helmfilePrediction).isComplete) {
			t.Skipf("helmfile sync upgrades nothing: %v", failed)
		}
	}
}

// uninstall uninstalls all releases of the last prediction that are there.
func (r *helmfileRun) uninstall(t *testing.T, helm string) {
	t.Helper()
	for _, p := range r.predicted {
		_, stderr, exit, err := r.run(t.Context(), r.env, helm, "uninstall", p.release, "--namespace", p.storage, "--ignore-not-found", "--wait")
		if err != nil || exit != 0 {
			t.Errorf("helm uninstall %s: %v %s", p.release, err, stderr)
		}
	}
}
