package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// All tools are read on what they print about one release: a Deployment was scaled, a Service was deleted, a ClusterRole was edited.
func TestAnswers(t *testing.T) {
	kubectl := `diff -u -N /tmp/LIVE-1/apps.v1.Deployment.prod.web /tmp/MERGED-1/apps.v1.Deployment.prod.web
--- /tmp/LIVE-1/apps.v1.Deployment.prod.web	2026-11-23 07:36:30.2 +0000
+++ /tmp/MERGED-1/apps.v1.Deployment.prod.web	2026-11-23 07:36:30.2 +0000
@@ -15,7 +15,7 @@
 spec:
-  replicas: 5
+  replicas: 2
diff -u -N /tmp/LIVE-1/v1.Service.prod.web.a /tmp/MERGED-1/v1.Service.prod.web.a
--- /tmp/LIVE-1/v1.Service.prod.web.a	2026-11-23 07:36:30.1 +0000
+++ /tmp/MERGED-1/v1.Service.prod.web.a	2026-11-23 07:36:30.1 +0000
@@ -0,0 +1,2 @@
+kind: Service
diff -u -N /tmp/LIVE-1/rbac.authorization.k8s.io.v1.ClusterRole..web:read /tmp/MERGED-1/rbac.authorization.k8s.io.v1.ClusterRole..web:read
@@ -1,2 +1,2 @@
-- secrets
`
	escaped := strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace
	deviation := func(kind, version, name, text string) string {
		return fmt.Sprintf(`{"has_drift":true,"kind":%q,"api_version":%q,"resource":%q,"deviations":"%s"}`, kind, version, name, escaped(text))
	}
	parts := strings.SplitAfter(kubectl, "replicas: 2\n")
	last := strings.Index(parts[1], "diff -u -N /tmp/LIVE-1/rbac")
	want := []named{
		{"Deployment.apps/web", changed, []string{"replicas 5"}},
		{"Service/web.a", created, []string{"kind: Service"}},
		{"ClusterRole.rbac.authorization.k8s.io/web:read", changed, []string{"secrets"}},
	}
	for name, a := range map[string]answer{
		"kubectl": parseKubectlDiff(output{stdout: kubectl, exit: 1}),
		"helm-drift": parseHelmDrift(output{stdout: "\n[{\"deviations\":[{\"kind\":\"Secret\",\"resource\":\"quiet\"}," + strings.Join([]string{
			deviation("Deployment", "apps/v1", "web", parts[0]), deviation("Service", "v1", "web.a", parts[1][:last]),
			deviation("ClusterRole", "rbac.authorization.k8s.io/v1", "web:read", parts[1][last:]),
		}, ",") + "]}]\n"}),
		"helm-diff": parseHelmDiff(output{exit: 2, stdout: `prod, web, Deployment (apps) has changed:
  spec:
-   replicas: 5
+   replicas: 2
prod, web.a, Service (v1) has been added:
+ kind: Service
prod, web:read, ClusterRole (rbac.authorization.k8s.io) has changed:
- - secrets
`}),
		"helmdrift": parseHelmdrift(output{exit: 2, stdout: `{"releases":[{"errors":[],"objects":[
{"apiVersion":"apps/v1","kind":"Deployment","name":"web","action":"update","fields":[{"path":"spec.replicas","desired":2,"live":5}]},
{"apiVersion":"v1","kind":"Service","name":"web.a","action":"create","missing":true,"fields":[{"path":"kind: Service"}]},
{"apiVersion":"v1","kind":"Secret","name":"quiet","action":"none","fields":[]},
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","name":"web:read","action":"update","fields":[
	{"path":"rules","live":"secrets"}]}]}]}`}),
	} {
		if a.failure != "" || len(a.objects) != len(want) {
			t.Errorf("%s: %+v", name, a)
			continue
		}
		for i, got := range a.objects {
			shown := edit{marks: strings.Fields(want[i].lines[0])}
			if got.label != want[i].label || got.word != want[i].word || !anyMarked(got.lines, shown) {
				t.Errorf("%s: %+v, want %+v", name, got, want[i])
			}
		}
	}
}

func anyMarked(lines []string, e edit) bool {
	for _, line := range lines {
		if e.marked(line) {
			return true
		}
	}
	return false
}

// An adopted object changes only if a field does.
func TestAdopted(t *testing.T) {
	for fields, want := range map[string]word{
		``:                                      unchanged,
		`{"path":"spec","verdict":"ignore"}`:    unchanged,
		`{"path":"spec","verdict":"overwrite"}`: changed,
	} {
		var o reported
		if err := json.Unmarshal([]byte(`{"action":"adopt","fields":[`+fields+`]}`), &o); err != nil {
			t.Fatal(err)
		}
		if got := o.named().word; got != want {
			t.Errorf("%s: %s", fields, got)
		}
	}
}

func TestFailures(t *testing.T) {
	for name, a := range map[string]answer{
		"kubectl":    parseKubectlDiff(output{exit: 2, stderr: "Warning: old\nThe Service is invalid\n"}),
		"helm-diff":  parseHelmDiff(output{exit: 1, stderr: "The Service is invalid\n"}),
		"helm-drift": parseHelmDrift(output{exit: 1, stdout: `{"level":"info"}` + "\nThe Service is invalid"}),
		"helmdrift":  parseHelmdrift(output{exit: 1, stderr: "The Service is invalid"}),
	} {
		if a.failure != "The Service is invalid" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := parseHelmdrift(output{stdout: `{"releases":[{"errors":[{"message":"not read"}],"objects":[]}]}`}); a.failure == "" {
		t.Error("an error in the report is no failure")
	}
	if a := parseHelmDiff(output{exit: 2, stdout: "nothing known"}); len(a.objects) != 1 {
		t.Error("exit code 2 of helm-diff is silence")
	}
}

func TestJudge(t *testing.T) {
	web := named{"Deployment.apps/web", changed, []string{"-   replicas: 7"}}
	did := func(w word) truth {
		return truth{words: map[string]word{"Deployment.apps/web": w, "Secret/login": unchanged}}
	}
	scaled := deployment("scaled", "", "replicas", "7")
	failing := truth{failure: "conflict"}
	for _, c := range []struct {
		name   string
		q      question
		a      answer
		t      truth
		e      *edit
		right  bool
		others string
	}{
		{"silence", untouched, answer{}, did(unchanged), nil, true, ""},
		{"noise", untouched, answer{objects: []named{web}}, did(unchanged), nil, false, ""},
		{"no answer", untouched, answer{failure: "x"}, did(unchanged), nil, false, "failure"},
		{"shown", edited, answer{objects: []named{web}}, did(changed), &scaled, true, "field"},
		{"only the object", edited, answer{objects: []named{{web.label, changed, []string{"-  generation: 7"}}}}, did(changed), &scaled, true, ""},
		{"another object", edited, answer{objects: []named{{"Secret/web", changed, web.lines}}}, did(changed), &scaled, false, ""},
		{"predicted", upgrade, answer{objects: []named{web}}, did(changed), nil, true, ""},
		{"nothing said", upgrade, answer{}, did(changed), nil, false, ""},
		{"nothing happens", upgrade, answer{objects: []named{web}}, did(unchanged), nil, false, ""},
		{"another word", upgrade, answer{objects: []named{web}}, did(created), nil, false, ""},
		{"left alone", upgrade, answer{objects: []named{{web.label, unchanged, web.lines}}}, did(unchanged), nil, true, ""},
		{"not in the release", upgrade, answer{objects: []named{{"Secret/other", changed, nil}}}, did(unchanged), nil, false, ""},
		{"failure predicted", upgrade, answer{objects: []named{{web.label, refused, nil}}}, failing, nil, true, ""},
		{"failure by failing", upgrade, answer{failure: "invalid"}, failing, nil, true, ""},
		{"failure not predicted", upgrade, answer{objects: []named{web}}, failing, nil, false, ""},
		{"fails without reason", upgrade, answer{failure: "no schema"}, did(changed), nil, false, "failure"},
		{"predicts a failure", upgrade, answer{objects: []named{{web.label, refused, nil}}}, did(changed), nil, false, ""},
	} {
		got := judge(c.q, c.a, c.t, c.e)
		var others string
		switch {
		case got.field:
			others = "field"
		case got.failure:
			others = "failure"
		}
		if got.right != c.right || got.right != (got.wrong == "") || others != c.others {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestTruth(t *testing.T) {
	object := func(fields map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: fields}
	}
	metadata := func(uid, version, edited string) map[string]any {
		return map[string]any{"uid": uid, "resourceVersion": version, "annotations": map[string]any{"edited": edited}}
	}
	old := object(map[string]any{"metadata": metadata("1", "1", "no"), "status": "new"})
	before := map[string]*unstructured.Unstructured{"a": old, "b": old, "c": old, "d": old, "e": nil, "f": nil}
	got := compare(before, map[string]*unstructured.Unstructured{
		"a": object(map[string]any{"metadata": metadata("1", "2", "no"), "status": "old"}),
		"b": object(map[string]any{"metadata": metadata("1", "2", "yes")}),
		"c": object(map[string]any{"metadata": metadata("2", "2", "no")}),
		"e": old,
	})
	want := map[string]word{"a": unchanged, "b": changed, "c": changed, "d": deleted, "e": created, "f": unchanged}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !(truth{words: map[string]word{"a": unchanged}}).quiet() || (truth{words: got}).quiet() || (truth{failure: "x"}).quiet() {
		t.Error("an upgrade is quiet if it succeeds and changes nothing")
	}
}

func TestManifest(t *testing.T) {
	objects, err := decode(`---
# Source: a
kind: A
apiVersion: v1
---
# nothing
---
kind: BList
apiVersion: v1
items:
- {kind: B, apiVersion: v1}
`)
	if err != nil || len(objects) != 2 || objects[0].GetKind() != "A" || objects[1].GetKind() != "B" {
		t.Errorf("%v, %v", objects, err)
	}
}
