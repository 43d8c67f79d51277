package drift_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// edited is a release in memory whose ConfigMap was edited, with these labels on the objects of the manifest.
func edited(labels string) inMemory {
	live := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"mode": "slow"}}
	return inMemory{
		record: release.Record{Name: "web", Namespace: "prod", Revision: 1,
			Manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {" + labels + "}}, data: {mode: fast}}"},
		live: object.HelmMetadata(live, "web", "prod"),
	}
}

// upgrading is a release that is at another revision after the first lists of its records.
type upgrading struct {
	inMemory
	lists, upgrades *int
}

func (u upgrading) History(ctx context.Context, name string) (release.History, error) {
	h, err := u.inMemory.History(ctx, name)
	if *u.lists++; *u.lists%2 == 0 && *u.upgrades > 0 {
		*u.upgrades--
		h.Entries = append(h.Entries, release.Entry{Release: name, Revision: 2, Status: "pending-upgrade"})
	}
	return h, err
}

func (u upgrading) Load(ctx context.Context, name string, _ int, _ release.Options) (*release.Loaded, error) {
	history, err := u.History(ctx, name)
	return &release.Loaded{History: history, Old: &u.record, Last: &u.record}, err
}

func on(r drift.Records, c drift.Cluster) drift.Connection {
	return drift.Connection{Cluster: c, Records: func(string) (drift.Records, error) { return r, nil }}
}

var web = drift.Target{Namespace: "prod", Release: "web"}

// TestReleaseChangesMeanwhile checks that a comparison is made again once, and is an error if the release changes again.
func TestReleaseChangesMeanwhile(t *testing.T) {
	for upgrades, want := range map[int]string{0: "", 1: "", 2: `release "web" changed twice while it was compared`} {
		lists := 0
		records := upgrading{inMemory: edited(""), lists: &lists, upgrades: &upgrades}
		before := upgrades
		result, err := drift.New(on(records, records), drift.Options{}).Compare(t.Context(), web)
		if (err == nil) != (want == "") || err != nil && (err.Error() != want || drift.Hint(err) == "") {
			t.Errorf("%d upgrades: %v", before, err)
		}
		if err != nil {
			continue
		}
		if err := result.CheckUnchanged(t.Context()); err != nil {
			t.Errorf("nothing changed: %v", err)
		}
		upgrades, lists = 1, 1
		const changed = "the release changed meanwhile: revision 2 is pending-upgrade now"
		if err := result.CheckUnchanged(t.Context()); err == nil || err.Error() != changed {
			t.Errorf("an upgrade: %v", err)
		}
	}
}

// TestErrors checks that callers can tell errors apart and find their hints.
func TestErrors(t *testing.T) {
	memory := edited("helm.toolkit.fluxcd.io/name: shop, helm.toolkit.fluxcd.io/namespace: flux")
	compare := func(o drift.Options) error {
		_, err := drift.New(on(memory, memory), o).Compare(t.Context(), web)
		return err
	}
	if err := compare(drift.Options{ForceConflicts: true}); !errors.Is(err, drift.ErrForceConflicts) {
		t.Errorf("force conflicts: %v", err)
	}
	if err := compare(drift.Options{ForceReplace: true, ApplyMethod: report.ApplyServerSide}); !errors.Is(err, drift.ErrForceReplace) {
		t.Errorf("force replace: %v", err)
	}
	if err := compare(drift.Options{DryRun: true}); err == nil {
		t.Error("there is no server that could dry-run")
	}
	known := &drift.Secrets{}
	known.Add("hunter2-hunter2")
	quoting := func(context.Context, *release.Record) ([]render.Document, error) {
		return nil, errors.New("the manifest says hunter2-hunter2")
	}
	if err := compare(drift.Options{Known: known, ReadManifest: quoting}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an error that quotes a secret: %v", err)
	}
}

// TestFromFlux checks that an error about the rules of Flux is a FluxError, whichever part is missing.
func TestFromFlux(t *testing.T) {
	for _, labels := range []string{"", "helm.toolkit.fluxcd.io/name: shop, helm.toolkit.fluxcd.io/namespace: flux"} {
		memory := edited(labels)
		memory.live = nil
		_, err := drift.New(on(memory, memory), drift.Options{FromFlux: true}).Compare(t.Context(), web)
		var flux *drift.FluxError
		if !errors.As(err, &flux) {
			t.Errorf("labels %q: %v", labels, err)
		}
	}
}

// TestRecordElsewhere checks the warning about a record that names another namespace than the one it is stored in.
func TestRecordElsewhere(t *testing.T) {
	for namespace, want := range map[string]bool{"prod": false, "backup": true} {
		memory := edited("")
		result, err := drift.New(on(memory, memory), drift.Options{}).Compare(t.Context(), drift.Target{Namespace: namespace, Release: "web"})
		if err != nil || result.RecordElsewhere() != want {
			t.Errorf("a record in %s: %v, %v", namespace, result, err)
		}
	}
}

// TestIgnore checks that rules can be given as plain data, and that one that cannot be read is a warning.
func TestIgnore(t *testing.T) {
	memory := edited("")
	options := drift.Options{Ignore: []report.RuleText{{Paths: []string{"/data/mode"}}, {Paths: []string{"no pointer"}}}}
	result, err := drift.New(on(memory, memory), options).Compare(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	if r := result.Report(threeway.Mask{}); r.Drifted || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, "no pointer") {
		t.Errorf("drifted %v, warnings %+v", r.Drifted, r.Warnings)
	}
}

// TestTargetsRefused checks that a target without a meaning is an error, before anything is read.
func TestTargetsRefused(t *testing.T) {
	c := drift.New(drift.Connection{}, drift.Options{})
	if _, err := c.Compare(t.Context(), drift.Target{Release: "web", RollbackTo: 1, Chart: &drift.Chart{}}); err == nil {
		t.Error("a chart and a rollback at once are compared")
	}
}
