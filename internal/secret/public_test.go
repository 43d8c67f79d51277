package secret_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// TestPublicNames checks that the field names of Kubernetes' own types, and the keys of the values of hundreds of
// public charts, stay readable, and so do texts with them, except for the few names in testdata/masked-names.txt.
// Keys that do announce a secret were removed from the list by hand.
func TestPublicNames(t *testing.T) {
	listed := lines(t, "testdata/masked-names.txt")
	names := append(lines(t, "testdata/chart-keys.txt"), fieldNames()...)
	slices.Sort(names)
	names = slices.Compact(names)
	masked := 0
	for _, name := range names {
		if !secret.Name(name) {
			for _, text := range []string{name + ": some value", name + "=value", "--" + name + " value", "a." + name + ": Invalid value: \"x\""} {
				if got := secret.Scrub(text); got != text {
					t.Errorf("%q becomes %q", text, got)
				}
			}
			continue
		}
		if masked++; !slices.Contains(listed, name) && !slices.Contains(secretFields(), name) {
			t.Errorf("%s is masked", name)
		}
	}
	for _, name := range listed {
		if !secret.Name(name) {
			t.Errorf("%s is on the list of masked names, and is readable", name)
		}
	}
	if len(names) < 2000 || 100*masked >= len(names) {
		t.Errorf("%d of %d names are masked", masked, len(names))
	}
	t.Logf("%d of %d names are masked", masked, len(names))
}

// secretFields returns the fields of Kubernetes' own types that announce a secret, either because they contain one
// (authentication/v1 TokenRequestStatus.token), or because they are references that stay readable by their place.
func secretFields() []string {
	return []string{"token", "secret", "secrets", "serviceAccountToken"}
}

// fieldNames returns the names of all fields of Kubernetes' types.
func fieldNames() (out []string) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
				out = append(out, name)
			}
			walk(t.Field(i).Type)
		}
	}
	for _, t := range scheme.Scheme.AllKnownTypes() {
		walk(t)
	}
	return out
}

// lines returns the lines of a file that are neither empty nor comments.
func lines(t *testing.T, file string) (out []string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			out = append(out, line)
		}
	}
	return out
}
