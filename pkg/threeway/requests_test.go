package threeway

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestVerifyCases answers the requests of every case as predicted, and the server must agree with each. It must disagree if a
// write succeeds that was predicted to fail, or fails that was not.
func TestVerifyCases(t *testing.T) {
	asked := 0
	for _, file := range caseFiles(t, "*.txtar") {
		requests := comparisonOf(t, file).Requests()
		asked += len(requests)
		expect(t, file, verifiedCase(t, file), report.DryRunAgrees)
		expect(t, file, contrary(t, file), report.DryRunDisagrees)
	}
	if asked < 50 {
		t.Errorf("only %d requests in all cases", asked)
	}
}

func comparisonOf(t *testing.T, file string) *Comparison {
	t.Helper()
	return Compare(caseInput(t, readCase(t, file)))
}

// verifiedCase verifies a case with the answers that it expects itself.
func verifiedCase(t *testing.T, file string) *Comparison {
	t.Helper()
	c := comparisonOf(t, file)
	answers := map[object.Ref]cluster.Answer{}
	for _, r := range c.Requests() {
		if o := c.object(r.Ref); o.Action == report.ActionFail {
			answers[r.Ref] = cluster.Answer{Rejected: "no"}
		} else {
			answers[r.Ref] = cluster.Answer{Object: stored(t, o, r)}
		}
	}
	c = c.Verify(answers)
	return c
}

// TestVerifyChangesNothing verifies each case twice, with answers that contradict the prediction first: neither the comparison nor the
// second result shows anything of the first.
func TestVerifyChangesNothing(t *testing.T) {
	for _, file := range caseFiles(t, "*.txtar") {
		c := comparisonOf(t, file)
		text := func() string {
			doc, err := json.Marshal(c.Report(Mask{Show: true}))
			if err != nil {
				t.Fatal(err)
			}
			return string(doc)
		}
		before := text()
		opposite, expected := map[object.Ref]cluster.Answer{}, map[object.Ref]cluster.Answer{}
		for _, r := range c.Requests() {
			expected[r.Ref], opposite[r.Ref] = cluster.Answer{Object: stored(t, c.object(r.Ref), r)}, cluster.Answer{Rejected: "no"}
			if c.object(r.Ref).Action == report.ActionFail {
				expected[r.Ref], opposite[r.Ref] = opposite[r.Ref], expected[r.Ref]
			}
		}
		want := describe(comparisonOf(t, file).Verify(expected))
		c.Verify(opposite)
		if after := text(); after != before {
			t.Errorf("%s: the comparison changed from\n%s\nto\n%s", file, before, after)
		}
		if got := describe(c.Verify(expected)); got != want {
			t.Errorf("%s: after other answers it is\n%s\nnot\n%s", file, got, want)
		}
	}
}

// contrary verifies a case with the opposite answers.
func contrary(t *testing.T, file string) *Comparison {
	t.Helper()
	c := comparisonOf(t, file)
	answers := map[object.Ref]cluster.Answer{}
	for _, r := range c.Requests() {
		if o := c.object(r.Ref); o.Action == report.ActionFail {
			answers[r.Ref] = cluster.Answer{Object: stored(t, o, r)}
		} else {
			answers[r.Ref] = cluster.Answer{Rejected: "no"}
		}
	}
	c = c.Verify(answers)
	return c
}

func expect(t *testing.T, file string, c *Comparison, want string) {
	t.Helper()
	for _, r := range c.Requests() {
		if want == report.DryRunDisagrees && !comparisonOf(t, file).object(r.Ref).isCertain() {
			continue // the server's word is taken
		}
		if got := c.object(r.Ref).DryRun; got == nil || got.Result != want {
			t.Errorf("%s: %s: got %v, want %s", filepath.Base(file), r.Ref.Key, got, want)
		}
	}
}

func (c *Comparison) object(ref object.Ref) *ObjectComparison {
	for i := range c.Objects {
		if c.Objects[i].Ref == ref {
			return &c.Objects[i]
		}
	}
	return nil
}

// stored returns what an API server without defaults of its own makes of a request. For Services, which the server changes
// in its own way, and for applies, whose prediction uses the server's field manager, it returns the prediction.
func stored(t *testing.T, o *ObjectComparison, r cluster.Request) map[string]any {
	t.Helper()
	if o.Kind == "Service" && r.Method == cluster.MethodPatch || o.Engine == report.EngineApply {
		return o.Result
	}
	body := r.Body
	if r.Method == cluster.MethodPatch && o.liveText != nil {
		live, err := json.Marshal(o.liveText)
		if err != nil {
			t.Fatal(err)
		}
		if body, err = patched(o, live, body); err != nil {
			t.Fatal(err)
		}
	}
	out := decoded(t, body)
	apiserver.ApplyServerRules(r.Ref.Key, kinds.State{Value: o.Live}, kinds.State{Value: out})
	return out
}

// patched returns live after a client-side patch, as the API server applies it.
func patched(o *ObjectComparison, live, patch []byte) ([]byte, error) {
	if o.Engine != report.EngineStrategic {
		return jsonpatch.MergePatch(live, patch)
	}
	typed, err := kinds.Native().HelmScheme.New(o.GVK())
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatch(live, patch, typed)
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVerify checks the result of each answer.
func TestVerify(t *testing.T) {
	const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: wanted, env: [{name: A, value: a}]}]}
`
	files := map[string]string{
		"old.yaml":  deployment + "---\n" + strings.Replace(deployment, "name: web", "name: fresh", 1),
		"live.yaml": strings.Replace(deployment, "wanted", "other", 1) + "status: {replicas: 1}\n",
	}
	// server is a Deployment as the server would store it, with changes.
	server := func(change ...string) cluster.Answer {
		answer := objectsOf(t, strings.NewReplacer(change...).Replace(deployment))[0].Content
		answer = object.HelmMetadata(answer, "r", "d")
		meta := object.Child(answer, "metadata")
		meta["uid"], meta["generation"] = "u", int64(2)
		object.Child(meta, "annotations")["deployment.kubernetes.io/revision"] = "2"
		return cluster.Answer{Object: answer}
	}
	for _, tc := range []struct {
		name, object string
		answer       cluster.Answer
		want         report.DryRun
	}{
		{"the same but bookkeeping", "web", server(), report.DryRun{Result: "agrees"}},
		{"other values", "web", server("wanted", "canary2", "value: a", "value: canary3"), report.DryRun{Result: "disagrees",
			Message: "the server's answer differs at spec.template.spec.containers[name=c].env[name=A].value, spec.template.spec.containers[name=c].image"}},
		{"a sidecar", "web", server("containers: [", "containers: [{name: sidecar, image: canary},"), report.DryRun{Result: "disagrees",
			Message: "the server's answer differs at spec.template.spec.containers[name=sidecar].image, " +
				"spec.template.spec.containers[name=sidecar].imagePullPolicy, spec.template.spec.containers[name=sidecar].name, " +
				"spec.template.spec.containers[name=sidecar].terminationMessagePath, " +
				"spec.template.spec.containers[name=sidecar].terminationMessagePolicy"}},
		{"a sidecar of a created one", "fresh", server("containers: [", "containers: [{name: sidecar, image: i},"),
			report.DryRun{Result: "agrees"}},
		{"another value of a created one", "fresh", server("value: a", "value: canary"), report.DryRun{Result: "disagrees",
			Message: "the server's answer differs at spec.template.spec.containers[name=c].env[name=A].value"}},
		{"rejected", "web", cluster.Answer{Rejected: "too long"}, report.DryRun{Result: "disagrees", Message: "the server refuses it: too long"}},
		{"refused", "web", cluster.Answer{Refused: "forbidden"}, report.DryRun{Result: "refused", Message: "forbidden"}},
	} {
		c := Compare(caseInput(t, files))
		ref := object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "d", Name: tc.object}, Version: "v1"}
		c = c.Verify(map[object.Ref]cluster.Answer{ref: tc.answer})
		if got := c.object(ref).DryRun; got == nil || *got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestVerifyReportsDisagreement: an object without findings is listed if the server disagrees or could not be asked, and the server's
// message is scrubbed.
func TestVerifyReportsDisagreement(t *testing.T) {
	in := caseInput(t, map[string]string{
		"old.yaml":  "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: the-canary}\n",
		"live.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: dGhlLWNhbmFyeQ==}\n",
	})
	c := Compare(in)
	ref := in.OldObjects[0].Ref
	for _, tc := range []struct {
		answer cluster.Answer
		listed bool
		want   report.DryRun
	}{
		{cluster.Answer{Refused: "the-canary"}, true, report.DryRun{Result: report.DryRunRefused, Message: "***"}},
		{cluster.Answer{Object: c.Objects[0].liveText}, false, report.DryRun{}},
		{cluster.Answer{Rejected: "the-canary"}, true, report.DryRun{Result: report.DryRunDisagrees, Message: "the server refuses it: ***"}},
	} {
		c = c.Verify(map[object.Ref]cluster.Answer{ref: tc.answer})
		release := c.Report(Mask{})
		got := len(release.Objects) == 1
		if got != tc.listed || c.Quiet() == tc.listed || release.State() != map[bool]report.State{true: report.StateChanged, false: report.StateClean}[tc.answer.Rejected != ""] {
			t.Errorf("%+v: listed %v, state %v", tc.answer, got, release.State())
		}
		if got && *release.Objects[0].DryRun != tc.want {
			t.Errorf("got %+v", *release.Objects[0].DryRun)
		}
	}
}

// TestVerifyNotAsked: what cannot be asked says so.
func TestVerifyNotAsked(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"migration": {"": "not asked: Helm first turns its own earlier writes into an apply, which a dry run cannot do"},
		"install-create": {
			"Thing.ex.com d/t": "not asked: the release creates its CustomResourceDefinition first",
			"ConfigMap own/a":  "not asked: the release creates its namespace first",
			"Pod d/p":          "not asked: the release creates its ServiceAccount first",
		},
	} {
		c := comparisonOf(t, "../../testdata/threeway/"+file+".txtar")
		c = c.Verify(nil)
		notAsked := 0
		for _, o := range c.Objects {
			if o.DryRun == nil {
				continue
			}
			notAsked++
			if message := want[""] + want[o.key.String()]; o.DryRun.Result != report.DryRunRefused || o.DryRun.Message != message {
				t.Errorf("%s: %s: got %v, want %q", file, o.key, *o.DryRun, message)
			}
		}
		if notAsked < len(want) {
			t.Errorf("%s: only %d objects report that they were not asked about", file, notAsked)
		}
	}
}

// TestDryRunDecidesUncertain: uncertain verdicts are certain after the server's answer, whatever it is.
func TestDryRunDecidesUncertain(t *testing.T) {
	for file, refused := range map[string]bool{"webhook": true, "native-moved": false} {
		file = "../../testdata/threeway/other-version-" + file + ".txtar"
		for _, c := range []*Comparison{verifiedCase(t, file), contrary(t, file)} {
			for _, r := range c.Requests() {
				was, is := comparisonOf(t, file).object(r.Ref), c.object(r.Ref)
				if was.isCertain() || (was.Action == report.ActionFail) != refused {
					t.Errorf("%s is another case than it was", r.Ref.Key)
				}
				if !is.isCertain() || is.DryRun.Result != report.DryRunAgrees {
					t.Errorf("%s: certain %v, %v", r.Ref.Key, is.isCertain(), is.DryRun)
				}
			}
		}
		if action := verifiedCase(t, file).Objects[0].Action; (action == report.ActionFail) != refused {
			t.Errorf("%s: predicted: %s", file, action)
		}
		if action := contrary(t, file).Objects[0].Action; (action == report.ActionFail) == refused {
			t.Errorf("%s: the contrary: %s", file, action)
		}
	}
}

// TestDryRunDecidesDeletions: a deletion that depends on an uncertain object becomes certain with it.
func TestDryRunDecidesDeletions(t *testing.T) {
	for file, wantAction := range map[string]report.Action{
		"deletion-hangs-on-an-uncertain-conflict":    report.ActionDelete,
		"deletion-skipped-for-an-uncertain-conflict": report.ActionSkip,
	} {
		file = "../../testdata/threeway/" + file + ".txtar"
		other := map[report.Action]report.Action{report.ActionDelete: report.ActionSkip, report.ActionSkip: report.ActionDelete}[wantAction]
		for action, c := range map[report.Action]*Comparison{wantAction: verifiedCase(t, file), other: contrary(t, file)} {
			got := c.Report(Mask{}).Objects[0]
			if got.Action != action || (len(got.BlockedBy) > 0) != (action == report.ActionSkip) || len(got.Notes) > 0 {
				t.Errorf("%s: got %s, blocked by %v, note %q; want %s", file, got.Action, got.BlockedBy, got.Notes, action)
			}
		}
	}
}

// TestDryRunDecidesRemarks: the notes, warnings and errors that depend on an uncertain object follow the server's answer. The object is an
// autoscaler; if its apply fails, Helm deletes neither the Event, which is one object under two API groups, nor the custom resource.
func TestDryRunDecidesRemarks(t *testing.T) {
	const thing = "apiVersion: ex.com/v1\nkind: Thing\nmetadata: {name: dropped}\nspec: {a: 1}\n"
	files := readCase(t, "../../testdata/threeway/deletion-hangs-on-an-uncertain-conflict.txtar")
	moved := readCase(t, "../../testdata/threeway/group-change.txtar")
	for _, name := range []string{"old.yaml", "desired.yaml", "live.yaml"} {
		files[name] += "---\n" + strings.ReplaceAll(moved[name], "note: two", "note: one") // nothing conflicts
	}
	files["old.yaml"], files["live.yaml"] = files["old.yaml"]+"---\n"+thing, files["live.yaml"]+"---\n"+thing
	in := caseInput(t, files)
	in.SchemasUnread = map[schema.GroupKind]bool{{Group: "ex.com", Kind: "Thing"}: true}
	in.Warnings, in.Errors = []report.Message{{Message: "a warning"}}, []report.Message{{Message: "an error"}}
	c := Compare(in)
	remarks := func(c *Comparison) (out []string) {
		for _, m := range slices.Concat(c.Warnings, c.Errors) {
			out = append(out, m.Object+": "+m.Message)
		}
		for _, o := range c.Objects {
			out = append(out, o.Notes.Map(func(note string) string { return o.key.String() + ": " + note })...)
		}
		return out
	}
	predicted := remarks(c)
	if len(predicted) != 5 {
		t.Fatalf("it is another case than it was: %q\n%s", predicted, describe(c))
	}
	ref := object.Ref{Key: object.Key{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "d", Name: "h"}, Version: "v2"}
	rejected := c.Verify(map[object.Ref]cluster.Answer{ref: {Rejected: "no"}})
	if got, want := remarks(rejected), []string{": a warning", ": an error"}; !slices.Equal(got, want) {
		t.Errorf("rejected: got %q, want %q", got, want)
	}
	taken := map[object.Ref]cluster.Answer{ref: {Object: c.object(ref).Result}}
	once := c.Verify(taken)
	for name, c := range map[string]*Comparison{
		"taken": once, "taken later": rejected.Verify(taken), "taken twice": once.Verify(taken), "nothing later": once.Verify(nil),
	} {
		if got := remarks(c); !slices.Equal(got, predicted) {
			t.Errorf("%s: got %q, want %q", name, got, predicted)
		}
		if diff := cmp.Diff(once.Report(Mask{}), c.Report(Mask{})); diff != "" {
			t.Errorf("%s: another report:\n%s", name, diff)
		}
	}
}
