package render

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// nested returns a document whose levels each contain the level below several times.
func nested(levels, fan int, leaf string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx0: &x0 %s\n", leaf)
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i-1), fan), ", "))
	}
	return b.String()
}

// TestAliases checks that aliases that would make a document larger than the API server accepts are refused before
// they are expanded.
func TestAliases(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"few":           {nested(2, 3, "text"), ""},
		"long, often":   {nested(1, 900, long), errAliases.Error()},
		"deep":          {nested(40, 2, "x"), errAliases.Error()},
		"merged":        {"a: &a {k: " + long + "}\nb:\n" + strings.Repeat("- {<<: *a}\n", 50), errAliases.Error()},
		"of itself":     {"a: &a [*a, *a]\nkind: B\n", errNotYAML.Error()},
		"in a script":   {"kind: A\napiVersion: v1\nmetadata: {name: a}\nrun: 'a 2>&1 *b'\n", ""},
		"long, without": {"kind: A\napiVersion: v1\nmetadata: {name: a}\ndata: " + strings.Repeat(long, 12) + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			docs := ReadDocuments(test.text)
			if len(docs) != 1 || docs[0].Fault != test.want {
				t.Errorf("%d documents, fault %q, want %q", len(docs), docs[0].Fault, test.want)
			}
		})
	}
}

// TestExpandedSize compares the computed size with that of the expanded document.
func TestExpandedSize(t *testing.T) {
	for _, text := range []string{nested(2, 6, "some text"), nested(2, 4, "{a: b, c: [d, e]}"), "a: &a {b: c}\nd: {<<: *a, e: *a}\n"} {
		made, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if size := expandedSize([]byte(text)); size < len(made)/2 || size > 2*len(made) {
			t.Errorf("computed %d, JSON has %d bytes:\n%s", size, len(made), text)
		}
	}
}

// TestNeedsNoBounds checks that every text that may contain a YAML alias or many values needs bounds, and that shell scripts, cron
// schedules and long texts do not.
func TestNeedsNoBounds(t *testing.T) {
	for text, want := range map[string]bool{
		"a: b":                                          true,
		"a: &x b\nc: *x":                                false,
		"a: &0 b\nc: [*0]":                              false,
		"a: &-_ b\nc: *-_":                              false,
		"schedule: '*/5 * * * *'":                       true,
		"run: a && b; c 2>&1; ls *.txt":                 true,
		strings.Repeat("a", maxUnbounded):               true,
		strings.Repeat("a", maxUnbounded+1):             false,
		strings.Repeat("- a:\n", maxIndicators/2):       true,
		"a:\n" + strings.Repeat("- a\n", maxIndicators): false,
		"a: [" + strings.Repeat("[],", maxIndicators):   false,
	} {
		if NeedsNoBounds(text) != want {
			t.Errorf("%.40q: %v", text, !want)
		}
	}
}
