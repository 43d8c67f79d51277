package text

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// tally is what a reader can count in a piped report.
type tally struct {
	fields  int
	objects map[string]int // by name, for objects that have a headline or are listed
	more    int            // objects that are only counted
}

var (
	rowLine      = regexp.MustCompile(`^(?:in (\d+) (?:blocked )?objects:)? {2}[-+±∅!] `)
	volatileLine = regexp.MustCompile(`^volatile: each rendering changes (\d+) fields? `)
	withLine     = regexp.MustCompile(`, with (\d+) fields? that differ`)
	moreLine     = regexp.MustCompile(`^(\d+) more objects?: `)
	headline     = regexp.MustCompile(`^\w+ (\S+?)(?: \(\S+\))?: (?:missing; |drifted; |could not be compared|the |Helm )`)
	createdLine  = regexp.MustCompile(`^  │ \d+ \w+(?: \(\S+\))?: (.*)$`)
)

// read counts the fields and objects of a report as a reader would.
func read(t *testing.T, out []byte) tally {
	t.Helper()
	n := tally{objects: map[string]int{}}
	number := func(s string) int {
		i, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	created := false
	for _, l := range strings.Split(string(out), "\n") {
		if m := rowLine.FindStringSubmatch(l); m != nil {
			n.fields++
			if m[1] != "" {
				n.fields += number(m[1]) - 1
			}
		}
		if m := volatileLine.FindStringSubmatch(l); m != nil {
			n.fields += number(m[1])
		}
		if m := withLine.FindStringSubmatch(l); m != nil {
			n.fields += number(m[1])
		}
		if m := moreLine.FindStringSubmatch(l); m != nil {
			n.more += number(m[1])
		}
		if m := headline.FindStringSubmatch(l); m != nil {
			n.objects[m[1]]++
		}
		if strings.HasSuffix(l, " objects:") {
			created = true
		} else if m := createdLine.FindStringSubmatch(l); m != nil && created {
			for _, name := range strings.Split(m[1], ", ") {
				n.objects[name]++
			}
		} else {
			created = false
		}
	}
	return n
}

// TestNothingIsHidden: each finding of a report is listed, grouped, or counted by a line, and each object has a headline, is named in a
// list, or is counted. This includes what rules silence, and all releases of a scan, if the reader asks for it.
func TestNothingIsHidden(t *testing.T) {
	all := layout.Options{Unicode: true, ShowIgnored: true, Verbose: true}
	check := func(name string, r *report.Report, byName bool) {
		got := read(t, Report(r, all))
		fields, objects := 0, 0
		for _, rel := range r.Releases {
			for _, o := range rel.Objects {
				objects++
				fields += len(o.Fields)
				if byName && got.objects[o.Name] > 1 {
					t.Errorf("%s: %s is written %d times", name, o.Name, got.objects[o.Name])
				}
			}
		}
		if got.fields != fields {
			t.Errorf("%s: %d of %d fields are written\n%s", name, got.fields, fields, Report(r, all))
		}
		named := 0
		for _, times := range got.objects {
			named += times
		}
		if byName && named+got.more != objects {
			t.Errorf("%s: %d objects are named and %d counted, of %d\n%s", name, named, got.more, objects,
				Report(r, all))
		}
	}
	for name, r := range reports(t) {
		check(name, r, false)
	}
	for seed := range uint64(300) {
		check(fmt.Sprintf("seed %d", seed), randomReport(rand.New(rand.NewPCG(seed, 4))), true)
	}
}

// randomReport returns one release of many objects that differ little, so that much of it is folded.
func randomReport(r *rand.Rand) *report.Report {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	chance := func(oneIn int) bool { return r.IntN(oneIn) == 0 }
	rel := report.Release{
		Name: "web", Namespace: "prod",
		Operation: report.Operation(pick("upgrade", "upgrade", "rollback", "install", "drift")), Compared: 80,
	}
	for i := range r.IntN(60) {
		o := report.Object{
			APIVersion: "v1", Kind: pick("ConfigMap", "Ingress", "Thing"), Namespace: pick("prod", "prod", "other"), Name: fmt.Sprintf("o-%d", i),
			Action: report.Action(pick("none", "update", "update", "update", "replace", "create", "create", "skip", "skip",
				"adopt", "delete", "keep", "fail")),
			Engine: report.EngineStrategic, Missing: chance(20), Drifted: chance(5),
		}
		if o.Namespace == "other" {
			o.Namespace = "" // or its name would be written with the namespace
		}
		if o.Kind == "Thing" {
			o.APIVersion = "ex.com/v1"
		}
		if o.Action == report.ActionFail {
			o.Reason = "no"
		}
		if chance(6) {
			o.DryRun = &report.DryRun{Result: pick("agrees", "disagrees", "refused", "refused"), Message: pick("a", "b")}
		}
		if chance(30) {
			o.Notes.Add("so it is")
		}
		for range r.IntN(5) {
			o.Fields = append(o.Fields, randomField(pick, chance))
		}
		if chance(30) { // it could not be read
			o.Error, o.Action, o.Fields = &report.ObjectError{Message: "no"}, report.ActionNone, nil
		}
		rel.Objects = append(rel.Objects, o)
	}
	return report.New("test", fixedTime, []report.Release{rel})
}

func randomField(pick func(...string) string, chance func(int) bool) report.Finding {
	f := report.Finding{
		ID: "x", Path: pick("metadata.labels.a", "metadata.labels.b", "spec.c"), Managed: !chance(6), Certain: !chance(9), Blocked: chance(8),
		Verdict: report.Verdict(pick("overwrite", "overwrite", "add", "remove", "ignore", "conflict")),
		Cause:   report.Cause(pick("change", "change", "change", "drift", "both")), Old: "1", Desired: pick("2", "3"), Live: "1",
	}
	if chance(6) {
		f.Class, f.Template = report.ClassVolatile, pick("a.yaml", "b.yaml")
	}
	if chance(9) {
		if chance(2) {
			f.Notes.Add("first")
		}
		f.Notes.Add("last")
	}
	if chance(12) {
		f.IgnoredBy = &report.IgnoreRule{Rule: "r"}
	}
	if chance(12) {
		f.Masked, f.Old, f.Desired, f.Live = true, nil, nil, nil
	}
	return f
}

// TestGroups checks which findings of several objects are one change.
func TestGroups(t *testing.T) {
	change := func() report.Finding {
		return report.Finding{Path: "metadata.labels.v", Verdict: report.Overwrite, Cause: report.CauseChange, Managed: true, Certain: true,
			Old: "1", Desired: "2", Live: "1"}
	}
	for _, c := range []struct {
		name    string
		alter   func(o *report.Object, f *report.Finding) // alters the third of three objects
		grouped bool
	}{
		{"the same", func(*report.Object, *report.Finding) {}, true},
		{"of another kind", func(o *report.Object, _ *report.Finding) { o.Kind = "Service" }, true},
		{"other owners", func(_ *report.Object, f *report.Finding) {
			f.Owners = []report.Owner{{Manager: "helm"}}
		}, true},
		{"another value", func(_ *report.Object, f *report.Finding) { f.Desired = "3" }, false},
		{"a number", func(_ *report.Object, f *report.Finding) { f.Desired = int64(2) }, false},
		{"another path", func(_ *report.Object, f *report.Finding) { f.Path = "metadata.labels.w" }, false},
		{"another verdict", func(_ *report.Object, f *report.Finding) { f.Verdict = report.Ignore }, false},
		{"drifted", func(_ *report.Object, f *report.Finding) { f.Cause = report.CauseBoth }, false},
		{"another note", func(_ *report.Object, f *report.Finding) { f.Notes.Add("n") }, false},
		{"another end", func(_ *report.Object, f *report.Finding) { f.After = "4" }, false},
		{"not certain", func(_ *report.Object, f *report.Finding) { f.Certain = false }, false},
		{"blocked", func(_ *report.Object, f *report.Finding) { f.Blocked = true }, false},
		{"of a class", func(_ *report.Object, f *report.Finding) { f.Class = report.ClassOrder }, false},
		{"ignored", func(_ *report.Object, f *report.Finding) { f.IgnoredBy = &report.IgnoreRule{} }, false},
		{"masked", func(_ *report.Object, f *report.Finding) { f.Masked = true }, false},
		{"in a failing object", func(o *report.Object, _ *report.Finding) { o.Action = report.ActionFail }, false},
		{"in an adopted object", func(o *report.Object, _ *report.Finding) { o.Action = report.ActionAdopt }, false},
	} {
		var objects []report.Object
		for i := range 3 {
			o := report.Object{Kind: "ConfigMap", Name: strconv.Itoa(i), Action: report.ActionUpdate, Fields: []report.Finding{change()}}
			if i == 2 {
				c.alter(&o, &o.Fields[0])
			}
			objects = append(objects, o)
		}
		rel := report.Release{Operation: report.OperationUpgrade, Objects: objects}
		f := foldRelease(rel, false)
		if got := len(f.groups) == 1 && f.alike == 3 && len(f.blocks) == 0; got != c.grouped {
			t.Errorf("%s: %d groups, %d alike, %d blocks", c.name, len(f.groups), f.alike, len(f.blocks))
		}
		if got := len(f.groups) == 0 && f.alike == 0 && len(f.blocks) == 3; got == c.grouped {
			t.Errorf("%s: %d groups, %d alike, %d blocks", c.name, len(f.groups), f.alike, len(f.blocks))
		}
		if rel.Operation = report.OperationDrift; len(foldRelease(rel, false).blocks) != 3 {
			t.Errorf("%s: plain drift is grouped", c.name)
		}
	}
}

// TestWhatFolds: how many objects it takes to share a line, and which objects keep a block of their own.
func TestWhatFolds(t *testing.T) {
	created := report.Object{Action: report.ActionCreate}
	skipped := report.Object{Action: report.ActionSkip}
	refused := report.Object{Action: report.ActionUpdate, DryRun: &report.DryRun{Result: report.DryRunRefused}}
	made := report.Object{Action: report.ActionUpdate, Fields: []report.Finding{{Class: report.ClassVolatile, Cause: report.CauseChange}}}
	for name, c := range map[string]struct {
		object report.Object
		from   int
		folded func(folds) int
	}{
		"created":  {created, 13, func(f folds) int { return len(f.created) }},
		"skipped":  {skipped, 4, func(f folds) int { return len(f.skipped) }},
		"refused":  {refused, 3, func(f folds) int { return len(f.refused) }},
		"volatile": {made, 4, func(f folds) int { return len(f.volatile) }},
	} {
		for n, want := range map[int]int{c.from - 1: 0, c.from: c.from} {
			rel := report.Release{Operation: report.OperationUpgrade, Objects: slices.Repeat([]report.Object{c.object}, n)}
			if got := c.folded(foldRelease(rel, false)); got != want {
				t.Errorf("%d %s objects: %d are folded, want %d", n, name, got, want)
			}
		}
		for what, alter := range map[string]func(*report.Object){
			"missing":  func(o *report.Object) { o.Missing = true },
			"unseen":   func(o *report.Object) { o.Error = &report.ObjectError{} },
			"noted":    func(o *report.Object) { o.Notes.Add("n") },
			"reasoned": func(o *report.Object) { o.Reason = "r" },
			"ignored":  func(o *report.Object) { o.IgnoredBy = &report.IgnoreRule{} },
			"disputed": func(o *report.Object) { o.DryRun = &report.DryRun{Result: report.DryRunDisagrees} },
			"failing":  func(o *report.Object) { o.Action = report.ActionFail },
			"partial":  func(o *report.Object) { o.Controllers = 1 },
		} {
			o := c.object
			alter(&o)
			rel := report.Release{Operation: report.OperationUpgrade, Objects: slices.Repeat([]report.Object{o}, 20)}
			if f := foldRelease(rel, false); len(f.blocks) != 20 {
				t.Errorf("%s, %s: %d of 20 objects have a block", name, what, len(f.blocks))
			}
		}
	}
}

// TestFoldingLeavesTheReportAlone: other formats are written from the same report.
func TestFoldingLeavesTheReportAlone(t *testing.T) {
	for name, r := range reports(t) {
		before := encoded(t, r)
		Report(r, layout.Options{})
		if diff := cmp.Diff(string(before), string(encoded(t, r))); diff != "" {
			t.Errorf("%s: text altered the report:\n%s", name, diff)
		}
	}
}

func TestKindsInThePlural(t *testing.T) {
	for name, want := range map[string]string{
		"Deployment": "2 Deployments", "Ingress": "2 Ingresses", "NetworkPolicy": "2 NetworkPolicies", "Gateway": "2 Gateways",
		"Endpoints": "2 Endpoints", "Mesh": "2 Meshes", "Batch": "2 Batches", "Box": "2 Boxes", "Y": "2 Ys", `"a b"`: `2 "a b"`,
	} {
		if got := (layout.Kind{Name: name}).Count(2); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got := (layout.Kind{Name: name}).Count(1); got != "1 "+name {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestNullIsNotAbsent: a change from null and a change from an absent field are not grouped, though JSON writes both sides as null.
func TestNullIsNotAbsent(t *testing.T) {
	finding := func(old any) report.Finding {
		return report.Finding{Path: "spec.size", Verdict: report.Add, Cause: report.CauseChange, Managed: true, Certain: true,
			Old: old, Desired: 5}
	}
	null, _ := groupKeyOf(finding(object.Null{}))
	absent, _ := groupKeyOf(finding(nil))
	if null == absent {
		t.Errorf("a null and an absent field have the same key: %+v", null)
	}
	if again, grouped := groupKeyOf(finding(object.Null{})); !grouped || again != null {
		t.Errorf("equal findings have different keys: %+v, %+v", null, again)
	}
}
