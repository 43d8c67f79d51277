package repair

import (
	"errors"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

func TestParseSelector(t *testing.T) {
	for _, text := range []string{"", "web", "/web", "Deployment/", "Deployment/:spec", "spec.replicas"} {
		_, err := ParseSelector(text)
		var hinted interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), text) || !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "KIND/NAME") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSelectorOfObjects checks that kinds and groups are not case-sensitive, that names are, and that a name may have colons.
func TestSelectorOfObjects(t *testing.T) {
	role := object.Key{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "d", Name: "a:b"}
	for text, want := range map[string]string{
		"Role/a:b":                             "all",
		"role/a:b":                             "all",
		" ROLE.rbac.authorization.K8S.io/a:b ": "all",
		"Role/a:b:rules":                       "rules",
		"role/a:b: metadata.labels":            "metadata.labels",
		"Role.apps/a:b":                        "nothing",
		"ClusterRole/a:b":                      "nothing",
		"Role/a":                               "nothing",
		"Role/A:b":                             "nothing",
		`role/a:b:metadata.annotations["a.b/c:d"]`: `metadata.annotations["a.b/c:d"]`,
	} {
		s, err := ParseSelector(text)
		if err != nil {
			t.Fatal(err)
		}
		place, ok := s.object(role)
		switch {
		case !ok:
			place = "nothing"
		case place == "":
			place = "all"
		}
		if place != want || s.String() != strings.TrimSpace(text) {
			t.Errorf("%q selects %s, want %s", text, place, want)
		}
	}
}

// TestSelectorOfFields checks that a path names everything below it, but only at the boundaries of steps, and that a value around a
// named place is selected in part.
func TestSelectorOfFields(t *testing.T) {
	key := object.Key{Group: "apps", Kind: "Deployment", Namespace: "d", Name: "web"}
	containers := object.Path{}.Field("spec").Field("template").Field("spec").Field("containers")
	image := containers.Item([]object.ListKey{{Name: "name", Value: "web"}}).Field("image")
	for _, c := range []struct {
		only, skip string
		want       reach
	}{
		{"", "", inside},
		{"spec", "", inside},
		{"spec.template.spec.containers", "", inside},
		{"spec.template.spec.containers[name=web]", "", inside},
		{"spec.template.spec.containers[name=web].image", "", inside},
		{"spec.template.spec.containers[name=web].image.x", "", inPart},
		{"spec.template.spec.containers[name=we", "", outside},
		{"spec.temp", "", outside},
		{"spec.template.spec.containers[name=web].im", "", outside},
		{"metadata", "", outside},
		{"spec", "spec.template", outside},
		{"", "spec.template.spec.containers[name=web].image.x", inPart},
		{"", "spec.replicas", inside},
	} {
		var chosen choice
		for text, list := range map[string]*[]Selector{c.only: &chosen.only, c.skip: &chosen.skip} {
			if text == "" {
				continue
			}
			s, err := ParseSelector("deployment/web:" + text)
			if err != nil {
				t.Fatal(err)
			}
			*list = append(*list, s)
		}
		if got := chosen.field(key, image); got != c.want {
			t.Errorf("only %q skip %q: %d, want %d", c.only, c.skip, got, c.want)
		}
	}
}

// TestPlanNeedsDrift checks that a comparison with a chart or another revision has no plan.
func TestPlanNeedsDrift(t *testing.T) {
	w := driftedSite(t)
	for _, operation := range []report.Operation{report.OperationUpgrade, report.OperationRollback, report.OperationInstall} {
		in := w.input()
		in.Operation = operation
		if _, err := New(threeway.Compare(in), Options{}); err == nil {
			t.Errorf("a plan of %s", operation)
		}
	}
	if p := w.plan(Options{Manager: "me"}); p.Objects[0].Manager != "helmdrift" {
		t.Errorf("a server-side release is written as %s", p.Objects[0].Manager)
	}
	w.serverSide = false
	if p := w.plan(Options{Manager: "me"}); p.Objects[0].Manager != "me" {
		t.Errorf("a client-side release is written as %s", p.Objects[0].Manager)
	}
}

// TestUnreadableObjectsAreDeclined checks that objects that cannot be read, or handed over, are declined with the reason.
func TestUnreadableObjectsAreDeclined(t *testing.T) {
	w := driftedSite(t)
	in := w.input()
	for _, o := range w.old {
		if o.Kind == "Secret" {
			in.Live[o.Ref] = cluster.Live{Err: &report.ObjectError{Code: "forbidden", Message: "no"}}
			continue
		}
		live, _ := object.Copy(w.live[o.Ref]).(map[string]any)
		for _, entry := range live["metadata"].(map[string]any)["managedFields"].([]any) {
			entry.(map[string]any)["apiVersion"] = "apps/v1beta1"
		}
		in.Live[o.Ref] = cluster.Live{Object: live}
	}
	p, err := New(threeway.Compare(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Empty() || len(p.Declined) != 2 || p.Declined[0].Reason != "it could not be read: no" || !strings.Contains(p.Declined[1].Reason, "at another version") {
		t.Errorf("planned %s", describe(t, p))
	}
}
