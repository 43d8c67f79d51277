package e2e

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// judgeDrift checks that untouched objects have not drifted and, if the report compares with what Helm deployed (stored), that the report
// has every edit.
func (r *oracleRun) judgeDrift(report *driftReport, before map[string]map[string]any, stored bool) {
	reported := map[string]objectReport{}
	for _, o := range report.Releases[0].Objects {
		reported[o.Name] = o
	}
	for _, o := range r.testCase.objects {
		was, known := r.deployedState(o)
		is := before[o.name]
		untouched := !r.testCase.wasEdited(o) && equalJSON(reportable(was), reportable(r.unedited[o.name]))
		switch {
		case r.testCase.installs:
			r.judgeInstall(o, reported[o.name])
		case r.testCase.rollback && isHook(o.new): // old does not have it, so it cannot have drifted, whoever edited it
			r.judgeNoDrift(o, reported[o.name])
		case !known:
			r.tolerated.count(tolerateFailedUpgrade)
		case r.testCase.rollback && sharesPort(o.new) && !r.route.appliesServerSide():
			r.tolerated.count(tolerateSharedPort)
		case stored && o.readsConverted(r.testCase.rollback):
			r.tolerated.count(tolerateConverted)
		case untouched:
			r.judgeNoDrift(o, reported[o.name])
		case !stored || was == nil:
		case is == nil:
			if reported := reported[o.name]; !reported.Missing && !reported.Terminating {
				r.mispredict(o.name, "is gone or being deleted, and not reported so")
			}
		default:
			r.judgeEdited(o, reported[o.name], was, is)
		}
	}
}

// readsConverted reports whether the versions of an autoscaler differ between the deployed chart and the target. A report without the
// target reads it at the deployed version, and the judge at the target's, where the server has other fields for the same.
func (o *oracleObject) readsConverted(rollback bool) bool {
	deployed := o.deployed(rollback)
	return o.kind.name == "horizontalpodautoscaler" && deployed != nil && versionOf(deployed) != o.gvk(rollback).GroupVersion().String()
}

// judgeInstall checks that what is not deployed yet has not drifted.
func (r *oracleRun) judgeInstall(o *oracleObject, reported objectReport) {
	if !r.testCase.wasEdited(o) {
		r.judgeNoDrift(o, reported)
	}
}

// deployedState returns an object as Helm's old revision left it, or nil if that revision lacked it. Known is false if nobody can know.
// After a failed upgrade, old is the revision before it. For a rollback, old is the failed revision. If the failed chart changes an object
// that is unchanged in the cluster, nobody can see from outside whether Helm reached it.
func (r *oracleRun) deployedState(o *oracleObject) (was map[string]any, known bool) {
	switch {
	case !r.upgradeFailed:
		return r.unedited[o.name], true
	case !r.testCase.rollback:
		return r.installed[o.name], true
	case equalJSON(o.old, o.new), !equalJSON(reportable(r.installed[o.name]), reportable(r.unedited[o.name])), r.failedUpgradeReached(o):
		return r.unedited[o.name], true
	}
	return nil, false
}

// failedUpgradeReached reports whether the upgrade that failed before the edits reached an object and did not fail on it. If only patches
// failed, it reached every object.
func (r *oracleRun) failedUpgradeReached(o *oracleObject) bool {
	return !stopsBeforeWriting(r.upgradeError) && !stopsAtFirstError(r.upgradeError) && !namesObject(r.upgradeError, o.name)
}

// judgeEdited checks that the report has every difference between two states of an object, except those that reports omit by design.
func (r *oracleRun) judgeEdited(o *oracleObject, reported objectReport, was, is map[string]any) {
	j := fieldJudge{tolerated: r.tolerated}
	r.judgeLive(o.name, reported.Fields, shownOf(was), shownOf(is))
	was, is = reportable(was), reportable(is)
	if o.kind.name == "route" && !strings.Contains(fmt.Sprint(r.predictedOn[o.name]["metadata"]), "f:replicas") {
		j.tolerate(tolerateOwnerless, was, is, eachOf(dropReplicas))
	}
	if entryOf(r.predictedOn[o.name], "ancient-changes", "") != nil { // the server has merged the managers, and reports omit what no chart has
		j.tolerate(tolerateForgotten, was, is, eachOf(func(obj map[string]any) { keepNamed(o.old, obj) }))
	}
	j.tolerate(tolerateNull, was, is, eachOf(func(obj map[string]any) { dropNulls(o.old, obj) }))
	j.tolerate(tolerateNodePort, was, is, func(was, is map[string]any) {
		// Reports omit node ports that come and go with the reported type of a Service.
		dropNewNodePorts(was, is)
		dropNewNodePorts(is, was)
	})
	j.tolerate(tolerateDefault, was, is, func(was, is map[string]any) {
		dropPullPolicies(was, is)
		dropSamePolicyTypes(was, is)
		dropDefaults(was)
		dropDefaults(is)
	})
	if leavesBundle(reported.Fields, o.old) {
		j.tolerate(tolerateInjected, was, is, dropBothBundles)
	}
	j.tolerate(tolerateOrder, was, is, eachOf(sortSets))
	r.judgeReported(o.name, reported.Fields, was, is)
}

// shownOf returns an object as reports show it: the tolerations of a Pod are without those that admission adds to every Pod.
func shownOf(obj map[string]any) map[string]any {
	out := withoutServerFields(obj)
	dropAdmitted(out)
	return out
}

// eachOf applies a function for one state to two states.
func eachOf(drop func(map[string]any)) func(was, is map[string]any) {
	return func(was, is map[string]any) {
		drop(was)
		drop(is)
	}
}

// sharesPort reports whether a Service has two ports of one number. Helm's own client-side upgrade to such a Service confuses them, and
// its result differs from the manifest.
func sharesPort(obj map[string]any) bool {
	ports, _ := fieldPath{{field: "spec"}, {field: "ports"}}.lookup(obj)
	seen := map[any]bool{}
	list, _ := ports.([]any)
	for _, item := range list {
		port, _ := item.(map[string]any)
		if seen[port["port"]] {
			return true
		}
		seen[port["port"]] = true
	}
	return false
}

// judgeNoDrift checks that the report has no drift of an object.
func (r *oracleRun) judgeNoDrift(o *oracleObject, reported objectReport) {
	name := o.name
	if reported.Drifted || reported.Missing {
		r.mispredict(name, "has not drifted, and is reported as drifted or missing")
	}
	limited := slices.ContainsFunc(r.testCase.objects, func(o *oracleObject) bool { return o.kind.name == "limitrange" })
	for _, f := range reported.Fields {
		switch {
		case f.Cause == "change", f.Equivalent && f.Verdict != "conflict": // live means the same as what was deployed
		case f.Class == "allocated" && f.Verdict == "conflict": // filled in by a controller, so not drift of the object
		case limited && o.kind.name == "pod" && !f.Managed && strings.HasSuffix(f.Path, ".resources"):
			r.tolerated.count(tolerateLimitRange) // Helm's apply removes what a LimitRange added to the Pod
		default:
			r.mispredict(name, "has not drifted, and is reported as drifted: %s", f.line())
		}
	}
}

// judgeReported checks that two states of an object differ only in the reported fields.
func (r *oracleRun) judgeReported(name string, fields []fieldReport, was, is map[string]any) {
	var paths []fieldPath
	for _, f := range fields {
		if path, err := parsePath(f.Path); err == nil {
			paths = append(paths, path)
			path.sortList(was)
			path.sortList(is)
		}
	}
	removeAll(paths, was)
	removeAll(paths, is)
	if diff := cmp.Diff(withoutEmpty(was), withoutEmpty(is)); diff != "" {
		r.mispredict(name, "the report lacks an edit (-deployed +edited):\n%s", diff)
	}
}

// judgeLive checks that the reported live values are what live has.
func (r *oracleRun) judgeLive(name string, fields []fieldReport, was, is map[string]any) {
	for _, f := range fields {
		path, err := parsePath(f.Path)
		if err != nil {
			r.mispredict(name, "%v", err)
			continue
		}
		if text := f.liveFault(path, was, is); text != "" {
			r.mispredict(name, "%s", text)
		}
	}
}

// liveFault returns what is wrong about the reported live value, or "". The value of a folded finding is complete, so below its path live
// may have only what was there before, and defaults of the API that the state before has too.
func (f fieldReport) liveFault(path fieldPath, was, is map[string]any) string {
	value, there := path.lookup(is)
	switch {
	case f.Class == "order" || f.Masked:
		return ""
	case f.Live == nil && there && !isZero(value):
		if old, had := path.lookup(was); had && equalJSON(old, value) {
			return "" // unchanged
		}
		return fmt.Sprintf("%s: the report says that live lacks it, live has %v", f.Path, value)
	case f.Live == nil:
		return ""
	}
	live, err := decodeValue(f.Live)
	if err != nil || !equalsWithDefaults(live, value) {
		return fmt.Sprintf("%s: the report says that live has %s, live has %v", f.Path, f.Live, value)
	}
	old, _ := path.lookup(was)
	if extra := unreported(live, old, value, f.Path); len(extra) > 0 {
		return fmt.Sprintf("%s: live has %s, the report lacks it: %s", f.Path, strings.Join(extra, ", "), f.Live)
	}
	return ""
}
