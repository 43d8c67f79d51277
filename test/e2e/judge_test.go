package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// These tests give the judge wrong predictions that it once accepted, and right ones. They need no server:
// go test -run TestJudge -no-cluster.

// TestJudgeOfReasons checks how reasons of failures are compared with Helm's errors.
func TestJudgeOfReasons(t *testing.T) {
	for name, check := range map[string]func(*testing.T){
		"reason without a field": func(t *testing.T) {
			const text = `cannot patch "x" with kind ConfigMap: ConfigMap "x" is invalid: metadata.labels: Invalid value: "?": a label`
			wantFault(t, reasonFault(failing("x", `data and binaryData cannot both have "a"`), text, nil))
			wantNoFault(t, reasonFault(failing("x", `data and binaryData cannot both have "a"`),
				`cannot patch "x" with kind ConfigMap: ConfigMap "x" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData`, nil))
			wantFault(t, reasonFault(failing("x", "it will not do"), text, nil))
		},
		"error without a field": func(t *testing.T) {
			reason := "does not decode: the API has another type at spec.replicas"
			wantFault(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Deployment: the server is on fire`, nil))
			tolerated := tolerances{}
			wantNoFault(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Deployment: quantities must match the regular expression '^x$'`, tolerated))
			if tolerated[tolerateNoField] != 1 {
				t.Errorf("not counted: %v", tolerated)
			}
		},
		"only one of several immutable fields": func(t *testing.T) {
			reason := "immutable: spec.selector, spec.template cannot be changed; delete and re-create the object"
			wantFault(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Job: Job.batch "x" is invalid: spec.template: Invalid value: 1: field is immutable`, nil))
			wantNoFault(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Job: Job.batch "x" is invalid: [spec.template: Invalid value: 1: field is immutable, `+
				`spec.selector: Invalid value: 1: field is immutable]`, nil))
		},
		"conflict on a field whose name begins alike": func(t *testing.T) {
			const text = `conflict occurred while applying object n/x: Apply failed with 1 conflict: conflict with "a" using v1: .data.color`
			wantFault(t, reasonFault(conflicting("data.col"), text, nil))
			wantNoFault(t, reasonFault(conflicting("data.color"), text, nil))
			wantFault(t, reasonFault(conflicting(), `conflict occurred while applying object n/x: the server is on fire`, nil))
		},
		"conflict on a name with dots": func(t *testing.T) {
			wantNoFault(t, reasonFault(conflicting(`metadata.labels["app.kubernetes.io/name"]`),
				`conflict occurred while applying object n/x: Apply failed with 1 conflict: conflict with "a" using v1: .metadata.labels.app.kubernetes.io/name`, nil))
		},
		"kind that is not served": func(t *testing.T) {
			const text = `resource mapping not found for name: "x" namespace: "" from "": no matches for kind "Widget" in version "no.such/v1"`
			reason := `no matches for kind "Widget" in version "no.such/v1"; ensure CRDs are installed first`
			wantNoFault(t, reasonFault(failing("x", reason), text, nil))
			wantFault(t, reasonFault(failing("x", "current release manifest contains removed kubernetes api(s) for this kubernetes version: "+reason), text, nil))
			wantFault(t, reasonFault(failing("x", reason), "unable to build kubernetes objects from current release manifest: "+text, nil))
		},
		"case with two failures": func(t *testing.T) {
			err := errors.New(`cannot patch "x" with kind Job: Job.batch "x" is invalid: spec.template: Invalid value: 1: field is immutable && ` +
				`cannot patch "y" with kind Job: Job.batch "y" is invalid: spec.selector: Invalid value: 1: field is immutable`)
			immutable := func(name, field string) objectReport {
				return failing(name, "immutable: "+field+" cannot be changed; delete and re-create the object")
			}
			wantError(t, checkFailures([]objectReport{immutable("x", "spec.template"), immutable("y", "spec.completions")}, err, nil))
			wantError(t, checkFailures([]objectReport{immutable("x", "spec.template"), immutable("z", "spec.selector")}, err, nil))
			if fault := checkFailures([]objectReport{immutable("x", "spec.template"), immutable("y", "spec.selector")}, err, nil); fault != nil {
				t.Error(fault)
			}
		},
	} {
		t.Run(name, check)
	}
}

// TestJudgeOfRuns checks the judgement of whole runs.
func TestJudgeOfRuns(t *testing.T) {
	for name, check := range map[string]func(*testing.T){
		"seeds that were not judged": func(t *testing.T) {
			wantFailedTally(t, tally{cases: 19, unjudged: 1})
			wantPassedTally(t, tally{cases: 20})
		},
		"failure that Helm does not reach": func(t *testing.T) {
			run := runOfConfigMaps("a", "b")
			run.judge(reportOf(failing("a", `ConfigMap "a" in namespace "n" exists and cannot be imported into the current release`),
				failing("b", `ConfigMap "b" in namespace "n" exists and cannot be imported into the current release`)), nil, nil,
				errors.New(`Unable to continue with update: ConfigMap "a" in namespace "n" exists and cannot be imported into the current release`))
			wantNoMispredictions(t, run)
			if fmt.Sprint(run.unreached, run.stoppedAt) != "[b] map[a:true]" {
				t.Errorf("unreached %v, stopped at %v", run.unreached, run.stoppedAt)
			}
		},
		"refusal that is not predicted": func(t *testing.T) {
			live := states(liveObject("a", "data: {x: '1'}"))
			update := objectReport{Kind: "ConfigMap", Name: "a", Action: "update", Fields: []fieldReport{{Path: "data.x", Verdict: "overwrite", Certain: true}}}
			const refusal = `cannot patch "a" with kind ConfigMap: ConfigMap "a" is invalid: `
			run := runOfConfigMaps("a")
			run.judge(reportOf(update), live, live, errors.New(refusal+`spec.hostPort: Duplicate value: 80`))
			wantNoMispredictions(t, run)
			if run.tolerated[tolerateUnpredicted] != 1 {
				t.Errorf("not counted: %v", run.tolerated)
			}
			run = runOfConfigMaps("a")
			run.judge(reportOf(update), live, live, errors.New(refusal+`spec.ports: Duplicate value: 80`))
			wantMispredictions(t, run)
			wantFailedTally(t, tally{cases: 20, tolerated: tolerances{tolerateUnpredicted: 3}})
		},
		"failure next to an uncertain object": func(t *testing.T) {
			run := runOfConfigMaps("a", "b")
			open := objectReport{Kind: "ConfigMap", Name: "b", Action: "update", Fields: []fieldReport{{Path: "data.x", Verdict: "conflict"}}}
			run.judge(reportOf(objectReport{Kind: "ConfigMap", Name: "a", Action: "none"}, open), nil, nil, errors.New(`cannot patch "c" with kind Secret: no`))
			wantMispredictions(t, run)
		},
		"drift after an upgrade that failed": func(t *testing.T) {
			run := runOfConfigMaps("a")
			run.upgradeFailed, run.installed, run.unedited = true, states(liveObject("a", "data: {x: '1'}")), states(liveObject("a", "data: {x: '1'}"))
			drifted := objectReport{Kind: "ConfigMap", Name: "a", Drifted: true, Fields: []fieldReport{{Path: "data.x", Verdict: "overwrite", Cause: "drift"}}}
			run.judgeDrift(reportOf(drifted), run.unedited, true)
			wantMispredictions(t, run)
			run.mispredictions, run.unedited = nil, states(liveObject("a", "data: {x: '2'}")) // what the failed upgrade left
			run.judgeDrift(reportOf(), run.unedited, true)
			wantMispredictions(t, run)
		},
		"drift of an edited object whose chart changes": func(t *testing.T) {
			run := runOfConfigMaps("a")
			run.testCase.edits = []*oracleEdit{{object: run.testCase.objects[0], applied: true}}
			run.unedited = states(liveObject("a", "data: {x: '1', y: '1'}"))
			field := fieldReport{Path: "data.x", Verdict: "overwrite", Cause: "drift", Live: []byte(`"2"`)}
			run.judgeDrift(reportOf(objectReport{Name: "a", Fields: []fieldReport{field}}), states(liveObject("a", "data: {x: '2', y: '2'}")), true)
			wantMispredictions(t, run)
		},
		"drift of an object that was deployed as a hook": func(t *testing.T) {
			run := runOfConfigMaps("a")
			run.testCase.rollback, run.testCase.edits = true, []*oracleEdit{{object: run.testCase.objects[0], applied: true}}
			run.testCase.objects[0].new = runtime.DeepCopyJSON(run.testCase.objects[0].new)
			fieldPath{{field: "metadata"}, {field: "annotations"}, {field: hookAnnotation}}.put(run.testCase.objects[0].new, "test")
			run.unedited = states(liveObject("a", "data: {x: '1'}"))
			removed := fieldReport{Path: "data.x", Verdict: "remove", Cause: "change", Live: []byte(`"2"`)}
			run.judgeDrift(reportOf(objectReport{Name: "a", Fields: []fieldReport{removed}}), states(liveObject("a", "data: {x: '2'}")), true)
			wantNoMispredictions(t, run)
			drifted := fieldReport{Path: "data.x", Verdict: "overwrite", Cause: "drift", Live: []byte(`"2"`)}
			run.judgeDrift(reportOf(objectReport{Name: "a", Fields: []fieldReport{drifted}}), states(liveObject("a", "data: {x: '2'}")), true)
			wantMispredictions(t, run)
		},
		"deletion that depends on an uncertain object": func(t *testing.T) {
			conflict := errors.New(`conflict occurred while applying object n/a /v1, Kind=ConfigMap: Apply failed with 1 conflict: conflict with "x" using v1: .data.x`)
			open := func(action, verdict string) objectReport {
				return objectReport{Kind: "ConfigMap", Name: "a", Action: action, Reason: "Apply failed with 1 conflict",
					Fields: []fieldReport{{Path: "data.x", Verdict: verdict, Managed: true}}}
			}
			judged := func(a, b objectReport, stays bool, failed error) *oracleRun {
				run := runOfConfigMaps("a", "b")
				run.testCase.objects[1].new = nil
				before, after := states(liveObject("a", ""), liveObject("b", "")), states(liveObject("a", ""))
				if stays {
					after = before
				}
				run.judge(reportOf(a, b), before, after, failed)
				return run
			}
			goes := objectReport{Kind: "ConfigMap", Name: "b", Action: "delete", Note: "not certain: it stays if Helm fails on ConfigMap n/a"}
			stays := objectReport{Kind: "ConfigMap", Name: "b", Action: "skip", Note: "not certain: it is deleted if Helm does not fail on ConfigMap n/a"}
			run := judged(open("update", "overwrite"), goes, true, conflict)
			wantNoMispredictions(t, run)
			if run.tolerated[tolerateDeletion] != 1 {
				t.Errorf("not counted: %v", run.tolerated)
			}
			wantNoMispredictions(t, judged(open("fail", "conflict"), stays, false, nil))
			wantNoMispredictions(t, judged(open("update", "overwrite"), goes, false, nil))
			wantMispredictions(t, judged(open("update", "overwrite"), goes, true, nil))
			wantMispredictions(t, judged(open("fail", "conflict"), stays, false, conflict))
			run = runOfConfigMaps("a", "b")
			run.judgeDryRunAgreement(reportOf(goes, open("update", "overwrite")), reportOf(stays, open("fail", "conflict")), func(string) bool { return true })
			wantNoMispredictions(t, run)
			goes.Note, stays.Note = "", ""
			wantMispredictions(t, judged(open("update", "overwrite"), goes, true, conflict))
			wantMispredictions(t, judged(open("fail", "conflict"), stays, false, nil))
			run.judgeDryRunAgreement(reportOf(goes, open("update", "overwrite")), reportOf(stays, open("fail", "conflict")), func(string) bool { return true })
			wantMispredictions(t, run)
		},
		"hook that stops Helm": func(t *testing.T) {
			run := runOfConfigMaps("a")
			run.judge(reportOf(), states(liveObject("a", "data: {x: '1'}")), states(liveObject("a", "data: {x: '2'}")), errors.New("pre-upgrade hooks failed: no"))
			wantMispredictions(t, run)
		},
		"hook that runs last": func(t *testing.T) {
			run := runOfConfigMaps("a")
			run.judge(reportOf(), states(liveObject("a", "data: {x: '1'}")), states(liveObject("a", "data: {x: '2'}")), errors.New("post-upgrade hooks failed: no"))
			wantMispredictions(t, run)
		},
		"object of no chart": func(t *testing.T) {
			run := runOfConfigMaps("a")
			run.judge(reportOf(objectReport{Kind: "Secret", Name: "other", Action: "none"}), nil, nil, nil)
			wantMispredictions(t, run)
		},
	} {
		t.Run(name, check)
	}
}

// TestJudgeOfFields checks the judgement of single objects and fields.
func TestJudgeOfFields(t *testing.T) {
	for name, check := range map[string]func(*testing.T){
		"live value that live does not have": func(t *testing.T) {
			path, err := parsePath("spec.selector")
			must(t, err)
			was, is := liveObject("a", "spec: {selector: {app: a}}"), liveObject("a", "spec: {selector: {app: a, tier: b}}")
			wantFault(t, fieldReport{Path: "spec.selector", Live: []byte(`{"app": "a"}`)}.liveFault(path, was, is))
			wantNoFault(t, fieldReport{Path: "spec.selector", Live: []byte(`{"app": "a", "tier": "b"}`)}.liveFault(path, was, is))
		},
		"more below a changed path": func(t *testing.T) {
			field := fieldReport{Path: "spec.strategy", Verdict: "add", Certain: true, Managed: true, Desired: []byte(`{"type": "Rolling"}`)}
			was, now := liveObject("a", "spec: {}"), liveObject("a", "spec: {strategy: {type: Rolling, surge: 1}}")
			byServer := func(surge any) func(map[string]any) (map[string]any, error) {
				return func(obj map[string]any) (map[string]any, error) {
					if surge != nil {
						fieldPath{{field: "spec"}, {field: "strategy"}, {field: "surge"}}.put(obj, surge)
					}
					return obj, nil
				}
			}
			wantFault(t, judgeUpdate(fieldJudge{dryRun: byServer(nil)}, field, was, now))
			wantNoFault(t, judgeUpdate(fieldJudge{dryRun: byServer(int64(1))}, field, was, now))
			tolerated := tolerances{}
			wantNoFault(t, judgeUpdate(fieldJudge{tolerated: tolerated}, field, was, now))
			if tolerated[tolerateBelow] != 1 {
				t.Errorf("not counted: %v", tolerated)
			}
		},
		"tolerations of a Pod": func(t *testing.T) {
			pod := func(tolerations string) map[string]any {
				return liveObject("a", "kind: Pod\nspec: {tolerations: ["+tolerations+"]}")
			}
			const admitted = "{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}"
			wantFault(t, judgeUpdate(fieldJudge{}, fieldReport{}, pod("{key: node.kubernetes.io/disk-pressure, operator: Exists}"), pod("")))
			wantFault(t, judgeUpdate(fieldJudge{}, fieldReport{}, pod("{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 30}"), pod(admitted)))
			wantNoFault(t, judgeUpdate(fieldJudge{}, fieldReport{}, pod(""), pod(admitted)))
		},
		"live tolerations of a Pod": func(t *testing.T) {
			judged := func(added string) *oracleRun {
				pod := func(more string) map[string]any {
					return liveObject("a", "kind: Pod\nspec: {tolerations: [{key: b, operator: Exists}"+more+"]}")
				}
				run := runOfConfigMaps("a")
				run.testCase.edits = []*oracleEdit{{object: run.testCase.objects[0], applied: true}}
				run.unedited = states(pod(", {key: c, operator: Exists}"))
				field := fieldReport{Path: "spec.tolerations", Verdict: "overwrite", Cause: "drift", Live: []byte(`[{"key": "b", "operator": "Exists"}]`)}
				run.judgeDrift(reportOf(objectReport{Name: "a", Drifted: true, Fields: []fieldReport{field}}), states(pod(added)), true)
				return run
			}
			wantNoMispredictions(t, judged(", {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}"))
			wantMispredictions(t, judged(", {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 30}"))
		},
		"CA bundle that no chart writes": func(t *testing.T) {
			hook := func(bundle string) map[string]any {
				return liveObject("a", "kind: ValidatingWebhookConfiguration\nwebhooks: [{name: w, clientConfig: {"+bundle+"}}]")
			}
			wantFault(t, judgeChart(hook("url: u"), hook("caBundle: QQ=="), hook("")))
			wantNoFault(t, judgeChart(hook("caBundle: ''"), hook("caBundle: QQ=="), hook("")))
		},
	} {
		t.Run(name, check)
	}
}

func failing(name, reason string) objectReport {
	return objectReport{Kind: "ConfigMap", Name: name, Action: "fail", Reason: reason}
}

// conflicting returns an object with predicted conflicts at some paths.
func conflicting(paths ...string) objectReport {
	out := failing("x", "Apply failed with 1 conflict")
	for _, path := range paths {
		out.Fields = append(out.Fields, fieldReport{Path: path, Verdict: "conflict", Certain: true})
	}
	return out
}

func reportOf(objects ...objectReport) *driftReport {
	return &driftReport{Releases: []releaseReport{{Objects: objects}}}
}

// runOfConfigMaps returns a run with ConfigMaps that the charts have and nobody touched.
func runOfConfigMaps(names ...string) *oracleRun {
	run := &oracleRun{testCase: &oracleCase{}, mispredicted: map[string]bool{}, tolerated: tolerances{}, notAsked: map[string]int{}}
	for _, name := range names {
		obj := liveObject(name, "data: {x: '1'}")
		run.testCase.objects = append(run.testCase.objects, &oracleObject{kind: &poolKind{name: "configmap", object: obj}, name: name, old: obj, new: obj})
	}
	return run
}

// liveObject returns a ConfigMap with a name and further fields in YAML, which may set another kind.
func liveObject(name, rest string) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}
	var more map[string]any
	if err := yaml.Unmarshal([]byte(rest), &more); err != nil {
		panic(err)
	}
	for key, value := range more {
		out[key] = value
	}
	out["metadata"] = map[string]any{"name": name, "uid": name}
	return plainNumbers(out)
}

// plainNumbers replaces the floating-point numbers of YAML by integers.
func plainNumbers(obj map[string]any) map[string]any {
	eachNode(obj, func(v any) {
		m, _ := v.(map[string]any)
		for name, value := range m {
			if n, isNumber := value.(float64); isNumber {
				m[name] = int64(n)
			}
		}
	})
	return runtime.DeepCopyJSON(obj)
}

func states(objects ...map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, obj := range objects {
		name, _ := fieldPath{{field: "metadata"}, {field: "name"}}.lookup(obj)
		out[fmt.Sprint(name)] = obj
	}
	return out
}

// judgeUpdate judges an update of an object with at most one reported field.
func judgeUpdate(j fieldJudge, field fieldReport, was, now map[string]any) string {
	reported := objectReport{Action: "update"}
	if field.Path != "" {
		reported.Fields = []fieldReport{field}
	}
	o := &oracleObject{old: was, new: now}
	return strings.Join(j.judgeObject(o, now, reported, was, now), "\n")
}

// judgeChart judges an update of an object without reported fields.
func judgeChart(chart, was, now map[string]any) string {
	return strings.Join(fieldJudge{}.judgeObject(&oracleObject{old: chart, new: chart}, chart, objectReport{Action: "none"}, was, now), "\n")
}

func wantFault(t *testing.T, fault string) {
	t.Helper()
	if fault == "" {
		t.Error("the judge finds no fault")
	}
}

func wantNoFault(t *testing.T, fault string) {
	t.Helper()
	if fault != "" {
		t.Errorf("the judge finds a fault: %s", fault)
	}
}

func wantError(t *testing.T, fault error) {
	t.Helper()
	if fault == nil {
		t.Error("the judge finds no fault")
	}
}

func wantMispredictions(t *testing.T, run *oracleRun) {
	t.Helper()
	wantFault(t, strings.Join(run.mispredictions, "\n"))
}

func wantNoMispredictions(t *testing.T, run *oracleRun) {
	t.Helper()
	wantNoFault(t, strings.Join(run.mispredictions, "\n"))
}

// failureRecorder stands in for the test that runs the oracle.
type failureRecorder struct {
	testing.TB
	failed bool
}

func (v *failureRecorder) Helper()               {}
func (v *failureRecorder) Logf(string, ...any)   {}
func (v *failureRecorder) Errorf(string, ...any) { v.failed = true }

func wantFailedTally(t *testing.T, run tally) {
	t.Helper()
	v := &failureRecorder{TB: t}
	if run.check(v); !v.failed {
		t.Error("the run passes")
	}
}

func wantPassedTally(t *testing.T, run tally) {
	t.Helper()
	v := &failureRecorder{TB: t}
	if run.check(v); v.failed {
		t.Error("the run fails")
	}
}
