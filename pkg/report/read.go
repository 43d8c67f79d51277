package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Read decodes a report that was saved as JSON or YAML. It accepts every report of this APIVersion, also one with keys that it does not
// know: within a version keys are only added. Notes have no kinds, because saved reports have only their texts.
func Read(text []byte) (*Report, error) {
	doc := text
	if !json.Valid(doc) {
		var err error
		if doc, err = yaml.YAMLToJSON(text); err != nil {
			return nil, fmt.Errorf("it is neither JSON nor YAML: %w", err)
		}
	}
	var head struct{ APIVersion, Kind string }
	switch err := json.Unmarshal(doc, &head); {
	case err != nil || head.APIVersion == "":
		return nil, errors.New("it has no apiVersion")
	case head.APIVersion != APIVersion && strings.HasPrefix(head.APIVersion, "helmdrift.io/"):
		return nil, fmt.Errorf("its apiVersion is %.40s, and this helmdrift reads %s; a newer helmdrift may have written it", head.APIVersion, APIVersion)
	case head.APIVersion != APIVersion || head.Kind != KindReport:
		return nil, fmt.Errorf("it is a %.40s %.40s, not a %s %s", head.APIVersion, head.Kind, APIVersion, KindReport)
	}
	var out Report
	if err := json.Unmarshal(doc, &out); err != nil {
		return nil, fmt.Errorf("it does not have the form of a report: %w", err)
	}
	return &out, nil
}

// UnmarshalJSON decodes a finding. Integers stay integers, and the sides that Nulls names become object.Null.
func (f *Finding) UnmarshalJSON(raw []byte) error {
	type plain Finding
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode((*plain)(f)); err != nil {
		return err
	}
	putNulls(f.sides(), f.Nulls)
	f.Nulls = nil
	return nil
}

// putNulls makes the numbers of decoded sides those of the API, and the named sides object.Null.
func putNulls(sides iter.Seq2[string, *any], nulls []string) {
	for name, side := range sides {
		*side = withNumbers(*side)
		if slices.Contains(nulls, name) {
			*side = object.Null{}
		}
	}
}

// withNumbers returns a decoded value whose numbers are as those of the API: int64 where that holds the number, else float64.
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
