package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// mustFind fails unless each Ref was answered with the object of its name and kind.
func mustFind(t *testing.T, got map[object.Ref]cluster.Live, refs []object.Ref) {
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

func mustError(t *testing.T, live cluster.Live, code string, parts ...string) {
	t.Helper()
	if live.Err == nil || live.Err.Code != code || live.Object != nil || live.Absence != "" {
		t.Fatalf("want error %q, got %+v, error %+v", code, live, live.Err)
	}
	for _, part := range parts {
		if !strings.Contains(live.Err.Message, part) {
			t.Errorf("message lacks %q: %s", part, live.Err.Message)
		}
	}
	if s := live.Err.Subject; s == nil || s.Verb == "" || s.Resource == "" || s.Reason == "" {
		t.Errorf("the subject is %+v", s)
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

func TestTwoObjectsAreReadByName(t *testing.T) {
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

func TestPageSizeIsFourTimesTheWantedObjects(t *testing.T) {
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

func TestUnlabelledObjectIsReadByName(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 3)
	refs = append(refs, f.add("ConfigMap", "prod", "bare", map[string]any{}))
	gone := f.ref("ConfigMap", "prod", "gone")
	got := f.connect(Options{}).Read(t.Context(), append(refs, gone))
	if got[gone].Absence != cluster.AbsentObject {
		t.Errorf("gone: %+v", got[gone])
	}
	delete(got, gone)
	mustFind(t, got, refs)
	wantRequests(t, f, configMaps+"/bare", configMaps+"/gone", configMaps+"?limit=50")
}

// TestForeignObjectsDoNotMultiplyBytes checks that the size of the answers does not grow with the objects of others,
// however many and large these are.
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

func TestPagingContinuesWhilePagesHaveHalf(t *testing.T) {
	f := newFakeAPI(t)
	// Pages have 50 objects. The first has 6 of 10 wanted ones, the second 2 of 4, the third none: the other 2 are read by name.
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

func TestPagingEndsWhenAllAreFound(t *testing.T) {
	f := newFakeAPI(t)
	refs := f.addMany("ConfigMap", "prod", "a", 300)[:3]
	mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
	wantRequests(t, f, configMaps+"?limit=50")
}

func TestClusterScopedAreListedAboveTen(t *testing.T) {
	for n, want := range map[int]int{10: 10, 11: 1} {
		f := newFakeAPI(t)
		refs := f.addMany("ClusterRole", "", "role", n)
		// A manifest may name a namespace for a cluster-scoped object; it is ignored.
		refs[0].Namespace = "prod"
		mustFind(t, f.connect(Options{}).Read(t.Context(), refs), refs)
		if got := len(f.seen()); got != want {
			t.Errorf("%d cluster roles: %d requests, want %d", n, got, want)
		}
	}
}

func TestKindWithoutListIsReadByName(t *testing.T) {
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
	mustError(t, c.Read(t.Context(), []object.Ref{review})[review], cluster.CodeInvalid, "does not support get for this kind")
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

func TestUnservedKindCostsNothing(t *testing.T) {
	f := newFakeAPI(t)
	refs := []object.Ref{
		{Key: object.Key{Group: "no.such", Kind: "Widget", Namespace: "prod", Name: "w"}, Version: "v1"},
		{Key: object.Key{Group: "apps", Kind: "Gadget", Namespace: "prod", Name: "w"}, Version: "v1beta1"},
	}
	for ref, live := range f.connect(Options{}).Read(t.Context(), refs) {
		if live.Absence != cluster.AbsentKind || live.Err != nil {
			t.Errorf("%v: %+v", ref, live)
		}
	}
	wantRequests(t, f)
}

// TestKindServedAtAnotherVersion checks that an object whose kind changed its version is found at the served one, and
// that one that does not exist stays absent.
func TestKindServedAtAnotherVersion(t *testing.T) {
	f := newFakeAPI(t)
	f.namespace("prod")
	there, gone := f.add("Deployment", "prod", "there", nil), f.ref("Deployment", "prod", "gone")
	there.Version, gone.Version = "v1beta1", "v1beta1"
	got := f.connect(Options{}).Read(t.Context(), []object.Ref{there, gone})
	if live := got[there]; live.Absence != cluster.AbsentKind || live.Object == nil || live.Err != nil {
		t.Errorf("there: %+v", live)
	}
	if live := got[gone]; live.Absence != cluster.AbsentKind || live.Object != nil || live.Err != nil {
		t.Errorf("gone: %+v", live)
	}
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

func TestReadWithoutDiscoveryIsAnError(t *testing.T) {
	f := newFakeAPI(t)
	c, err := New(&rest.Config{Host: f.url}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ref := f.ref("ConfigMap", "prod", "a")
	mustError(t, c.Read(t.Context(), []object.Ref{ref})[ref], cluster.CodeDiscovery, "discovery was not run")
	wantRequests(t, f)
}
