package threeway

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// rounds is how often each property is tried on each object of the cases.
var rounds = flag.Int("rounds", 10, "tries of each property on each object")

// sample is an object of a case, with what its CRDs say.
type sample struct {
	object.Object
	schemas map[schema.GroupKind]*kinds.CustomSchema
}

// samples returns the objects of all cases, which are real enough to edit. They are manifests, so they lack metadata that only the
// server sets: an upgrade fails on such metadata (metadata-of-the-server.txtar).
func samples(t testing.TB) []sample {
	t.Helper()
	var out []sample
	for _, file := range caseFiles(t, "*.txtar") {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schemas := map[schema.GroupKind]*kinds.CustomSchema{}
		for _, f := range archive.Files {
			if f.Name == "crd.yaml" {
				schemas = schemasOf(t, string(f.Data))
			}
			if f.Name != "old.yaml" && f.Name != "live.yaml" {
				continue
			}
			for _, o := range objectsOf(t, string(f.Data)) {
				if o.Name != "" {
					for _, name := range []string{"resourceVersion", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"} {
						delete(object.Child(o.Content, "metadata"), name)
					}
					o.Source = filepath.Base(file) + "/" + f.Name
					out = append(out, sample{o, schemas})
				}
			}
		}
	}
	return out
}

// random returns the source of a property's edits of the object. It depends only on the property and the object, so a new case does not
// change the edits of others.
func (s sample) random(property uint64) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, s.Source, s.Key)
	return rand.New(rand.NewPCG(property, h.Sum64()))
}

// inputOf returns a release of one object.
func (s sample) input(desired object.Object, live map[string]any) Input {
	return Input{
		Name: "r", Namespace: "d", ApplyMethod: "client-side", Operation: report.OperationUpgrade,
		Old: &report.Revision{Revision: 1}, Last: &report.Revision{Revision: 1},
		OldObjects: []object.Object{s.Object}, DesiredObjects: []object.Object{desired}, Live: map[object.Ref]cluster.Live{s.Ref: {Object: live}}, Schemas: s.schemas,
	}
}

// installed returns what a server holds after Helm installed the object and upgraded it once: nulls are gone.
func (s sample) installed() map[string]any {
	live, _ := withoutNulls(object.HelmMetadata(s.Content, "r", "d")).(map[string]any)
	return s.served(live)
}

// served returns an object as a server stores it: canonical and with defaults.
func (s sample) served(obj map[string]any) map[string]any {
	job := newComparer(Input{Schemas: s.schemas})
	out, _ := object.Copy(kinds.NewNormalizer(s.Key, job.writer.ShapeOf(s.Ref), obj).Stored(obj).Value).(map[string]any)
	metadata := object.Child(out, "metadata")
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"] = s.Name
	out["apiVersion"], out["kind"], out["metadata"] = s.APIVersion(), s.Kind, metadata
	return out
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, c := range v {
			if c != nil {
				out[k] = withoutNulls(c)
			}
		}
		return out
	}
	return v
}

// TestIdentityIsSilent: what Helm installed and nobody touched is not a finding, whoever owns it.
func TestIdentityIsSilent(t *testing.T) {
	for _, o := range samples(t) {
		if mangled(o.Content) {
			continue
		}
		live := o.installed()
		if c := Compare(o.input(o.Object, live)); !c.Quiet() {
			t.Errorf("%s: %s", o.Source, describe(c))
		}
		owned := maps.Clone(live)
		owned["metadata"] = maps.Clone(object.Child(live, "metadata"))
		all := map[string]any{}
		for name := range live {
			all["f:"+name] = map[string]any{}
		}
		object.Child(owned, "metadata")["managedFields"] = []any{map[string]any{"manager": "kubectl-edit", "operation": "Update", "fieldsV1": all}}
		if c := Compare(o.input(o.Object, owned)); !c.Quiet() {
			t.Errorf("%s, put back by hand: %s", o.Source, describe(c))
		}
	}
}

// TestEveryEditIsReported: a finding covers one random edit of live that the server would store. Kubernetes' own types decide what the
// server would store, not our normal form.
func TestEveryEditIsReported(t *testing.T) {
	edits, unseen := 0, 0
	for _, o := range samples(t) {
		rng, server := o.random(1), newStorage(t, o)
		for range *rounds {
			before, ok := server.store(o.installed())
			live, _ := object.Copy(before).(map[string]any)
			if !ok || !o.vary(rng, live) {
				continue
			}
			after, ok := server.store(live)
			if !ok {
				continue
			}
			paths := server.edits(before, after)
			if len(paths) == 0 {
				unseen++
				continue
			}
			edits++
			c := Compare(o.input(o.Object, after))
			for _, path := range server.demanded(paths, after) {
				if touching(c.Objects[0].Findings, []object.Path{path}) < 0 {
					was, _ := path.Lookup(before)
					is, _ := path.Lookup(after)
					t.Errorf("%s: edit of %s from %v to %v is lost\n%s", o.Source, path, was, is, describe(c))
				}
			}
		}
	}
	t.Logf("%d edits; %d changed nothing that the server holds", edits, unseen)
	if unseen > edits {
		t.Errorf("more edits change nothing (%d) than something (%d)", unseen, edits)
	}
}

// TestVerdictsMatchThePatch: with random edits of desired and live, the findings that write cover exactly the differences
// between live and the result of Helm's patch.
func TestVerdictsMatchThePatch(t *testing.T) {
	for _, o := range samples(t) {
		rng := o.random(2)
		for range *rounds {
			desired, live := o.Object, o.installed()
			desired.Content, _ = object.Copy(o.Content).(map[string]any)
			for range 1 + rng.IntN(3) {
				o.edit(rng, desired.Content)
				o.edit(rng, live)
			}
			live = o.served(live)
			checkEffect(t, Compare(o.input(desired, live)).Objects[0])
		}
	}
}

// TestPlainDiffHasNoChange: if a release is compared with itself, only live can have changed, whatever somebody did to it. That includes a
// second item with a name from the manifest.
func TestPlainDiffHasNoChange(t *testing.T) {
	for _, o := range samples(t) {
		rng := o.random(6)
		for round := range *rounds {
			live := o.installed()
			for range rng.IntN(3) {
				o.edit(rng, live)
			}
			live, _ = doubled(rng, live).(map[string]any)
			in := o.input(o.Object, live)
			in.Operation, in.ForceReplace = report.OperationDrift, round%5 == 0
			if round%2 == 0 {
				in.ApplyMethod, in.Migrates, in.ForceConflicts = "server-side", round%4 == 0, round%3 == 0
			}
			checkOnlyDrift(t, Compare(in))
		}
	}
}

// doubled puts random items of lists into them a second time.
func doubled(rng *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			v[name] = doubled(rng, v[name])
		}
	case []any:
		for i := range v {
			v[i] = doubled(rng, v[i])
		}
		if len(v) > 0 && rng.IntN(3) == 0 {
			twin := object.Copy(v[rng.IntN(len(v))])
			if m, ok := twin.(map[string]any); ok {
				m["value"] = "9"
			}
			return slices.Insert(v, rng.IntN(len(v)+1), twin)
		}
	}
	return v
}

// checkOnlyDrift: the comparison of a release with itself has no other cause.
func checkOnlyDrift(t *testing.T, c *Comparison) {
	t.Helper()
	for _, o := range c.Objects {
		for _, f := range o.Findings {
			if f.Cause != report.CauseDrift {
				t.Errorf("%s: compared with itself, and yet %s has cause %s\n%s", o.Source, f.Path, f.Cause, describe(c))
			}
		}
	}
}

// checkEffect checks the findings of an object against its live and result. The order of a set means nothing.
func checkEffect(t *testing.T, o ObjectComparison) {
	t.Helper()
	if o.Action == report.ActionFail {
		return
	}
	var writing []string
	for _, f := range o.Findings {
		before, was := f.Path.Lookup(o.Live)
		after, is := f.Path.Lookup(o.Result)
		if same := was == is && object.Equal(before, after); same == f.Writes() {
			t.Errorf("%s: %s %s, but live %v and result %v", o.Source, f.Verdict, f.Path, before, after)
		}
		if f.Writes() {
			writing = append(writing, f.Path.String())
		}
	}
	tree := verdict.AllocatedFor(o.key, o.liveText)
	for _, path := range placesThatDiffer(nil, o.Live, o.Result) {
		before, _ := path.Lookup(o.Live)
		after, _ := path.Lookup(o.Result)
		covered := slices.ContainsFunc(writing, func(p string) bool { return touches(p, path.String()) })
		if !covered && tree.At(path).Value() == nil && !object.EqualSets(before, after) {
			t.Errorf("%s: the patch changes %s, and no finding says so\n%v", o.Source, path, o.Findings)
		}
	}
}

// placesThatDiffer lists where two normal forms differ; lists are leaves.
func placesThatDiffer(path object.Path, a, b any) []object.Path {
	left, ok := a.(map[string]any)
	right, alsoOK := b.(map[string]any)
	if !ok || !alsoOK {
		if object.Equal(a, b) {
			return nil
		}
		return []object.Path{path}
	}
	names := maps.Clone(left)
	maps.Copy(names, right)
	var out []object.Path
	for name := range names {
		out = append(out, placesThatDiffer(path.Field(name), left[name], right[name])...)
	}
	return out
}

// touches reports whether one of two paths leads to or through the other.
func touches(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// TestReportHoldsNoSecret: whatever is edited on a Secret, its values are in the comparison and not in the report.
func TestReportHoldsNoSecret(t *testing.T) {
	for _, o := range samples(t) {
		if o.Kind != "Secret" {
			continue
		}
		rng := o.random(3)
		for i := range *rounds {
			canary := fmt.Sprintf("Y2FuYXJ5LXZhbHVl%04d", i)
			live := o.installed()
			o.edit(rng, live)
			data, _ := live["data"].(map[string]any)
			if data == nil {
				data = map[string]any{}
			}
			data["planted"] = canary
			live["data"] = data
			in := o.input(o.Object, live)
			in.Errors = []report.Message{{Code: "x", Message: "the server says " + canary}}
			c := Compare(in)
			checkCanaries(t, canary, c, reportJSON(t, c, Mask{}))
			if !strings.Contains(reportJSON(t, c, Mask{Show: true}), canary) {
				t.Error("a report that may show secrets does not")
			}
		}
	}
}

// TestCompareKeepsItsInput, and returns the same answer each time.
func TestCompareKeepsItsInput(t *testing.T) {
	for _, o := range samples(t) {
		rng := o.random(4)
		live := o.installed()
		o.edit(rng, live)
		before := fmt.Sprint(o.Content, live)
		first := describe(Compare(o.input(o.Object, live)))
		if second := describe(Compare(o.input(o.Object, live))); first != second {
			t.Errorf("%s: two answers:\n%s%s", o.Source, first, second)
		}
		if fmt.Sprint(o.Content, live) != before {
			t.Errorf("%s: the input has changed", o.Source)
		}
	}
}
