package gitops

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	godigest "github.com/opencontainers/go-digest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// texts are the values of ConfigMaps and Secrets, by kind, name and key. It answers the reads of helm-controller and ours.
type texts map[[3]string]string

// store implements client.Client as far as values are read.
type store struct {
	client.Client
	texts texts
}

// Get implements client.Client.
func (s store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	found := false
	for id, text := range s.texts {
		if id[1] != key.Name {
			continue
		}
		switch o := into.(type) {
		case *corev1.ConfigMap:
			if id[0] == "ConfigMap" {
				if found = true; o.Data == nil {
					o.Data = map[string]string{}
				}
				o.Data[id[2]] = text
			}
		case *corev1.Secret:
			if id[0] == "Secret" {
				if found = true; o.Data == nil {
					o.Data = map[string][]byte{}
				}
				o.Data[id[2]] = []byte(text)
			}
		}
	}
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return nil
}

// Read implements api.Reader.
func (t texts) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		data := map[string]any{}
		for id, text := range t {
			if id[0] == "Secret" {
				text = base64.StdEncoding.EncodeToString([]byte(text))
			}
			if id[0] == ref.Kind && id[1] == ref.Name {
				data[id[2]] = text
			}
		}
		if len(data) > 0 {
			out[ref] = cluster.Live{Object: map[string]any{"data": data}}
		} else {
			out[ref] = cluster.Live{}
		}
	}
	return out
}

// TestComposition composes the values of random HelmReleases, with overlapping references and target paths, and compares them and their
// digest with those of the function that helm-controller calls.
func TestComposition(t *testing.T) {
	agreed := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		all, text := randomRelease(r)
		ours, theirs := &api.HelmRelease{}, &helmv2.HelmRelease{}
		for _, into := range []any{ours, theirs} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		want, wantErr := chartutil.ChartValuesFromReferences(t.Context(), logr.Discard(), store{texts: all}, "shop",
			theirs.GetValues(), theirs.Spec.ValuesFrom...)
		got, err := ours.Compose(t.Context(), all)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("seed %d: %v, helm-controller: %v\n%s", seed, err, wantErr, text)
		}
		if err != nil {
			continue
		}
		agreed++
		if !reflect.DeepEqual(got.Values, map[string]any(want)) {
			t.Fatalf("seed %d: -helm-controller +helmdrift\n%s\n%s\n%v", seed, cmp.Diff(map[string]any(want), got.Values), text, all)
		}
		if digest, sum := chartutil.DigestValues(godigest.SHA256, want).String(), api.Digest(got.Values); digest != sum {
			t.Fatalf("seed %d: digest %s, helm-controller: %s\n%s", seed, sum, digest, text)
		}
	}
	if agreed < 2500 {
		t.Errorf("only %d of the cases have values", agreed)
	}
}

// randomRelease returns a HelmRelease as JSON, and the texts that it refers to.
func randomRelease(r *rand.Rand) (texts, string) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	all := texts{}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		for _, name := range []string{"a", "b"} {
			all[[3]string{kind, name, "values.yaml"}] = randomDocument(r)
			all[[3]string{kind, name, "one"}] = pick("1", "1000000", "0755", "true", "null", `"5"`, `'x'`, "x,y=z", "{a,b}", "", "a=b",
				"text\nlines", "-3", "1.5", "[0]")
		}
	}
	var refs []helmv2.ValuesReference
	for range r.IntN(5) {
		ref := helmv2.ValuesReference{Kind: pick("ConfigMap", "Secret"), Name: pick("a", "b", "a", "b", "gone"), Optional: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			ref.ValuesKey = pick("one", "one", "gone", "values.yaml")
			ref.TargetPath = pick("a", "a.b", "a.b.c", "l[0]", "l[1].x", "top", `e\.f`, "a.l[2]", "m.n")
			ref.Literal = r.IntN(4) == 0
		}
		refs = append(refs, ref)
	}
	spec := map[string]any{"valuesFrom": refs}
	if r.IntN(4) > 0 {
		spec["values"] = randomTable(r, 3)
	}
	out, _ := json.Marshal(map[string]any{
		"metadata": metav1.ObjectMeta{Name: "web", Namespace: "shop"}, "spec": spec,
	})
	return all, string(out)
}

// randomDocument returns a YAML document.
func randomDocument(r *rand.Rand) string {
	if r.IntN(20) == 0 {
		return []string{"", "null", "[1]", "a: [", "text"}[r.IntN(5)]
	}
	text, _ := json.Marshal(randomTable(r, 3))
	return string(text)
}

// randomTable returns a table of the few keys that the target paths have too.
func randomTable(r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for range r.IntN(4) {
		key := []string{"a", "b", "c", "l", "x", "top", "e.f", "m", "n"}[r.IntN(9)]
		switch r.IntN(7) {
		case 0, 1, 2:
			if depth > 0 {
				out[key] = randomTable(r, depth-1)
			}
		case 3:
			out[key] = []any{1, "two", randomTable(r, 0)}
		case 4:
			out[key] = []any{1.5, 1e21, 1000000, -1, 9007199254740993, 0.1}[r.IntN(6)]
		case 5:
			out[key] = nil
		default:
			out[key] = fmt.Sprint("text", r.IntN(3))
		}
	}
	return out
}
