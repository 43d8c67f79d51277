package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

func scales(f *livetest.Server, namespace, name, apiVersion, kind, target string) {
	f.Add("HorizontalPodAutoscaler", namespace, name, map[string]any{})
	path := f.Kind("HorizontalPodAutoscaler").Collection(namespace) + "/" + name
	f.Objects[path]["spec"] = map[string]any{"scaleTargetRef": map[string]any{"apiVersion": apiVersion, "kind": kind, "name": target}}
}

func TestAutoscalers(t *testing.T) {
	for _, version := range []string{"v2", "v1"} {
		f := livetest.New(t)
		f.Kinds[slices.IndexFunc(f.Kinds, func(k livetest.Kind) bool { return k.Group == "autoscaling" })].Version = version
		scales(f, "prod", "web", "apps/v1", "Deployment", "web")
		scales(f, "prod", "again", "apps/v1beta2", "Deployment", "web")
		scales(f, "prod", "thing", "ex.com/v1", "Thing", "t")
		scales(f, "prod", "odd", "a/b/c", "Thing", "t")
		scales(f, "test", "web", "apps/v1", "Deployment", "web")
		f.Intercept = livetest.Failing(-1, "/namespaces/closed/horizontalpodautoscalers", livetest.Forbid)

		got, warnings := connect(f, Options{}).Autoscalers(t.Context(), []string{"test", "prod", "closed", "prod"})
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
		if len(f.Seen()) != 3 {
			t.Errorf("requests %v", f.Seen())
		}
	}
}

// TestAutoscalersAtZero checks which autoscalers of Kubernetes scale a target with 0 replicas.
func TestAutoscalersAtZero(t *testing.T) {
	condition := func(kind, status, reason string) map[string]any {
		return map[string]any{"type": kind, "status": status, "reason": reason}
	}
	active, disabled := condition("ScalingActive", "True", "ValidMetricFound"), condition("ScalingActive", "False", "ScalingDisabled")
	byItself, notByItself := condition("ScaledToZero", "True", "ScaledToZero"), condition("ScaledToZero", "False", "NotScaledToZero")
	for name, c := range map[string]struct {
		minimum    any
		conditions []any
		to, from   bool
	}{
		"without a minimum, which is then 1":     {nil, []any{active}, false, false},
		"with a minimum above 0":                 {int64(2), []any{active}, false, false},
		"at 0, with a minimum above 0":           {int64(2), []any{disabled}, false, false},
		"at 0 by itself":                         {int64(0), []any{active, byItself}, true, true},
		"at 0 by itself, with a minimum raised":  {int64(2), []any{active, byItself}, true, true},
		"at 0 by hand":                           {int64(0), []any{disabled, notByItself}, false, false},
		"at 0 by hand before it has ever scaled": {int64(0), []any{disabled}, false, false},
		"above 0, after it has scaled":           {int64(0), []any{active, notByItself}, false, false},
		"of 1.35, or before it has ever scaled":  {int64(0), []any{active}, true, false},
		"before the controller has seen it":      {int64(0), nil, true, false},
	} {
		f := livetest.New(t)
		scales(f, "prod", "web", "apps/v1", "Deployment", "web")
		autoscaler := f.Objects[f.Kind("HorizontalPodAutoscaler").Collection("prod")+"/web"]
		if c.minimum != nil {
			autoscaler["spec"].(map[string]any)["minReplicas"] = c.minimum
		}
		autoscaler["status"] = map[string]any{"conditions": c.conditions}
		got, _ := connect(f, Options{}).Autoscalers(t.Context(), []string{"prod"})
		want := object.Autoscaler{Name: "HorizontalPodAutoscaler web", ToZero: c.to, FromZero: c.from}
		if diff := cmp.Diff(want, got[object.Key{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// isPartOf gives an autoscaler to a ScaledObject, as KEDA does with those that it creates.
func isPartOf(f *livetest.Server, autoscaler, scaledObject string) {
	path := f.Kind("HorizontalPodAutoscaler").Collection("prod") + "/" + autoscaler
	f.Objects[path]["metadata"].(map[string]any)["ownerReferences"] = []any{
		map[string]any{"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": scaledObject, "uid": "1", "controller": true},
	}
}

// TestAutoscalersOfKEDA checks that the kind of KEDA is listed if it is served, that a reference may omit the kind, and that the autoscaler
// that a ScaledObject creates goes by its name.
func TestAutoscalersOfKEDA(t *testing.T) {
	f := livetest.New(t)
	f.Kinds = append(f.Kinds, livetest.Kind{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject", Plural: "scaledobjects"})
	scaled := func(name string, target map[string]any) {
		f.Add("ScaledObject", "prod", name, nil)
		f.Objects[f.Kind("ScaledObject").Collection("prod")+"/"+name]["spec"] = map[string]any{"scaleTargetRef": target, "minReplicaCount": int64(0)}
	}
	scaled("short", map[string]any{"name": "web"})
	scaled("long", map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "envSourceContainerName": "main"})
	scaled("with-its-own", map[string]any{"name": "api"})
	scaled("keeps", map[string]any{"name": "kept"})
	f.Objects[f.Kind("ScaledObject").Collection("prod")+"/keeps"]["spec"].(map[string]any)["minReplicaCount"] = int64(2)
	scaled("waits", map[string]any{"name": "halted"})
	f.Objects[f.Kind("ScaledObject").Collection("prod")+"/waits"]["metadata"].(map[string]any)["annotations"] =
		map[string]any{"autoscaling.keda.sh/paused": "true"}
	scaled("odd", map[string]any{"kind": "Deployment"})
	scaled("odder", map[string]any{"name": int64(1)})
	scales(f, "prod", "keda-hpa-with-its-own", "apps/v1", "Deployment", "api")
	scales(f, "prod", "keda-hpa-keeps", "apps/v1", "Deployment", "kept")
	isPartOf(f, "keda-hpa-keeps", "keeps")
	got, warnings := connect(f, Options{}).Autoscalers(t.Context(), []string{"prod"})
	want := map[object.Key]object.Autoscaler{
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}:  {Name: "ScaledObject short", ToZero: true, FromZero: true},
		{Group: "apps", Kind: "StatefulSet", Namespace: "prod", Name: "db"}:  {Name: "ScaledObject long", ToZero: true, FromZero: true},
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "api"}:  {Name: "ScaledObject with-its-own", ToZero: true, FromZero: true},
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "kept"}: {Name: "ScaledObject keeps", FromZero: true},
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "halted"}: {
			Name: "ScaledObject waits", ToZero: true, FromZero: true, Paused: true,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
		t.Error(diff, warnings)
	}
	if len(f.Seen()) != 2 {
		t.Errorf("requests %v", f.Seen())
	}
}

// TestPausedAutoscaler checks that a paused ScaledObject gives way to another autoscaler of the same object, but not to the one that KEDA
// has created for it and has not deleted yet.
func TestPausedAutoscaler(t *testing.T) {
	f := livetest.New(t)
	f.Kinds = append(f.Kinds, livetest.Kind{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject", Plural: "scaledobjects"})
	for _, target := range []string{"web", "api"} {
		f.Add("ScaledObject", "prod", target, nil)
		o := f.Objects[f.Kind("ScaledObject").Collection("prod")+"/"+target]
		o["spec"] = map[string]any{"scaleTargetRef": map[string]any{"name": target}}
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"autoscaling.keda.sh/paused": "true"}
	}
	scales(f, "prod", "of-somebody", "apps/v1", "Deployment", "web")
	scales(f, "prod", "keda-hpa-api", "apps/v1", "Deployment", "api")
	isPartOf(f, "keda-hpa-api", "api")
	got, _ := connect(f, Options{}).Autoscalers(t.Context(), []string{"prod"})
	want := map[object.Key]object.Autoscaler{
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}: {Name: "HorizontalPodAutoscaler of-somebody"},
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "api"}: {
			Name: "ScaledObject api", ToZero: true, FromZero: true, Paused: true,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAutoscalersOfKEDAUnread checks that the autoscalers of Kubernetes count if those of KEDA cannot be read, with a
// warning. Those that KEDA has created name their ScaledObject.
func TestAutoscalersOfKEDAUnread(t *testing.T) {
	f := livetest.New(t)
	f.Kinds = append(f.Kinds, livetest.Kind{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject", Plural: "scaledobjects"})
	scales(f, "prod", "web", "apps/v1", "Deployment", "web")
	scales(f, "prod", "keda-hpa-queue", "apps/v1", "Deployment", "worker")
	isPartOf(f, "keda-hpa-queue", "queue")
	f.Intercept = livetest.Failing(-1, "/namespaces/prod/scaledobjects", livetest.Forbid)
	got, warnings := connect(f, Options{}).Autoscalers(t.Context(), []string{"prod"})
	want := map[object.Key]object.Autoscaler{
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}:    {Name: "HorizontalPodAutoscaler web"},
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "worker"}: {Name: "ScaledObject queue", FromZero: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(warnings) != 1 || warnings[0].Code != cluster.CodeForbidden || !strings.Contains(warnings[0].Message, `scaledobjects.keda.sh in namespace "prod": forbidden`) {
		t.Errorf("warnings %+v", warnings)
	}
}

func TestAutoscalersOfServerWithoutThem(t *testing.T) {
	f := livetest.New(t)
	i := slices.IndexFunc(f.Kinds, func(k livetest.Kind) bool { return k.Group == "autoscaling" })
	f.Kinds[i].Stale = true
	_, warnings := connect(f, Options{}).Autoscalers(t.Context(), []string{"prod"})
	if len(warnings) != 1 || warnings[0].Code != cluster.CodeDiscovery {
		t.Errorf("warnings %+v", warnings)
	}
	f.Kinds = slices.Delete(f.Kinds, i, i+1)
	if got, warnings := connect(f, Options{}).Autoscalers(t.Context(), []string{"prod"}); len(got) > 0 || len(warnings) > 0 {
		t.Error(got, warnings)
	}
	livetest.WantRequests(t, f)
}
