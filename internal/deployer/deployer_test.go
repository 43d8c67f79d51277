package deployer

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestFleet compares releases that go wrong, each in another way. Each has a report, in the order of the releases, but the one with
// nothing to compare. A comparison knows the secrets that were known first and its own, and no report has any of them.
func TestFleet(t *testing.T) {
	known := &secret.Known{}
	known.Add("first-hunter2")
	seen := 0
	f := Fleet[string]{
		Title: func(of string) report.Release {
			return report.Release{Name: of, Namespace: "shop", Deployer: &report.Deployer{Kind: "Thing", Name: of}}
		},
		Compare: func(own *secret.Known, of string) (report.Release, error) {
			if own.Scrub("first-hunter2") == "first-hunter2" || own.Scrub("learned-hunter2") != "learned-hunter2" {
				t.Errorf("%s has the secrets of others, or lacks those that are known", of)
			}
			own.Add("learned-hunter2")
			switch of {
			case "fails":
				return report.Release{}, errors.New("first-hunter2 and learned-hunter2 failed")
			case "crashes":
				panic("learned-hunter2 crashed")
			case "nothing":
				return report.Release{}, ErrNothing
			}
			return report.Release{Name: of}, nil
		},
		Code: "thing-unknown", Known: known, Progress: func(report.Release) { seen++ },
		Each: func(namespaces []string, do func(int)) {
			for i, namespace := range namespaces[:4] { // somebody interrupts the last one
				if namespace != "shop" {
					t.Errorf("namespace %s", namespace)
				}
				do(i)
			}
		},
	}.Start()
	var got []string
	for _, r := range f.All([]string{"works", "fails", "nothing", "crashes", "late"}) {
		said := ""
		for _, m := range r.Errors {
			said += " " + m.Code + ": " + m.Message + "; " + string(r.Deployer.Action) + ": " + r.Deployer.Reason
		}
		if strings.Contains(said, "hunter2") {
			t.Errorf("a secret: %s", said)
		}
		words, _, _ := strings.Cut(said, ":")
		got = append(got, r.Name+words)
	}
	want := []string{"works", "fails thing-unknown", "crashes thing-unknown", "late thing-unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if seen != 3 {
		t.Errorf("%d reports were shown", seen)
	}
	if known.Scrub("learned-hunter2") == "learned-hunter2" {
		t.Error("what a comparison learns is not known afterwards")
	}
}

// TestFleetAgain checks that a release that somebody deploys meanwhile is compared again, if its report could be wrong.
func TestFleetAgain(t *testing.T) {
	of := func(name string, action report.DeployerAction) report.Release {
		return report.Release{Name: name, StorageNamespace: "shop", Deployer: &report.Deployer{Action: action}}
	}
	f := Fleet[string]{
		Title: func(name string) report.Release { return of(name, report.DeployerUnknown) },
		Compare: func(_ *secret.Known, name string) (report.Release, error) {
			switch name {
			case "nothing":
				return report.Release{}, ErrNothing
			case "quiet":
				return of(name, report.DeployerNone), nil
			}
			return of(name, report.DeployerUpgrade), nil
		},
		Anew: func(_ *secret.Known, name string) (report.Release, error) {
			return of(name+" again", report.DeployerUpgrade), nil
		},
		Changed: func(releases []drift.Target) (out []bool) {
			for _, r := range releases {
				out = append(out, r.Release != "same")
			}
			return out
		},
		Known: &secret.Known{},
		Each: func(namespaces []string, do func(int)) {
			for i := range namespaces {
				do(i)
			}
		},
	}.Start()
	var got []string
	for _, r := range f.All([]string{"same", "nothing", "quiet", "deployed"}) {
		got = append(got, r.Name)
	}
	if diff := cmp.Diff([]string{"same", "quiet", "deployed again"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChanged checks which objects count as changed by a chart, whether or not it is rolled out.
func TestChanged(t *testing.T) {
	changed := report.Finding{Cause: report.CauseChange, Managed: true}
	drifted := report.Finding{Cause: report.CauseDrift, Managed: true}
	for _, test := range []struct {
		object report.Object
		want   bool
	}{
		{report.Object{Action: report.ActionUpdate, Fields: []report.Finding{changed}}, true},
		{report.Object{Action: report.ActionUpdate, Fields: []report.Finding{drifted}}, false},
		{report.Object{Action: report.ActionCreate}, true},
		{report.Object{Action: report.ActionCreate, Missing: true}, false},
		{report.Object{Action: report.ActionDelete}, true},
	} {
		if got := Changed([]report.Object{test.object}) == 1; got != test.want {
			t.Errorf("%+v: %v", test.object, got)
		}
	}
}

// TestIntegers checks the expressions for integers.
func TestIntegers(t *testing.T) {
	values := map[string]any{"a": map[string]any{"b.c": []any{int64(1), map[string]any{"d": int64(-2)}}, "f": 1.5, "s": "1"}, "n": int64(3)}
	want := []string{`a.b\.c[0]=1`, `a.b\.c[1].d=-2`, `n=3`}
	if diff := cmp.Diff(want, Integers(values)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
