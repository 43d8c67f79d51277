package live

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

func TestForbiddenListBecomesGets(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 4)
	f.Intercept = livetest.Failing(-1, "/configmaps", livetest.Forbid)
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
	if len(f.Seen()) != 5 {
		t.Errorf("requests: %v", f.Seen())
	}
}

func TestExpiredContinueBecomesGets(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 200)
	refs = append(refs[:3:3], refs[199])
	f.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("continue") == "" {
			return false
		}
		livetest.SendStatus(w, http.StatusGone, metav1.StatusReasonExpired, "continue parameter is too old")
		return true
	}
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
	page := configMaps + "?limit=50"
	livetest.WantRequests(t, f, configMaps+"/a-199", page, page)
}

func TestForbiddenKindLeavesOthersAlone(t *testing.T) {
	f := livetest.New(t)
	fine := f.AddMany("ConfigMap", "prod", "a", 1)
	secret := f.Add("Secret", "prod", "s", nil)
	deployment := f.Add("Deployment", "prod", "web", nil)
	f.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/secrets") || strings.Contains(r.URL.Path, "/deployments") {
			livetest.Forbid(w)
			return true
		}
		return false
	}
	got := connect(f, Options{}).Read(t.Context(), append(fine, secret, deployment))
	livetest.MustError(t, got[secret], cluster.CodeForbidden, `cannot get secrets "s" in namespace "prod": forbidden`)
	livetest.MustError(t, got[deployment], cluster.CodeForbidden, `cannot get deployments.apps "web" in namespace "prod": forbidden: User "ci" cannot do this`)
	want := report.Subject{Verb: "get", Resource: "deployments.apps", Namespace: "prod", Name: "web", Reason: "forbidden"}
	if subject := got[deployment].Err.Subject; *subject != want {
		t.Errorf("the subject is %+v, want %+v", *subject, want)
	}
	delete(got, secret)
	delete(got, deployment)
	livetest.MustFind(t, got, fine)
}

// TestForeign404IsNotMissing checks that an object counts as missing only if the 404 is the API server's own answer
// about that object.
func TestForeign404IsNotMissing(t *testing.T) {
	f := livetest.New(t)
	ref := f.Add("ConfigMap", "prod", "a", nil)
	f.Intercept = livetest.Failing(-1, "/a", func(w http.ResponseWriter) { http.Error(w, "404 page not found", http.StatusNotFound) })
	livetest.MustError(t, connect(f, Options{}).Read(t.Context(), []object.Ref{ref})[ref], cluster.CodeServerError, "does not know the resource")
}

func TestInvalidNamesAreNotSent(t *testing.T) {
	f := livetest.New(t)
	for _, ref := range []object.Ref{
		f.Ref("ConfigMap", "prod", "../secrets/x"), f.Ref("ConfigMap", "prod", ""),
		f.Ref("ConfigMap", "", "a"), f.Ref("ConfigMap", "../..", "a"),
	} {
		livetest.MustError(t, connect(f, Options{}).Read(t.Context(), []object.Ref{ref})[ref], cluster.CodeInvalid, "cannot get configmaps")
	}
	livetest.WantRequests(t, f)
}

func TestSecretErrorsQuoteNothing(t *testing.T) {
	const canary = "hunter2-canary"
	for name, answer := range map[string]func(w http.ResponseWriter){
		"status": func(w http.ResponseWriter) { livetest.SendStatus(w, 422, canary, "data: Invalid value: "+canary) },
		"server": func(w http.ResponseWriter) { livetest.SendStatus(w, 500, metav1.StatusReasonInternalError, canary) },
		"text":   func(w http.ResponseWriter) { http.Error(w, canary, http.StatusInternalServerError) },
		"broken": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"Secret","data":"` + canary))
		},
		"type": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", canary+"/x")
			_, _ = w.Write([]byte(canary))
		},
		"panic": nil,
	} {
		t.Run(name, func(t *testing.T) {
			f := livetest.New(t)
			ref := f.Ref("Secret", "prod", "s")
			c := connect(f, Options{})
			var live cluster.Live
			if answer == nil {
				live.Err = target{ref: ref}.panicError(canary)
			} else {
				f.Intercept = livetest.Failing(-1, "/s", answer)
				live = c.Read(t.Context(), []object.Ref{ref})[ref]
			}
			if live.Err == nil || live.Absence != "" || strings.Contains(live.Err.Message+live.Err.Code+live.Err.Subject.Reason, canary) {
				t.Errorf("%+v, error %+v", live, live.Err)
			}
		})
	}
}

func TestOtherErrorsQuoteOneSafeLine(t *testing.T) {
	f := livetest.New(t)
	ref := f.Ref("ConfigMap", "prod", "a")
	f.Intercept = livetest.Failing(-1, "/a", func(w http.ResponseWriter) {
		livetest.SendStatus(w, 500, metav1.StatusReasonInternalError, "line one\nline \x1b[31mtwo "+strings.Repeat("x", 1000))
	})
	live := connect(f, Options{}).Read(t.Context(), []object.Ref{ref})[ref]
	livetest.MustError(t, live, cluster.CodeServerError, `cannot get configmaps "a" in namespace "prod": the server failed (500): line one line [31mtwo`)
	if strings.ContainsAny(live.Err.Message, "\n\x1b") || len(live.Err.Message) > 500 {
		t.Errorf("%q", live.Err.Message)
	}
}

func TestTimeouts(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			f := livetest.New(t)
			refs := f.AddMany("ConfigMap", "prod", "a", n)
			done := make(chan struct{})
			defer close(done)
			c, err := Connect(t.Context(), &rest.Config{Host: f.URL, Timeout: 5 * time.Second}, Options{}) // enough for discovery on a busy machine
			if err != nil {
				t.Fatal(err)
			}
			f.Reset()
			f.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
				select {
				case <-r.Context().Done():
				case <-done:
				}
				return true
			}
			livetest.MustError(t, c.Read(t.Context(), refs)[refs[0]], cluster.CodeTimeout, "no answer in time")
			if len(f.Seen()) != 1 {
				t.Errorf("more requests were sent after a timeout: %v", f.Seen())
			}
		})
	}
}

func TestCanceledRun(t *testing.T) {
	f := livetest.New(t)
	refs := append(f.AddMany("ConfigMap", "prod", "a", 3), f.Add("Secret", "prod", "s", nil))
	c := connect(f, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, live := range c.Read(ctx, refs) {
		livetest.MustError(t, live, cluster.CodeCanceled, "stopped")
	}
	livetest.WantRequests(t, f)
}

// panicking is a transport with a bug.
type panicking struct{ next http.RoundTripper }

func (p panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/services") {
		panic("index out of range")
	}
	return p.next.RoundTrip(r)
}

func TestPanicIsTheErrorOfItsObjects(t *testing.T) {
	f := livetest.New(t)
	fine := f.AddMany("ConfigMap", "prod", "a", 3)
	broken := f.AddMany("Service", "prod", "s", 3)
	cfg := &rest.Config{Host: f.URL, WrapTransport: func(next http.RoundTripper) http.RoundTripper { return panicking{next} }}
	c, err := Connect(t.Context(), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Read(t.Context(), append(fine, broken...))
	for _, ref := range broken {
		livetest.MustError(t, got[ref], cluster.CodeInternal, "index out of range", ref.Name)
		delete(got, ref)
	}
	livetest.MustFind(t, got, fine)
}
