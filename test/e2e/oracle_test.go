package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// These are the sizes of the random tests. Each seed is one case, and -oracle.seed is the first, so -oracle.seed=17 -oracle.n=1
// repeats a case.
var (
	oracleN      = flag.Int("oracle.n", oracleDefault(), "how many seeds the oracle takes per engine")
	oracleSeed   = flag.Uint64("oracle.seed", 1, "the oracle's first seed")
	oracleBudget = flag.Duration("oracle.budget", time.Hour, "how long the oracle may take; it fails if seeds are left then")
	oracleKeep   = flag.String("oracle.keep", "", "folder where failing seeds are written as stories")
)

func oracleDefault() int {
	if os.Getenv("CI") == "true" {
		return 60
	}
	return 20
}

// TestRandom runs the random tests beside each other, because each of them waits for the server or for pods most of the time.
//   - oracle compares helmdrift's predictions with Helm: random charts, random edits, random changes. The real upgrade or rollback must do
//     what was predicted, and nothing else.
//   - fix fixes what the edits of the oracle changed. Every planned object must be put back, or declined or refused with a reason; nothing
//     else may change; and Helm's next upgrades must do what helmdrift predicts, which after a complete fix is nothing.
//   - forecast compares the predicted effects on pods with what the controllers do: random workloads, random edits, random changes. The
//     number of pods that were replaced, started and stopped, and the least number of ready pods, must be as predicted.
func TestRandom(t *testing.T) {
	for name, run := range map[string]func(*testing.T){
		"oracle":   func(t *testing.T) { underEachHelm(t, runOracle) },
		"fix":      func(t *testing.T) { underEachHelm(t, runFixOracle) },
		"forecast": runForecast,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// underEachHelm runs a random test with the pool, once for each Helm.
func underEachHelm(t *testing.T, test func(t *testing.T, pool []poolKind, by4 bool)) {
	pool, err := loadPool()
	must(t, err)
	for _, by4 := range []bool{false, true} {
		t.Run(fmt.Sprintf("helm%d", major(by4)), func(t *testing.T) {
			t.Parallel()
			test(t, pool, by4)
		})
	}
}

// tally counts what the random tests did.
type tally struct {
	cases, notInstalled, unjudged, edits, failures, repeated, dryRuns, certain, uncertain, mispredicted int
	tolerated                                                                                           tolerances
	// notAsked counts objects that the server was not asked about, by reason.
	notAsked map[string]int
}

// installError ends a case whose chart cannot be installed.
type installError struct{ error }

func runOracle(t *testing.T, pool []poolKind, by4 bool) {
	base, sum := newCase(t, suite.cluster), newTally()
	run := func(seed uint64) (*oracleRun, error) { return newExtendedCase(pool, seed).run(base, by4) }
	sum.eachSeed(t, run, func(run *oracleRun) {
		for _, run := range append([]*oracleRun{run}, sum.repeatUnreached(run, pool, base, by4)...) {
			if len(run.mispredictions) > 0 {
				reportMispredictions(t, run.minimized(pool, base, by4))
			}
		}
	})
	sum.check(t)
}

func newTally() *tally { return &tally{notAsked: map[string]int{}, tolerated: tolerances{}} }

// eachSeed runs a case for each seed that the flags select, until the time is up, counts the run, and passes it to judged.
func (s *tally) eachSeed(t *testing.T, run func(seed uint64) (*oracleRun, error), judged func(*oracleRun)) {
	t.Helper()
	deadline := time.Now().Add(*oracleBudget)
	for i := range *oracleN {
		if time.Now().After(deadline) {
			s.unjudged = *oracleN - i
			return
		}
		seed := *oracleSeed + uint64(i)
		done, err := run(seed)
		switch {
		case errors.As(err, &installError{}):
			t.Logf("seed %d: the chart cannot be installed: %v", seed, err)
			s.notInstalled++
		case err != nil:
			t.Errorf("seed %d: the oracle itself failed: %v\n%s", seed, err, done.script())
		default:
			s.add(done)
			judged(done)
		}
	}
}

// reportMispredictions fails the test with the script of a run, and keeps the script if -oracle.keep asks for it.
func reportMispredictions(t *testing.T, run *oracleRun) {
	t.Helper()
	seed := run.testCase.seed
	t.Errorf("seed %d (-oracle.seed=%d -oracle.n=1):\n%s\n%s", seed, seed, strings.Join(run.mispredictions, "\n"), run.script())
	if *oracleKeep != "" {
		name := fmt.Sprintf("oracle-%d-helm%d.txtar", seed, major(run.by4))
		must(t, os.WriteFile(filepath.Join(*oracleKeep, name), []byte(run.script()), 0o644))
	}
}

// check logs the counts of a run, and fails the run if it judged too little or excused too much.
func (s *tally) check(t testing.TB) {
	t.Helper()
	t.Logf("%d cases (%d charts could not be installed), %d edits, %d predicted failures, %d cases repeated without what stopped Helm; "+
		"fields: %d certain, %d uncertain; %d dry runs; %d mispredicted\n"+
		"objects that the server was not asked about: %v\n%s",
		s.cases, s.notInstalled, s.edits, s.failures, s.repeated, s.certain, s.uncertain, s.dryRuns, s.mispredicted, s.notAsked, s.tolerated)
	if s.unjudged > 0 {
		t.Errorf("out of time: %d seeds were not judged (-oracle.budget)", s.unjudged)
	}
	if s.notInstalled*20 > s.cases+s.notInstalled {
		t.Errorf("%d of %d charts cannot be installed", s.notInstalled, s.cases+s.notInstalled)
	}
	if all := s.certain + s.uncertain; s.uncertain > max(15, all/50) {
		t.Errorf("%d of %d fields are uncertain", s.uncertain, all)
	}
	for _, text := range s.tolerated.exceeded(s.cases) {
		t.Errorf("the judge excused too much: %s", text)
	}
}

// repeatUnreached runs a case again without the objects where Helm stopped, until Helm has reached each predicted failure.
func (s *tally) repeatUnreached(run *oracleRun, pool []poolKind, base *Case, by4 bool) []*oracleRun {
	var out []*oracleRun
	for len(run.unreached) > 0 {
		var places []int
		for _, o := range run.testCase.objects {
			if !run.stoppedAt[o.name] {
				places = append(places, o.position)
			}
		}
		stuck := len(places) == len(run.testCase.objects) && run.testCase.extras == nil
		again, err := run.testCase.subset(pool, places).run(base, by4)
		if err != nil || stuck {
			s.tolerated.count(tolerateUnreached)
			break
		}
		s.add(again)
		s.repeated++
		out, run = append(out, again), again
	}
	return out
}

func (s *tally) add(run *oracleRun) {
	s.cases++
	s.edits += run.edits
	s.failures += run.failures
	s.tolerated.add(run.tolerated)
	s.dryRuns += run.dryRuns
	for reason, n := range run.notAsked {
		s.notAsked[reason] += n
	}
	s.certain += run.certain
	s.uncertain += run.uncertain
	if len(run.mispredictions) > 0 {
		s.mispredicted++
	}
}

// minimized runs the case again with only the mispredicted objects. If they are mispredicted again, that is the better script.
func (r *oracleRun) minimized(pool []poolKind, base *Case, by4 bool) *oracleRun {
	var places []int
	for _, o := range r.testCase.objects {
		if r.mispredicted[o.name] {
			places = append(places, o.position)
		}
	}
	if len(places) == 0 || len(places) == len(r.testCase.objects) {
		return r
	}
	again, err := r.testCase.subset(pool, places).run(base, by4)
	if err != nil || len(again.mispredictions) == 0 || again.upgradeFailed != r.upgradeFailed {
		return r // without the object that made the upgrade fail, it is another case
	}
	return again
}

// script returns the run as a script of testdata/stories.
func (r *oracleRun) script() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Seed %d of the oracle, %s.\n%s\n", r.testCase.seed, r.route.name, strings.Join(r.commands, "\n"))
	for _, name := range r.fileNames {
		fmt.Fprintf(&out, "-- %s --\n%s", name, r.files[name])
	}
	return out.String()
}
