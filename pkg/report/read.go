package report

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// UnmarshalJSON decodes a finding. Integers stay integers, and the sides that Nulls names become object.Null.
func (f *Finding) UnmarshalJSON(raw []byte) error {
	type plain Finding
	return decodeSides(raw, (*plain)(f), f.sides(), &f.Nulls)
}

// decodeSides decodes a value that has sides and the names of those that are null. It converts the numbers of the sides to the API's
// types, and sets the named sides to object.Null.
func decodeSides(raw []byte, value any, sides iter.Seq2[string, *any], nulls *[]string) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(value); err != nil {
		return err
	}
	for name, side := range sides {
		*side = withNumbers(*side)
		if slices.Contains(*nulls, name) {
			*side = object.Null{}
		}
	}
	*nulls = nil
	return nil
}

// withNumbers returns a decoded value with numbers in the API's types: int64 if the number fits, or else float64.
func withNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		n, _ := v.Float64() // the decoder has checked that it is a number
		return n
	case map[string]any:
		for key := range v {
			v[key] = withNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	}
	return value
}
