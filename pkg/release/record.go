package release

import (
	"bytes"
	"encoding/json"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// These are the values of Record.Writer besides the empty one.
const (
	WriterHelm3 = "3"
	WriterHelm4 = "4"
)

// Record is one decoded revision.
type Record struct {
	// StoredAs names the object that holds the record, for messages: "Secret prod/sh.helm.release.v1.web.v3".
	StoredAs string

	// Name is the name of the release.
	Name string
	// Namespace is the record's own namespace, which is the default for the objects of the manifest. It can differ
	// from the namespace of the storage: Flux separates the two.
	Namespace string
	// Revision is the number of the revision, from 1 on.
	Revision int
	// Status is the status inside the record. The label of the object may differ; see History.Choose.
	Status string

	ChartName, ChartVersion string

	// Manifest is the rendered text, after any post-renderer: without hooks, without the CRDs of the crds folder, and
	// without the labels, annotations and namespaces that Helm adds when it writes. It can be empty.
	Manifest string
	// Hooks are the objects that Helm creates at certain events and never patches.
	Hooks []Hook

	// ApplyMethod is how Helm 4 wrote the objects. It is empty for Helm 3, which applies client-side.
	ApplyMethod report.ApplyMethod
	// Writer is the major version of the Helm that last wrote the record, "3" or "4", or empty if the record does not
	// show it. Only Helm 4 writes apply_method and the chart's schemamodtime; only Helm 3 writes an info.deleted that
	// is an empty string.
	Writer string

	// Values is nil unless Options.Values is set.
	Values *Values
	// StoredChart is the JSON of the chart, without subcharts. It is nil unless Options.Chart is set.
	StoredChart json.RawMessage
}

// Chart returns the name and version of the chart, or "" if the record does not name a chart.
func (r *Record) Chart() string {
	if r.ChartName == "" {
		return ""
	}
	return r.ChartName + "-" + r.ChartVersion
}

// Values are the parts of a record that upgrades can reuse, as JSON. Many small maps take several times the memory of
// their text, so the caller decides where to decode them.
type Values struct {
	Config, Metadata, Defaults Texts
}

// Texts are the values of one key. JSON may have a key more than once; each value is merged over the earlier
// ones.
type Texts []json.RawMessage

// UnmarshalJSON stores the text of the value.
func (t *Texts) UnmarshalJSON(text []byte) error {
	*t = append(*t, bytes.Clone(text))
	return nil
}

// Decode returns the values that the user gave, and the stored chart.
func (v *Values) Decode() (config map[string]any, c Chart, err error) {
	for _, part := range []struct {
		name  string
		texts Texts
		into  any
	}{{"config", v.Config, &config}, {"chart.metadata", v.Metadata, &c.Metadata}, {"chart.values", v.Defaults, &c.Values}} {
		for _, text := range part.texts {
			if err := json.Unmarshal(text, part.into); err != nil {
				return nil, Chart{}, jsonError(err, part.name)
			}
		}
	}
	return config, c, nil
}

// Hook names one hook of a release.
type Hook struct {
	// Name and Kind identify the object.
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Path is the path of its template.
	Path string `json:"path"`
	// Events are the events that run it: pre-upgrade, test …
	Events []string `json:"events"`
	// Weight orders the hooks of one event.
	Weight int `json:"weight"`
	// DeletePolicies say when Helm deletes it: before-hook-creation, hook-succeeded … The default is before-hook-creation.
	DeletePolicies []string `json:"delete_policies"`
	// Manifest is its document.
	Manifest string `json:"manifest"`
}

// Chart is the part of the stored chart that later upgrades can reuse. Templates and files are in the record as well,
// but subcharts are not, so no release can be rendered from its record alone.
type Chart struct {
	Metadata *chart.Metadata
	// Values are the chart's defaults. Numbers are float64, as in the user's values, because Helm decodes them so and
	// templates print them accordingly.
	Values map[string]any
}

// applyMethods has the value of apply_method for each method (helm v4.3.1 pkg/release/v1/release.go ApplyMethod). Helm 3 has neither.
var applyMethods = map[report.ApplyMethod]string{"": "", report.ApplyClientSide: "csa", report.ApplyServerSide: "ssa"}

// ParseApplyMethod returns what a value of apply_method means, and false if it is none.
func ParseApplyMethod(word string) (method report.ApplyMethod, ok bool) {
	for method, known := range applyMethods {
		if known == word {
			return method, true
		}
	}
	return "", false
}

// ApplyMethodWord returns the value of apply_method that ParseApplyMethod reads as a method.
func ApplyMethodWord(method report.ApplyMethod) string { return applyMethods[method] }

// Options say how much of a record to read.
type Options struct {
	// Limit is the largest size in bytes that a record may unpack to; 0 means DefaultLimit.
	Limit int64
	// Values asks for Record.Values, and Chart for Record.StoredChart, which Decode skips otherwise.
	Values, Chart bool
}
