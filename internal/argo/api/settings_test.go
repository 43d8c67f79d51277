package api

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// withSettings returns a cluster with ConfigMap argocd/argocd-cm.
func withSettings(data map[string]any) inMemory {
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "argocd", Name: "argocd-cm"}, Version: "v1"}
	return inMemory{ref: {"data": data}}
}

// TestExcludes has the kinds that argocd-cm leaves out or names, as group/kind, and whether Argo CD leaves a kind alone.
func TestExcludes(t *testing.T) {
	const endpoints = "[{apiGroups: ['', discovery.k8s.io], kinds: [Endpoints, EndpointSlice]}]"
	for name, c := range map[string]struct {
		exclusions, inclusions, kind string
		want                         bool
	}{
		"nothing is said":          {kind: "apps/Deployment"},
		"always":                   {kind: "coordination.k8s.io/Lease", want: true},
		"always, a whole group":    {kind: "metrics.k8s.io/PodMetrics", want: true},
		"another kind of a group":  {kind: "/ConfigMap"},
		"as Argo CD is installed":  {exclusions: endpoints, kind: "/Endpoints", want: true},
		"another kind":             {exclusions: endpoints, kind: "/Service"},
		"another group":            {exclusions: endpoints, kind: "ex.com/Endpoints"},
		"a pattern of groups":      {exclusions: "[{apiGroups: ['*.ex.com'], kinds: ['*']}]", kind: "a.ex.com/Thing", want: true},
		"all groups":               {exclusions: "[{kinds: [Thing]}]", kind: "ex.com/Thing", want: true},
		"in this cluster":          {exclusions: "[{kinds: [Thing], clusters: ['https://kubernetes*']}]", kind: "ex.com/Thing", want: true},
		"in another cluster":       {exclusions: "[{kinds: [Thing], clusters: ['https://192.0.2.1']}]", kind: "ex.com/Thing"},
		"only others are named":    {inclusions: "[{apiGroups: [apps]}]", kind: "/ConfigMap", want: true},
		"it is named":              {inclusions: "[{apiGroups: [apps]}]", kind: "apps/Deployment"},
		"others of a cluster":      {inclusions: "[{apiGroups: [apps], clusters: ['https://192.0.2.1']}]", kind: "/ConfigMap"},
		"named, and also left out": {exclusions: "[{kinds: [Deployment]}]", inclusions: "[{apiGroups: [apps]}]", kind: "apps/Deployment", want: true},
	} {
		s, err := ReadSettings(t.Context(), withSettings(map[string]any{"resource.exclusions": c.exclusions, "resource.inclusions": c.inclusions}), "argocd")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		group, kind, _ := strings.Cut(c.kind, "/")
		if got := s.Excludes(group, kind); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestOptions has the other keys of argocd-cm that count for all Applications.
func TestOptions(t *testing.T) {
	got, err := ReadSettings(t.Context(), withSettings(map[string]any{
		"application.sync.impersonation.enabled": "true", "application.sync.impersonation.enforced": "false", "resource.selectors": "[{labelSelector: a=b}]",
	}), "argocd")
	if err != nil || !got.impersonates || got.impersonatesAlways || !got.Narrows {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = ReadSettings(t.Context(), withSettings(map[string]any{"application.sync.impersonation.enabled": "yes"}), "argocd")
	if err != nil || got.impersonates || !got.impersonatesAlways || got.Narrows {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestKnownKinds has argocd-cm with the types of some fields of custom kinds.
func TestKnownKinds(t *testing.T) {
	got, err := ReadSettings(t.Context(), withSettings(map[string]any{
		"resource.customizations":                               "{ex.com/Thing: {knownTypeFields: [{field: spec.template, type: core/v1/PodSpec}]}, ex.com/Other: {}}",
		"resource.customizations.knownTypeFields.ex.org_Gadget": "[{field: spec.pod, type: core/v1/PodSpec}]",
	}), "argocd")
	want := map[schema.GroupKind]bool{{Group: "ex.com", Kind: "Thing"}: true, {Group: "ex.org", Kind: "Gadget"}: true}
	if err != nil || !maps.Equal(got.Known, want) {
		t.Errorf("%v, %v", got.Known, err)
	}
}

// TestBrokenSettings checks that argocd-cm which cannot be read is an error, since Argo CD then compares nothing.
func TestBrokenSettings(t *testing.T) {
	for _, key := range []string{"resource.exclusions", "resource.inclusions", "resource.compareoptions"} {
		_, err := ReadSettings(t.Context(), withSettings(map[string]any{key: "*canary"}), "argocd")
		if want := key + " of ConfigMap argocd/argocd-cm: error converting YAML to JSON: yaml: unknown anchor"; err == nil || err.Error() != want {
			t.Errorf("%s: %v", key, err)
		}
	}
}
