package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/internal/retry"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// jsonPatch and apply return requests like those of a repair.
func jsonPatch(ref object.Ref) cluster.Request {
	return cluster.Request{Ref: ref, Method: cluster.MethodPatch, PatchType: string(types.JSONPatchType), Body: []byte(`[{"op":"add","path":"/a","value":1}]`)}
}

func apply(ref object.Ref) cluster.Request {
	request := written(ref, cluster.MethodPatch)
	request.PatchType = string(types.ApplyYAMLPatchType)
	return request
}

func TestWriteSends(t *testing.T) {
	f := livetest.New(t)
	sent := map[string]string{}
	f.Judge, f.Store = echo(f, sent), echo(f, sent)
	c := connect(f, Options{})
	config, role := f.Ref("ConfigMap", "prod", "web"), f.Ref("ClusterRole", "", "reader")
	role.Namespace = "prod" // a manifest may name one; the API has no such path
	for _, try := range []struct {
		request cluster.Request
		manager string
		dryRun  bool
	}{
		{jsonPatch(config), "helmdrift", false}, {jsonPatch(config), "helmdrift", true}, {jsonPatch(role), "helm", false},
		{apply(config), "helm", false}, {create(config), "other", false}, {create(config), "other", true},
	} {
		object, err := c.Write(t.Context(), try.request, try.manager, try.dryRun)
		if err != nil || object["big"] != int64(9007199254740993) {
			t.Errorf("%+v: %v, %v", try, object, err)
		}
	}
	var got []string
	for request := range sent {
		got = append(got, request)
	}
	slices.Sort(got)
	const configs, patch = "/api/v1/namespaces/prod/configmaps", " application/json-patch+json"
	want := []string{
		"PATCH " + configs + "/web?dryRun=All&fieldManager=helmdrift&fieldValidation=Ignore" + patch,
		"PATCH " + configs + "/web?fieldManager=helm&fieldValidation=Strict&force=false application/apply-patch+yaml",
		"PATCH " + configs + "/web?fieldManager=helmdrift&fieldValidation=Ignore" + patch,
		"PATCH /apis/rbac.authorization.k8s.io/v1/clusterroles/reader?fieldManager=helm&fieldValidation=Ignore" + patch,
		"POST " + configs + "?dryRun=All&fieldManager=other application/json",
		"POST " + configs + "?fieldManager=other application/json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWriteIsSentOnce checks that nothing below the repair repeats a write, because a failure does not tell whether
// it took place. The server's Retry-After reaches the caller.
func TestWriteIsSentOnce(t *testing.T) {
	refuse := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { atOnce(w, code, "") }
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter)
		code   int
		delay  bool
	}{
		"throttled":  {refuse(429), 429, true},
		"failed":     {refuse(500), 500, true},
		"down":       {refuse(503), 503, true},
		"slow":       {refuse(504), 504, true},
		"conflict":   {refuse(409), 409, false},
		"broken off": {breakOff, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := livetest.New(t)
			ref := f.Ref("ConfigMap", "prod", "web")
			var sent atomic.Int32
			f.Store = func(w http.ResponseWriter, _ *http.Request) {
				sent.Add(1)
				w.Header().Set("Retry-After", "0")
				test.answer(w)
			}
			c := connect(f, Options{})
			for i, request := range []cluster.Request{jsonPatch(ref), apply(ref), create(ref)} {
				_, err := c.Write(t.Context(), request, "helm", false)
				if err == nil || sent.Load() != int32(i+1) || retry.Status(err) != test.code {
					t.Errorf("%s: sent %d times: %v", request.Method, sent.Load(), err)
				}
			}
		})
	}
}

func TestWriteKeepsRetryAfter(t *testing.T) {
	f := livetest.New(t)
	f.Store = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
	}
	_, err := connect(f, Options{}).Write(t.Context(), jsonPatch(f.Ref("ConfigMap", "prod", "web")), "helm", false)
	if seconds, told := apierrors.SuggestsClientDelay(err); !told || seconds != 7 {
		t.Errorf("%v: %d %v", err, seconds, told)
	}
}

func TestWriteEndsWithItsContext(t *testing.T) {
	f := livetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	f.Store = func(http.ResponseWriter, *http.Request) {
		cancel()
		<-done
	}
	_, err := connect(f, Options{}).Write(ctx, jsonPatch(f.Ref("ConfigMap", "prod", "web")), "helm", false)
	close(done)
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Error(err)
	}
}

// TestWriteErrors checks that the error of a write keeps its kind and loses the values.
func TestWriteErrors(t *testing.T) {
	const canary = "aHVudGVyMg=="
	echo := metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
		Message: ` "" is invalid: patch: Invalid value: "{\"data\":{\"pw\":\"` + canary + `\"}}": json: cannot take ` + canary,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "patch",
			Message: `Invalid value: "{\"data\":{\"pw\":\"` + canary + `\"}}": json: cannot take ` + canary}}}}
	value := metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
		Message: `Secret "web" is invalid: data[pw]: Invalid value: "` + canary + `": no`,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "data[pw]",
			Message: `Invalid value: "` + canary + `": no`}}}}
	said := func(code int32, reason metav1.StatusReason, message string) metav1.Status {
		return metav1.Status{Code: code, Reason: reason, Message: message}
	}
	for name, test := range map[string]struct {
		status metav1.Status
		is     func(error) bool
		want   string
		causes int
	}{
		"the object echoed": {echo, apierrors.IsInvalid, `secrets "web" in namespace "prod" is invalid: patch: Invalid value`, 1},
		"a value":           {value, apierrors.IsInvalid, `Secret "web" is invalid: data[pw]: Invalid value: …: no`, 1},
		"a test failed":     {said(422, metav1.StatusReasonInvalid, "the server rejected our request"), apierrors.IsInvalid, "the server rejected our request", 0},
		"conflict":          {said(409, metav1.StatusReasonConflict, "the object has been modified"), apierrors.IsConflict, "the object has been modified", 0},
		"gone":              {said(404, metav1.StatusReasonNotFound, `secrets "web" not found`), isObjectNotFound, `secrets "web" not found`, 0},
		"long": {said(400, metav1.StatusReasonBadRequest, strings.Repeat(canary+" ", 40)), apierrors.IsBadRequest,
			"status 400; the message is left out, because it may quote the Secret", 0},
		"a webhook with a code of its own": {said(422, metav1.StatusReasonInvalid, `admission webhook "a.b" denied the request: no`), apierrors.IsForbidden,
			`admission webhook "a.b" denied the request: no`, 0},
		"a webhook that is down": {said(500, metav1.StatusReasonInternalError, `failed calling webhook "a.b": refused`), apierrors.IsInternalError,
			`failed calling webhook "a.b": refused`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := livetest.New(t)
			f.Store = func(w http.ResponseWriter, _ *http.Request) { refuse(w, test.status) }
			_, err := connect(f, Options{}).Write(t.Context(), jsonPatch(f.Ref("Secret", "prod", "web")), "helm", false)
			var status apierrors.APIStatus
			if !errors.As(err, &status) || !test.is(err) || err.Error() != test.want {
				t.Fatalf("%T %v, want %q", err, err, test.want)
			}
			all, _ := json.Marshal(status.Status())
			if strings.Contains(string(all), canary) {
				t.Errorf("a value is left: %s", all)
			}
			if details := status.Status().Details; test.causes > 0 && (details == nil || len(details.Causes) != test.causes) {
				t.Errorf("%+v", details)
			}
		})
	}
}

// TestWriteRefusesUnsent checks that a request that must not or cannot be sent is refused in the form of the server's
// refusals.
func TestWriteRefusesUnsent(t *testing.T) {
	f := livetest.New(t)
	withDefinitions(f)
	f.Kinds = append(f.Kinds, livetest.Kind{Group: "dead.io", Version: "v1", Kind: "Dead", Plural: "deads", Stale: true})
	f.Judge = func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }
	f.Store = f.Judge
	c := connect(f, Options{})
	broken := create(f.Ref("Secret", "prod", "web"))
	broken.Body = []byte(`{"kind":"Secret","data":"hunter2`)
	for _, test := range []struct {
		request cluster.Request
		dryRun  bool
		want    string
	}{
		{jsonPatch(f.Ref("Aggregated", "prod", "a")), true, "no request was sent for aggregateds.agg.io \"a\" in namespace \"prod\": its API server may not support dry runs"},
		{jsonPatch(f.Ref("Dead", "prod", "a")), false, "discovery of group dead.io failed"},
		{jsonPatch(f.Ref("ConfigMap", "prod", "a/b")), false, "its name is not valid"},
		{jsonPatch(object.Ref{Key: object.Key{Group: "no.such", Kind: "Kind", Name: "a"}, Version: "v1"}), false, "the server does not serve no.such/v1 Kind"},
		{broken, false, "the body of the create request is not an API object"},
	} {
		_, err := c.Write(t.Context(), test.request, "helm", test.dryRun)
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	if _, err := c.Get(t.Context(), f.Ref("ConfigMap", "", "a")); !apierrors.IsBadRequest(err) {
		t.Error(err)
	}
}

func TestGet(t *testing.T) {
	f := livetest.New(t)
	there, gone := f.Add("ConfigMap", "prod", "web", nil), f.Ref("ConfigMap", "prod", "gone")
	c := connect(f, Options{})
	f.Intercept = livetest.Failing(1, "/web", func(w http.ResponseWriter) { atOnce(w, 503, "") })
	if object, err := c.Get(t.Context(), there); err != nil || object["big"] != int64(9007199254740993) {
		t.Errorf("%v, %v", object, err)
	}
	if object, err := c.Get(t.Context(), gone); object != nil || err != nil {
		t.Errorf("%v, %v", object, err)
	}
	f.Intercept = livetest.Failing(-1, "", func(w http.ResponseWriter) { http.Error(w, "<html>", http.StatusNotFound) })
	if object, err := c.Get(t.Context(), there); object != nil || retry.Status(err) != 404 {
		t.Errorf("answer of a proxy: %v, %v", object, err)
	}
	f.Intercept = livetest.Failing(-1, "", breakOff)
	if object, err := c.Get(t.Context(), there); object != nil || err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v, %v", object, err)
	}
}
