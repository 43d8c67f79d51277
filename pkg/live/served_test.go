package live

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/helmdrift/helmdrift/internal/livetest"
)

func TestCapabilities(t *testing.T) {
	f := livetest.New(t)
	f.Kinds = append(f.Kinds, livetest.Kind{Group: "dead.io", Version: "v1", Kind: "Dead", Plural: "deads", Stale: true})
	got, err := connect(f, Options{}).Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	livetest.WantRequests(t, f, "/version")
	if got.KubeVersion != (chartutil.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"}) || got.HelmVersion.Version == "" {
		t.Errorf("%+v", got)
	}
	for has, want := range map[string]bool{"v1": true, "v1/ConfigMap": true, "ex.com/v1": true, "ex.com/v1/Thing": true, "apps/v1beta1": false, "dead.io/v1": false, "dead.io/v1/Dead": false} {
		if got.APIVersions.Has(has) != want {
			t.Errorf("has %s: %v", has, !want)
		}
	}
	helm, err := action.GetVersionSet(connect(f, Options{}).discover)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(helm)
	if diff := cmp.Diff(helm, got.APIVersions); diff != "" {
		t.Errorf("differs from Helm's version set (-helm +ours):\n%s", diff)
	}
}
