package threeway

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// caseOf makes the input of an inline case.
func caseOf(t *testing.T, files map[string]string) Input {
	t.Helper()
	return caseInput(t, files)
}

const (
	configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1', b: '1'}\n"
	editedMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '2', b: '1', mine: x}\n"
	thing     = "apiVersion: ex.com/v1\nkind: Thing\nmetadata: {name: demo}\nspec: {replicas: 1}\n"
	edited    = "apiVersion: ex.com/v1\nkind: Thing\nmetadata: {name: demo}\nspec: {replicas: 2}\n"
)

// TestIdentifiers: ids are stable across runs, and no two objects or findings of a release share one.
func TestIdentifiers(t *testing.T) {
	files := map[string]string{
		"old.yaml":     configMap + "---\n" + thing + "---\n" + unnamedJob("a") + "---\n" + unnamedJob("b"),
		"desired.yaml": configMap + "---\n" + thing + "---\n" + unnamedJob("b") + "---\n" + unnamedJob("a"),
		"live.yaml":    editedMap + "---\n" + edited,
	}
	first, second := Compare(caseOf(t, files)).Report(Mask{}), Compare(caseOf(t, files)).Report(Mask{})
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two reports of one thing:\n%s", diff)
	}
	seen := map[string]string{}
	note := func(id, what string) {
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s share the id %s", what, other, id)
		}
		seen[id] = what
	}
	for _, o := range first.Objects {
		note(o.ID, o.Kind+" "+o.Name+o.GenerateName)
		for _, f := range o.Fields {
			note(f.ID, o.Kind+" "+f.Path)
		}
	}
	if len(seen) < 9 {
		t.Errorf("only %d ids: %v", len(seen), seen)
	}
}

func unnamedJob(image string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: j-}\nspec: {template: {spec: {containers: [{name: j, image: '" + image + ":1'}]}}}\n"
}

// TestSummary counts a report: drift, what is missing, errors, and what a class silences.
func TestSummary(t *testing.T) {
	c := Compare(caseOf(t, map[string]string{
		"old.yaml":   configMap + "---\n" + thing + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
		"live.yaml":  editedMap + "---\n" + edited,
		"errors":     "v1 Secret d/s: forbidden: no",
		"autoscaled": "ex.com/v1 Thing d/demo: HorizontalPodAutoscaler demo",
	}))
	got := report.New("1", time.Now(), []report.Release{c.Report(Mask{})})
	want := report.Summary{
		Releases: 1, DriftedReleases: 1, Objects: 4, DriftedObjects: 2, Missing: 1, Errors: 1, Managed: 1, Unmanaged: 1, Ignored: 1,
		Fields: report.FieldCounts{Overwrite: 1, Ignore: 1},
	}
	if diff := cmp.Diff(want, got.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if !got.HasError() {
		t.Error("an object that could not be read makes no error")
	}
}

// TestNeeds: only differences make it worth reading more, and nothing is asked for twice.
func TestNeeds(t *testing.T) {
	quiet := Compare(caseOf(t, map[string]string{"old.yaml": thing, "live.yaml": thing, "options": "unread"})).Needs()
	if !quiet.Empty() {
		t.Errorf("nothing differs, and yet needed: %+v", quiet)
	}
	in := caseOf(t, map[string]string{"old.yaml": thing, "live.yaml": edited, "options": "unread"})
	want := Needs{CRDs: []schema.GroupKind{{Group: "ex.com", Kind: "Thing"}}, Autoscalers: []string{"d"}}
	if diff := cmp.Diff(want, Compare(in).Needs()); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	in.Schemas, in.Autoscaled = map[schema.GroupKind]*kinds.CustomSchema{{Group: "ex.com", Kind: "Thing"}: nil}, map[object.Key]object.Autoscaler{}
	if got := Compare(in).Needs(); !got.Empty() {
		t.Errorf("asked twice: %+v", got)
	}
}

// TestNeedsAutoscalers checks that autoscalers are asked for if a controller scaled to 0 what no manifest names, and that this is counted
// among what controllers wrote if there is none.
func TestNeedsAutoscalers(t *testing.T) {
	files := readCase(t, "../../testdata/threeway/scaled-to-zero-by-controller-unread.txtar")
	files["options"] = ""
	in := caseInput(t, files)
	in.Autoscaled = nil
	if got := Compare(in).Needs(); !slices.Equal(got.Autoscalers, []string{"d"}) {
		t.Errorf("needed: %+v", got)
	}
	in.Autoscaled = map[object.Key]object.Autoscaler{}
	if o := Compare(in).Objects[0]; len(o.Findings) > 0 || o.Controllers != 1 {
		t.Errorf("without an autoscaler: %+v, %d of controllers", o.Findings, o.Controllers)
	}
}

// TestNotReadIsNotAbsent: an object that nobody tried to read is an error, never missing.
func TestNotReadIsNotAbsent(t *testing.T) {
	in := caseOf(t, map[string]string{"old.yaml": configMap})
	in.Live = nil
	o := Compare(in).Objects[0]
	if o.Err == nil || o.Missing || o.Action != report.ActionNone {
		t.Errorf("got %+v", o)
	}
}

// TestProblem: an object that Helm refuses fails, and stops everything before any write.
func TestProblem(t *testing.T) {
	in := caseOf(t, map[string]string{"old.yaml": configMap + "---\nkind: Odd\nmetadata: {name: x}\n", "live.yaml": configMap})
	in.OldObjects[1].Problem = "it has no apiVersion"
	in.DesiredObjects = in.OldObjects
	want := "ConfigMap d/c: skip by Odd d/x\nOdd d/x: fail: it has no apiVersion\n"
	if got := describe(Compare(in)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestImmutable: a failure on immutable fields names them, and another failure names none.
func TestImmutable(t *testing.T) {
	secret := func(fields string) string { return "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n" + fields }
	for desired, want := range map[string]string{"type: b": "type", "type: a\nstringData: {a: b}": "", "type: b\ndata: {a: 1}": ""} {
		was := secret("type: a")
		o := Compare(caseOf(t, map[string]string{"old.yaml": was, "desired.yaml": secret(desired), "live.yaml": was, "options": "serverSide"})).Objects[0]
		if got := apiserver.JoinPaths(o.Immutable()); got != want {
			t.Errorf("%q: %s: %q, want %q", desired, o.Reason, got, want)
		}
	}
}

// TestScenarioC8: objects have no size limit.
func TestLargeValue(t *testing.T) {
	large := strings.Repeat("x", 11<<20)
	in := caseOf(t, map[string]string{"old.yaml": configMap, "live.yaml": configMap})
	object.Child(in.OldObjects[0].Content, "data")["large"] = large
	for _, l := range in.Live {
		object.Child(l.Object, "data")["large"] = large + "y"
	}
	if got := Compare(in).Objects[0].Findings; len(got) != 1 || got[0].Path.String() != "data.large" {
		t.Errorf("%d findings", len(got))
	}
}

// TestScrub takes values out of texts in every spelling, and leaves words alone.
func TestScrub(t *testing.T) {
	in := caseOf(t, map[string]string{
		"old.yaml":  "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: 'pass\"word-canary', short: abc}\n---\n" + "apiVersion: ex.com/v1\nkind: Thing\nmetadata: {name: demo}\nspec: {apiKey: key-canary, url: 'https://u:url-canary@h/'}\n",
		"live.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {b: " + base64.StdEncoding.EncodeToString([]byte("live-canary")) + "}\n",
	})
	c := Compare(in)
	text := `abc cannot: pass"word-canary {"a":"pass\"word-canary"} ` + base64.StdEncoding.EncodeToString([]byte(`pass"word-canary`)) + " live-canary key-canary https://u:url-canary@h/"
	got := c.Scrub(text)
	if strings.Contains(got, "canary") || strings.Contains(got, base64.StdEncoding.EncodeToString([]byte(`pass"word-canary`))) {
		t.Errorf("left: %s", got)
	}
	if !strings.HasPrefix(got, "abc cannot: ") {
		t.Errorf("words are gone: %s", got)
	}
}

// TestPatchLibraryCrash: what makes Helm's libraries panic is a failure of the object, not of the comparison.
func TestPatchLibraryCrash(t *testing.T) {
	_, err := engine.Guarded(func() ([]byte, error) { panic("canary") })
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}

// TestInterrupted: if an interrupt has left a text unread, so that nobody knows all secrets, a report has an error and nothing else, unless
// it shows all values.
func TestInterrupted(t *testing.T) {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(struct{ Missed bool }{true}); err != nil { // as a Known crosses to another process
		t.Fatal(err)
	}
	known := &secret.Known{}
	if err := known.GobDecode(text.Bytes()); err != nil || !known.Missed() {
		t.Fatalf("missed: %t, %v", known.Missed(), err)
	}
	in := caseOf(t, map[string]string{"old.yaml": configMap, "live.yaml": editedMap})
	in.Warnings, in.Terminating = []report.Message{{Code: "x", Message: "a warning"}}, map[string]bool{in.Namespace: true}
	whole := Compare(in).Report(Mask{Show: true})
	in.Known = known
	r := Compare(in).Report(Mask{})
	if len(r.Errors) != 1 || r.Errors[0].Code != report.ErrorInterrupted || !r.HasError() {
		t.Errorf("errors %v", r.Errors)
	}
	if len(r.Objects)+len(r.Warnings)+r.Compared > 0 || r.Drifted || r.HasDrifted() || r.Name != whole.Name {
		t.Errorf("it has %v", r)
	}
	if diff := cmp.Diff(whole, Compare(in).Report(Mask{Show: true})); diff != "" || len(whole.Objects) == 0 {
		t.Errorf("with all values:\n%s", diff)
	}
}
