package live

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

func objectOf(text string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(text)); err != nil {
		panic(err)
	}
	return object
}

func resourceOf(f *livetest.Server, kind string) schema.GroupVersionResource {
	k := f.Kind(kind)
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Plural}
}

// patch and create return requests like those of a comparison.
func patch(ref object.Ref) cluster.Request {
	return cluster.Request{Ref: ref, Method: cluster.MethodPatch, PatchType: "application/strategic-merge-patch+json", Body: []byte(`{"a":9007199254740993}`)}
}

func create(ref object.Ref) cluster.Request {
	return written(ref, cluster.MethodCreate)
}

func written(ref object.Ref, method cluster.Method) cluster.Request {
	body, err := json.Marshal(map[string]any{"apiVersion": ref.APIVersion(), "kind": ref.Kind, "big": int64(9007199254740993),
		"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace}})
	if err != nil {
		panic(err)
	}
	return cluster.Request{Ref: ref, Method: method, Body: body}
}

// echo answers a dry run with a fixed object and stores what it was sent.
func echo(f *livetest.Server, sent map[string]string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			f.T.Error(err)
		}
		f.Mu.Lock()
		sent[r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Type")] = string(body)
		f.Mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "unknown field"`)
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"answer"},"big":9007199254740993}`)
	}
}

func TestDryRunSendsWhatHelmSends(t *testing.T) {
	f := livetest.New(t)
	sent := map[string]string{}
	f.Judge = echo(f, sent)
	patched, created := f.Add("Deployment", "prod", "web", nil), f.Ref("ConfigMap", "prod", "new")
	replaced, blind := f.Add("Service", "prod", "web", nil), f.Ref("Service", "prod", "gone")
	wide := f.Add("ClusterRole", "", "reader", nil)
	wide.Namespace = "prod" // a manifest may name one; the API has no such path
	f.Objects[f.Kind("Service").Collection("prod")+"/web"]["metadata"].(map[string]any)["resourceVersion"] = "41"

	requests := []cluster.Request{patch(patched), create(created), written(replaced, cluster.MethodReplace), written(blind, cluster.MethodReplace), patch(wide)}
	for ref, answer := range connect(f, Options{}).DryRun(t.Context(), requests, "helm") {
		if answer.Rejected != "" || answer.Refused != "" || answer.Object["big"] != int64(9007199254740993) {
			t.Errorf("%v: %+v", ref, answer)
		}
	}
	const query = "?dryRun=All&fieldManager=helm "
	big := `"big":9007199254740993,`
	want := map[string]string{
		"PATCH /apis/apps/v1/namespaces/prod/deployments/web" + query + "application/strategic-merge-patch+json":          `{"a":9007199254740993}`,
		"POST /api/v1/namespaces/prod/configmaps" + query + "application/json":                                            `{"apiVersion":"v1",` + big + `"kind":"ConfigMap","metadata":{"name":"new","namespace":"prod"}}`,
		"PUT /api/v1/namespaces/prod/services/web" + query + "application/json":                                           `{"apiVersion":"v1",` + big + `"kind":"Service","metadata":{"name":"web","namespace":"prod","resourceVersion":"41"}}`,
		"PUT /api/v1/namespaces/prod/services/gone" + query + "application/json":                                          `{"apiVersion":"v1",` + big + `"kind":"Service","metadata":{"name":"gone","namespace":"prod"}}`,
		"PATCH /apis/rbac.authorization.k8s.io/v1/clusterroles/reader" + query + "application/strategic-merge-patch+json": `{"a":9007199254740993}`,
	}
	for key, body := range sent {
		sent[key] = strings.TrimSpace(body)
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDryRunReplacesChangedObject checks that a replacement uses the current resourceVersion if the object has
// changed since it was read, as Helm does.
func TestDryRunReplacesChangedObject(t *testing.T) {
	f := livetest.New(t)
	moved := f.Add("Service", "prod", "web", nil)
	f.Objects[f.Kind("Service").Collection("prod")+"/web"]["metadata"].(map[string]any)["resourceVersion"] = "42"
	sent := map[string]string{}
	echo := echo(f, sent)
	f.Judge = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"resourceVersion":"42"`) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"the object has been modified"}`)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		echo(w, r)
	}
	request := written(moved, cluster.MethodReplace)
	request.Body = []byte(strings.Replace(string(request.Body), `"metadata":{`, `"metadata":{"resourceVersion":"41",`, 1))
	if answer := connect(f, Options{}).DryRun(t.Context(), []cluster.Request{request}, "helm")[moved]; answer.Object == nil {
		t.Errorf("%+v", answer)
	}
}

// TestDryRunSkipsOtherServers checks that nothing is sent to a server unless it is known to be the Kubernetes API
// server.
func TestDryRunSkipsOtherServers(t *testing.T) {
	f := livetest.New(t)
	withDefinitions(f)
	f.Kinds = append(f.Kinds,
		livetest.Kind{Group: "ex.com", Version: "v2", Kind: "Thing", Plural: "things"},
		livetest.Kind{Group: "dead.io", Version: "v1", Kind: "Dead", Plural: "deads", Stale: true},
		livetest.Kind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Plural: "apiservices", Cluster: true})
	definition := f.Kind("CustomResourceDefinition").Collection("") + "/things.ex.com"
	f.Objects[definition]["spec"] = map[string]any{"versions": []any{
		map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v3", "served": false}}}
	f.Intercept = livetest.Failing(-1, "/others.ex.com", livetest.Forbid)
	sent := map[string]string{}
	f.Judge = echo(f, sent)

	other := f.Ref("Thing", "prod", "two")
	other.Version = "v2"
	refused := map[object.Ref]string{
		f.Ref("Aggregated", "prod", "a"): "not asked: its API server may not support dry runs (agg.io/v1 is neither built in nor known to be defined by a CustomResourceDefinition)",
		f.Ref("Other", "prod", "a"): `not asked: cannot get customresourcedefinitions.apiextensions.k8s.io "others.ex.com": forbidden: User "ci" cannot do this; ` +
			"its API server may not support dry runs (ex.com/v1 is neither built in nor known to be defined by a CustomResourceDefinition)",
		other: "not asked: its API server may not support dry runs (ex.com/v2 is neither built in nor known to be defined by a CustomResourceDefinition)",
		{Key: object.Key{Group: "no.such", Kind: "Kind", Name: "a"}, Version: "v1"}: "the server does not serve no.such/v1 Kind",
		f.Ref("Dead", "prod", "a"):        "cannot patch Dead.dead.io \"a\" in namespace \"prod\": discovery of group dead.io failed: ",
		f.Ref("ConfigMap", "prod", "a/b"): "its name is not valid",
		f.Ref("ConfigMap", "", "a"):       "its namespace is not valid",
	}
	var requests []cluster.Request
	for _, ref := range slices.Collect(maps.Keys(refused)) {
		requests = append(requests, patch(ref))
	}
	asked := []object.Ref{f.Ref("Thing", "prod", "one"), f.Ref("APIService", "", "v1.ex.com"), f.Ref("CustomResourceDefinition", "", "things.ex.com")}
	for _, ref := range asked {
		requests = append(requests, patch(ref))
	}
	got := connect(f, Options{}).DryRun(t.Context(), requests, "helm")
	if len(got) != len(requests) || len(sent) != len(asked) {
		t.Errorf("%d answers to %d requests, %d were sent", len(got), len(requests), len(sent))
	}
	for ref, want := range refused {
		if a := got[ref]; !strings.HasPrefix(a.Refused, want) || a.Rejected != "" || a.Object != nil {
			t.Errorf("%v: %+v, want %q", ref, a, want)
		}
	}
	for _, ref := range asked {
		if got[ref].Object == nil {
			t.Errorf("%v: %+v", ref, got[ref])
		}
	}
}

func TestDryRunAnswers(t *testing.T) {
	long := strings.Repeat("word ", 200)
	invalid := func(causes ...metav1.StatusCause) metav1.Status {
		return metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: `Job.batch "web" is invalid: [` + long + "]",
			Details: &metav1.StatusDetails{Causes: causes}}
	}
	said := func(code int32, reason metav1.StatusReason, message string) metav1.Status {
		return metav1.Status{Code: code, Reason: reason, Message: message}
	}
	const subject = `cannot patch configmaps "web" in namespace "prod": `
	for name, tc := range map[string]struct {
		status            metav1.Status
		rejected, refused string
	}{
		"immutable": {status: invalid(metav1.StatusCause{Type: "FieldValueInvalid", Field: "spec.template",
			Message: `Invalid value: {"a":"` + long + `"}: field is immutable`}),
			rejected: `Job.batch "web" is invalid: spec.template: Invalid value: …: field is immutable`},
		"immutable, Go syntax": {status: invalid(metav1.StatusCause{Type: "FieldValueInvalid", Field: "spec.template",
			Message: `Invalid value: core.PodTemplateSpec{Name:"x: y", A:"` + long + `"}: field is immutable`}),
			rejected: `Job.batch "web" is invalid: spec.template: Invalid value: …: field is immutable`},
		"long text": {status: invalid(metav1.StatusCause{Type: "FieldValueInvalid", Field: "a", Message: `Invalid value: "` + long + `: \"x": no`}),
			rejected: `Job.batch "web" is invalid: a: Invalid value: …: no`},
		"short values and none": {status: invalid(
			metav1.StatusCause{Type: "FieldValueInvalid", Field: "a", Message: `Invalid value: -1: must be positive`},
			metav1.StatusCause{Type: "FieldValueRequired", Field: "b", Message: "Required value"}),
			rejected: `Job.batch "web" is invalid: a: Invalid value: -1: must be positive, b: Required value`},
		"many": {status: invalid(slices.Repeat([]metav1.StatusCause{{Type: "FieldValueForbidden", Field: "a", Message: "Forbidden: " + strings.Repeat("x", 80)}}, 10)...),
			rejected: `Job.batch "web" is invalid: ` + strings.Repeat("a: Forbidden: "+strings.Repeat("x", 80)+", ", 2) + "and 8 more"},
		"without causes":  {status: said(422, "", "the server rejected our request"), rejected: "the server rejected our request"},
		"not the object":  {status: said(400, metav1.StatusReasonBadRequest, "json: cannot unmarshal\nnumber"), rejected: "json: cannot unmarshal number"},
		"exists":          {status: said(409, metav1.StatusReasonAlreadyExists, `configmaps "web" already exists`), rejected: `configmaps "web" already exists`},
		"conflict":        {status: said(409, metav1.StatusReasonConflict, "the object has been modified"), rejected: "the object has been modified"},
		"gone":            {status: said(404, metav1.StatusReasonNotFound, `configmaps "web" not found`), rejected: `configmaps "web" not found`},
		"quota":           {status: said(403, metav1.StatusReasonForbidden, `pods "web" is forbidden: exceeded quota: small`), rejected: `pods "web" is forbidden: exceeded quota: small`},
		"terminating":     {status: said(403, metav1.StatusReasonForbidden, `x is forbidden: unable to create new content in namespace prod because it is being terminated`), rejected: "x is forbidden: unable to create new content in namespace prod because it is being terminated"},
		"webhook denies":  {status: said(500, "", `admission webhook "a.b" denied the request: no`), rejected: `admission webhook "a.b" denied the request: no`},
		"policy denies":   {status: said(422, metav1.StatusReasonInvalid, `x "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), rejected: `x "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`},
		"long words":      {status: said(400, metav1.StatusReasonBadRequest, strings.Repeat("words ", 100)), rejected: strings.Repeat("words ", 49) + "words…"},
		"one long word":   {status: said(400, metav1.StatusReasonBadRequest, strings.Repeat("x", 301)), rejected: "…"},
		"no dry run":      {status: said(400, metav1.StatusReasonBadRequest, `admission webhook "a.b" does not support dry run`), refused: subject + `the server refused the request (400): admission webhook "a.b" does not support dry run`},
		"webhook is down": {status: said(500, metav1.StatusReasonInternalError, `failed calling webhook "a.b": refused`), refused: subject + `the server failed (500): failed calling webhook "a.b": refused`},
		"role": {status: said(403, metav1.StatusReasonForbidden, `configmaps "web" is forbidden: User "ci" cannot patch resource "configmaps" in API group "" in the namespace "prod"`),
			refused: subject + `forbidden: User "ci" cannot patch resource "configmaps" in API group "" in the namespace "prod"`},
		"escalation": {status: said(403, metav1.StatusReasonForbidden, `roles "web" is forbidden: user "ci" (groups=["a"]) is attempting to grant RBAC permissions not currently held: x`),
			refused: subject + `forbidden: user "ci" (groups=["a"]) is attempting to grant RBAC permissions not currently held: x`},
		"credentials": {status: said(401, metav1.StatusReasonUnauthorized, "Unauthorized"), refused: subject + "the server does not accept the credentials: Unauthorized"},
		"down":        {status: said(500, metav1.StatusReasonInternalError, "boom"), refused: subject + "the server failed (500): boom"},
		"no time":     {status: said(408, metav1.StatusReasonTimeout, "slow"), refused: subject + "no answer in time: slow"},
		"throttled":   {status: said(429, metav1.StatusReasonTooManyRequests, "slow down"), refused: subject + "the server has too many requests: slow down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := livetest.New(t)
			ref := f.Ref("ConfigMap", "prod", "web")
			c := connect(f, Options{})
			f.Judge = func(w http.ResponseWriter, _ *http.Request) { refuse(w, tc.status) }
			got := c.DryRun(t.Context(), []cluster.Request{patch(ref)}, "helm")[ref]
			if diff := cmp.Diff(cluster.Answer{Rejected: tc.rejected, Refused: tc.refused}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// refuse answers with a complete Status.
func refuse(w http.ResponseWriter, s metav1.Status) {
	s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	s.Status = metav1.StatusFailure
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "3600") // longer than the client waits
	w.WriteHeader(int(s.Code))
	_ = json.NewEncoder(w).Encode(s)
}

// TestDryRunIgnoresProxies checks that an answer of a proxy in front of the API server is no rejection.
func TestDryRunIgnoresProxies(t *testing.T) {
	for _, code := range []int{400, 403, 404, 422} {
		f := livetest.New(t)
		ref := f.Ref("ConfigMap", "prod", "web")
		f.Judge = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>blocked</html>", code) }
		got := connect(f, Options{}).DryRun(t.Context(), []cluster.Request{create(ref)}, "helm")[ref]
		if got.Rejected != "" || !strings.HasPrefix(got.Refused, `cannot create configmaps "web" in namespace "prod": `) {
			t.Errorf("%d: %+v", code, got)
		}
	}
}

// TestDryRunOfDependentObjects checks that an object that only the upgrade itself creates proves nothing when it is
// missing.
func TestDryRunOfDependentObjects(t *testing.T) {
	f := livetest.New(t)
	f.Kinds = append(f.Kinds, livetest.Kind{Version: "v1", Kind: "Pod", Plural: "pods"})
	f.Judge = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/pods"):
			livetest.SendStatus(w, 403, metav1.StatusReasonForbidden, `pods "web" is forbidden: error looking up service account prod/sa: serviceaccount "sa" not found`)
		case strings.Contains(r.URL.Path, "/namespaces/new/"):
			livetest.SendStatus(w, 404, metav1.StatusReasonNotFound, `namespaces "new" not found`)
		default:
			echo(f, map[string]string{})(w, r)
		}
	}
	pod, config := f.Ref("Pod", "prod", "web"), f.Ref("ConfigMap", "new", "new")
	alone := connect(f, Options{}).DryRun(t.Context(), []cluster.Request{create(pod), create(config)}, "helm")
	if alone[pod].Rejected == "" || alone[config].Rejected != `namespaces "new" not found` {
		t.Errorf("%+v", alone)
	}
	together := connect(f, Options{}).DryRun(t.Context(), []cluster.Request{
		create(f.Ref("Namespace", "", "new")), create(f.Ref("ServiceAccount", "prod", "sa")), create(pod), create(config)}, "helm")
	want := map[object.Ref]string{
		pod:    `cannot be tried before Helm has created ServiceAccount "sa": pods "web" is forbidden: error looking up service account prod/sa: serviceaccount "sa" not found`,
		config: `cannot be tried before Helm has created Namespace "new": namespaces "new" not found`,
	}
	for ref, refused := range want {
		if got := together[ref]; got.Refused != refused || got.Rejected != "" {
			t.Errorf("%v: %+v", ref, got)
		}
	}
}

// TestDryRunOfSecrets checks what is shown of an answer about a Secret, which may quote it: only parts that cannot
// contain a value, or whole values, which are masked later.
func TestDryRunOfSecrets(t *testing.T) {
	f := livetest.New(t)
	ref := f.Ref("Secret", "prod", "web")
	canary := strings.Repeat("c4n4ry ", 60)
	for _, tc := range []struct {
		code                    int
		message, want, mustLack string
	}{
		{403, `secrets "web" is forbidden: exceeded quota: q`, `secrets "web" is forbidden: exceeded quota: q`, ""},
		{400, "cannot take " + canary, "status 400; the message is left out", "c4n4ry"},
		{500, `Internal error occurred: failed calling webhook "a.b": it said ` + canary, `the server failed (500): failed calling webhook "a.b"`, "c4n4ry"},
		{500, "Internal error: " + canary, "the server failed (500)", "c4n4ry"},
	} {
		f.Judge = func(w http.ResponseWriter, _ *http.Request) {
			livetest.SendStatus(w, tc.code, metav1.StatusReason(map[int]string{403: "Forbidden", 400: "BadRequest"}[tc.code]), tc.message)
		}
		got := connect(f, Options{}).DryRun(t.Context(), []cluster.Request{create(ref)}, "helm")[ref]
		text := got.Refused + got.Rejected
		if !strings.Contains(text, tc.want) || tc.mustLack != "" && strings.Contains(text, tc.mustLack) {
			t.Errorf("%+v, want %q", got, tc.want)
		}
	}
	broken := cluster.Request{Ref: ref, Method: cluster.MethodCreate, Body: []byte(`{"kind":"Secret","data":"` + canary)}
	got := connect(f, Options{}).DryRun(t.Context(), []cluster.Request{broken}, "helm")[ref]
	if !strings.HasPrefix(got.Refused, `cannot create secrets "web" in namespace "prod": `) || strings.Contains(got.Refused, "c4n4ry") {
		t.Errorf("%+v", got)
	}
}

// TestDryRunIsRepeated checks that a dry run, which changes nothing, is repeated like a read, with its whole body.
func TestDryRunIsRepeated(t *testing.T) {
	for _, code := range []int{429, 503} {
		f := livetest.New(t)
		ref := f.Ref("ConfigMap", "prod", "web")
		c := connect(f, Options{})
		sent := map[string]string{}
		f.Judge = echo(f, sent)
		f.Intercept = livetest.Failing(1, "/configmaps", func(w http.ResponseWriter) { livetest.SendStatus(w, code, "", "later") })
		if got := c.DryRun(t.Context(), []cluster.Request{create(ref)}, "helm")[ref]; got.Object == nil {
			t.Errorf("%d: %+v", code, got)
		}
		livetest.WantRequests(t, f, configMaps, configMaps)
		for _, body := range sent {
			if !strings.Contains(body, `"name":"web"`) {
				t.Errorf("the last attempt sent %q", body)
			}
		}
	}
}
