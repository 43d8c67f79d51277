package kustomize

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"
)

// randomObject returns the YAML of a ConfigMap with texts of every style, and comments.
func randomObject(r *rand.Rand) string {
	parts := strings.Split("a é 😀 # :\u00a0 - ' \" | > yes 1e3 0755 0o7 ~ null 2001-01-01 { } [ ] , & * ! % @ ` \\ \\n 1_000 .inf << ? --- ...", " ")
	parts = append(parts, " ", "  ", "\n", "\n\n", "\t", ": ", "- ", "\r", "\u0085", "\u2028", "\x7f", "\ufeff")
	text := func() string {
		b := strings.Builder{}
		for range 1 + r.IntN(7) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		return b.String()
	}
	value := text()
	isBlock := false
	switch r.IntN(7) {
	case 0:
	case 1, 2:
		value = fmt.Sprintf("%q", value)
	case 3:
		value = "'" + strings.ReplaceAll(value, "'", "''") + "'"
	default:
		heads := []string{"|", ">", "|-", ">-", "|+", ">+", "|2"}
		value = heads[r.IntN(len(heads))] + "\n    " + strings.ReplaceAll(value, "\n", "\n    ")
		isBlock = true
	}
	lines := strings.Split("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "+value, "\n")
	if r.IntN(3) == 0 {
		lines = append(lines, "  l: ["+text()+"]")
	}
	for i := range lines {
		switch n := r.IntN(12); {
		case isBlock && i > 4:
		case n == 0:
			lines[i] += " # " + text()
		case n == 1:
			lines[i] = strings.Repeat(" ", r.IntN(5)) + "# " + text() + "\n" + lines[i]
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestJSONOf compares objects with what kustomize prints.
func TestJSONOf(t *testing.T) {
	const objects = 3000
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{ // kustomize changes these
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: }}", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: >+\n    a\n\n",
	}
	for range objects {
		texts = append(texts, randomObject(r))
	}
	kinds := map[bool]int{}
	for _, text := range texts {
		all, err := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()).NewResMapFromBytes([]byte(text))
		if err != nil {
			continue
		}
		for _, o := range all.Resources() {
			kinds[isPlain(o.YNode())]++
			want, wantErr := o.AsYAML()
			if wantErr == nil {
				want, wantErr = yaml.YAMLToJSON(want)
			}
			if got, err := JSONOf(o); (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(got, want) {
				t.Errorf("%q: %s, %v\nwant %s, %v", text, got, err, want, wantErr)
			}
		}
	}
	if kinds[true] < objects/10 || kinds[false] < objects/10 {
		t.Errorf("%v objects are the same after they were printed", kinds)
	}
}
