package argocd

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

var recorded = flag.String("recorded", "", "a folder with objects before and after syncs of Argo CD; make argocd writes one")

// TestRecordedManagers predicts who owns which field after the server-side applies of Argo CD that test/argocd/story has recorded. What was
// applied is what Argo CD owns afterwards. The controllers of Kubernetes write at any time, so what they own is left out.
func TestRecordedManagers(t *testing.T) {
	if *recorded == "" {
		t.Skip("-recorded names no folder: make argocd does")
	}
	files, err := filepath.Glob(filepath.Join(*recorded, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no records in %s: %v", *recorded, err)
	}
	applied := 0
	for _, file := range files {
		var r struct {
			Options []string         `json:"options"`
			Before  []map[string]any `json:"before"`
			After   []map[string]any `json:"after"`
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = utiljson.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := map[object.Ref]map[string]any{}
		for _, o := range r.Before {
			before[object.RefOf(o)] = o
		}
		for _, is := range r.After {
			ref := object.RefOf(is)
			was := before[ref]
			sync := Options{List: r.Options}.Deployment().Sync
			method, replaces := sync.Method(is)
			version := func(o map[string]any) any { return object.Child(o, "metadata")["resourceVersion"] }
			if was == nil || method != report.ApplyServerSide || replaces || version(was) == version(is) || len(managers(is)[Manager+" Apply"]) == 0 {
				continue
			}
			if !kinds.NativeApply().Scheme.Recognizes(ref.GVK()) {
				continue // its types are in the cluster
			}
			applied++
			named := map[string]any{
				"apiVersion": is["apiVersion"], "kind": is["kind"], "metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace},
			}
			if ref.Namespace == "" {
				delete(object.Child(named, "metadata"), "namespace")
			}
			w := engine.Writer{ServerSide: true, Helm4: true, Deployer: func() owners.Deployer { return owners.Deployer{Manager: Manager, Known: true} }}
			done, err := sync.Write(w, ref, Owned(ref, named, is, Manager), was)
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), ref.Key, err)
				continue
			}
			want, got := managers(is), managers(done.Result)
			for name := range union(want, got) {
				a, b := withoutKeys(set(want[name])), withoutKeys(set(got[name]))
				if !a.Equals(b) {
					t.Errorf("%s: %s: %s owns beside the prediction %s, and not as predicted %s", filepath.Base(file), ref.Key, name,
						a.Difference(b), b.Difference(a))
				}
			}
		}
	}
	if t.Logf("%d server-side applies in %d syncs", applied, len(files)); applied == 0 {
		t.Error("none was compared")
	}
}

// managers returns what each manager owns, by its name and operation, without controllers.
func managers(content map[string]any) map[string][]*fieldpath.Set {
	out := map[string][]*fieldpath.Set{}
	for _, e := range owners.Entries(content, nil) {
		if e.Manager != "kube-controller-manager" && e.Subresource == "" {
			name := e.Manager + " " + e.Operation
			out[name] = append(out[name], e.Fields)
		}
	}
	return out
}

// withoutKeys returns a set without the fields that are keys of their item. What is read back of an apply has them even if the apply left
// them to their defaults, such as the protocol of a port.
func withoutKeys(of *fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	of.Iterate(func(path fieldpath.Path) {
		if n := len(path); n > 1 && path[n-1].FieldName != nil && path[n-2].Key != nil {
			for _, key := range *path[n-2].Key {
				if key.Name == *path[n-1].FieldName {
					return
				}
			}
		}
		out.Insert(path.Copy())
	})
	return out
}

// set returns the union of sets of fields.
func set(all []*fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	for _, one := range all {
		out = out.Union(one)
	}
	return out
}

// union returns the names of both.
func union(a, b map[string][]*fieldpath.Set) map[string]bool {
	out := map[string]bool{}
	for _, all := range []map[string][]*fieldpath.Set{a, b} {
		for name := range all {
			out[name] = true
		}
	}
	return out
}
