package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func runFixOracle(t *testing.T, pool []poolKind, by4 bool) {
	base, sum, statuses := newCase(t, suite.cluster), newTally(), map[string]int{}
	fix := func(seed uint64) (*oracleRun, error) {
		fixed, err := newFixCase(pool, seed).fix(base, by4)
		if err == nil {
			for status, n := range fixed.statuses {
				statuses[status] += n
			}
		}
		return fixed.oracleRun, err
	}
	sum.eachSeed(t, fix, func(run *oracleRun) {
		if len(run.mispredictions) > 0 {
			reportMispredictions(t, run)
		}
	})
	t.Logf("results: %v", statuses)
	sum.check(t)
}

// newFixCase returns the oracle's case of the seed without a rollback and without a failed upgrade.
func newFixCase(pool []poolKind, seed uint64) *oracleCase {
	c := newOracleCase(pool, seed)
	c.rollback, c.failed = false, false
	for _, o := range c.objects {
		o.failing = nil
	}
	c.edits = slices.DeleteFunc(c.edits, func(e *oracleEdit) bool { return e.way != byCreate && e.object.old == nil })
	return c
}

// fixRun is an oracleRun that ends in a fix.
type fixRun struct {
	*oracleRun
	statuses map[string]int
}

// fix runs the case: install, edits, fix, an upgrade with the same chart, and one with the changed chart.
func (o *oracleCase) fix(base *Case, by4 bool) (*fixRun, error) {
	run := newOracleRun(o, base, by4)
	f := &fixRun{oracleRun: run, statuses: map[string]int{}}
	defer run.clean()
	if err := run.deploy(); err != nil {
		return f, err
	}
	clean, err := run.snapshot()
	if err != nil {
		return f, err
	}
	if err := run.applyEdits(); err != nil {
		return f, err
	}
	before, err := run.snapshot()
	if err != nil {
		return f, err
	}
	run.commands = append(run.commands, "fix --yes")
	out, result, err := run.story.fix("--yes", "--show-secrets", "--timeout", "1m")
	if err != nil || result == nil || result.After == nil && len(result.Plan) > 0 {
		return f, fmt.Errorf("fix ended with %d: %w\n%s\n%s", out.exit, err, out.stdout, out.stderr)
	}
	after, err := run.snapshot()
	if err != nil {
		return f, err
	}
	f.judgeFix(result, before, after)
	f.judgeOwnership(result, clean, after)
	f.judgeExit(out, result)
	for _, chart := range []string{"old.yaml", "new.yaml"} {
		if err := f.upgrade(chart); err != nil {
			return f, err
		}
	}
	if len(f.mispredictions) > 0 {
		f.mispredictions = append(f.mispredictions, "fix:\n  "+strings.Join(result.lines(), "\n  "))
	}
	return f, nil
}

// judgeFix compares the objects after the fix with plan and results.
func (f *fixRun) judgeFix(result *fixResult, before, after map[string]map[string]any) {
	for _, o := range f.testCase.objects {
		plan := result.planned("", o.name)
		if err := checkOnlyPlanned(plan, before[o.name], after[o.name]); err != nil {
			f.mispredict(o.name, "%v", err)
		}
		if plan == nil {
			continue
		}
		outcomes := slices.DeleteFunc(slices.Clone(result.Results), func(r fixOutcome) bool { return r.Object != plan.Object })
		if len(outcomes) == 0 {
			f.mispredict(o.name, "is planned and has no result")
		}
		for _, r := range outcomes {
			f.statuses[r.Status]++
			drifts := slices.ContainsFunc(result.After.Releases[0].Objects, func(a objectReport) bool { return a.Name == o.name && (a.Drifted || a.Missing) })
			switch {
			case r.Status == "fixed" && len(outcomes) == 1 && drifts:
				f.mispredict(o.name, "is reported as fixed and has drifted:\n  %s", strings.Join(result.After.lines(), "\n  "))
			case r.Status == "failed":
				f.mispredict(o.name, "failed: %s", r.Reason)
			case r.Status != "fixed" && r.Reason == "":
				f.mispredict(o.name, "%s without a reason", r.Status)
			}
		}
	}
	for _, r := range result.Results {
		if !slices.ContainsFunc(result.Plan, func(p fixPlan) bool { return p.Object == r.Object }) {
			f.statuses[r.Status+" unplanned"]++
		}
	}
}

// judgeExit expects exit code 0 if nothing drifted is left, and 2 otherwise.
func (f *fixRun) judgeExit(out binaryRun, result *fixResult) {
	want := 0
	if result.After != nil && result.After.Releases[0].Drifted {
		want = 2
	}
	if out.exit != want {
		f.mispredict("", "fix ended with %d, want %d\n%s", out.exit, want, out.stderr)
	}
}

// judgeOwnership checks objects with one edit: helm must own what it owned before, and helmdrift nothing.
func (f *fixRun) judgeOwnership(result *fixResult, clean, after map[string]map[string]any) {
	for _, o := range f.testCase.objects {
		if strings.Contains(fmt.Sprint(entryOf(after[o.name], "helmdrift", "")), "f:") {
			f.mispredict(o.name, "helmdrift still owns something")
		}
		edits := 0
		for _, e := range f.testCase.edits {
			if e.object == o {
				edits++
			}
		}
		plan := result.planned("", o.name)
		drifts := slices.ContainsFunc(result.After.objects(), func(a objectReport) bool { return a.Name == o.name && len(a.Fields) > 0 })
		if !f.route.installs4 || len(f.route.install) > 0 || edits != 1 || plan == nil || drifts || after[o.name] == nil {
			continue
		}
		was, is := entryOf(clean[o.name], "helm", "Apply"), entryOf(after[o.name], "helm", "Apply")
		if !equalJSON(was, is) {
			f.mispredict(o.name, "helm owned %v before, %v now", was, is)
		}
	}
}

// entryOf returns what a manager owns.
func entryOf(obj map[string]any, manager, operation string) any {
	u := unstructured.Unstructured{Object: obj}
	for _, entry := range u.GetManagedFields() {
		if entry.Manager == manager && (operation == "" || string(entry.Operation) == operation) && entry.FieldsV1 != nil {
			return entry.FieldsV1.GetRawString()
		}
	}
	return nil
}

// upgrade lets Helm deploy a chart and compares the result with helmdrift's prediction.
func (f *fixRun) upgrade(chart string) error {
	route := f.route
	route.force = false
	args := []string{"--show-secrets", "--show-controllers", "--fail-on", "none"}
	path, err := f.story.chart(chart)
	if err != nil {
		return err
	}
	f.commands = append(f.commands, "diff "+chart+" "+strings.Join(route.flags(), " "))
	out, err := f.story.diff(slices.Concat([]string{f.story.release, path}, args, route.flags())...)
	if err != nil || out.report == nil {
		return fmt.Errorf("%w\n%s%s", err, out.stdout, out.stderr)
	}
	before, err := f.snapshot()
	if err != nil {
		return err
	}
	f.commands = append(f.commands, "helm upgrade "+chart)
	failed := f.story.helm(route.upgrades4, slices.Concat([]string{"upgrade"}, route.upgradeFlags(), []string{chart})...)
	after, err := f.snapshot()
	if err != nil {
		return err
	}
	if failed != nil && strings.Contains(failed.Error(), "helmdrift") {
		f.mispredict("", "the upgrade to %s conflicts with helmdrift: %v", chart, failed)
	}
	judged := *f.oracleRun
	judged.mispredictions = nil
	if chart == "old.yaml" {
		judged.testCase = f.testCase.withUnchangedChart()
	}
	judged.judge(out.report, before, after, failed)
	for _, text := range judged.mispredictions {
		f.mispredictions = append(f.mispredictions, "upgrade to "+chart+": "+text)
	}
	maps.Copy(f.mispredicted, judged.mispredicted)
	return nil
}

// upgradeFlags returns the flags of the real upgrade.
func (r route) upgradeFlags() []string {
	if r.upgrades4 && r.serverSide != "auto" {
		return []string{"--server-side=" + r.serverSide}
	}
	return nil
}

// withUnchangedChart returns the case with a new chart that equals the old one.
func (c *oracleCase) withUnchangedChart() *oracleCase {
	out := *c
	out.objects = make([]*oracleObject, len(c.objects))
	for i, o := range c.objects {
		same := *o
		same.new = same.old
		out.objects[i] = &same
	}
	return &out
}
