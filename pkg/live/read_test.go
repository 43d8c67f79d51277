package live

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// mustFind fails unless each Ref was answered with the object of its name and kind.
func mustFind(t *testing.T, got map[object.Ref]threeway.Live, refs []object.Ref) {
	t.Helper()
	if len(got) != len(refs) {
		t.Errorf("%d answers to %d refs", len(got), len(refs))
	}
	for _, ref := range refs {
		live := got[ref]
		if live.Err != nil || live.Object == nil {
			t.Errorf("%v: %q %+v", ref.Key, live.Absence, live.Err)
			continue
		}
		name := live.Object["metadata"].(map[string]any)["name"]
		if name != ref.Name || live.Object["kind"] != ref.Kind || live.Object["apiVersion"] != ref.APIVersion() {
			t.Errorf("%v: got %v %v %v", ref.Key, live.Object["apiVersion"], live.Object["kind"], name)
		}
		if live.Object["big"] != int64(9007199254740993) {
			t.Errorf("%v: an integer became %T %v", ref.Key, live.Object["big"], live.Object["big"])
		}
	}
}

func mustError(t *testing.T, live threeway.Live, code string, parts ...string) {
	t.Helper()
	if live.Err == nil || live.Err.Code != code || live.Object != nil || live.Absence != "" {
		t.Fatalf("want error %q, got %+v, error %+v", code, live, live.Err)
	}
	for _, part := range parts {
		if !strings.Contains(live.Err.Message, part) {
			t.Errorf("message lacks %q: %s", part, live.Err.Message)
		}
	}
}

func wantRequests(t *testing.T, f *fakeAPI, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

const (
	configMaps = "/api/v1/namespaces/prod/configmaps"
	namespaces = "/api/v1/namespaces"
)

func TestTwoObjectsAreGot(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 2)
	mustFind(t, f.connect(Options{}).Read(t.Context(), append(refs, refs...)), refs)
	wantRequests(t, f, configMaps+"/a-000", configMaps+"/a-001")
}

func TestThreeObjectsAreListedOnce(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 3)
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	wantRequests(t, f, configMaps+"?limit=50")
}

func TestPageHasRoomForFourTimesWhatIsWanted(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 20)
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	wantRequests(t, f, configMaps+"?limit=80")
}

func TestGroupsAreByNamespaceAndVersion(t *testing.T) {
	f := newFakeAPI(t)
	f.kinds = append(f.kinds, fakeKind{group: "ex.com", version: "v2", kind: "Thing", plural: "things"})
	refs := append(f.addMany("ConfigMap", "prod", "a", 2), f.addMany("ConfigMap", "test", "a", 2)...)
	v1 := f.addMany("Thing", "prod", "t", 2)
	v2 := slices.Clone(v1)
	for i := range v2 {
		v2[i].Version = "v2"
		f.objects["/apis/ex.com/v2/namespaces/prod/things/"+v2[i].Name] = f.objects["/apis/ex.com/v1/namespaces/prod/things/"+v1[i].Name]
	}
	refs = append(refs, append(v1, v2...)...)
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	if n := len(f.seen()); n != 8 {
		t.Errorf("%d requests: %v", n, f.seen())
	}
}

func TestUnlabelledObjectIsGotBeforeItIsMissing(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 3)
	refs = append(refs, f.add("ConfigMap", "prod", "bare", map[string]any{}))
	gone := f.ref("ConfigMap", "prod", "gone")
	got := f.connect(Options{}).Read(t.Context(), append(refs, gone))
	if got[gone].Absence != threeway.AbsentObject {
		t.Errorf("gone: %+v", got[gone])
	}
	delete(got, gone)
	mustFind(t, got, refs)
	wantRequests(t, f, configMaps+"/bare", configMaps+"/gone", configMaps+"?limit=50")
}

// Foreign objects, as many and as large as they like, do not make the answer grow with them.
func TestForeignObjectsDoNotMultiplyBytes(t *testing.T) {
	for _, label := range []string{"Helm", "someone"} {
		t.Run(label, func(t *testing.T) {
			f := newFakeAPI(t)
			for i := range 5000 {
				f.add("ConfigMap", "prod", fmt.Sprintf("foreign-%04d", i), map[string]any{"app.kubernetes.io/managed-by": label})
			}
			refs := f.addMany("ConfigMap", "prod", "zz", 5)
			mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
			if n := len(f.seen()); n > 6 {
				t.Errorf("%d requests", n)
			}
			if f.bytes > 60*200 {
				t.Errorf("%d bytes", f.bytes)
			}
		})
	}
}

func TestPagingGoesOnWhilePagesBringHalf(t *testing.T) {
	f := newFakeAPI(t)
	// Pages of 50. The first brings 6 of 10 wanted, the second 2 of 4, the third none: the other 2 are got.
	var refs []object.Ref
	for i := range 250 {
		ref := f.add("ConfigMap", "prod", fmt.Sprintf("m-%03d", i), nil)
		if i < 6 || i >= 50 && i < 52 || i >= 200 && i < 202 {
			refs = append(refs, ref)
		}
	}
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	page := configMaps + "?limit=50"
	wantRequests(t, f, configMaps+"/m-200", configMaps+"/m-201", page, page, page)
}

func TestPagingEndsWhenAllIsFound(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 300)[:3]
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	wantRequests(t, f, configMaps+"?limit=50")
}

func TestClusterScopedAreListedAboveTen(t *testing.T) {
	for n, want := range map[int]int{10: 10, 11: 1} {
		f := newFakeAPI(t)
		refs := f.addMany("ClusterRole", "", "role", n)
		// A manifest may give a namespace to a cluster-scoped object; it means nothing.
		refs[0].Namespace = "prod"
		mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
		if got := len(f.seen()); got != want {
			t.Errorf("%d cluster roles: %d requests, want %d", n, got, want)
		}
	}
}

func TestKindWithoutListIsGot(t *testing.T) {
	f := newFakeAPI(t)
	f.kinds = append(f.kinds, fakeKind{group: "odd.io", version: "v1", kind: "Odd", plural: "odds", verbs: []string{"get"}},
		fakeKind{group: "odd.io", version: "v1", kind: "Review", plural: "reviews", verbs: []string{"create"}})
	refs := f.addMany("Odd", "prod", "o", 4)
	c := f.connect(Options{})
	mustFind(t, c.Read(t.Context(), refs), refs)
	if len(f.seen()) != 4 {
		t.Errorf("requests: %v", f.seen())
	}
	f.reset()
	review := f.ref("Review", "prod", "r")
	mustError(t, c.Read(t.Context(), []object.Ref{review})[review], CodeInvalid, "no get for this kind")
	wantRequests(t, f)
}

func TestWholeReleaseFitsTheBudget(t *testing.T) {
	f := newFakeAPI(t)
	var refs []object.Ref
	for kind, n := range map[string]int{"ConfigMap": 9, "Secret": 6, "Service": 6, "ServiceAccount": 5, "Deployment": 6, "CronJob": 3, "Role": 3, "Thing": 2, "ClusterRole": 2} {
		refs = append(refs, f.addMany(kind, "prod", "web", n)...)
	}
	for i := range refs {
		if refs[i].Kind == "ClusterRole" {
			refs[i].Namespace = ""
		}
	}
	c, err := Connect(t.Context(), &rest.Config{Host: f.url}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustFind(t, c.Read(t.Context(), refs), refs)
	if n := len(f.seen()); len(refs) != 42 || n > 17 {
		t.Errorf("%d objects took %d requests: %v", len(refs), n, f.seen())
	}
}

func forbid(w http.ResponseWriter) {
	status(w, http.StatusForbidden, metav1.StatusReasonForbidden, `things "a" is forbidden: User "ci" cannot do this`)
}

func TestForbiddenListBecomesGets(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 4)
	f.intercept = failing(-1, "/configmaps", forbid)
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	if len(f.seen()) != 5 {
		t.Errorf("requests: %v", f.seen())
	}
}

func TestExpiredContinueBecomesGets(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 200)
	refs = append(refs[:3:3], refs[199])
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("continue") == "" {
			return false
		}
		status(w, http.StatusGone, metav1.StatusReasonExpired, "continue parameter is too old")
		return true
	}
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	page := configMaps + "?limit=50"
	wantRequests(t, f, configMaps+"/a-199", page, page)
}

func TestForbiddenKindLeavesOthersAlone(t *testing.T) {
	f := newFakeAPI(t)
	fine := f.addMany("ConfigMap", "prod", "a", 1)
	secret := f.add("Secret", "prod", "s", nil)
	deployment := f.add("Deployment", "prod", "web", nil)
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/secrets") || strings.Contains(r.URL.Path, "/deployments") {
			forbid(w)
			return true
		}
		return false
	}
	got := f.connect(Options{}).Read(t.Context(), append(fine, secret, deployment))
	mustError(t, got[secret], CodeForbidden, `cannot get secrets "s" in namespace "prod": forbidden`)
	mustError(t, got[deployment], CodeForbidden, `cannot get deployments.apps "web" in namespace "prod": forbidden: User "ci" cannot do this`)
	delete(got, secret)
	delete(got, deployment)
	mustFind(t, got, fine)
}

func TestMissingNamespace(t *testing.T) {
	f := newFakeAPI(t)
	here := f.addMany("ConfigMap", "prod", "a", 1)
	gone := f.ref("ConfigMap", "prod", "gone")
	nowhere := []object.Ref{f.ref("ConfigMap", "nowhere", "a"), f.ref("Service", "nowhere", "b")}
	c := f.connect(Options{})

	got := c.Read(t.Context(), append(nowhere, append(here, gone)...))
	if got[gone].Absence != threeway.AbsentObject {
		t.Errorf("missing object in a live namespace: %+v", got[gone])
	}
	for _, ref := range nowhere {
		if got[ref].Absence != threeway.AbsentNamespace {
			t.Errorf("%v: %+v", ref, got[ref])
		}
	}
	// Only the namespace in which nothing was found is asked for.
	wantRequests(t, f, namespaces+"/nowhere", namespaces+"/nowhere/configmaps/a", namespaces+"/nowhere/services/b",
		configMaps+"/a-000", configMaps+"/gone")

	f.intercept = failing(-1, "/namespaces/nowhere", forbid)
	if got := c.Read(t.Context(), nowhere)[nowhere[0]]; got.Absence != threeway.AbsentObject {
		t.Errorf("where the namespace is forbidden: %+v", got)
	}
}

func TestNamespaceOfTheReleaseIsNotAskedForTwice(t *testing.T) {
	f := newFakeAPI(t)
	f.namespace("empty")
	refs := []object.Ref{f.ref("Namespace", "", "empty"), f.ref("ConfigMap", "empty", "a"), f.ref("Namespace", "", "no"), f.ref("ConfigMap", "no", "a")}
	got := f.connect(Options{}).Read(t.Context(), refs)
	if got[refs[1]].Absence != threeway.AbsentObject || got[refs[2]].Absence != threeway.AbsentObject || got[refs[3]].Absence != threeway.AbsentNamespace {
		t.Errorf("%+v", got)
	}
	if len(f.seen()) != 4 {
		t.Errorf("requests: %v", f.seen())
	}
}

func TestUnservedKindCostsNothing(t *testing.T) {
	f := newFakeAPI(t)
	refs := []object.Ref{
		{Key: object.Key{Group: "no.such", Kind: "Widget", Namespace: "prod", Name: "w"}, Version: "v1"},
		{Key: object.Key{Group: "apps", Kind: "Gadget", Namespace: "prod", Name: "w"}, Version: "v1beta1"},
	}
	for ref, live := range f.connect(Options{}).Read(t.Context(), refs) {
		if live.Absence != threeway.AbsentKind || live.Err != nil {
			t.Errorf("%v: %+v", ref, live)
		}
	}
	wantRequests(t, f)
}

// An object whose kind has only changed its version is found at the one that is served; one that is not there stays absent.
func TestKindServedAtAnotherVersion(t *testing.T) {
	f := newFakeAPI(t)
	f.namespace("prod")
	there, gone := f.add("Deployment", "prod", "there", nil), f.ref("Deployment", "prod", "gone")
	there.Version, gone.Version = "v1beta1", "v1beta1"
	got := f.connect(Options{}).Read(t.Context(), []object.Ref{there, gone})
	if live := got[there]; live.Absence != threeway.AbsentKind || live.Object == nil || live.Err != nil {
		t.Errorf("there: %+v", live)
	}
	if live := got[gone]; live.Absence != threeway.AbsentKind || live.Object != nil || live.Err != nil {
		t.Errorf("gone: %+v", live)
	}
}

// A 404 that is not the API server's word about the object is no evidence that the object is missing.
func TestForeign404IsNotMissing(t *testing.T) {
	f := newFakeAPI(t)
	ref := f.add("ConfigMap", "prod", "a", nil)
	f.intercept = failing(-1, "/a", func(w http.ResponseWriter) { http.Error(w, "404 page not found", http.StatusNotFound) })
	mustError(t, f.connect(Options{}).Read(t.Context(), []object.Ref{ref})[ref], CodeServerError, "does not know the resource")
}

func TestNamesThatWouldBeAnotherURL(t *testing.T) {
	f := newFakeAPI(t)
	for _, ref := range []object.Ref{
		f.ref("ConfigMap", "prod", "../secrets/x"), f.ref("ConfigMap", "prod", ""),
		f.ref("ConfigMap", "", "a"), f.ref("ConfigMap", "../..", "a"),
	} {
		mustError(t, f.connect(Options{}).Read(t.Context(), []object.Ref{ref})[ref], CodeInvalid, "cannot get configmaps")
	}
	wantRequests(t, f)
}

func TestSecretErrorsQuoteNothing(t *testing.T) {
	const canary = "hunter2-canary"
	for name, answer := range map[string]func(w http.ResponseWriter){
		"status": func(w http.ResponseWriter) { status(w, 422, canary, "data: Invalid value: "+canary) },
		"server": func(w http.ResponseWriter) { status(w, 500, metav1.StatusReasonInternalError, canary) },
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
			f := newFakeAPI(t)
			ref := f.ref("Secret", "prod", "s")
			c := f.connect(Options{})
			var live threeway.Live
			if answer == nil {
				live.Err = target{ref: ref}.panicked(canary)
			} else {
				f.intercept = failing(-1, "/s", answer)
				live = c.Read(t.Context(), []object.Ref{ref})[ref]
			}
			if live.Err == nil || live.Absence != "" || strings.Contains(live.Err.Message+live.Err.Code, canary) {
				t.Errorf("%+v, error %+v", live, live.Err)
			}
		})
	}
}

func TestOtherErrorsQuoteOneTameLine(t *testing.T) {
	f := newFakeAPI(t)
	ref := f.ref("ConfigMap", "prod", "a")
	f.intercept = failing(-1, "/a", func(w http.ResponseWriter) {
		status(w, 500, metav1.StatusReasonInternalError, "line one\nline \x1b[31mtwo"+strings.Repeat("x", 1000))
	})
	live := f.connect(Options{}).Read(t.Context(), []object.Ref{ref})[ref]
	mustError(t, live, CodeServerError, `cannot get configmaps "a" in namespace "prod": the server failed (500): line one line [31mtwo`)
	if strings.ContainsAny(live.Err.Message, "\n\x1b") || len(live.Err.Message) > 500 {
		t.Errorf("%q", live.Err.Message)
	}
}

func TestTimeouts(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			f := newFakeAPI(t)
			refs := f.addMany("ConfigMap", "prod", "a", n)
			done := make(chan struct{})
			defer close(done)
			c, err := Connect(t.Context(), &rest.Config{Host: f.url, Timeout: 5 * time.Second}, Options{}) // discovery has to be done in it, however busy the machine is
			if err != nil {
				t.Fatal(err)
			}
			f.reset()
			f.intercept = func(_ http.ResponseWriter, r *http.Request) bool {
				select {
				case <-r.Context().Done():
				case <-done:
				}
				return true
			}
			mustError(t, c.Read(t.Context(), refs)[refs[0]], CodeTimeout, "no answer in time")
			if len(f.seen()) != 1 {
				t.Errorf("a time-out was answered with more requests: %v", f.seen())
			}
		})
	}
}

func TestCanceledRun(t *testing.T) {
	f := newFakeAPI(t)
	refs := append(f.addMany("ConfigMap", "prod", "a", 3), f.add("Secret", "prod", "s", nil))
	c := f.connect(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, live := range c.Read(ctx, refs) {
		mustError(t, live, CodeCanceled, "stopped")
	}
	wantRequests(t, f)
}

// panicking is a transport with a bug.
type panicking struct{ next http.RoundTripper }

func (p panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/services") {
		panic("index out of range")
	}
	return p.next.RoundTrip(r)
}

func TestPanicIsAnErrorOfItsObjects(t *testing.T) {
	f := newFakeAPI(t)
	fine := f.addMany("ConfigMap", "prod", "a", 3)
	broken := f.addMany("Service", "prod", "s", 3)
	cfg := &rest.Config{Host: f.url, WrapTransport: func(next http.RoundTripper) http.RoundTripper { return panicking{next} }}
	c, err := Connect(t.Context(), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Read(t.Context(), append(fine, broken...))
	for _, ref := range broken {
		mustError(t, got[ref], CodeInternal, "index out of range", ref.Name)
		delete(got, ref)
	}
	mustFind(t, got, fine)
}

func TestReadIsDeterministic(t *testing.T) {
	f := newFakeAPI(t)
	refs := append(f.addMany("ConfigMap", "prod", "a", 30), f.addMany("Service", "prod", "b", 2)...)
	refs = append(refs, f.ref("Role", "prod", "gone"))
	c := f.connect(Options{})
	first := c.Read(t.Context(), refs)
	requests := f.seen()
	for range 5 {
		f.reset()
		slices.Reverse(refs)
		if diff := cmp.Diff(first, c.Read(t.Context(), refs)); diff != "" {
			t.Fatal(diff)
		}
		wantRequests(t, f, requests...)
	}
}

func TestReadWithoutDiscoveryClaimsNothing(t *testing.T) {
	f := newFakeAPI(t)
	c, err := New(&rest.Config{Host: f.url}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ref := f.ref("ConfigMap", "prod", "a")
	mustError(t, c.Read(t.Context(), []object.Ref{ref})[ref], CodeDiscovery, "not asked")
	wantRequests(t, f)
}
