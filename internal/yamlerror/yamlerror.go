// Package yamlerror takes out of errors of the parsers of YAML what they quote of a text, which may be secret.
package yamlerror

import (
	"errors"
	"regexp"
)

// quoted matches what the parsers quote: a text behind an asterisk, which they take for the name of an anchor, a text that is no number, a
// text that is not of the type of its tag, a number that is no text, and a key that is no text, with its value (go.yaml.in/yaml/v2 v2.4.4
// decode.go, resolve.go; go.yaml.in/yaml/v3 v3.0.5 decode.go; sigs.k8s.io/yaml v1.6.0 yaml.go; encoding/json UnmarshalTypeError).
var quoted = regexp.MustCompile("(?s)(anchor) '[^']*'(?: referenced)?|(cannot (?:unmarshal|decode) [^ ]+) `.*?`( into| as)|" +
	"(cannot unmarshal number) [^ ]+( into)|(invalid map key|unsupported map key)\\b.*")

// WithoutValues returns an error without the values that it quotes. It returns nil for nil.
func WithoutValues(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(quoted.ReplaceAllString(err.Error(), "$1$2$3$4$5$6"))
}
