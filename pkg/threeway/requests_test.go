package threeway

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestVerifyCases answers the requests of every case as the prediction has it: the server agrees with each, and would not if it
// took what was predicted to fail, or refused what was not.
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
	answers := map[object.Ref]Answer{}
	for _, r := range c.Requests() {
		if o := c.object(r.Ref); o.Action == report.ActionFail {
			answers[r.Ref] = Answer{Rejected: "no"}
		} else {
			answers[r.Ref] = Answer{Object: stored(t, o, r)}
		}
	}
	c.Verify(answers)
	return c
}

// contrary verifies a case with the opposite answers.
func contrary(t *testing.T, file string) *Comparison {
	t.Helper()
	c := comparisonOf(t, file)
	answers := map[object.Ref]Answer{}
	for _, r := range c.Requests() {
		if o := c.object(r.Ref); o.Action == report.ActionFail {
			answers[r.Ref] = Answer{Object: stored(t, o, r)}
		} else {
			answers[r.Ref] = Answer{Rejected: "no"}
		}
	}
	c.Verify(answers)
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

// stored is what an API server without defaults of its own makes of a request. It has a mind of its own about Services, and
// its own field manager serves to predict what it applies; of those it is what was predicted.
func stored(t *testing.T, o *ObjectComparison, r Request) map[string]any {
	t.Helper()
	if o.Kind == "Service" && r.Method == MethodPatch || o.Engine == report.EngineApply {
		return o.Result
	}
	body := r.Body
	if r.Method == MethodPatch && o.liveText != nil {
		live, err := json.Marshal(o.liveText)
		if err != nil {
			t.Fatal(err)
		}
		engine := engine.ClientSide{Engine: o.Engine}
		if o.Engine == report.EngineStrategic {
			if engine.Typed, err = kinds.Native().HelmScheme.New(o.GVK()); err != nil {
				t.Fatal(err)
			}
		}
		if body, err = engine.Apply(live, body); err != nil {
			t.Fatal(err)
		}
	}
	out := decoded(t, body)
	apiserver.ApplyServerRules(r.Ref.Key, kinds.State{Value: o.Live}, kinds.State{Value: out})
	return out
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVerify: what each answer comes to.
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
	server := func(change ...string) Answer {
		answer := objectsOf(t, strings.NewReplacer(change...).Replace(deployment))[0].Content
		answer = object.HelmMetadata(answer, "r", "d")
		meta := object.Child(answer, "metadata")
		meta["uid"], meta["generation"] = "u", int64(2)
		object.Child(meta, "annotations")["deployment.kubernetes.io/revision"] = "2"
		return Answer{Object: answer}
	}
	for _, tc := range []struct {
		name, object string
		answer       Answer
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
		{"rejected", "web", Answer{Rejected: "too long"}, report.DryRun{Result: "disagrees", Message: "the server refuses it: too long"}},
		{"refused", "web", Answer{Refused: "forbidden"}, report.DryRun{Result: "refused", Message: "forbidden"}},
	} {
		c := Compare(caseInput(t, files))
		ref := object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "d", Name: tc.object}, Version: "v1"}
		c.Verify(map[object.Ref]Answer{ref: tc.answer})
		if got := c.object(ref).DryRun; got == nil || *got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestVerifyReportsDisagreement: an object without findings is listed if the server disagrees, and the server's message is
// scrubbed.
func TestVerifyReportsDisagreement(t *testing.T) {
	in := caseInput(t, map[string]string{
		"old.yaml":  "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: the-canary}\n",
		"live.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: dGhlLWNhbmFyeQ==}\n",
	})
	c := Compare(in)
	ref := in.OldObjects[0].Ref
	for _, tc := range []struct {
		answer Answer
		listed bool
	}{{Answer{Refused: "the-canary"}, false}, {Answer{Object: c.Objects[0].liveText}, false}, {Answer{Rejected: "the-canary"}, true}} {
		c.Verify(map[object.Ref]Answer{ref: tc.answer})
		report := c.Report(Mask{})
		if got := len(report.Objects) == 1; got != tc.listed || c.Quiet() == tc.listed {
			t.Errorf("%+v: listed %v", tc.answer, got)
		}
		if tc.listed && report.Objects[0].DryRun.Message != "the server refuses it: ***" {
			t.Errorf("got %q", report.Objects[0].DryRun.Message)
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
		c.Verify(nil)
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
