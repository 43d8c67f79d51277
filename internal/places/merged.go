package places

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/render"
)

// Merged are values that Helm merges of files and flags. They implement Values.
type Merged struct {
	// Options name the files and have the flags, and Texts are the contents of the files.
	Options render.ValueOptions
	Texts   map[string][]byte
	// Own are the options that compose each layer alone. Their only file is the one that a change of the layer rewrites; a flag has none.
	Own []render.ValueOptions
}

// Alone merges the values of some options.
func (m Merged) Alone(o render.ValueOptions) (map[string]any, error) {
	o.ReadFile = func(name string) ([]byte, error) { return m.Texts[name], nil }
	return o.Merged(true)
}

// Compose implements Values.
func (m Merged) Compose() (map[string]any, error) { return m.Alone(m.Options) }

// Of implements Values.
func (m Merged) Of(layer int) (map[string]any, bool) {
	values, err := m.Alone(m.Own[layer])
	return values, err == nil
}

// With implements Values.
func (m Merged) With(layer int, values map[string]any) (Values, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return nil, errors.New("the values are no JSON")
	}
	file := m.Own[layer].Files[0]
	if !slices.Contains(m.Options.Files, file) { // the layer had no values
		m.Options.Files = append(slices.Clone(m.Options.Files), file)
	}
	m.Texts = maps.Clone(m.Texts)
	m.Texts[file] = text
	return m, nil
}
