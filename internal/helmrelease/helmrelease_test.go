package helmrelease

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// flux is a cluster with one HelmRelease, shop in namespace flux, which has this spec. Its answer is an error instead if fails is set.
type flux struct {
	spec  map[string]any
	fails string
}

// Read implements Reader.
func (f flux) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		switch {
		case f.fails != "":
			out[ref] = cluster.Live{Err: &report.ObjectError{Message: f.fails}}
		case ref.Kind == "HelmRelease" && ref.Namespace == "flux" && ref.Name == "shop":
			out[ref] = cluster.Live{Object: map[string]any{"spec": f.spec}}
		}
	}
	return out
}

// labelled returns an object with these labels.
func labelled(labels map[string]string) object.Object {
	content := unstructured.Unstructured{Object: map[string]any{}}
	content.SetLabels(labels)
	return object.Object{Content: content.Object}
}

func TestOwner(t *testing.T) {
	bare := labelled(nil)
	owned := labelled(map[string]string{nameLabel: "shop", namespaceLabel: "flux"})
	odd := object.Object{Content: map[string]any{"metadata": map[string]any{"labels": "none"}}}
	for _, c := range []struct {
		objects         []object.Object
		name, namespace string
	}{
		{nil, "", ""},
		{[]object.Object{bare, odd}, "", ""},
		{[]object.Object{bare, odd, owned}, "shop", "flux"},
	} {
		if name, namespace := Owner(c.objects); name != c.name || namespace != c.namespace {
			t.Errorf("%d objects: owner %s/%s, want %s/%s", len(c.objects), namespace, name, c.namespace, c.name)
		}
	}
}

func TestNamespaces(t *testing.T) {
	both := map[string]any{"storageNamespace": "records", "targetNamespace": "prod"}
	for _, c := range []struct {
		about, name           string
		from                  flux
		storage, target, fail string
	}{
		{about: "both are given", name: "shop", from: flux{spec: both}, storage: "records", target: "prod"},
		{about: "both default to the HelmRelease's own", name: "shop", storage: "flux", target: "flux"},
		{about: "a field is no text", name: "shop", from: flux{spec: map[string]any{"targetNamespace": 1.0}}, storage: "flux", target: "flux"},
		{about: "there is no such HelmRelease", name: "other", from: flux{spec: both}},
		{about: "it may not be read", name: "shop", from: flux{fails: "forbidden"}, fail: "forbidden"},
	} {
		storage, target, err := Namespaces(t.Context(), c.from, c.name, "flux")
		if fail := text(err); storage != c.storage || target != c.target || fail != c.fail {
			t.Errorf("%s: %q, %q, error %q", c.about, storage, target, fail)
		}
	}
}

func TestIgnoreRules(t *testing.T) {
	ignoring := func(rules any) flux {
		return flux{spec: map[string]any{"driftDetection": map[string]any{"mode": "warn", "ignore": rules}}}
	}
	for _, c := range []struct {
		about    string
		from     flux
		name     string
		rules    int
		warnings int
		fail     string
	}{
		{about: "a rule", from: ignoring([]any{map[string]any{"paths": []any{"/spec/replicas"}}}), name: "shop", rules: 1},
		{about: "no drift detection", name: "shop"},
		{about: "a rule without a usable path", from: ignoring([]any{map[string]any{"paths": []any{"spec"}}}), name: "shop", warnings: 1},
		{about: "a list that is none", from: ignoring("all"), name: "shop", fail: "spec.driftDetection"},
		{about: "no label", name: "", fail: `release "web" was not deployed by Flux`},
		{about: "a deleted HelmRelease", name: "other", fail: "HelmRelease flux/other does not exist"},
		{about: "an unreadable HelmRelease", from: flux{fails: "forbidden"}, name: "shop", fail: "HelmRelease flux/shop: forbidden"},
	} {
		objects := []object.Object{labelled(map[string]string{nameLabel: c.name, namespaceLabel: "flux"})}
		rules, warnings, err := IgnoreRules(t.Context(), c.from, "web", objects)
		if len(rules) != c.rules || len(warnings) != c.warnings || (err != nil) != (c.fail != "") || !strings.Contains(text(err), c.fail) {
			t.Errorf("%s: %d rules, warnings %v, error %v", c.about, len(rules), warnings, err)
		}
		if c.name == "other" && hint.Of(err) == "" {
			t.Errorf("%s: the error has no advice", c.about)
		}
	}
}

// text returns the text of an error, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
