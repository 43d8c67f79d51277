package yamlerror

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWithoutValues checks what is left of the errors of real parsers, and of two that only an old document meets.
func TestWithoutValues(t *testing.T) {
	var into struct {
		List []string `json:"list"`
		Text string   `json:"text"`
		Many int      `json:"many"`
	}
	for text, want := range map[string]string{
		"text: *canary":                        "error converting YAML to JSON: yaml: unknown anchor",
		"many: 4711.5":                         "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go struct field .many of type int",
		"list: canary":                         "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go struct field .list of type []string",
		"many: !!int canary":                   "error converting YAML to JSON: yaml: cannot decode !!str as a !!int",
		"~: canary":                            "error converting YAML to JSON: unsupported map key",
		"text: {18446744073709551615: canary}": "error converting YAML to JSON: unsupported map key",
		"text: [canary":                        "error converting YAML to JSON: yaml: line 1: did not find expected ',' or ']'",
	} {
		err := WithoutValues(yaml.Unmarshal([]byte(text), &into))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, said := range []string{
		"yaml: unmarshal errors: cannot unmarshal !!str `can`ary` into int", "yaml: invalid map key: map[string]interface {}{\"canary\":nil}",
		"yaml: anchor 'canary' value contains itself",
	} {
		if got := WithoutValues(errors.New(said)).Error(); strings.Contains(got, "ary") {
			t.Errorf("%s becomes %s", said, got)
		}
	}
	if WithoutValues(nil) != nil {
		t.Error("no error becomes one")
	}
}
