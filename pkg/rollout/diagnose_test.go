package rollout

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/casetest"
)

// TestDiagnose compares the problem of each case. A case has the objects of a namespace; the first one is the object under
// test.
func TestDiagnose(t *testing.T) {
	cases := casetest.Run(t, "testdata/*.txtar", func(t *testing.T, inputs *txtar.Archive) string {
		casetest.Inputs(t, inputs, "objects")
		return described(diagnose(evidenceOf(t, inputs)))
	})
	if cases < 20 {
		t.Errorf("there are only %d cases", cases)
	}
}

// described prints a problem line by line.
func described(p problem) string {
	if p.key == "" {
		return "nothing\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.Reason)
	if p.weight == weighsLittle {
		b.WriteString("not announced\n")
	}
	if p.Pod != "" {
		fmt.Fprintf(&b, "pod %s\n", p.Pod)
	}
	if p.Container != "" {
		fmt.Fprintf(&b, "container %s\n", p.Container)
	}
	if p.ExitCode != nil {
		fmt.Fprintf(&b, "exit code %d\n", *p.ExitCode)
	}
	if p.hasLog {
		fmt.Fprintf(&b, "log, previous %t\n", p.previous)
	}
	for _, e := range p.Events {
		fmt.Fprintf(&b, "event %s %s %d: %s\n", e.Object, e.Reason, e.Count, e.Message)
	}
	return b.String()
}

// evidenceOf returns the objects of a case as evidence. The cases abbreviate owners, uids and times: the uid of an object without
// one is its kind and name, and "owner: Kind/name" names its controller.
func evidenceOf(t *testing.T, archive *txtar.Archive) (e evidence) {
	t.Helper()
	for i, doc := range strings.Split(string(archive.Files[0].Data), "\n---\n") {
		u := objectOf(t, doc)
		if i == 0 {
			e.object = u
			if counts := podCounts(u); counts != nil {
				e.wanted = counts.Wanted
			}
		}
		one := []map[string]any{u.Object}
		switch u.GetKind() {
		case "Pod":
			e.pods = append(e.pods, decode[corev1.Pod](one)...)
		case "ReplicaSet":
			e.replicaSets = append(e.replicaSets, decode[appsv1.ReplicaSet](one)...)
		case "PersistentVolumeClaim":
			e.claims = append(e.claims, decode[corev1.PersistentVolumeClaim](one)...)
		case "Event":
			e.events = append(e.events, decode[corev1.Event](one)...)
		}
	}
	return e
}

// objectOf reads an object in the short form of a case.
func objectOf(t *testing.T, doc string) *unstructured.Unstructured {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(doc), &content); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	u := &unstructured.Unstructured{Object: integers(content).(map[string]any)}
	if u.GetUID() == "" {
		_ = unstructured.SetNestedField(u.Object, u.GetKind()+"/"+u.GetName(), "metadata", "uid")
	}
	if owner, ok := u.Object["owner"].(string); ok {
		kind, name, _ := strings.Cut(owner, "/")
		u.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
			"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": owner, "controller": true}}
		delete(u.Object, "owner")
	}
	if about, ok := u.Object["about"].(string); ok {
		kind, name, _ := strings.Cut(about, "/")
		name, container, isContainer := strings.Cut(name, ":")
		of := map[string]any{"kind": kind, "name": name, "uid": kind + "/" + name}
		if isContainer {
			of["fieldPath"] = "spec.containers{" + container + "}"
		}
		u.Object["involvedObject"] = of
		delete(u.Object, "about")
	}
	return u
}

// integers returns a value with int64 integers, as the API's decoder returns them.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		return int64(v)
	}
	return v
}
