package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

// These are the size and the first seed of the random test of the forecast. Each seed is one case;
// -forecast.seed=17 -forecast.n=1 repeats a case.
var (
	forecastN      = flag.Int("forecast.n", 10, "how many seeds the test of the forecast takes per engine")
	forecastSeed   = flag.Uint64("forecast.seed", 1, "the first seed of the test of the forecast")
	forecastBudget = flag.Duration("forecast.budget", 30*time.Minute, "how long that test may take; it fails if seeds are left then")
)

// forecastWorkers is how many cases run at once per engine. They wait for pods most of the time.
const forecastWorkers = 12

// runForecast is TestRandom/forecast.
func runForecast(t *testing.T) {
	client, err := kubernetes.NewForConfig(suite.cluster.Config)
	must(t, err)
	for _, by4 := range []bool{false, true} {
		t.Run(fmt.Sprintf("helm%d", major(by4)), func(t *testing.T) {
			t.Parallel()
			testForecast(t, client, by4)
		})
	}
}

// testForecast runs all seeds with one engine.
func testForecast(t *testing.T, client kubernetes.Interface, by4 bool) {
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	sum := &forecastTally{}
	for i := range min(forecastWorkers, *forecastN) {
		base, err := openCase(suite.cluster, t.TempDir(), fmt.Sprintf("forecast%d-%d", major(by4), i))
		must(t, err)
		t.Cleanup(base.close)
		workers.Go(func() {
			for seed := range seeds {
				run := newForecastRun(base, client, seed, by4)
				sum.judge(t, run, run.run(context.Background()))
			}
		})
	}
	deadline := time.Now().Add(*forecastBudget)
	for i := range *forecastN {
		if time.Now().After(deadline) {
			t.Errorf("out of time: %d seeds were not judged (-forecast.budget)", *forecastN-i)
			break
		}
		seeds <- *forecastSeed + uint64(i)
	}
	close(seeds)
	workers.Wait()
	sum.check(t)
}

// forecastTally counts what the test did.
type forecastTally struct {
	lock                                        sync.Mutex
	cases, refused, inexact, workloads, changed int
}

// judge counts a run and reports its error or its mispredictions.
func (s *forecastTally) judge(t *testing.T, run *forecastRun, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.cases++
	s.inexact += run.inexact
	s.workloads += len(run.testCase.workloads())
	s.changed += run.changed
	switch seed := run.testCase.seed; {
	case errors.As(err, &refusedError{}):
		t.Logf("seed %d: %v", seed, err)
		s.refused++
	case err != nil:
		t.Errorf("seed %d: the test itself failed: %v\n%s", seed, err, run.script())
	case len(run.mispredictions) > 0:
		t.Errorf("seed %d (-forecast.seed=%d -forecast.n=1):\n%s\n%s", seed, seed, strings.Join(run.mispredictions, "\n"), run.script())
	}
}

func (s *forecastTally) check(t *testing.T) {
	t.Logf("%d cases, %d of them refused by the API server; %d workloads, the pods of %d changed; %d inexact forecasts",
		s.cases, s.refused, s.workloads, s.changed, s.inexact)
	if s.refused*10 > s.cases+10 {
		t.Errorf("the API server refused %d of %d cases", s.refused, s.cases)
	}
}

// refusedError ends a case whose objects the API server refuses.
type refusedError struct{ error }

// forecastRun is one run of a case.
type forecastRun struct {
	testCase *forecastCase
	story    *Case
	client   kubernetes.Interface
	by4      bool
	// done lists what was done, for the script.
	done             []string
	changed, inexact int
	mispredictions   []string
}

func newForecastRun(base *Case, client kubernetes.Interface, seed uint64, by4 bool) *forecastRun {
	story := base.otherRelease(seed)
	return &forecastRun{testCase: newForecastCase(seed, story.release), story: story, client: client, by4: by4}
}

// run runs the case: install, edit, predict, upgrade or fix, and compare.
func (r *forecastRun) run(ctx context.Context) error {
	defer r.clean(ctx)
	for name, objects := range map[string]map[string]map[string]any{"old.yaml": r.testCase.old, "new.yaml": r.testCase.new} {
		text, err := r.testCase.chart(objects)
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(r.story.dir, 0o755), os.WriteFile(filepath.Join(r.story.dir, name), []byte(text), 0o644)); err != nil {
			return err
		}
	}
	if _, err := r.observed(ctx, func() error { return r.helm("install", "old.yaml") }); err != nil {
		return err
	}
	if _, err := r.observed(ctx, func() error { return r.edit(ctx) }); err != nil {
		return err
	}
	if r.testCase.fixes {
		return r.judgeFix(ctx)
	}
	return r.judgeUpgrade(ctx)
}

// observed does something, waits until the workloads have settled, and returns what happened to their pods.
func (r *forecastRun) observed(ctx context.Context, do func() error) (map[string]podObservation, error) {
	observer, err := observePods(ctx, r.client, r.story.ns, r.story.release)
	if err != nil {
		return nil, err
	}
	defer observer.end()
	if err := do(); err != nil {
		return nil, err
	}
	for _, name := range r.testCase.workloads() {
		if err := observer.waitSettled(ctx, r.story.cluster, r.ref(name)); err != nil {
			return nil, err
		}
	}
	return observer.stop(ctx)
}

func (r *forecastRun) ref(name string) ref {
	kind, _ := r.testCase.old[name]["kind"].(string)
	return ref{resource: strings.ToLower(kind), namespace: r.story.ns, name: name}
}

// helm installs or upgrades.
func (r *forecastRun) helm(verb, chart string) error {
	args := append([]string{verb}, r.flags(verb)...)
	r.done = append(r.done, "helm "+strings.Join(append(args, chart), " "))
	if err := r.story.helm(r.by4, append(args, chart)...); err != nil {
		return refusedError{err}
	}
	return nil
}

// flags returns the flags of Helm and of helmdrift: Helm 4 takes back what was edited only with --force-conflicts.
func (r *forecastRun) flags(verb string) []string {
	if r.by4 && verb == "upgrade" && len(r.testCase.edits) > 0 {
		return []string{"--force-conflicts"}
	}
	return nil
}

// edit makes the edits, as kubectl edit does. It ignores an edit that the API server refuses.
func (r *forecastRun) edit(ctx context.Context) error {
	for _, edit := range r.testCase.edits {
		client, _, err := r.story.cluster.clientFor(r.ref(edit.object))
		if err != nil {
			return err
		}
		err = poll(ctx, "an edit without a conflict", func() (bool, error) {
			live, err := client.Get(ctx, edit.object, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			said := edit.apply(live.Object)
			_, err = client.Update(ctx, &unstructured.Unstructured{Object: live.Object}, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
			if isConflict(err) {
				return false, nil
			}
			r.done = append(r.done, "edit "+said+refusal(err))
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// judgeUpgrade compares an upgrade with what helmdrift diff predicts.
func (r *forecastRun) judgeUpgrade(ctx context.Context) error {
	chart, err := r.story.chart("new.yaml")
	if err != nil {
		return err
	}
	args := append([]string{r.story.release, chart, "--fail-on", "none", "--helm-version", fmt.Sprint(major(r.by4))}, r.flags("upgrade")...)
	out, err := r.story.diff(args...)
	if err != nil || out.report == nil {
		return fmt.Errorf("helmdrift ended with %d: %w\n%s%s", out.exit, err, out.stdout, out.stderr)
	}
	predicted := map[string]*effectReport{}
	for _, o := range out.report.objects() {
		predicted[o.Name] = o.Effect
	}
	r.done = append(r.done, r.testCase.said...)
	before, err := r.readyPods(ctx)
	if err != nil {
		return err
	}
	seen, err := r.observed(ctx, func() error { return r.helm("upgrade", "new.yaml") })
	if err != nil {
		return err
	}
	r.compare(predicted, before, seen)
	return nil
}

// judgeFix compares a fix with the forecast of its plan.
func (r *forecastRun) judgeFix(ctx context.Context) error {
	before, err := r.readyPods(ctx)
	if err != nil {
		return err
	}
	predicted := map[string]*effectReport{}
	r.done = append(r.done, "fix --yes")
	seen, err := r.observed(ctx, func() error {
		out, result, err := r.story.fix("--yes", "--timeout", "1m")
		if err != nil || result == nil {
			return fmt.Errorf("fix ended with %d: %w\n%s%s", out.exit, err, out.stdout, out.stderr)
		}
		for _, name := range r.testCase.workloads() {
			i := slices.IndexFunc(result.Plan, func(p fixPlan) bool { return strings.HasSuffix(p.Object, "/"+name) })
			if i >= 0 {
				predicted[name] = result.Plan[i].Effect
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.compare(predicted, before, seen)
	return nil
}
