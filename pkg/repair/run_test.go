package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "github.com/evanphx/json-patch"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// fault is what happens to one write: instead of it, or after it took place.
type fault struct {
	err   error
	after bool
	// meanwhile is done before the write is judged.
	meanwhile func()
}

// memory is an API server for ConfigMaps: just enough of one to accept writes and to fail.
type memory struct {
	t       *testing.T
	objects map[string]map[string]any
	// faults are for one write after the other, ever is for each later write, and reading is for each read.
	faults  []fault
	ever    *fault
	reading func() error
	// writes are the writes that arrived, and done are those that took place.
	writes, done []string
}

func (m *memory) Get(ctx context.Context, ref object.Ref) (map[string]any, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if m.reading != nil {
		if err := m.reading(); err != nil {
			return nil, err
		}
	}
	return runtime.DeepCopyJSON(m.objects[ref.Name]), nil
}

func (m *memory) Write(ctx context.Context, r cluster.Request, manager string, dryRun bool) (map[string]any, error) {
	call := fmt.Sprintf("%s %s as %s", cmpOr(r.PatchType, "create"), r.Ref.Name, manager)
	if strings.Contains(string(r.Body), managedFields) {
		call = "ownership of " + r.Ref.Name
	}
	if dryRun {
		call += ", dry run"
	}
	m.writes = append(m.writes, call)
	wrong := fault{}
	if len(m.faults) > 0 {
		wrong, m.faults = m.faults[0], m.faults[1:]
	} else if m.ever != nil {
		wrong = *m.ever
	}
	if wrong.meanwhile != nil {
		wrong.meanwhile()
	}
	if wrong.err != nil && !wrong.after {
		return nil, wrong.err
	}
	stored, err := m.store(r, manager)
	if err == nil && !dryRun {
		m.objects[r.Ref.Name] = stored
		m.done = append(m.done, call)
	}
	if err == nil {
		err = wrong.err
	}
	if ctx.Err() != nil {
		m.t.Error("a write was broken off")
	}
	return runtime.DeepCopyJSON(stored), err
}

func cmpOr(patchType, other string) string {
	switch types.PatchType(patchType) {
	case types.JSONPatchType:
		return "patch"
	case types.ApplyYAMLPatchType:
		return "apply"
	}
	return other
}

// store makes a write. It returns the API server's own errors.
func (m *memory) store(r cluster.Request, manager string) (map[string]any, error) {
	live, name := m.objects[r.Ref.Name], r.Ref.Name
	switch {
	case types.PatchType(r.PatchType) == types.JSONPatchType && live == nil:
		return nil, apierrors.NewNotFound(configMaps, name)
	case types.PatchType(r.PatchType) == types.JSONPatchType:
		return m.patch(live, r.Body, manager)
	case live != nil:
		return nil, apierrors.NewConflict(configMaps, name, errors.New("the object has been modified"))
	}
	made := decode(m.t, string(r.Body))
	metadata := made["metadata"].(map[string]any)
	if r.PatchType != "" && metadata["resourceVersion"] != noVersion {
		m.t.Error("the apply would change an object that is there")
	}
	delete(metadata, "resourceVersion")
	metadata["uid"], metadata["managedFields"] = "new", []any{map[string]any{"manager": manager, "operation": "Update"}}
	return made, nil
}

var configMaps = schema.GroupResource{Resource: "configmaps"}

func (m *memory) patch(live map[string]any, body []byte, manager string) (map[string]any, error) {
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		m.t.Fatal(err)
	}
	text, err := json.Marshal(live)
	if err != nil {
		m.t.Fatal(err)
	}
	if text, err = patch.Apply(text); err != nil {
		return nil, failedTest()
	}
	out := decode(m.t, string(text))
	if manager == owners.Repairer && !strings.Contains(string(body), managedFields) {
		metadata := out["metadata"].(map[string]any)
		entry := map[string]any{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:data": map[string]any{"f:a": map[string]any{}}}}
		metadata["managedFields"] = append(metadata["managedFields"].([]any), entry)
	}
	return out, nil
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := utiljson.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// These are answers of an API server.
func failedTest() error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "test failed", 0, false)
}

func refusal(code int32, causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Message: fmt.Sprintf("said %d", code), Details: &metav1.StatusDetails{Causes: causes}}}
}

func invalid() error { return refusal(422, metav1.StatusCause{Field: "data.a"}) }

func throttled(seconds int) error {
	return apierrors.NewTooManyRequests("slow down", seconds)
}

func webhookDown() error {
	return apierrors.NewInternalError(errors.New(`failed calling webhook "a.b": failed to call webhook: service "nobody" not found`))
}

var errLost = errors.New("the server broke off the connection")

// staged returns a plan and the server for a release of ConfigMaps: in "one" and "two", data.a has drifted from "old" to "live" and
// data.z belongs to others, and "zero" is missing.
func staged(t *testing.T, method string, names ...string) (*Plan, *memory) {
	t.Helper()
	in := threeway.Input{Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, ApplyMethod: report.ApplyMethod(method),
		Old: &report.Revision{Revision: 1}, Last: &report.Revision{Revision: 1}, Live: map[object.Ref]cluster.Live{}}
	m := &memory{t: t, objects: map[string]map[string]any{}}
	for _, name := range names {
		ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "d", Name: name}, Version: "v1"}
		content := decode(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"d"},"data":{"a":"old"}}`, name))
		in.OldObjects = append(in.OldObjects, object.Object{Ref: ref, Content: content})
		in.Live[ref] = cluster.Live{Absence: cluster.AbsentObject}
		if name != "zero" {
			live := object.HelmMetadata(runtime.DeepCopyJSON(content), "r", "d")
			live["data"] = map[string]any{"a": "live", "z": "others"}
			maps.Copy(live["metadata"].(map[string]any), map[string]any{"uid": name, "resourceVersion": "7", "managedFields": written(method)})
			m.objects[name], in.Live[ref] = live, cluster.Live{Object: runtime.DeepCopyJSON(live)}
		}
	}
	in.DesiredObjects = in.OldObjects
	plan, err := New(threeway.Compare(in), Options{Manager: "helm"})
	if err != nil || len(plan.Objects) != len(names) {
		t.Fatalf("%d of %d objects are planned, %d left: %v", len(plan.Objects), len(names), len(plan.Declined), err)
	}
	return plan, m
}

// written returns the managedFields of a drifted ConfigMap.
func written(method string) []any {
	operation := "Update"
	if method == serverSide {
		operation = "Apply"
	}
	entry := func(manager, operation string, fields map[string]any) map[string]any {
		return map[string]any{"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
	}
	none := map[string]any{}
	return []any{
		entry("helm", operation, map[string]any{"f:metadata": map[string]any{
			"f:annotations": map[string]any{"f:meta.helm.sh/release-name": none, "f:meta.helm.sh/release-namespace": none},
			"f:labels":      map[string]any{"f:app.kubernetes.io/managed-by": none}}}),
		entry("kubectl-edit", "Update", map[string]any{"f:data": map[string]any{"f:a": none, "f:z": none}}),
	}
}

const clientSide, serverSide = "client-side", "server-side"

// state returns the values of data.a on the server, in short.
func (m *memory) state() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		data, _ := m.objects[name]["data"].(map[string]any)
		out = append(out, fmt.Sprintf("%s:%v", name, data["a"]))
		metadata, _ := m.objects[name]["metadata"].(map[string]any)
		entries, _ := metadata["managedFields"].([]any)
		for _, e := range entries {
			if e.(map[string]any)["manager"] == owners.Repairer {
				out = append(out, "helmdrift's")
			}
		}
	}
	return strings.Join(out, " ")
}

func told(outcomes []report.FixOutcome) string {
	var out []string
	for _, o := range outcomes {
		line := o.Object.Name + " " + string(o.Status)
		if o.Reason != "" {
			line += ": " + o.Reason
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func wantTold(t *testing.T, got []report.FixOutcome, want ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), told(got)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func wantState(t *testing.T, m *memory, want string) {
	t.Helper()
	if got := m.state(); got != want {
		t.Errorf("state is %q, want %q", got, want)
	}
}

func TestRun(t *testing.T) {
	for method, want := range map[string][]string{
		clientSide: {"patch one as helm", "patch two as helm", "create zero as helm"},
		serverSide: {"patch one as helmdrift", "ownership of one", "patch two as helmdrift", "ownership of two", "apply zero as helm"},
	} {
		plan, m := staged(t, method, "one", "two", "zero")
		wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one fixed", "two fixed", "zero fixed")
		wantState(t, m, "one:old two:old zero:old")
		if diff := cmp.Diff(want, m.writes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
		if m.objects["one"]["data"].(map[string]any)["z"] != "others" {
			t.Error("what others wrote is lost")
		}
		// A second run must have nothing to do.
		m.writes = nil
		plan.Objects = plan.Objects[:2]
		wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one fixed", "two fixed")
		if len(m.writes) > 0 {
			t.Errorf("%s: the second run wrote %q", method, m.writes)
		}
	}
}

// TestRunSurvivesFaults lets each fault hit each write once, and checks that everything is done, and only once.
func TestRunSurvivesFaults(t *testing.T) {
	for name, wrong := range map[string]fault{
		"conflict":             {err: refusal(409)},
		"test failed":          {err: failedTest()},
		"throttled":            {err: throttled(0)},
		"failed before":        {err: refusal(500)},
		"failed after":         {err: refusal(500), after: true},
		"lost before":          {err: errLost},
		"lost after":           {err: errLost, after: true},
		"no answer in time":    {err: context.DeadlineExceeded},
		"answer out of time":   {err: context.DeadlineExceeded, after: true},
		"the server's timeout": {err: refusal(504), after: true},
	} {
		for _, method := range []string{clientSide, serverSide} {
			t.Run(name+", "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					plan, m := staged(t, method, "one", "zero")
					writes := len(plan.Objects)
					if method == serverSide {
						writes++
					}
					// If the write took place, the next request is another write.
					for range writes {
						m.faults = append(m.faults, wrong)
						if !wrong.after {
							m.faults = append(m.faults, fault{})
						}
					}
					wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one fixed", "zero fixed")
					wantState(t, m, "one:old zero:old")
					if len(m.done) != writes {
						t.Errorf("written %q", m.done)
					}
				})
			})
		}
	}
}

// TestRunReportsPermanentFaults checks that a permanent fault ends the work on one object, but not on the others.
func TestRunReportsPermanentFaults(t *testing.T) {
	const again = "; it is not known whether the last write took place: run helmdrift fix again"
	for name, test := range map[string]struct {
		err   error
		want  string
		after time.Duration
	}{
		"validation":   {invalid(), "refused: said 422", 0},
		"forbidden":    {refusal(403), "refused: said 403", 0},
		"bad request":  {refusal(400), "refused: said 400", 0},
		"not allowed":  {refusal(405), "refused: said 405", 0},
		"too large":    {refusal(413), "refused: said 413", 0},
		"a proxy":      {refusal(404, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse}), "refused: said 404", 0},
		"failing test": {failedTest(), "failed: the API server says that a test of the patch fails, but all of them hold: " + failedTest().Error(), 0},
		"conflict":     {refusal(409), "failed: gave up: said 409", time.Minute},
		"throttled":    {throttled(0), "failed: gave up: slow down", time.Minute},
		"told later":   {throttled(3600), "failed: gave up: slow down", 0},
		"down":         {refusal(503), "failed: gave up: said 503" + again, time.Minute},
		"lost":         {errLost, "failed: gave up: " + errLost.Error() + again, time.Minute},
		"no answer":    {context.DeadlineExceeded, "failed: gave up: no answer in time" + again, time.Minute},
		"no webhook":   {webhookDown(), "failed: gave up: " + webhookDown().Error(), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan, m := staged(t, clientSide, "one", "two")
				m.ever = &fault{err: test.err}
				begun := time.Now()
				first := plan.Run(t.Context(), m, RunOptions{})
				took := time.Since(begun)
				wantTold(t, first, "one "+test.want, "two "+test.want)
				wantState(t, m, "one:live two:live")
				// A server that is down does not cost the time of each object. The second object has one attempt, in which a throttled write
				// is sent twice with a pause between.
				if atMost := max(test.after, time.Second); took > 2*atMost || isTransient(test.err) && took > atMost+maxPause || took < test.after/2 {
					t.Errorf("took %v", took)
				}
				m.ever = nil
				wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one fixed", "two fixed")
				wantState(t, m, "one:old two:old")
			})
		})
	}
}

// TestRunKeepsLastAnswer checks that the reason is the last answer of the server, although no later attempt got one.
func TestRunKeepsLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, m := staged(t, clientSide, "one")
		m.faults, m.ever = []fault{{err: webhookDown()}}, &fault{err: context.DeadlineExceeded}
		wantTold(t, plan.Run(t.Context(), m, RunOptions{}),
			"one failed: gave up: "+webhookDown().Error()+"; it is not known whether the last write took place: run helmdrift fix again")
	})
}

// TestRunWithoutOwnershipPatch checks that if the values are back without their ownership, the outcome says so, and a second run
// completes it.
func TestRunWithoutOwnershipPatch(t *testing.T) {
	const back, complete = "the values are back, but helm does not own them yet: ", "; helmdrift fix, run again, completes it"
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"forbidden":    {refusal(403), back + "said 403" + complete},
		"down":         {refusal(500), back + "gave up: said 500" + complete},
		"failing test": {failedTest(), back + "the API server says that a test of the patch fails, but all of them hold: " + failedTest().Error() + complete},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan, m := staged(t, serverSide, "one")
				m.faults, m.ever = []fault{{}}, &fault{err: test.err}
				wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one failed: "+test.want)
				wantState(t, m, "one:old helmdrift's")
				m.ever = nil
				wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one fixed")
				wantState(t, m, "one:old")
			})
		})
	}
}

// TestRunDeclinesChangedObjects changes or deletes the object after the plan was made, before or during the write.
func TestRunDeclinesChangedObjects(t *testing.T) {
	set := func(m *memory, name string, value any) { m.objects["one"]["metadata"].(map[string]any)[name] = value }
	for name, test := range map[string]struct {
		meanwhile func(m *memory)
		want      string
	}{
		"deleted":       {func(m *memory) { delete(m.objects, "one") }, "it is gone: it was deleted after the plan was made"},
		"created again": {func(m *memory) { set(m, "uid", "another") }, "another object has its name now: it was deleted and created again after the plan was made"},
		"being deleted": {func(m *memory) { set(m, "deletionTimestamp", "2026-11-21T10:00:00Z") }, "it is being deleted"},
		"other value":   {func(m *memory) { m.objects["one"]["data"] = map[string]any{"a": "later"} }, "data.a changed after the plan was made"},
	} {
		for _, moment := range []string{"before", "while"} {
			if moment == "while" && name == "being deleted" {
				continue // the patch goes through: a finalizer keeps the object there
			}
			t.Run(name+", "+moment, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					plan, m := staged(t, clientSide, "one", "two")
					if moment == "before" {
						test.meanwhile(m)
					} else {
						m.faults = []fault{{meanwhile: func() { test.meanwhile(m) }}}
					}
					got := plan.Run(t.Context(), m, RunOptions{})
					wantTold(t, got, "one declined: "+test.want, "two fixed")
					if moved := name == "other value"; moved != (len(got[0].Fields) == 1 && got[0].Fields[0] == plan.Objects[0].Changes[0].ID) {
						t.Errorf("fields %q", got[0].Fields)
					}
					if slices.Contains(m.done, "patch one as helm") {
						t.Error("it was written all the same")
					}
				})
			})
		}
	}
}

// TestRunDeclinesObjectsThatExistAgain creates a missing object before the run does, or at the same time.
func TestRunDeclinesObjectsThatExistAgain(t *testing.T) {
	for _, method := range []string{clientSide, serverSide} {
		for _, wrong := range []fault{{}, {err: errLost}} {
			synctest.Test(t, func(t *testing.T) {
				plan, m := staged(t, method, "zero")
				wrong.meanwhile = func() {
					m.objects["zero"] = decode(t, `{"metadata":{"uid":"theirs","managedFields":[{"manager":"kubectl-create","operation":"Update"}]}}`)
				}
				m.faults = []fault{wrong}
				wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "zero declined: it exists again: it was created after the plan was made")
				if len(m.done) > 0 {
					t.Errorf("written %q", m.done)
				}
			})
		}
	}
}

// TestRunDoesNotFight checks that a value that does not stay is not written again, and that values that stay are handed over.
func TestRunDoesNotFight(t *testing.T) {
	for name, value := range map[string]string{"the drift": "live", "another value": "later"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan, m := staged(t, serverSide, "one")
				rewrite := func() { m.objects["one"]["data"] = map[string]any{"a": value} }
				m.faults = []fault{{}, {meanwhile: rewrite, err: refusal(409)}}
				want := "one declined: it was put back and did not stay: something writes the drift back"
				if value == "later" {
					want = "one declined: data.a changed after the plan was made"
				}
				wantTold(t, plan.Run(t.Context(), m, RunOptions{}), want)
				wantState(t, m, "one:"+value)
				if diff := cmp.Diff([]string{"patch one as helmdrift", "ownership of one"}, m.done); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestRunCallsBefore checks that Run calls Before before each write of values, and that its error ends the run.
func TestRunCallsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, m := staged(t, serverSide, "one", "two", "zero")
		asked := 0
		before := func(context.Context) error {
			if asked++; asked > 1 {
				return errors.New("the release changed")
			}
			return nil
		}
		wantTold(t, plan.Run(t.Context(), m, RunOptions{Before: before}), "one fixed", "two failed: the release changed", "zero failed: the release changed")
		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
		wantState(t, m, "one:old two:live")
	})
}

// TestRunIsInterrupted checks that after an interrupt, the request in flight is finished and nothing new begins.
func TestRunIsInterrupted(t *testing.T) {
	const interrupted = " failed: interrupted"
	for name, test := range map[string]struct {
		method string
		at     int
		err    error
		want   []string
		state  string
	}{
		"values": {clientSide, 1, nil, []string{"one fixed", "two" + interrupted}, "one:old two:live"},
		"between": {serverSide, 1, nil, []string{"one failed: the values are back, but helm does not own them yet: interrupted; helmdrift fix, run again, completes it",
			"two" + interrupted}, "one:old helmdrift's two:live"},
		"ownership": {serverSide, 2, nil, []string{"one fixed", "two" + interrupted}, "one:old two:live"},
		"lost": {clientSide, 1, errLost, []string{"one failed: interrupted; it is not known whether the last write took place: run helmdrift fix again",
			"two" + interrupted}, "one:old two:live"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan, m := staged(t, test.method, "one", "two")
				ctx, cancel := context.WithCancel(t.Context())
				m.faults = append(make([]fault, test.at-1), fault{meanwhile: cancel, err: test.err, after: true})
				wantTold(t, plan.Run(ctx, m, RunOptions{}), test.want...)
				wantState(t, m, test.state)
				if len(m.writes) != test.at {
					t.Errorf("written %q", m.writes)
				}
				wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one fixed", "two fixed")
				wantState(t, m, "one:old two:old")
			})
		})
	}
	plan, m := staged(t, clientSide, "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantTold(t, plan.Run(ctx, m, RunOptions{}), "one"+interrupted)
}

// TestRunWaitsAsLongAsAsked checks that a server that says when to come back gets no earlier request.
func TestRunWaitsAsLongAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, m := staged(t, clientSide, "one")
		m.faults = []fault{{err: throttled(7)}}
		begun := time.Now()
		wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one fixed")
		if took := time.Since(begun); took < 7*time.Second || took > 8*time.Second {
			t.Errorf("came back after %v", took)
		}
	})
}

// TestDryRun checks that a dry run sends only the values, stores nothing and returns only what would not be put back.
func TestDryRun(t *testing.T) {
	for _, method := range []string{clientSide, serverSide} {
		plan, m := staged(t, method, "one", "two", "zero")
		m.faults = []fault{{}, {err: invalid()}}
		asked := func(context.Context) error { return errors.New("a dry run needs no consent") }
		wantTold(t, plan.Run(t.Context(), m, RunOptions{DryRun: true, Before: asked}), "two refused: said 422")
		wantState(t, m, "one:live two:live")
		if len(m.writes) != 3 || slices.ContainsFunc(m.writes, func(w string) bool { return !strings.HasSuffix(w, ", dry run") }) {
			t.Errorf("%s: %q", method, m.writes)
		}
	}
}

// TestDryRunTriesOnce checks that a dry run without an answer is not tried again: the connection has already repeated it, and
// nothing was written.
func TestDryRunTriesOnce(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no webhook": {webhookDown(), webhookDown().Error()},
		"throttled":  {throttled(0), "slow down"},
		"down":       {refusal(503), "said 503"},
		"lost":       {errLost, errLost.Error()},
		"no answer":  {context.DeadlineExceeded, "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan, m := staged(t, clientSide, "one", "two", "zero")
				m.ever = &fault{err: test.err}
				begun := time.Now()
				const could = " failed: the API server could not try it: "
				wantTold(t, plan.Run(t.Context(), m, RunOptions{DryRun: true}), "one"+could+test.want, "two"+could+test.want, "zero"+could+test.want)
				if took := time.Since(begun); took > 0 || len(m.writes) != len(plan.Objects) {
					t.Errorf("took %v for %q", took, m.writes)
				}
			})
		})
	}
}

// TestDryRunWaitsForTheServer checks that a dry run waits for the server's own answer, which names the webhook that it waited for, and
// that an interrupt ends it.
func TestDryRunWaitsForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, m := staged(t, clientSide, "one")
		slow := &slowServer{memory: m, answers: 34 * time.Second}
		wantTold(t, plan.Run(t.Context(), slow, RunOptions{DryRun: true}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		wantTold(t, plan.Run(ctx, slow, RunOptions{DryRun: true}), "one failed: interrupted")
		if took := time.Since(begun); took > time.Second {
			t.Errorf("took %v to stop", took)
		}
	})
}

// slowServer takes a fixed time for each write, unless the context ends first.
type slowServer struct {
	*memory
	answers time.Duration
}

func (s *slowServer) Write(ctx context.Context, r cluster.Request, manager string, dryRun bool) (map[string]any, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.answers):
		return s.memory.Write(ctx, r, manager, dryRun)
	}
}

// TestDryRunInNewNamespace checks a plan that creates a namespace: in a dry run it does not exist, so nothing can be tried in it.
func TestDryRunInNewNamespace(t *testing.T) {
	plan, m := staged(t, clientSide, "zero")
	namespace := ObjectPlan{Ref: object.Ref{Key: object.Key{Kind: "Namespace", Name: "d"}, Version: "v1"}, Create: map[string]any{"metadata": map[string]any{}}}
	plan.Objects = append([]ObjectPlan{namespace}, plan.Objects...)
	wantTold(t, plan.Run(t.Context(), m, RunOptions{DryRun: true}))
	if len(m.writes) != 1 {
		t.Errorf("%q", m.writes)
	}
}

func TestRunSurvivesAPanic(t *testing.T) {
	plan, m := staged(t, clientSide, "one", "two")
	panics := 1
	m.reading = func() error {
		if panics--; panics == 0 {
			panic("boom")
		}
		return nil
	}
	wantTold(t, plan.Run(t.Context(), m, RunOptions{}), "one failed: internal error: boom", "two fixed")
	plan.Objects[0].Ref.Kind, panics = "Secret", 1
	if got := plan.Run(t.Context(), m, RunOptions{})[0].Reason; got != "internal error" {
		t.Errorf("of a Secret: %q", got)
	}
}

// TestConfirmed checks that a field that a controller wrote back after the run does not count as fixed.
func TestConfirmed(t *testing.T) {
	plan, m := staged(t, clientSide, "one", "two", "zero")
	in := plan.comparison.Input
	outcomes := plan.Run(t.Context(), m, RunOptions{})
	m.objects["one"]["data"] = map[string]any{"a": "another"}
	delete(m.objects, "zero")
	in.Live = maps.Clone(in.Live)
	for ref := range in.Live {
		in.Live[ref] = cluster.Live{Object: m.objects[ref.Name], Absence: cluster.AbsentObject}
		if ref.Name != "zero" {
			in.Live[ref] = cluster.Live{Object: m.objects[ref.Name]}
		}
	}
	got := plan.Confirmed(outcomes, threeway.Compare(in))
	wantTold(t, got, "one declined: "+didNotStay, "two fixed", "zero declined: "+didNotStay)
	if diff := cmp.Diff([]string{plan.Objects[0].Changes[0].ID}, got[0].Fields); diff != "" || got[2].Fields != nil {
		t.Errorf("fields %v", got)
	}
	wantTold(t, outcomes, "one fixed", "two fixed", "zero fixed")
}
