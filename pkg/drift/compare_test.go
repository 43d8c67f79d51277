package drift_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
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

// withoutKinds is a cluster that serves no kind but definitions, and has no object.
type withoutKinds struct{ inMemory }

func (withoutKinds) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	return false, kind.Kind == "CustomResourceDefinition"
}

func (w withoutKinds) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		if out[ref] = (cluster.Live{Absence: cluster.AbsentKind}); ref.IsDefinition() {
			out[ref] = cluster.Live{Absence: cluster.AbsentObject}
		}
	}
	return out
}

func (withoutKinds) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	return chartutil.DefaultCapabilities.Copy(), nil
}

func (withoutKinds) Undiscovered() []string { return nil }

func (withoutKinds) Incomplete([]string) []report.Message { return nil }

func (withoutKinds) CRDs(context.Context, []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	return nil, nil
}

func (withoutKinds) OpenAPI(context.Context, []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return nil, nil
}

// TestDefinitionDeleted checks that an upgrade that writes the folder crds/ creates a deleted definition and an object of its kind again,
// and that the object is one although only the definition says that it has no namespace.
func TestDefinitionDeleted(t *testing.T) {
	const dial = "{apiVersion: ex.com/v1, kind: Dial, metadata: {name: d}}"
	const definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: dials.ex.com}, spec: {group: ex.com, " +
		"scope: Cluster, names: {plural: dials, kind: Dial}, versions: [{name: v1, served: true, storage: true}]}}"
	w := withoutKinds{inMemory{record: release.Record{Name: "web", Namespace: "prod", Revision: 1, Manifest: dial}}}
	target := web
	target.Chart = &drift.Chart{UpgradeCRDs: true}
	rendered := func(context.Context, drift.ChartRequest) (*drift.RenderedChart, error) {
		return &drift.RenderedChart{
			Rendered: render.Rendered{
				Definitions: render.ReadDocuments(definition), Brings: []schema.GroupKind{{Group: "ex.com", Kind: "Dial"}},
			},
			Manifest: render.ReadDocuments(dial),
		}, nil
	}
	result, err := drift.New(on(w, w), drift.Options{Render: rendered}).Compare(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range result.Comparison.Objects {
		got = append(got, fmt.Sprintf("%s %s %v", o.Key, o.Action, o.Missing))
	}
	want := []string{"CustomResourceDefinition.apiextensions.k8s.io dials.ex.com create false", "Dial.ex.com d create true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
