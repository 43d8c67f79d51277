package fleet

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/release"
)

func newFleet(t *testing.T, options Options) *Fleet {
	t.Helper()
	f, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFewObjects(t *testing.T) {
	if _, err := New(Options{Objects: MinObjects - 1}); err == nil {
		t.Error("New accepts a release without the objects that every release has")
	}
}

// TestDeterministic makes the same release twice, and a release of another seed.
func TestDeterministic(t *testing.T) {
	manifest := func(seed uint64) (Release, string) {
		r := newFleet(t, Options{Objects: 15, Seed: seed}).Release(7)
		text, err := r.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		return r, text
	}
	one, text := manifest(1)
	same, again := manifest(1)
	if one.Name != same.Name || one.Revisions != same.Revisions || text != again || !reflect.DeepEqual(one.chart, same.chart) {
		t.Errorf("release 7 is %s, then %s", one.Name, same.Name)
	}
	if _, other := manifest(2); other == text {
		t.Error("the seed has no effect")
	}
}

// TestObjects checks that a release has as many objects as asked for, each of a known kind and in the names of its owner.
func TestObjects(t *testing.T) {
	kinds := map[string]bool{}
	for _, objects := range []int{MinObjects, 15, 40} {
		f := newFleet(t, Options{Objects: objects, Seed: 1})
		for number := range 12 {
			r := f.Release(number)
			manifest, err := r.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			made, err := r.Objects(manifest)
			if err != nil {
				t.Fatal(err)
			}
			if len(made) != objects {
				t.Errorf("%s has %d objects, not %d", r.Name, len(made), objects)
			}
			names := map[string]bool{}
			for _, o := range made {
				if _, err := resourceOf(o.GetKind()); err != nil {
					t.Error(err)
				}
				kinds[o.GetKind()], names[o.GetKind()+o.GetName()] = true, true
				if o.GetAnnotations()["meta.helm.sh/release-name"] != r.Name || o.GetLabels()["app.kubernetes.io/managed-by"] != "Helm" {
					t.Errorf("%s %s does not name its owner", o.GetKind(), o.GetName())
				}
			}
			if len(names) != objects {
				t.Errorf("%s has two objects of one name", r.Name)
			}
		}
	}
	for _, resource := range Resources() {
		if !kinds[resource.Kind] {
			t.Errorf("no release has a %s", resource.Kind)
		}
	}
}

// TestRecords checks the revisions of a release, and that their manifests differ.
func TestRecords(t *testing.T) {
	r := newFleet(t, Options{Objects: MinObjects, Seed: 1}).Release(0)
	r.Revisions = 3
	manifest, err := r.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	records := r.Records(manifest)
	if len(records) != 3 || records[2].Manifest != manifest || records[2].Info.Status != release.StatusDeployed {
		t.Fatalf("%d records, the last one %s", len(records), records[len(records)-1].Info.Status)
	}
	for i, record := range records[:2] {
		tag := record.Config["image"].(map[string]any)["tag"].(string)
		if record.Version != i+1 || record.Info.Status != release.StatusSuperseded || !strings.Contains(record.Manifest, "shop/app:"+tag+"\"") ||
			record.Manifest == manifest {
			t.Errorf("revision %d is %s, with the tag %s", record.Version, record.Info.Status, tag)
		}
	}
	text, err := json.Marshal(records[0])
	if err != nil || len(text) < minReadme+minConfig {
		t.Errorf("a record of %d bytes, %v", len(text), err)
	}
}

// TestDrift checks that 5 % of the releases drift, a fourth of them in each way.
func TestDrift(t *testing.T) {
	f := newFleet(t, Options{Objects: MinObjects, Seed: 1})
	got := map[Drift]int{}
	for number := range 400 {
		got[f.Release(number).Drift]++
	}
	want := map[Drift]int{NoDrift: 380, Scaled: 5, ImageSet: 5, LabelRemoved: 5, Deleted: 5}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
