package secret

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret/secrettest"
)

// TestTable checks names, texts and places against the table, in both directions.
func TestTable(t *testing.T) {
	cases := secrettest.ReadTable(t, "testdata/names.yaml")
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
	for want, places := range map[bool][]secrettest.PlacedValue{true: cases.SecretPlaces, false: cases.ReadablePlaces} {
		for _, c := range places {
			if got := secrettest.PlaceOf(Root, c.Path).Holds(c.Value); got != want {
				t.Errorf("%s: %v holds a secret: %v", c.Path, c.Value, got)
			}
		}
	}
	n := len(cases.SecretNames) + len(cases.ReadableNames) + len(cases.SecretTexts) + len(cases.ReadableTexts) + len(cases.SecretPlaces) + len(cases.ReadablePlaces)
	if n < 300 {
		t.Errorf("the table has %d cases", n)
	}
}
