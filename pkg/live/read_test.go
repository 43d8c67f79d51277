package live

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// mustFind fails unless each Ref was answered with the object of its name and kind.
const (
	configMaps = "/api/v1/namespaces/prod/configmaps"
	namespaces = "/api/v1/namespaces"
)

func TestTwoObjectsAreReadByName(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 2)
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), append(refs, refs...)), refs)
	livetest.WantRequests(t, f, configMaps+"/a-000", configMaps+"/a-001")
}

func TestThreeObjectsAreListedOnce(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 3)
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
	livetest.WantRequests(t, f, configMaps+"?limit=50")
}

func TestPageSizeIsFourTimesTheWantedObjects(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 20)
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
	livetest.WantRequests(t, f, configMaps+"?limit=80")
}

func TestGroupsAreByNamespaceAndVersion(t *testing.T) {
	f := livetest.New(t)
	f.Kinds = append(f.Kinds, livetest.Kind{Group: "ex.com", Version: "v2", Kind: "Thing", Plural: "things"})
	refs := append(f.AddMany("ConfigMap", "prod", "a", 2), f.AddMany("ConfigMap", "test", "a", 2)...)
	v1 := f.AddMany("Thing", "prod", "t", 2)
	v2 := slices.Clone(v1)
	for i := range v2 {
		v2[i].Version = "v2"
		f.Objects["/apis/ex.com/v2/namespaces/prod/things/"+v2[i].Name] = f.Objects["/apis/ex.com/v1/namespaces/prod/things/"+v1[i].Name]
	}
	refs = append(refs, append(v1, v2...)...)
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
	if n := len(f.Seen()); n != 8 {
		t.Errorf("%d requests: %v", n, f.Seen())
	}
}

func TestUnlabelledObjectIsReadByName(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 3)
	refs = append(refs, f.Add("ConfigMap", "prod", "bare", map[string]any{}))
	gone := f.Ref("ConfigMap", "prod", "gone")
	got := connect(f, Options{}).Read(t.Context(), append(refs, gone))
	if got[gone].Absence != cluster.AbsentObject {
		t.Errorf("gone: %+v", got[gone])
	}
	delete(got, gone)
	livetest.MustFind(t, got, refs)
	livetest.WantRequests(t, f, configMaps+"/bare", configMaps+"/gone", configMaps+"?limit=50")
}

// TestForeignObjectsDoNotMultiplyBytes checks that the size of the answers does not grow with the objects of others,
// however many and large these are.
func TestForeignObjectsDoNotMultiplyBytes(t *testing.T) {
	for _, label := range []string{"Helm", "someone"} {
		t.Run(label, func(t *testing.T) {
			f := livetest.New(t)
			for i := range 5000 {
				f.Add("ConfigMap", "prod", fmt.Sprintf("foreign-%04d", i), map[string]any{"app.kubernetes.io/managed-by": label})
			}
			refs := f.AddMany("ConfigMap", "prod", "zz", 5)
			livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
			if n := len(f.Seen()); n > 6 {
				t.Errorf("%d requests", n)
			}
			if f.Bytes > 60*200 {
				t.Errorf("%d bytes", f.Bytes)
			}
		})
	}
}

func TestPagingContinuesWhilePagesHaveHalf(t *testing.T) {
	f := livetest.New(t)
	// Pages have 50 objects. The first has 6 of 10 wanted ones, the second 2 of 4, the third none: the other 2 are read by name.
	var refs []object.Ref
	for i := range 250 {
		ref := f.Add("ConfigMap", "prod", fmt.Sprintf("m-%03d", i), nil)
		if i < 6 || i >= 50 && i < 52 || i >= 200 && i < 202 {
			refs = append(refs, ref)
		}
	}
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
	page := configMaps + "?limit=50"
	livetest.WantRequests(t, f, configMaps+"/m-200", configMaps+"/m-201", page, page, page)
}

func TestPagingEndsWhenAllAreFound(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 300)[:3]
	livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
	livetest.WantRequests(t, f, configMaps+"?limit=50")
}

func TestClusterScopedAreListedAboveTen(t *testing.T) {
	for n, want := range map[int]int{10: 10, 11: 1} {
		f := livetest.New(t)
		refs := f.AddMany("ClusterRole", "", "role", n)
		// A manifest may name a namespace for a cluster-scoped object; it is ignored.
		refs[0].Namespace = "prod"
		livetest.MustFind(t, connect(f, Options{}).Read(t.Context(), refs), refs)
		if got := len(f.Seen()); got != want {
			t.Errorf("%d cluster roles: %d requests, want %d", n, got, want)
		}
	}
}

func TestKindWithoutListIsReadByName(t *testing.T) {
	f := livetest.New(t)
	f.Kinds = append(f.Kinds, livetest.Kind{Group: "odd.io", Version: "v1", Kind: "Odd", Plural: "odds", Verbs: []string{"get"}},
		livetest.Kind{Group: "odd.io", Version: "v1", Kind: "Review", Plural: "reviews", Verbs: []string{"create"}})
	refs := f.AddMany("Odd", "prod", "o", 4)
	c := connect(f, Options{})
	livetest.MustFind(t, c.Read(t.Context(), refs), refs)
	if len(f.Seen()) != 4 {
		t.Errorf("requests: %v", f.Seen())
	}
	f.Reset()
	review := f.Ref("Review", "prod", "r")
	livetest.MustError(t, c.Read(t.Context(), []object.Ref{review})[review], cluster.CodeInvalid, "does not support get for this kind")
	livetest.WantRequests(t, f)
}

func TestWholeReleaseFitsTheBudget(t *testing.T) {
	f := livetest.New(t)
	var refs []object.Ref
	for kind, n := range map[string]int{"ConfigMap": 9, "Secret": 6, "Service": 6, "ServiceAccount": 5, "Deployment": 6, "CronJob": 3, "Role": 3, "Thing": 2, "ClusterRole": 2} {
		refs = append(refs, f.AddMany(kind, "prod", "web", n)...)
	}
	for i := range refs {
		if refs[i].Kind == "ClusterRole" {
			refs[i].Namespace = ""
		}
	}
	c, err := Connect(t.Context(), &rest.Config{Host: f.URL}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	livetest.MustFind(t, c.Read(t.Context(), refs), refs)
	if n := len(f.Seen()); len(refs) != 42 || n > 17 {
		t.Errorf("%d objects took %d requests: %v", len(refs), n, f.Seen())
	}
}

func TestUnservedKindCostsNothing(t *testing.T) {
	f := livetest.New(t)
	refs := []object.Ref{
		{Key: object.Key{Group: "no.such", Kind: "Widget", Namespace: "prod", Name: "w"}, Version: "v1"},
		{Key: object.Key{Group: "apps", Kind: "Gadget", Namespace: "prod", Name: "w"}, Version: "v1beta1"},
	}
	for ref, live := range connect(f, Options{}).Read(t.Context(), refs) {
		if live.Absence != cluster.AbsentKind || live.Err != nil {
			t.Errorf("%v: %+v", ref, live)
		}
	}
	livetest.WantRequests(t, f)
}

// TestKindServedAtAnotherVersion checks that an object whose kind changed its version is found at the served one, and
// that one that does not exist stays absent.
func TestKindServedAtAnotherVersion(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("prod")
	there, gone := f.Add("Deployment", "prod", "there", nil), f.Ref("Deployment", "prod", "gone")
	there.Version, gone.Version = "v1beta1", "v1beta1"
	got := connect(f, Options{}).Read(t.Context(), []object.Ref{there, gone})
	if live := got[there]; live.Absence != cluster.AbsentKind || live.Object == nil || live.Err != nil {
		t.Errorf("there: %+v", live)
	}
	if live := got[gone]; live.Absence != cluster.AbsentKind || live.Object != nil || live.Err != nil {
		t.Errorf("gone: %+v", live)
	}
}

func TestReadIsDeterministic(t *testing.T) {
	f := livetest.New(t)
	refs := append(f.AddMany("ConfigMap", "prod", "a", 30), f.AddMany("Service", "prod", "b", 2)...)
	refs = append(refs, f.Ref("Role", "prod", "gone"))
	c := connect(f, Options{})
	first := c.Read(t.Context(), refs)
	requests := f.Seen()
	for range 5 {
		f.Reset()
		slices.Reverse(refs)
		if diff := cmp.Diff(first, c.Read(t.Context(), refs)); diff != "" {
			t.Fatal(diff)
		}
		livetest.WantRequests(t, f, requests...)
	}
}

func TestReadWithoutDiscoveryIsAnError(t *testing.T) {
	f := livetest.New(t)
	c, err := New(&rest.Config{Host: f.URL}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ref := f.Ref("ConfigMap", "prod", "a")
	livetest.MustError(t, c.Read(t.Context(), []object.Ref{ref})[ref], cluster.CodeDiscovery, "discovery was not run")
	livetest.WantRequests(t, f)
}
