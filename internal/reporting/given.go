package reporting

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/tokens"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file is about the values that the user gave a release. They say why two environments of a release differ.

// givenValues returns the values of the revision that Helm starts from, in the order of their paths. It returns none if they were not read
// or cannot be decoded.
func givenValues(r *drift.Result, mask threeway.Mask) (out []report.GivenValue) {
	old := r.Loaded.Old
	if old == nil || old.Values == nil {
		return nil
	}
	config, _, err := old.Values.Decode()
	if err != nil || len(config) == 0 {
		return nil
	}
	masked := any(config)
	if !mask.Show {
		// A chart may print a value anywhere, so a value is secret if its own place announces that, or if it is in a Secret.
		known := &secret.Known{}
		known.AddAnnounced(config)
		masked = tokens.NewMasker(known, nil).Given(config)
	}
	scrub := func(text string) string {
		if mask.Show {
			return text
		}
		return r.Comparison.Scrub(text)
	}
	var walk func(path object.Path, clear, shown any)
	walk = func(path object.Path, clear, shown any) {
		fields, isMap := clear.(map[string]any)
		if !isMap || len(fields) == 0 {
			v := report.GivenValue{Path: scrub(path.String()), Value: clear}
			if !reflect.DeepEqual(clear, shown) || holds(clear, func(text string) bool { return scrub(text) != text }) {
				v.Value, v.Masked = nil, true
			}
			out = append(out, v)
			return
		}
		below, _ := shown.(map[string]any)
		for _, name := range object.SortedKeys(fields) {
			walk(path.Field(name), fields[name], below[name])
		}
	}
	walk(nil, config, masked)
	return out
}

// holds reports whether a text or a number of a value, or a key in it, is one that matches.
func holds(v any, matches func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return matches(v)
	case float64:
		return matches(strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holds(item, matches) })
	case map[string]any:
		for name, below := range v {
			if matches(name) || holds(below, matches) {
				return true
			}
		}
	}
	return false
}
