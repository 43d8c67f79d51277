package release

import "helm.sh/helm/v3/pkg/chart"

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

	// Config holds the values that the user gave. Config and Chart are nil unless Options.Values asked for them.
	Config map[string]any
	Chart  *Chart
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
	Metadata *chart.Metadata `json:"metadata"`
	// Values are the chart's defaults. Numbers are float64, here and in Record.Config: that is what Helm's own decoding
	// makes of them, and templates print them accordingly.
	Values map[string]any `json:"values"`
}

// Options say how much of a record is wanted.
type Options struct {
	// Limit is the largest size in bytes that a record may unpack to; 0 stands for DefaultLimit.
	Limit int64
	// Values asks for Config and Chart, which otherwise are stepped over.
	Values bool
}
