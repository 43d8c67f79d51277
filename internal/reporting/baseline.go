package reporting

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maskKnown masks the live values that a baseline has for the findings of a release, where they may be secret. A baseline that was made
// with --show-secrets has secrets, and a field that holds none now may have held one then. Scrub removes the secrets of the comparison.
func maskKnown(r *report.Release, scrub func(string) string) {
	for _, o := range r.Objects {
		for i := range o.Fields {
			if f := &o.Fields[i]; f.KnownLive != nil && mayHoldSecret(o, *f, scrub) {
				f.KnownLive = secret.Mask
			}
		}
	}
}

// mayHoldSecret reports whether the value of a baseline may be secret: by the kind of its object, by a name on its path, or by its text.
func mayHoldSecret(o report.Object, f report.Finding, scrub func(string) string) bool {
	names := strings.FieldsFunc(f.Path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-", r)
	})
	text, isText := f.KnownLive.(string)
	if !isText {
		encoded, err := json.Marshal(f.KnownLive)
		if err != nil {
			return true
		}
		text = string(encoded)
	}
	return o.Kind == "Secret" || slices.ContainsFunc(names, secret.Name) || scrub(text) != text
}
