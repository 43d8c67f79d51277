package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// TestJudge puts predictions before the oracle's judge that are wrong, and were once accepted, beside the right one. It needs no server:
// go test -run TestJudge -no-cluster.
func TestJudge(t *testing.T) {
	for name, check := range map[string]func(*testing.T){
		"reason without a field": func(t *testing.T) {
			const text = `cannot patch "x" with kind ConfigMap: ConfigMap "x" is invalid: metadata.labels: Invalid value: "?": a label`
			refuses(t, reasonFault(failing("x", `data and binaryData cannot both have "a"`), text, nil))
			accepts(t, reasonFault(failing("x", `data and binaryData cannot both have "a"`),
				`cannot patch "x" with kind ConfigMap: ConfigMap "x" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData`, nil))
			refuses(t, reasonFault(failing("x", "it will not do"), text, nil))
		},
		"error without a field": func(t *testing.T) {
			reason := "does not decode: the API has another type at spec.replicas"
			refuses(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Deployment: the server is on fire`, nil))
			let := tolerances{}
			accepts(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Deployment: quantities must match the regular expression '^x$'`, let))
			if let[tolerateNoField] != 1 {
				t.Errorf("not counted: %v", let)
			}
		},
		"only one of several immutable fields": func(t *testing.T) {
			reason := "immutable: spec.selector, spec.template cannot be changed; delete and re-create the object"
			refuses(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Job: Job.batch "x" is invalid: spec.template: Invalid value: 1: field is immutable`, nil))
			accepts(t, reasonFault(failing("x", reason), `cannot patch "x" with kind Job: Job.batch "x" is invalid: [spec.template: Invalid value: 1: field is immutable, `+
				`spec.selector: Invalid value: 1: field is immutable]`, nil))
		},
		"conflict on a field whose name begins alike": func(t *testing.T) {
			const text = `conflict occurred while applying object n/x: Apply failed with 1 conflict: conflict with "a" using v1: .data.color`
			refuses(t, reasonFault(conflicting("data.col"), text, nil))
			accepts(t, reasonFault(conflicting("data.color"), text, nil))
			refuses(t, reasonFault(conflicting(), `conflict occurred while applying object n/x: the server is on fire`, nil))
		},
		"conflict on a name with dots": func(t *testing.T) {
			accepts(t, reasonFault(conflicting(`metadata.labels["app.kubernetes.io/name"]`),
				`conflict occurred while applying object n/x: Apply failed with 1 conflict: conflict with "a" using v1: .metadata.labels.app.kubernetes.io/name`, nil))
		},
		"kind that is not served": func(t *testing.T) {
			const text = `resource mapping not found for name: "x" namespace: "" from "": no matches for kind "Widget" in version "no.such/v1"`
			reason := `no matches for kind "Widget" in version "no.such/v1"; ensure CRDs are installed first`
			accepts(t, reasonFault(failing("x", reason), text, nil))
			refuses(t, reasonFault(failing("x", "current release manifest contains removed kubernetes api(s) for this kubernetes version: "+reason), text, nil))
			refuses(t, reasonFault(failing("x", reason), "unable to build kubernetes objects from current release manifest: "+text, nil))
		},
		"story with two failures": func(t *testing.T) {
			err := errors.New(`cannot patch "x" with kind Job: Job.batch "x" is invalid: spec.template: Invalid value: 1: field is immutable && ` +
				`cannot patch "y" with kind Job: Job.batch "y" is invalid: spec.selector: Invalid value: 1: field is immutable`)
			immutable := func(name, field string) objectReport {
				return failing(name, "immutable: "+field+" cannot be changed; delete and re-create the object")
			}
			refusesError(t, failureFault([]objectReport{immutable("x", "spec.template"), immutable("y", "spec.completions")}, err, nil))
			refusesError(t, failureFault([]objectReport{immutable("x", "spec.template"), immutable("z", "spec.selector")}, err, nil))
			if fault := failureFault([]objectReport{immutable("x", "spec.template"), immutable("y", "spec.selector")}, err, nil); fault != nil {
				t.Error(fault)
			}
		},
		"seeds that were not judged": func(t *testing.T) {
			refusesRun(t, tally{cases: 19, left: 1})
			acceptsRun(t, tally{cases: 20})
		},
		"tolerances beyond their bound": func(t *testing.T) {
			refusesRun(t, tally{cases: 20, let: tolerances{tolerateUnreached: 3}})
			refusesRun(t, tally{cases: 2000, let: tolerances{"something new": 1}})
			acceptsRun(t, tally{cases: 200, let: tolerances{tolerateUnreached: 3}})
			acceptsRun(t, tally{cases: 500, let: tolerances{tolerateRules: 12}})
			refusesRun(t, tally{cases: 500, let: tolerances{tolerateRules: 30}})
			acceptsRun(t, tally{cases: 100000, let: tolerances{tolerateRules: 2500}})
			refusesRun(t, tally{cases: 100000, let: tolerances{tolerateRules: 2600}})
			counted := tolerances{}
			counted.add(tolerances{tolerateRules: 5})
			if counted[tolerateRules] != 1 {
				t.Errorf("one case is counted as %d", counted[tolerateRules])
			}
		},
		"failure that was not reached": func(t *testing.T) {
			told := story("a", "b")
			told.judge(reportOf(failing("a", `ConfigMap "a" in namespace "n" exists and cannot be imported into the current release`),
				failing("b", `ConfigMap "b" in namespace "n" exists and cannot be imported into the current release`)), nil, nil,
				errors.New(`Unable to continue with update: ConfigMap "a" in namespace "n" exists and cannot be imported into the current release`))
			acceptsStory(t, told)
			if fmt.Sprint(told.unreached, told.stoppers) != "[b] map[a:true]" {
				t.Errorf("unreached %v, stopped at %v", told.unreached, told.stoppers)
			}
		},
		"failure beside an uncertain object": func(t *testing.T) {
			told := story("a", "b")
			open := objectReport{Kind: "ConfigMap", Name: "b", Action: "update", Fields: []fieldReport{{Path: "data.x", Verdict: "conflict"}}}
			told.judge(reportOf(objectReport{Kind: "ConfigMap", Name: "a", Action: "none"}, open), nil, nil, errors.New(`cannot patch "c" with kind Secret: no`))
			refusesStory(t, told)
		},
		"drift after an upgrade that failed": func(t *testing.T) {
			told := story("a")
			told.stumbled, told.first, told.pristine = true, states(liveObject("a", "data: {x: '1'}")), states(liveObject("a", "data: {x: '1'}"))
			drifted := objectReport{Kind: "ConfigMap", Name: "a", Drifted: true, Fields: []fieldReport{{Path: "data.x", Verdict: "overwrite", Cause: "drift"}}}
			told.judgeDrift(reportOf(drifted), told.pristine, true)
			refusesStory(t, told)
			told.misses, told.pristine = nil, states(liveObject("a", "data: {x: '2'}")) // what the failed upgrade left
			told.judgeDrift(reportOf(), told.pristine, true)
			refusesStory(t, told)
		},
		"drift of an edited object whose chart changes": func(t *testing.T) {
			told := story("a")
			told.of.edits = []*oracleEdit{{object: told.of.objects[0], done: true}}
			told.pristine = states(liveObject("a", "data: {x: '1', y: '1'}"))
			field := fieldReport{Path: "data.x", Verdict: "overwrite", Cause: "drift", Live: []byte(`"2"`)}
			told.judgeDrift(reportOf(objectReport{Name: "a", Fields: []fieldReport{field}}), states(liveObject("a", "data: {x: '2', y: '2'}")), true)
			refusesStory(t, told)
		},
		"drift of an object that was deployed as a hook": func(t *testing.T) {
			told := story("a")
			told.of.rollback, told.of.edits = true, []*oracleEdit{{object: told.of.objects[0], done: true}}
			hookOf(told.of.objects[0])
			told.pristine = states(liveObject("a", "data: {x: '1'}"))
			taken := fieldReport{Path: "data.x", Verdict: "remove", Cause: "change", Live: []byte(`"2"`)}
			told.judgeDrift(reportOf(objectReport{Name: "a", Fields: []fieldReport{taken}}), states(liveObject("a", "data: {x: '2'}")), true)
			acceptsStory(t, told)
			drifted := fieldReport{Path: "data.x", Verdict: "overwrite", Cause: "drift", Live: []byte(`"2"`)}
			told.judgeDrift(reportOf(objectReport{Name: "a", Fields: []fieldReport{drifted}}), states(liveObject("a", "data: {x: '2'}")), true)
			refusesStory(t, told)
		},
		"live value that the report makes up": func(t *testing.T) {
			path, err := parsePath("spec.selector")
			must(t, err)
			was, is := liveObject("a", "spec: {selector: {app: a}}"), liveObject("a", "spec: {selector: {app: a, tier: b}}")
			refuses(t, fieldReport{Path: "spec.selector", Live: []byte(`{"app": "a"}`)}.misstates(path, was, is))
			accepts(t, fieldReport{Path: "spec.selector", Live: []byte(`{"app": "a", "tier": "b"}`)}.misstates(path, was, is))
		},
		"more below a changed path": func(t *testing.T) {
			field := fieldReport{Path: "spec.strategy", Verdict: "add", Certain: true, Managed: true, Desired: []byte(`{"type": "Rolling"}`)}
			was, now := liveObject("a", "spec: {}"), liveObject("a", "spec: {strategy: {type: Rolling, surge: 1}}")
			byServer := func(surge any) func(map[string]any) (map[string]any, error) {
				return func(obj map[string]any) (map[string]any, error) {
					if surge != nil {
						steps{{field: "spec"}, {field: "strategy"}, {field: "surge"}}.put(obj, surge)
					}
					return obj, nil
				}
			}
			refuses(t, judgeUpdate(fieldJudge{ask: byServer(nil)}, field, was, now))
			accepts(t, judgeUpdate(fieldJudge{ask: byServer(int64(1))}, field, was, now))
			let := tolerances{}
			accepts(t, judgeUpdate(fieldJudge{let: let}, field, was, now))
			if let[tolerateBelow] != 1 {
				t.Errorf("not counted: %v", let)
			}
		},
		"tolerations of a Pod": func(t *testing.T) {
			pod := func(tolerations string) map[string]any {
				return liveObject("a", "kind: Pod\nspec: {tolerations: ["+tolerations+"]}")
			}
			const admitted = "{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}"
			refuses(t, judgeUpdate(fieldJudge{}, fieldReport{}, pod("{key: node.kubernetes.io/disk-pressure, operator: Exists}"), pod("")))
			refuses(t, judgeUpdate(fieldJudge{}, fieldReport{}, pod("{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 30}"), pod(admitted)))
			accepts(t, judgeUpdate(fieldJudge{}, fieldReport{}, pod(""), pod(admitted)))
		},
		"live tolerations of a Pod": func(t *testing.T) {
			judged := func(added string) *telling {
				pod := func(more string) map[string]any {
					return liveObject("a", "kind: Pod\nspec: {tolerations: [{key: b, operator: Exists}"+more+"]}")
				}
				told := story("a")
				told.of.edits = []*oracleEdit{{object: told.of.objects[0], done: true}}
				told.pristine = states(pod(", {key: c, operator: Exists}"))
				field := fieldReport{Path: "spec.tolerations", Verdict: "overwrite", Cause: "drift", Live: []byte(`[{"key": "b", "operator": "Exists"}]`)}
				told.judgeDrift(reportOf(objectReport{Name: "a", Drifted: true, Fields: []fieldReport{field}}), states(pod(added)), true)
				return told
			}
			acceptsStory(t, judged(", {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}"))
			refusesStory(t, judged(", {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 30}"))
		},
		"CA bundle that no chart speaks of": func(t *testing.T) {
			hook := func(bundle string) map[string]any {
				return liveObject("a", "kind: ValidatingWebhookConfiguration\nwebhooks: [{name: w, clientConfig: {"+bundle+"}}]")
			}
			refuses(t, judgeChart(hook("url: u"), hook("caBundle: QQ=="), hook("")))
			accepts(t, judgeChart(hook("caBundle: ''"), hook("caBundle: QQ=="), hook("")))
		},
		"hook that stops Helm": func(t *testing.T) {
			told := story("a")
			told.judge(reportOf(), states(liveObject("a", "data: {x: '1'}")), states(liveObject("a", "data: {x: '2'}")), errors.New("pre-upgrade hooks failed: no"))
			refusesStory(t, told)
		},
		"hook that comes after all": func(t *testing.T) {
			told := story("a")
			told.judge(reportOf(), states(liveObject("a", "data: {x: '1'}")), states(liveObject("a", "data: {x: '2'}")), errors.New("post-upgrade hooks failed: no"))
			refusesStory(t, told)
		},
		"deletion that hangs on an uncertain object": func(t *testing.T) {
			conflict := errors.New(`conflict occurred while applying object n/a /v1, Kind=ConfigMap: Apply failed with 1 conflict: conflict with "x" using v1: .data.x`)
			open := func(action, verdict string) objectReport {
				return objectReport{Kind: "ConfigMap", Name: "a", Action: action, Reason: "Apply failed with 1 conflict",
					Fields: []fieldReport{{Path: "data.x", Verdict: verdict, Managed: true}}}
			}
			judged := func(a, b objectReport, stays bool, failed error) *telling {
				told := story("a", "b")
				told.of.objects[1].new = nil
				before, after := states(liveObject("a", ""), liveObject("b", "")), states(liveObject("a", ""))
				if stays {
					after = before
				}
				told.judge(reportOf(a, b), before, after, failed)
				return told
			}
			goes := objectReport{Kind: "ConfigMap", Name: "b", Action: "delete", Note: "not certain: it stays if Helm fails on ConfigMap n/a"}
			stays := objectReport{Kind: "ConfigMap", Name: "b", Action: "skip", Note: "not certain: it is deleted if Helm does not fail on ConfigMap n/a"}
			told := judged(open("update", "overwrite"), goes, true, conflict)
			acceptsStory(t, told)
			if told.let[tolerateDeletion] != 1 {
				t.Errorf("not counted: %v", told.let)
			}
			acceptsStory(t, judged(open("fail", "conflict"), stays, false, nil))
			acceptsStory(t, judged(open("update", "overwrite"), goes, false, nil))
			refusesStory(t, judged(open("update", "overwrite"), goes, true, nil))
			refusesStory(t, judged(open("fail", "conflict"), stays, false, conflict))
			goes.Note, stays.Note = "", ""
			refusesStory(t, judged(open("update", "overwrite"), goes, true, conflict))
			refusesStory(t, judged(open("fail", "conflict"), stays, false, nil))
		},
		"object of no chart": func(t *testing.T) {
			told := story("a")
			told.judge(reportOf(objectReport{Kind: "Secret", Name: "other", Action: "none"}), nil, nil, nil)
			refusesStory(t, told)
		},
	} {
		t.Run(name, check)
	}
}

func failing(name, reason string) objectReport {
	return objectReport{Kind: "ConfigMap", Name: name, Action: "fail", Reason: reason}
}

// conflicting is an object that is said to fail on conflicts at some paths.
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

// story is one of ConfigMaps that charts have and nobody touched.
func story(names ...string) *telling {
	told := &telling{of: &oracleCase{}, missed: map[string]bool{}, let: tolerances{}, unasked: map[string]int{}}
	for _, name := range names {
		obj := liveObject(name, "data: {x: '1'}")
		told.of.objects = append(told.of.objects, &oracleObject{kind: &poolKind{name: "configmap", object: obj}, name: name, old: obj, new: obj})
	}
	return told
}

// hookOf lets the new chart have the object as a hook.
func hookOf(o *oracleObject) {
	o.new = runtime.DeepCopyJSON(o.new)
	steps{{field: "metadata"}, {field: "annotations"}, {field: hookMark}}.put(o.new, "test")
}

// liveObject is a ConfigMap of a name, with the rest of it in YAML, which may be another kind.
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

// plainNumbers has integers where YAML has floating point numbers.
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
		name, _ := steps{{field: "metadata"}, {field: "name"}}.in(obj)
		out[fmt.Sprint(name)] = obj
	}
	return out
}

// judgeUpdate judges an update of which a report has at most one field.
func judgeUpdate(j fieldJudge, field fieldReport, was, now map[string]any) string {
	said := objectReport{Action: "update"}
	if field.Path != "" {
		said.Fields = []fieldReport{field}
	}
	o := &oracleObject{old: was, new: now}
	return strings.Join(j.object(o, now, said, was, now), "\n")
}

// judgeChart judges an update of an object of which the report says nothing.
func judgeChart(chart, was, now map[string]any) string {
	return strings.Join(fieldJudge{}.object(&oracleObject{old: chart, new: chart}, chart, objectReport{Action: "none"}, was, now), "\n")
}

func refuses(t *testing.T, fault string) {
	t.Helper()
	if fault == "" {
		t.Error("the judge accepts it")
	}
}

func accepts(t *testing.T, fault string) {
	t.Helper()
	if fault != "" {
		t.Errorf("the judge refuses it: %s", fault)
	}
}

func refusesError(t *testing.T, fault error) {
	t.Helper()
	if fault == nil {
		t.Error("the judge accepts it")
	}
}

func refusesStory(t *testing.T, told *telling) {
	t.Helper()
	refuses(t, strings.Join(told.misses, "\n"))
}

func acceptsStory(t *testing.T, told *telling) {
	t.Helper()
	accepts(t, strings.Join(told.misses, "\n"))
}

// verdict stands for the test that a run of the oracle is.
type verdict struct {
	testing.TB
	failed bool
}

func (v *verdict) Helper()               {}
func (v *verdict) Logf(string, ...any)   {}
func (v *verdict) Errorf(string, ...any) { v.failed = true }

func refusesRun(t *testing.T, run tally) {
	t.Helper()
	v := &verdict{TB: t}
	if run.judge(v); !v.failed {
		t.Error("the run passes")
	}
}

func acceptsRun(t *testing.T, run tally) {
	t.Helper()
	v := &verdict{TB: t}
	if run.judge(v); v.failed {
		t.Error("the run fails")
	}
}
