package secrettest

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Table is the content of testdata/names.yaml of internal/secret: what is secret, and what is not.
type Table struct {
	SecretNames    []string      `json:"secretNames"`
	ReadableNames  []string      `json:"readableNames"`
	SecretTexts    []string      `json:"secretTexts"`
	ReadableTexts  []string      `json:"readableTexts"`
	SecretPlaces   []PlacedValue `json:"secretPlaces"`
	ReadablePlaces []PlacedValue `json:"readablePlaces"`
}

// PlacedValue is a value, and the names of the fields that lead to it.
type PlacedValue struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// ReadTable reads the table from its file.
func ReadTable(t testing.TB, file string) (out Table) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// place is secret.Place, which this package does not import, because the tests of internal/secret import this package.
type place[P any] interface {
	Field(name string) P
	Item(name string) P
}

// PlaceOf returns the place at the end of a path of fields with slashes. A first part "Secret:" is the kind of the
// object, and "name=" an item. Root is secret.Root.
func PlaceOf[P place[P]](root func(group, kind string) P, path string) P {
	kind, rest, isKind := strings.Cut(path, ":")
	p := root("", kind)
	if !isKind {
		p, rest = root("", ""), path
	}
	for step := range strings.SplitSeq(rest, "/") {
		if name, isItem := strings.CutPrefix(step, "name="); isItem {
			p = p.Item(name)
		} else if step != "" {
			p = p.Field(step)
		}
	}
	return p
}
