package flux

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestFetchedOnce checks that HelmReleases share charts, and only those that are the same, and that the files go at the end.
func TestFetchedOnce(t *testing.T) {
	var fetches, prepared, removed atomic.Int32
	var files deployer.Fetched
	q := Question{
		Fetch: func(_ context.Context, ref string, o fetch.Options) (string, func(), error) {
			fetches.Add(1)
			if ref == "missing" {
				return "", func() {}, errors.New("no such chart")
			}
			return ref + "-" + o.Version, func() { removed.Add(1) }, nil
		},
		Prepare: func(_ context.Context, o ChartOrder) (ChartAnswer, error) {
			prepared.Add(1)
			return ChartAnswer{Name: o.Path}, nil
		},
	}.kept(&files)
	var all sync.WaitGroup
	for range 8 {
		for _, want := range []fetch.Options{{Version: "1"}, {Version: "2"}, {Version: "1", Password: "other"}} {
			all.Go(func() {
				path, _, err := q.Fetch(t.Context(), "web", want)
				if err != nil || path != "web-"+want.Version {
					t.Errorf("%s, %v", path, err)
				}
				if answer, err := q.Prepare(t.Context(), ChartOrder{Path: path}); err != nil || answer.Name != path {
					t.Errorf("%+v, %v", answer, err)
				}
			})
		}
		all.Go(func() {
			if _, _, err := q.Fetch(t.Context(), "missing", fetch.Options{}); err == nil {
				t.Error("no error")
			}
		})
	}
	all.Wait()
	if fetches.Load() != 4 || prepared.Load() != 2 {
		t.Errorf("%d fetches, %d preparations", fetches.Load(), prepared.Load())
	}
	if files.Close(); removed.Load() != 3 {
		t.Errorf("%d charts were removed", removed.Load())
	}
}

// TestFleetFailure checks that a HelmRelease that cannot be compared has a report with its error, and no secret of that.
func TestFleetFailure(t *testing.T) {
	known := &secret.Known{}
	known.Add("hunter2hunter2")
	h := &api.HelmRelease{Metadata: api.Meta{Name: "web", Namespace: "shop"}}
	r, _ := deployer.Fleet[*api.HelmRelease]{
		Title: func(h *api.HelmRelease) report.Release { return titled("prod", h) }, Known: known,
		Compare: func(*secret.Known, *api.HelmRelease) (report.Release, error) {
			return report.Release{}, hint.New(errors.New("reading hunter2hunter2 failed"), "try again")
		},
	}.Start().One(h)
	if !r.HasError() || r.Deployer.Action != report.DeployerUnknown || r.Name != "web" || r.Namespace != "shop" || r.Cluster != "prod" {
		t.Errorf("%+v", r)
	}
	if said := r.Errors[0].Message + r.Deployer.Says(); strings.Contains(said, "hunter2") || !strings.Contains(said, "; try again") {
		t.Error(said)
	}
}

// TestOlderVersion checks that HelmReleases of a version that is not read are an error, and not none.
func TestOlderVersion(t *testing.T) {
	for version, want := range map[string]string{"v2": "", "": "", "v2beta2": "only as helm.toolkit.fluxcd.io/v2beta2", "v2beta1": "v2beta1"} {
		var f Fleet
		f.On.Cluster = fluxtest.Served{Versions: []string{api.Kind().Group + "/" + version}}
		err := f.olderVersion()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// TestNothingBecause compares trees that make no HelmRelease, since a Kustomization is suspended or without such a reason.
func TestNothingBecause(t *testing.T) {
	suspended := tree.Problem{Severity: tree.Skipped, Where: "Kustomization shop/apps", Message: "it is suspended"}
	for want, problems := range map[string][]tree.Problem{
		"apps makes no HelmRelease: Kustomization shop/apps: it is suspended": {suspended},
		deployer.ErrNoObject.Error():                                          {{Severity: tree.Note, Where: "the API server", Message: "it is old"}},
	} {
		f := Fleet{From: &From{Order: tree.Order{Dir: "apps", Rendered: true}, Known: &secret.Known{}}}
		f.From.Run = func(context.Context, tree.Order, applied.Questions) (tree.Answer, error) {
			return tree.Answer{Problems: problems}, nil
		}
		f.Known, f.On.Cluster = f.From.Known, fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2"}}
		f.On.List = func(context.Context, schema.GroupVersionKind, string) ([]map[string]any, error) { return nil, nil }
		f.On.Each, f.On.Note = func([]string, func(int)) {}, func(string) {}
		if _, err := f.Compare(t.Context()); !errors.Is(err, deployer.ErrNoObject) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
