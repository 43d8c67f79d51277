package argocd

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
)

var (
	argoCD    = flag.String("argocd", "", "the folder of argocd, which make argocd builds; it compares random objects")
	count     = flag.Int("differences", 2000, "how many pairs of objects are compared")
	firstSeed = flag.Uint64("differences.seed", 1, "the seed of the pairs")
	manifests = flag.String("differences.manifests", "", "a folder with files of YAML, whose objects are taken besides those of this package")
)

// TestDifferences changes objects of the sources and of the cluster at random, and compares them as Argo CD does: an object that is out of
// sync here must be so for the controller, and one that is in sync must be in sync.
func TestDifferences(t *testing.T) {
	if *argoCD == "" {
		t.Skip("-argocd names no folder: make argocd runs this test")
	}
	bases := baseObjects(t)
	var in bytes.Buffer
	pairs := make([]comparedPair, *count)
	for i := range pairs {
		pairs[i] = randomPair(t, rand.New(rand.NewPCG(*firstSeed, uint64(i))), bases)
		text, err := json.Marshal(map[string]any{"desired": pairs[i].desired, "live": pairs[i].live})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(text)
	}
	cmd := exec.Command(filepath.Join(*argoCD, "argocd"), "differences")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(bytes.NewReader(out))
	seen := map[string]int{}
	for i, p := range pairs {
		var answer struct {
			Modified        bool
			Error           string
			Live, Predicted map[string]any
		}
		if err := answers.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		is := p.compare(t)
		switch {
		case answer.Error != "":
			seen["refused by Argo CD"]++
		case is == LikeTheWrite:
			seen["not known"]++
		case answer.Modified != (is == OutOfSync):
			t.Errorf("pair %d: %s, but Argo CD says %t\n desired %s\n applied %s\n live    %s\n%s", i, map[bool]string{true: "out of sync", false: "in sync"}[is == OutOfSync], answer.Modified,
				asText(p.desired), asText(Applied(p.live)), asText(p.live), strings.Join(changedPlaces("", answer.Live, answer.Predicted), "\n"))
		default:
			seen[fmt.Sprintf("out of sync: %t", answer.Modified)]++
		}
	}
	t.Logf("%d pairs: %v", len(pairs), seen)
}

func asText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// changedPlaces returns the places where live and what Argo CD predicts differ.
func changedPlaces(at string, live, will any) (out []string) {
	a, isMap := live.(map[string]any)
	b, alsoMap := will.(map[string]any)
	if !isMap || !alsoMap {
		if !object.Equal(live, will) {
			out = append(out, fmt.Sprintf("  %s: %s, will be %s", at, asText(live), asText(will)))
		}
		return out
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, changedPlaces(at+"/"+name, a[name], b[name])...)
	}
	return out
}

// comparedPair is an object of the sources, and the live one with what was applied last.
type comparedPair struct{ desired, live map[string]any }

// compare compares a pair as this package does.
func (p comparedPair) compare(t *testing.T) Comparison {
	t.Helper()
	got := Comparison(-1)
	if _, err := predict(Options{Learn: func(_ object.Key, is Outcome) { got = is.Comparison }}, p.desired, p.live); err != nil {
		return LikeTheWrite
	}
	return got
}

// baseObjects returns the objects that are changed.
func baseObjects(t testing.TB) (out []map[string]any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "differences", "*.yaml"))
	if err == nil && *manifests != "" {
		var more []string
		more, err = filepath.Glob(filepath.Join(*manifests, "*.yaml"))
		files = append(files, more...)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range render.Objects(render.ReadDocuments(string(text)), render.ParseOptions{Namespace: "shop"}).Objects {
			if o.Problem == "" && o.Content != nil {
				out = append(out, o.Content)
			}
		}
	}
	return out
}

// randomPair changes one of the objects for each side.
func randomPair(t *testing.T, random *rand.Rand, bases []map[string]any) comparedPair {
	t.Helper()
	base := bases[random.IntN(len(bases))]
	changed := func(most int) map[string]any {
		out := object.Copy(base).(map[string]any)
		for range random.IntN(most + 1) {
			change(random, out)
		}
		if random.IntN(4) == 0 {
			object.Child(out, "metadata")["creationTimestamp"] = nil
		}
		return out
	}
	p := comparedPair{desired: changed(2)}
	applied := p.desired
	if random.IntN(2) == 0 {
		applied = changed(2)
	}
	p.live = stored(applied)
	for range random.IntN(3) {
		change(random, p.live)
	}
	if p.live = stored(p.live); !isValid(p.live) {
		p.live = stored(base)
	}
	meta := object.Child(p.live, "metadata")
	meta["creationTimestamp"], meta["uid"], meta["generation"] = "2026-11-29T00:00:00Z", "1", int64(1)
	if random.IntN(4) > 0 {
		annotations := maps.Clone(object.Child(meta, "annotations"))
		if annotations == nil {
			annotations = map[string]any{}
		}
		annotations[LastApplied] = asText(applied)
		meta["annotations"] = annotations
	}
	return comparedPair{decoded(t, p.desired), decoded(t, p.live)}
}

func decoded(t *testing.T, content map[string]any) (out map[string]any) {
	t.Helper()
	if err := utiljson.Unmarshal([]byte(asText(content)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// isValid reports whether the API server can have an object.
func isValid(content map[string]any) bool {
	typed, err := kinds.Native().HelmScheme.New(object.RefOf(content).GVK())
	return err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, typed) == nil
}

// stored returns an object as the API server stores it: of a built-in kind without what its type lacks and with its defaults, and without
// nulls.
func stored(content map[string]any) map[string]any {
	out := withoutNulls(content).(map[string]any)
	ref := object.RefOf(out)
	typed, err := kinds.Native().HelmScheme.New(ref.GVK())
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(out, typed) != nil {
		return out
	}
	back, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return out
	}
	out = withoutNulls(back).(map[string]any)
	if role := object.Child(out, "roleRef"); role["apiGroup"] == "" { // the default of a field that is never left out
		delete(role, "apiGroup")
	}
	kinds.FillDefaults(out, kinds.ShapeOf(ref, nil, false))
	delete(out, "status")
	return out
}

// change changes one place of an object, but not what names it.
func change(random *rand.Rand, content map[string]any) {
	var places []func()
	var walk func(v any, isTop bool)
	walk = func(v any, isTop bool) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if isTop && slices.Contains([]string{"apiVersion", "kind"}, name) {
					continue
				}
				if isTop && name == "metadata" {
					meta := object.Child(v, "metadata")
					for _, below := range []string{"labels", "annotations"} {
						walk(meta[below], false)
					}
					continue
				}
				places = append(places, func() { v[name] = changedValue(random, v[name]) }, func() { delete(v, name) })
				walk(v[name], false)
			}
			places = append(places, func() { v["extra"] = []any{"x", int64(0), false, "", nil, map[string]any{}, []any{}}[random.IntN(7)] })
		case []any:
			for i := range v {
				places = append(places, func() { v[i] = changedValue(random, v[i]) })
				walk(v[i], false)
			}
		}
	}
	walk(content, true)
	places[random.IntN(len(places))]()
}

// changedValue returns another value: a null, a zero, or one that is like the first.
func changedValue(random *rand.Rand, v any) any {
	if random.IntN(5) == 0 {
		return nil
	}
	switch v := v.(type) {
	case string:
		return []any{"", v + "x", "1", int64(1)}[random.IntN(4)]
	case bool:
		return !v
	case int64:
		return []any{int64(0), v + 1, fmt.Sprint(v)}[random.IntN(3)]
	case []any:
		switch out := slices.Clone(v); {
		case len(out) == 0 || random.IntN(3) == 0:
			return []any{}
		case random.IntN(2) == 0:
			return out[:len(out)-1]
		default:
			slices.Reverse(out)
			return out
		}
	case map[string]any:
		return map[string]any{}
	}
	return v
}
