package secret

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// table is the content of testdata/names.yaml: what is secret, and what is not.
type table struct {
	SecretNames    []string      `json:"secretNames"`
	ReadableNames  []string      `json:"readableNames"`
	SecretTexts    []string      `json:"secretTexts"`
	ReadableTexts  []string      `json:"readableTexts"`
	SecretPlaces   []placedValue `json:"secretPlaces"`
	ReadablePlaces []placedValue `json:"readablePlaces"`
}

// placedValue is a value, and the names of the fields that lead to it.
type placedValue struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func readTable(t *testing.T) (out table) {
	t.Helper()
	raw, err := os.ReadFile("testdata/names.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTable checks names, texts and places against the table, in both directions.
func TestTable(t *testing.T) {
	cases := readTable(t)
	for want, names := range map[bool][]string{true: cases.SecretNames, false: cases.ReadableNames} {
		for _, name := range names {
			if Name(name) != want {
				t.Errorf("Name(%q) is %v", name, !want)
			}
		}
	}
	for want, texts := range map[bool][]string{true: cases.SecretTexts, false: cases.ReadableTexts} {
		for _, text := range texts {
			got := Scrub(text)
			if (got != text) != want {
				t.Errorf("Scrub(%q) is %q", text, got)
			}
			for _, canary := range []string{"hunter2", "abcdefgh", "abc123", "dXNlcjpodW50ZXIy", "dozjg", "aGVsbG8"} {
				if strings.Contains(got, canary) {
					t.Errorf("Scrub(%q) leaves %q", text, got)
				}
			}
			if (Place{}).Holds(text) != want {
				t.Errorf("a value %q holds a secret: %v", text, !want)
			}
		}
	}
	for want, places := range map[bool][]placedValue{true: cases.SecretPlaces, false: cases.ReadablePlaces} {
		for _, c := range places {
			if got := placeOf(c.Path).Holds(c.Value); got != want {
				t.Errorf("%s: %v holds a secret: %v", c.Path, c.Value, got)
			}
		}
	}
	n := len(cases.SecretNames) + len(cases.ReadableNames) + len(cases.SecretTexts) + len(cases.ReadableTexts) + len(cases.SecretPlaces) + len(cases.ReadablePlaces)
	if n < 300 {
		t.Errorf("the table has %d cases", n)
	}
}

// placeOf returns the place at the end of a path of fields with slashes. A first part "Secret:" is the kind of the
// object, and "name=" an item.
func placeOf(path string) Place {
	kind, rest, isKind := strings.Cut(path, ":")
	p := Root("", kind)
	if !isKind {
		p, rest = Root("", ""), path
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
