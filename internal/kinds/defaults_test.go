package kinds

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// The committed sample is the output of `gendefaults -pairs FILE -per-kind 6`, gzipped, so that the test needs no build of Kubernetes. An
// environment variable names a file with more.
const (
	defaultsSample   = "testdata/defaults.ndjson.gz"
	defaultsVariable = "HELMDRIFT_DEFAULTS_PAIRS"
	// leastKinds is how many kinds of Kubernetes v1.36.3 have both defaults and a Go type here.
	leastKinds = 91
)

// unknownKinds has the kinds with defaults in Kubernetes v1.36.3 but without a Go type here, each with the reason.
var unknownKinds = map[string]string{
	"scheduling.k8s.io/v1alpha2 PodGroup": "k8s.io/api v0.37 has v1alpha3 in its place",
}

// unknownFields has the fields of v1.36.3 that no Go type here has, so that their defaults are unknown, each with the reason.
var unknownFields = map[string]string{
	"nodeAllocatableResourceMappings": "behind an alpha gate, and replaced by nodeAllocatableResources in k8s.io/api v0.37",
}

// defaultsPair is an object before and after Kubernetes' own defaulting.
type defaultsPair struct {
	kind    string
	in, out map[string]any
}

// TestDefaultsMatchKubernetes compares the table and the rules with what Kubernetes made of generated objects: the normal form of the input
// with defaults is the normal form of the output, and setting the defaults again changes nothing.
func TestDefaultsMatchKubernetes(t *testing.T) {
	file, perKind := os.Getenv(defaultsVariable), 200
	if file == "" {
		file, perKind = defaultsSample, 6
	}
	compared, skipped, found := map[string]int{}, map[string]int{}, mismatches{}
	eachPair(t, file, func(p defaultsPair) {
		s := Native().Shape(parseKind(t, p.kind))
		if s == nil {
			skipped[p.kind]++
			return
		}
		compared[p.kind]++
		want := expected(p, s)
		got, _ := normalObject(p.in, s, asStored)
		FillDefaults(got, s)
		if object.Equal(got, want) {
			FillDefaults(got, s) // once more must change nothing
		}
		found.diff(p.kind, "", got, want)
	})
	found.report(t)
	checkKinds(t, compared, skipped, perKind)
}

// checkKinds checks that no kind is missing without a reason.
func checkKinds(t *testing.T, compared, skipped map[string]int, perKind int) {
	t.Helper()
	objects := 0
	for _, kind := range object.SortedKeys(compared) {
		objects += compared[kind]
		if compared[kind] < perKind {
			t.Errorf("%s: %d objects compared, want %d", kind, compared[kind], perKind)
		}
	}
	for _, kind := range object.SortedKeys(skipped) {
		t.Logf("skipped %d objects of %s: %s", skipped[kind], kind, unknownKinds[kind])
		if unknownKinds[kind] == "" {
			t.Errorf("%s has defaults, but no Go type and no reason", kind)
		}
	}
	t.Logf("compared %d objects of %d kinds", objects, len(compared))
	if len(compared) < leastKinds {
		t.Errorf("%d kinds compared, want %d", len(compared), leastKinds)
	}
}

// expected returns the normal form of Kubernetes' output, except for two intended differences.
func expected(p defaultsPair, s *Shape) map[string]any {
	want, _ := normalObject(p.out, s, asStored)
	switch {
	case strings.HasPrefix(p.kind, "apps/") && strings.HasSuffix(p.kind, " StatefulSet"):
		// The type of the claims comes from the server's conversion of a StatefulSet and not from defaulting.
		for _, claim := range object.Items(object.Child(want, "spec"), "volumeClaimTemplates") {
			claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
		}
	case p.kind == "v1 Namespace":
		// A normal form has no name to copy into this label; the table of allocated fields takes it from live (pkg/threeway).
		labels := object.Child(object.Child(want, "metadata"), "labels")
		delete(labels, "kubernetes.io/metadata.name")
		if len(labels) == 0 {
			delete(object.Child(want, "metadata"), "labels")
		}
		if object.IsZero(want["metadata"]) {
			delete(want, "metadata")
		}
	}
	return want
}

// TestDefaultsOfMalformedObjects sets the defaults of objects with a value of a wrong type. That must not panic. A manifest may have
// such values, and the API server refuses them.
func TestDefaultsOfMalformedObjects(t *testing.T) {
	wrong := []any{"text", int64(7), []any{nil, "text"}, map[string]any{"key": nil}}
	next := 0
	eachPair(t, defaultsSample, func(p defaultsPair) {
		s := Native().Shape(parseKind(t, p.kind))
		eachValue(p.in, func(set func(any)) {
			next++
			set(wrong[next%len(wrong)])
			normal, _ := normalObject(p.in, s, asStored)
			FillDefaults(normal, s)
		})
	})
}

// eachValue calls f for each value below v with a function that replaces the value; after f returns, the value is restored.
func eachValue(v any, f func(set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for k, old := range v {
			eachValue(old, f)
			f(func(other any) { v[k] = other })
			v[k] = old
		}
	case []any:
		for i, old := range v {
			eachValue(old, f)
			f(func(other any) { v[i] = other })
			v[i] = old
		}
	}
}

func eachPair(t *testing.T, file string, f func(defaultsPair)) {
	t.Helper()
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	var in io.Reader = opened
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(opened); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line map[string]any
		if err := utiljson.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		kind, _ := line["kind"].(string)
		f(defaultsPair{kind: kind, in: object.Child(line, "in"), out: object.Child(line, "out")})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// parseKind parses "apps/v1 Deployment".
func parseKind(t *testing.T, text string) schema.GroupVersionKind {
	t.Helper()
	apiVersion, kind, ok := strings.Cut(text, " ")
	gv, err := schema.ParseGroupVersion(apiVersion)
	if !ok || err != nil {
		t.Fatalf("kind %q: %v", text, err)
	}
	return gv.WithKind(kind)
}

// mismatches are the differences by kind and path, with one example each.
type mismatches map[string]*mismatch

type mismatch struct {
	count   int
	example string
}

// diff records where ours differs from what Kubernetes made.
func (m mismatches) diff(kind, path string, ours, kubernetes any) {
	if object.Equal(ours, kubernetes) {
		return
	}
	a, aMap := ours.(map[string]any)
	b, bMap := kubernetes.(map[string]any)
	if aMap && bMap {
		for _, k := range slices.Compact(slices.Sorted(maps.Keys(union(a, b)))) {
			if unknownFields[k] == "" {
				m.diff(kind, path+"."+k, orAbsent(a, k), orAbsent(b, k))
			}
		}
		return
	}
	x, xList := ours.([]any)
	y, yList := kubernetes.([]any)
	if xList && yList && len(x) == len(y) {
		for i := range x {
			m.diff(kind, path+"[]", x[i], y[i])
		}
		return
	}
	id := kind + ": " + path
	if m[id] == nil {
		m[id] = &mismatch{example: fmt.Sprintf("%.60s vs %.60s", fmt.Sprint(ours), fmt.Sprint(kubernetes))}
	}
	m[id].count++
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// absent stands for a field that one side does not have.
type absent struct{}

func (absent) String() string { return "absent" }

func orAbsent(m map[string]any, k string) any {
	if v, ok := m[k]; ok {
		return v
	}
	return absent{}
}

func (m mismatches) report(t *testing.T) {
	t.Helper()
	ids := object.SortedKeys(m)
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(m[b].count, m[a].count) })
	for i, id := range ids {
		if i == 50 {
			t.Errorf("and %d more paths", len(ids)-i)
			break
		}
		t.Errorf("%s: ours vs Kubernetes': %s (%d times)", id, m[id].example, m[id].count)
	}
}
