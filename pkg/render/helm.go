package render

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// helmChart is a chart in the types of one major version of Helm. Only what the versions do differently, or with
// types of their own, is behind this interface (helm3.go, helm4.go); everything else is written once.
type helmChart interface {
	// info returns the chart's metadata.
	info() chartInfo
	// setDefaults replaces the values of values.yaml.
	setDefaults(map[string]any)
	// defaults returns the values of the chart and its subcharts, as their files have them.
	defaults() any
	// inputs processes the dependencies, which changes the chart, and returns what its templates see. Values is the
	// part of inputs below .Values, in the same maps.
	inputs(given map[string]any, o ChartOptions) (inputs, values map[string]any, err error)
	// render returns the text of each template file.
	render(ctx context.Context, inputs map[string]any, o ChartOptions) (map[string]string, error)
	// sort splits the texts into documents, separates the hooks, and sorts the rest in the order of installing.
	sort(files map[string]string) ([]sortedDocument, []Hook, error)
	// sources returns the templates and the other files of the chart and its subcharts.
	sources() (templates, files []source)
	// clone returns a copy whose preparation and rendering leave the chart as it is.
	clone() helmChart
	// templates returns the templates of the chart and its subcharts.
	templates() []Template
	// retain drops every template for which keep returns false, by its path.
	retain(keep func(path string) bool)
	// definitions returns the documents of the crds/ folders of the chart and its subcharts.
	definitions() []Document
}

// chartInfo is the metadata of a chart.
type chartInfo struct {
	name, version, appVersion, kubeVersion, kind string
	deprecated                                   bool
	// required are the names of the dependencies in Chart.yaml, and present those of the charts in charts/.
	required, present []string
}

// sortedDocument is one rendered document and the path of its template.
type sortedDocument struct{ path, content string }

// source is one file of a chart. Writing to data replaces its content.
type source struct {
	name string
	data *[]byte
}

// load reads the chart from its files.
func (r renderer) load() (ch helmChart, err error) {
	if r.Helm4 {
		ch, err = loadHelm4(r.Path)
	} else {
		ch, err = loadHelm3(r.Path)
	}
	if err != nil {
		return nil, loadError(r.Path, err)
	}
	return ch, nil
}

// check does what Helm's command line checks before it renders. The missing dependencies are those that
// action.CheckDependencies looks for (helm v3.22.0 pkg/action/install.go); without the check an umbrella chart would
// render without them, and their objects would seem to be deleted. It is repeated here because pkg/action links every
// client of Helm. An install also checks the type of the chart (cmd/helm/install.go checkIfInstallable).
func (i chartInfo) check(install bool) error {
	missing := slices.DeleteFunc(slices.Clone(i.required), func(name string) bool { return slices.Contains(i.present, name) })
	if len(missing) > 0 {
		return &Error{File: i.name + "/Chart.yaml", Advice: hintDependencies,
			Message: "found in Chart.yaml, but missing in charts/ directory: " + strings.Join(missing, ", ")}
	}
	if install && i.kind != "" && i.kind != "application" {
		return &Error{File: i.name + "/Chart.yaml", Message: fmt.Sprintf("%s charts are not installable", i.kind)}
	}
	return nil
}

// stringsOf returns the events or the policies of a hook as strings.
func stringsOf[E ~string](values []E) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = string(value)
	}
	return out
}
