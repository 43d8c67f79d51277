package repair

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

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
			if text != "" {
				*list = append(*list, Selector{Key: key, Path: text})
			}
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

// TestSelectorNamesOneObject checks that a selector selects no other object of the same kind or name, and how it is written.
func TestSelectorNamesOneObject(t *testing.T) {
	web := object.Key{Kind: "Service", Namespace: "d", Name: "web"}
	s := Selector{Key: web, Path: "spec.ports"}
	c := choice{only: []Selector{s}}
	if c.object(web) != inPart || s.String() != "Service/web:spec.ports" {
		t.Errorf("%s selects %v of its object", s, c.object(web))
	}
	for _, other := range []object.Key{
		{Group: "serving.knative.dev", Kind: "Service", Namespace: "d", Name: "web"},
		{Kind: "Service", Namespace: "e", Name: "web"}, {Kind: "Service", Namespace: "d", Name: "web:spec.ports"},
	} {
		if c.object(other) != outside {
			t.Errorf("%s selects %s", s, other)
		}
	}
}

// TestAlone checks that the order of a list and its items can be selected without each other.
func TestAlone(t *testing.T) {
	key := object.Key{Group: "apps", Kind: "Deployment", Namespace: "d", Name: "web"}
	list := object.Path{}.Field("spec").Field("containers")
	item := list.Item([]object.ListKey{{Name: "name", Value: "web"}})
	c := choice{skip: []Selector{{Key: key, Path: list.String(), Alone: true}}}
	if c.placement(key, list) != outside || c.field(key, item) != inside {
		t.Errorf("the order is %v, an item is %v", c.placement(key, list), c.field(key, item))
	}
	c = choice{skip: []Selector{{Key: key, Path: item.String()}}}
	if c.placement(key, list) != inside || c.field(key, item) != outside {
		t.Errorf("without an item, the order is %v, the item is %v", c.placement(key, list), c.field(key, item))
	}
	c = choice{only: []Selector{{Key: key, Path: item.String()}}}
	if c.placement(key, list) != outside || c.field(key, item) != inside {
		t.Errorf("an item alone: the order is %v, the item is %v", c.placement(key, list), c.field(key, item))
	}
}
