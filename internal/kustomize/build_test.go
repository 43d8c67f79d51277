package kustomize

import (
	"errors"
	"testing"
)

// TestWithoutContent checks what is left of errors that quote files, patches and values.
func TestWithoutContent(t *testing.T) {
	for said, want := range map[string]string{
		"trouble configuring builtin PatchTransformer with config: `\npatch: |\n  a: `canary`\n  b: canary\n`: unable to parse SM or JSON " +
			"patch from [patch: \"a: [\\\"x\\\"]\\nb: `canary\"]": "trouble configuring builtin PatchTransformer: unable to parse SM or JSON patch from",
		"one: with a\n  line break":                                        "one: with a line break",
		"yaml: unknown anchor 'canary' referenced":                         "yaml: unknown anchor",
		"no target: one of patch and path canary":                          "no target: one of patch and path ...",
		"yaml: unmarshal errors: cannot unmarshal !!str `can`ry` into int": "yaml: unmarshal errors: cannot unmarshal !!str into int",
		"yaml: invalid map key: map[string]interface {}{\"canary\":nil}":   "yaml: invalid map key",
		"yaml: anchor 'canary' value contains itself":                      "yaml: anchor value contains itself",
		"yaml: line 3: could not find expected ':'":                        "yaml: line 3: could not find expected ':'",
	} {
		if got := WithoutContent(errors.New(said)).Error(); got != want {
			t.Errorf("%s\nbecomes %q, want %q", said, got, want)
		}
	}
}
