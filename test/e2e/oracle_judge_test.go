package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// judge compares the report with what happened.
func (r *oracleRun) judge(report *driftReport, before, after map[string]map[string]any, failed error) {
	j := &outcomeJudge{oracleRun: r, report: report, objects: map[string]objectReport{}, stops: map[string]bool{}}
	if failed != nil {
		j.helmError = failed.Error()
	}
	for _, o := range report.Releases[0].Objects {
		j.objects[o.Name] = o
	}
	if j.stoppedByHook(before, after) || j.isUnpredicted() {
		r.explainMispredictions(report, failed)
		return
	}
	for _, o := range report.Releases[0].Objects {
		for _, f := range o.Fields {
			if f.Certain {
				r.certain++
			} else {
				r.uncertain++
			}
		}
	}
	if len(report.Releases[0].Errors) > 0 {
		r.mispredict("", "the report has errors: %v", report.Releases[0].Errors)
	}
	j.judgeFailure()
	j.judgeHooks()
	for _, o := range r.testCase.objects {
		if j.deletionDependedOnOthers(j.objects[o.name], before[o.name], after[o.name]) {
			j.tolerated.count(tolerateDeletion)
			continue
		}
		for _, text := range (fieldJudge{tolerated: r.tolerated, dryRun: r.dryRunner(o)}).judgeObject(o, o.target(r.testCase.rollback), j.objects[o.name], before[o.name], after[o.name]) {
			r.mispredict(o.name, "%s", text)
		}
	}
	r.judgeUnknownObjects(report)
	r.explainMispredictions(report, failed)
	r.keepUnreached(j)
}

// deletionDependedOnOthers reports whether a deletion was not as predicted because of another object, as the report says may happen: Helm
// failed on that object unexpectedly, or did not fail as predicted.
func (j *outcomeJudge) deletionDependedOnOthers(reported objectReport, was, is map[string]any) bool {
	stays := uidOf(was) == uidOf(is)
	if was == nil || (reported.Action == "delete") != stays || reported.Action == "skip" && j.helmError != "" {
		return false
	}
	return slices.ContainsFunc(j.report.Releases[0].Objects, func(other objectReport) bool {
		failed := j.helmError != "" && isNamed(j.helmError, other)
		return reported.deletionDependsOn(other) && failed != (other.Action == "fail")
	})
}

// deletionDependsOn reports whether the note of the object says that its deletion depends on another, uncertain object.
func (o objectReport) deletionDependsOn(other objectReport) bool {
	return (o.Action == "delete" || o.Action == "skip") && isUncertain(other) && strings.Contains(o.Note, other.Name)
}

// judgeUnknownObjects checks that the report contains only objects of the charts.
func (r *oracleRun) judgeUnknownObjects(report *driftReport) {
	for _, reported := range report.Releases[0].Objects {
		known := reported.Name == "" || reported.Name == r.testCase.flags.definition || slices.ContainsFunc(r.testCase.objects, func(o *oracleObject) bool { return o.name == reported.Name })
		if !known {
			r.mispredict(reported.Name, "is no object of the charts, reported: %q", reported.Action)
		}
	}
}

// dryRunner returns a function that asks the API server what it makes of an object, without writing it.
func (r *oracleRun) dryRunner(o *oracleObject) func(map[string]any) (map[string]any, error) {
	return func(obj map[string]any) (map[string]any, error) {
		return r.story.cluster.dryRunUpdate(o.gvk(r.testCase.rollback), o.namespaceIn(r.story.ns), obj)
	}
}

// dryRunUpdate returns what the API server makes of an object in an update that is a dry run.
func (c *cluster) dryRunUpdate(kind schema.GroupVersionKind, namespace string, obj map[string]any) (map[string]any, error) {
	client, _, err := c.OfKind(kind, namespace)
	if err != nil {
		return nil, err
	}
	answer, err := client.Update(context.Background(), &unstructured.Unstructured{Object: obj}, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, err
	}
	return answer.Object, nil
}

// keepUnreached records the objects where Helm stopped if it did not reach all predicted failures.
func (r *oracleRun) keepUnreached(j *outcomeJudge) {
	if len(j.unreached) > 0 {
		r.stoppedAt = j.stops
	}
}

// stoppedByHook reports whether a hook stopped Helm before it wrote anything, and checks that it wrote nothing, but deleted what the hook
// replaces. Whether a hook fails is not predicted, unless an object of the release is in its way. After a failing hook that runs later,
// everything else has happened, and Helm's error mentions nothing else.
func (j *outcomeJudge) stoppedByHook(before, after map[string]map[string]any) bool {
	at := strings.Index(j.helmError, " hooks failed: ")
	if at < 0 {
		return false
	}
	failing := object.Filter(j.report.failing(), func(o objectReport) bool { return strings.Contains(o.Reason, " hooks failed: ") })
	predicted := len(failing) > 0
	if !predicted {
		j.tolerated.count(tolerateHook)
	}
	if when := j.helmError[:at]; !strings.Contains(when, "pre-") {
		if !predicted {
			j.helmError = ""
		}
		return false
	}
	for _, o := range failing {
		j.judgeReason(o)
	}
	for _, o := range j.testCase.objects {
		was, is := withoutServerChoices(before[o.name]), withoutServerChoices(after[o.name])
		diff := cmp.Diff(withoutEmpty(was), withoutEmpty(is))
		switch deleted := uidOf(before[o.name]) != uidOf(after[o.name]); {
		case o.becomesFirstHook(j.testCase.rollback) && !predicted && o.hasPolicy(j.testCase.rollback): // the hook's own apply may have failed
		case o.becomesFirstHook(j.testCase.rollback):
			if predicted := j.objects[o.name].Action; was != nil && deleted != (predicted == "delete") {
				j.mispredict(o.name, "becomes a hook that runs first, predicted: %q, deleted: %v", predicted, deleted)
			}
		case diff != "":
			j.mispredict(o.name, "a hook stopped Helm before it wrote anything, but the object changed:\n%s", diff)
		case predicted && was != nil && j.objects[o.name].Action != "skip":
			j.mispredict(o.name, "is not reached because of a hook that fails, predicted: %q", j.objects[o.name].Action)
		}
	}
	return true
}

// explainMispredictions adds the report and Helm's error to the mispredictions.
func (r *oracleRun) explainMispredictions(report *driftReport, failed error) {
	if len(r.mispredictions) == 0 {
		return
	}
	r.mispredictions = append(r.mispredictions, "Helm: "+fmt.Sprint(failed), "helmdrift:\n  "+strings.Join(report.lines(), "\n  "))
	for _, o := range report.Releases[0].Objects {
		if o.Reason+o.Note != "" {
			r.mispredictions = append(r.mispredictions, fmt.Sprintf("  %s: %s %s %v", o.Name, o.Reason, o.Note, o.BlockedBy))
		}
	}
}

func (r *oracleRun) mispredict(object, format string, args ...any) {
	if object != "" {
		r.mispredicted[object] = true
		object += ": "
	}
	r.mispredictions = append(r.mispredictions, "MISS "+object+fmt.Sprintf(format, args...))
}

// judgeHooks checks that reports list hooks as not compared, and do not mention them otherwise.
func (j *outcomeJudge) judgeHooks() {
	target := "new.yaml"
	if j.testCase.rollback || j.testCase.unchanged {
		target = "old.yaml"
	}
	for _, name := range j.testCase.hookNames(target) {
		if reported, compared := j.objects[name]; compared {
			j.mispredict("", "the hook %s is reported with the action %s", name, reported.Action)
		}
		listed := j.testCase.unknownHook
		for _, n := range j.report.Releases[0].NotCompared {
			listed = listed || n.Name == name && n.Reason == "hook"
		}
		if !listed {
			j.mispredict("", "the hook %s is not listed as not compared", name)
		}
	}
}

// judgeDryRunAgreement checks that a dry run changes nothing of the report except what was uncertain. The first write of a controller
// between the two reports may make the server forget another manager; then the reports are about different objects.
func (r *oracleRun) judgeDryRunAgreement(report, dryRunReport *driftReport, unchanged func(name string) bool) {
	withDryRun := map[string]objectReport{}
	for _, o := range dryRunReport.Releases[0].Objects {
		withDryRun[o.Name+o.Generate] = o
	}
	for _, o := range report.Releases[0].Objects {
		other := withDryRun[o.Name+o.Generate]
		if other.DryRun != nil && other.DryRun.Result == "disagrees" || isUncertain(o) || !unchanged(o.Name) ||
			slices.ContainsFunc(report.Releases[0].Objects, o.deletionDependsOn) {
			if o.verdicts() != other.verdicts() {
				r.tolerated.count(tolerateAgreement)
			}
			continue
		}
		if a, b := o.verdicts(), other.verdicts(); a != b {
			r.mispredict(o.Name, "the dry run changes the report from\n%s\nto\n%s", a, b)
		}
	}
}

// verdicts returns what is reported of an object, in short.
func (o objectReport) verdicts() string {
	lines := []string{o.Action}
	for _, f := range o.Fields {
		lines = append(lines, f.Verdict+" "+f.Path)
	}
	return strings.Join(lines, "\n")
}

// judgeDryRun checks that the server's dry run agrees with the report, where the server could be asked.
func (r *oracleRun) judgeDryRun(dryRunReport *driftReport) {
	for _, o := range dryRunReport.Releases[0].Objects {
		if o.DryRun == nil {
			r.notAsked[o.Action]++
			continue
		}
		if reason, unasked := strings.CutPrefix(o.DryRun.Message, "not asked: "); unasked {
			r.notAsked[reason]++
			continue
		}
		r.dryRuns++
		if o.Action != "fail" && unpredictedWords.MatchString(o.DryRun.Message) {
			r.tolerated.count(tolerateUnpredicted)
			continue
		}
		refused := o.DryRun.Result == "refused"
		if o.DryRun.Result == "disagrees" && !o.leavesOpen(o.DryRun.Message) || refused && o.Action != "fail" && o.Action != "skip" {
			r.mispredict(o.Name, "predicted: %s; the server's dry run %s: %s", o.Action, o.DryRun.Result, o.DryRun.Message)
		}
	}
}

// managersOf returns the names of an object's field managers.
func managersOf(obj map[string]any) []string {
	var out []string
	u := unstructured.Unstructured{Object: obj}
	for _, entry := range u.GetManagedFields() {
		out = append(out, entry.Manager)
	}
	return out
}

// leavesOpen reports whether the server's answer differs only in fields that the report calls uncertain.
func (o objectReport) leavesOpen(message string) bool {
	places, differs := strings.CutPrefix(message, "the server's answer differs at ")
	if !differs {
		return false
	}
	for place := range strings.SplitSeq(places, ", ") {
		if !slices.ContainsFunc(o.Fields, func(f fieldReport) bool { return !f.Certain && strings.HasPrefix(place, f.Path) }) {
			return false
		}
	}
	return true
}
