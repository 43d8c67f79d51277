package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

func scales(f *fakeAPI, namespace, name, apiVersion, kind, target string) {
	f.add("HorizontalPodAutoscaler", namespace, name, map[string]any{})
	path := f.kind("HorizontalPodAutoscaler").collection(namespace) + "/" + name
	f.objects[path]["spec"] = map[string]any{"scaleTargetRef": map[string]any{"apiVersion": apiVersion, "kind": kind, "name": target}}
}

func TestAutoscalers(t *testing.T) {
	for _, version := range []string{"v2", "v1"} {
		f := newFakeAPI(t)
		f.kinds[slices.IndexFunc(f.kinds, func(k fakeKind) bool { return k.group == "autoscaling" })].version = version
		scales(f, "prod", "web", "apps/v1", "Deployment", "web")
		scales(f, "prod", "again", "apps/v1beta2", "Deployment", "web")
		scales(f, "prod", "thing", "ex.com/v1", "Thing", "t")
		scales(f, "prod", "odd", "a/b/c", "Thing", "t")
		scales(f, "test", "web", "apps/v1", "Deployment", "web")
		f.intercept = failing(-1, "/namespaces/closed/horizontalpodautoscalers", forbid)

		got, warnings := f.connect(Options{}).Autoscalers(t.Context(), []string{"test", "prod", "closed", "prod"})
		want := map[object.Key]object.Autoscaler{
			{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}: {Name: "HorizontalPodAutoscaler again"},
			{Group: "ex.com", Kind: "Thing", Namespace: "prod", Name: "t"}:      {Name: "HorizontalPodAutoscaler thing"},
			{Group: "apps", Kind: "Deployment", Namespace: "test", Name: "web"}: {Name: "HorizontalPodAutoscaler web"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if len(warnings) != 1 || warnings[0].Code != cluster.CodeForbidden || !strings.Contains(warnings[0].Message, `in namespace "closed": forbidden`) {
			t.Errorf("warnings %+v", warnings)
		}
		if len(f.seen()) != 3 {
			t.Errorf("requests %v", f.seen())
		}
	}
}

// TestAutoscalersOfKEDA checks that KEDA's kind is listed if it is served, and that a reference may omit the kind.
func TestAutoscalersOfKEDA(t *testing.T) {
	f := newFakeAPI(t)
	f.kinds = append(f.kinds, fakeKind{group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects"})
	scaled := func(name string, target map[string]any) {
		f.add("ScaledObject", "prod", name, nil)
		f.objects[f.kind("ScaledObject").collection("prod")+"/"+name]["spec"] = map[string]any{"scaleTargetRef": target, "minReplicaCount": int64(0)}
	}
	scaled("short", map[string]any{"name": "web"})
	scaled("long", map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "envSourceContainerName": "main"})
	scaled("with-its-own", map[string]any{"name": "api"})
	scaled("odd", map[string]any{"kind": "Deployment"})
	scaled("odder", map[string]any{"name": int64(1)})
	scales(f, "prod", "keda-hpa-with-its-own", "apps/v1", "Deployment", "api")
	got, warnings := f.connect(Options{}).Autoscalers(t.Context(), []string{"prod"})
	want := map[object.Key]object.Autoscaler{
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}: {Name: "ScaledObject short", ToZero: true},
		{Group: "apps", Kind: "StatefulSet", Namespace: "prod", Name: "db"}: {Name: "ScaledObject long", ToZero: true},
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "api"}: {Name: "ScaledObject with-its-own", ToZero: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
		t.Error(diff, warnings)
	}
	if len(f.seen()) != 2 {
		t.Errorf("requests %v", f.seen())
	}
}

// TestAutoscalersOfKEDAUnread checks that the autoscalers of Kubernetes count if those of KEDA cannot be read, with a
// warning.
func TestAutoscalersOfKEDAUnread(t *testing.T) {
	f := newFakeAPI(t)
	f.kinds = append(f.kinds, fakeKind{group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects"})
	scales(f, "prod", "web", "apps/v1", "Deployment", "web")
	f.intercept = failing(-1, "/namespaces/prod/scaledobjects", forbid)
	got, warnings := f.connect(Options{}).Autoscalers(t.Context(), []string{"prod"})
	if got[object.Key{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}].Name != "HorizontalPodAutoscaler web" {
		t.Error(got)
	}
	if len(warnings) != 1 || warnings[0].Code != cluster.CodeForbidden || !strings.Contains(warnings[0].Message, `scaledobjects.keda.sh in namespace "prod": forbidden`) {
		t.Errorf("warnings %+v", warnings)
	}
}

func TestAutoscalersOfServerWithoutThem(t *testing.T) {
	f := newFakeAPI(t)
	i := slices.IndexFunc(f.kinds, func(k fakeKind) bool { return k.group == "autoscaling" })
	f.kinds[i].stale = true
	_, warnings := f.connect(Options{}).Autoscalers(t.Context(), []string{"prod"})
	if len(warnings) != 1 || warnings[0].Code != cluster.CodeDiscovery {
		t.Errorf("warnings %+v", warnings)
	}
	f.kinds = slices.Delete(f.kinds, i, i+1)
	if got, warnings := f.connect(Options{}).Autoscalers(t.Context(), []string{"prod"}); len(got) > 0 || len(warnings) > 0 {
		t.Error(got, warnings)
	}
	wantRequests(t, f)
}
