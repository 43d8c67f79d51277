package release

import (
	"bytes"
	"encoding/json"

	"helm.sh/helm/v3/pkg/chart"
)

// The values of Record.ApplyMethod besides the empty one.
const (
	ApplyClientSide = "csa"
	ApplyServerSide = "ssa"
)

// The values of Record.Writer besides the empty one.
const (
	WriterHelm3 = "3"
	WriterHelm4 = "4"
)

// Record is one decoded revision.
type Record struct {
	// StoredAs names the object that holds the record, for messages: "Secret prod/sh.helm.release.v1.web.v3".
	StoredAs string

	Name string
	// Namespace is the record's own, the default for the objects of the manifest. It can be another one than that of
	// the storage: Flux keeps them apart.
	Namespace string
	Revision  int
	// Status is the one inside the record. The label of the object can say something else; see History.Choose.
	Status string

	ChartName, ChartVersion string

	// Manifest is the rendered text, after any post-renderer: without hooks, without CRDs of the crds folder, and
	// without the labels, annotations and namespaces that Helm adds when it writes. A release can have an empty one.
	Manifest string
	// Hooks are the objects that Helm runs at its own times and never patches.
	Hooks []Hook

	// ApplyMethod is "csa" or "ssa" as Helm 4 records it; empty, which means client-side, for Helm 3.
	ApplyMethod string
	// Writer is the major version of the Helm that last wrote the record, as far as its shape tells: "3", "4", or empty
	// where it does not tell. Only Helm 4 writes apply_method and the chart's schemamodtime; only Helm 3 writes an
	// info.deleted that is an empty string.
	Writer string

	// Values is nil unless Options.Values asked for it.
	Values *Values
}

// Values are the parts of a record that upgrades can reuse, as JSON. Many small maps take several times the room of their
// text, so the caller decides where they are decoded.
type Values struct {
	Config, Metadata, Defaults Texts
}

// Texts are the values of one key, which JSON may have more than once. Each goes over those before it.
type Texts []json.RawMessage

// UnmarshalJSON keeps the text.
func (t *Texts) UnmarshalJSON(text []byte) error {
	*t = append(*t, bytes.Clone(text))
	return nil
}

// Decode returns the values that the user gave, and what the record says of the chart.
func (v *Values) Decode() (config map[string]any, c Chart, err error) {
	for _, part := range []struct {
		name  string
		texts Texts
		into  any
	}{{"config", v.Config, &config}, {"chart.metadata", v.Metadata, &c.Metadata}, {"chart.values", v.Defaults, &c.Values}} {
		for _, text := range part.texts {
			if err := json.Unmarshal(text, part.into); err != nil {
				return nil, Chart{}, misshapen(err, part.name)
			}
		}
	}
	return config, c, nil
}

// Hook names one hook of a release.
type Hook struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Path is the template it comes from.
	Path string `json:"path"`
	// Events are those that it runs at: pre-upgrade, test …
	Events []string `json:"events"`
}

// Chart is the part of the stored chart that later upgrades can reuse. Templates and files are in the record as well,
// subcharts are not, so no release can be rendered again from its record alone.
type Chart struct {
	Metadata *chart.Metadata
	// Values are the chart's defaults. Numbers are float64, here and in the user's: that is what Helm's own decoding
	// makes of them, and templates print them accordingly.
	Values map[string]any
}

// Options say how much of a record is wanted.
type Options struct {
	// Limit is the largest size in bytes that a record may unpack to; 0 stands for DefaultLimit.
	Limit int64
	// Values asks for Record.Values, which otherwise are stepped over.
	Values bool
}
