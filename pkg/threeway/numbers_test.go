package threeway

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestNumbersOfHooks checks when a Service that becomes a hook gives its node port up: before the manifest if it is a hook that runs first
// and that Helm deletes, and at the end of the upgrade otherwise. A hook with the same port keeps it, unless Helm deletes it after it ran.
func TestNumbersOfHooks(t *testing.T) {
	old := objectsOf(t, "{apiVersion: v1, kind: Service, metadata: {name: shop}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}}")
	desired := objectsOf(t, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}}")
	for _, tc := range []struct{ first, before, after, same, fails bool }{
		{true, true, false, false, false}, {false, true, false, false, true}, {true, false, false, false, true},
		{true, false, true, true, false}, {true, true, false, true, true}, {true, true, true, true, false}, {false, true, false, true, true},
	} {
		hook := Hook{
			Kind: "Service", Name: "shop", Key: old[0].Key, Event: "post-upgrade", First: tc.first, DeletedBefore: tc.before, DeletedAfter: tc.after,
		}
		if tc.same {
			hook.Content = old[0].Content
		}
		c := Compare(Input{
			Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationUpgrade, ApplyMethod: report.ApplyServerSide,
			Desired: &report.Desired{Helm: "4"}, OldObjects: old, DesiredObjects: desired, Hooks: []Hook{hook},
			Live: map[object.Ref]cluster.Live{old[0].Ref: {Object: old[0].Content}, desired[0].Ref: {Absence: cluster.AbsentObject}},
		})
		for _, o := range c.Objects {
			if fails := strings.Contains(o.Reason, "30080 is already allocated to Service d/shop"); o.Name == "web" && fails != tc.fails {
				t.Errorf("%+v: %s %s", tc, o.Action, o.Reason)
			}
		}
	}
}

// TestNumbersOfUnreadable checks that a Service that cannot be read has the numbers of its record: a new one that wants them does not seem
// to be created.
func TestNumbersOfUnreadable(t *testing.T) {
	const service = "{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: NodePort, ports: [{port: 80, nodePort: %d}]}}"
	old := objectsOf(t, fmt.Sprintf(service, "shop", 30005))
	desired := objectsOf(t, fmt.Sprintf(service, "a", 30005)+"\n---\n"+fmt.Sprintf(service, "shop", 30006)+"\n---\n"+fmt.Sprintf(service, "z", 30005))
	absent := cluster.Live{Absence: cluster.AbsentObject}
	live := map[object.Ref]cluster.Live{
		desired[0].Ref: absent, old[0].Ref: {Err: &report.ObjectError{Code: "forbidden", Message: "no right to get it"}}, desired[2].Ref: absent,
	}
	for method, helm := range map[report.ApplyMethod]string{report.ApplyClientSide: "3", report.ApplyServerSide: "4"} {
		c := Compare(Input{
			Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationUpgrade, ApplyMethod: method,
			Desired: &report.Desired{Helm: helm}, OldObjects: old, DesiredObjects: desired, Live: live,
		})
		for _, o := range c.Objects {
			if fails := strings.Contains(o.Reason, "30005 is already allocated to Service d/shop"); fails != (o.Name == "a") {
				t.Errorf("%s: %s: %s, %q", method, o.Name, o.Action, o.Reason)
			}
		}
	}
}

// TestFreedNumbers checks that a dry run is not asked about a number that an earlier Service of the release gives up: the dry run of that one
// frees nothing.
func TestFreedNumbers(t *testing.T) {
	service := func(name, port string) string {
		return "{apiVersion: v1, kind: Service, metadata: {name: " + name + "}, spec: {type: NodePort, ports: [{port: 80, nodePort: " + port + "}]}}"
	}
	old := objectsOf(t, service("gives", "30005")+"\n---\n"+service("takes", "30007"))
	desired := objectsOf(t, service("gives", "30006")+"\n---\n"+service("takes", "30005")+"\n---\n"+service("new", "30008"))
	c := Compare(Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationUpgrade, ApplyMethod: report.ApplyServerSide,
		ForceConflicts: true, Desired: &report.Desired{Helm: "4"}, OldObjects: old, DesiredObjects: desired,
		Live: map[object.Ref]cluster.Live{
			old[0].Ref: {Object: old[0].Content}, old[1].Ref: {Object: old[1].Content}, desired[2].Ref: {Absence: cluster.AbsentObject},
		},
	})
	var asked []string
	for _, r := range c.Requests() {
		asked = append(asked, r.Ref.Name)
	}
	slices.Sort(asked)
	if want := []string{"gives", "new"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	if said := c.notAskedReason(&c.Objects[2]); said != "Service d/gives gives up 30005 first, which a dry run does not do" {
		t.Errorf("%s: %q", c.Objects[2].Name, said)
	}
}
