package render

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// helmChart is a chart in the types of one major version of Helm. Only what the versions do differently, or spell with
// types of their own, is behind it (helm3.go, helm4.go); everything else is written once.
type helmChart interface {
	about() about
	// setDefaults puts other values in the place of values.yaml.
	setDefaults(map[string]any)
	// defaults are the values of the chart and its subcharts, as their files have them.
	defaults() any
	// inputs processes the dependencies, which changes the chart, and gives what its templates see; values is the part of
	// inputs below .Values, in the same maps.
	inputs(given map[string]any, o ChartOptions) (inputs, values map[string]any, err error)
	// render gives the text of each template file.
	render(ctx context.Context, inputs map[string]any, o ChartOptions) (map[string]string, error)
	// sort splits the texts into documents, takes the hooks out and brings the rest into the order of installing.
	sort(files map[string]string) ([]manifest, []Hook, error)
	// sources are the templates and the other files of the chart and its subcharts.
	sources() (templates, files []source)
	// definitions are the files of the crds/ folders of the chart and its subcharts.
	definitions() []string
}

// about is what a chart's metadata says.
type about struct {
	name, version, appVersion, kubeVersion, kind string
	deprecated                                   bool
	// wanted are the names of the dependencies that Chart.yaml names, present of those in charts/.
	wanted, present []string
}

// manifest is one document, and the template it came from.
type manifest struct{ path, content string }

// source is one file of a chart; what data points to can be replaced.
type source struct {
	name string
	data *[]byte
}

// load reads the chart anew.
func (r renderer) load() (ch helmChart, err error) {
	if r.Helm4 {
		ch, err = loadHelm4(r.Path)
	} else {
		ch, err = loadHelm3(r.Path)
	}
	if err != nil {
		return nil, loadFault(r.Path, err)
	}
	return ch, nil
}

// check is what Helm's command line looks at before it renders. Missing dependencies are what action.CheckDependencies
// looks for (helm v3.22.0 pkg/action/install.go); without the check an umbrella chart renders with parts missing, which would
// look like objects to delete. It is spelled out here because pkg/action links every client Helm has. An install also looks at
// the type of the chart (cmd/helm/install.go checkIfInstallable).
func (a about) check(install bool) error {
	missing := slices.DeleteFunc(slices.Clone(a.wanted), func(name string) bool { return slices.Contains(a.present, name) })
	if len(missing) > 0 {
		return &Error{File: a.name + "/Chart.yaml", Advice: hintDependencies,
			Message: "found in Chart.yaml, but missing in charts/ directory: " + strings.Join(missing, ", ")}
	}
	if install && a.kind != "" && a.kind != "application" {
		return &Error{File: a.name + "/Chart.yaml", Message: fmt.Sprintf("%s charts are not installable", a.kind)}
	}
	return nil
}

// eventsOf are the words of a hook's events.
func eventsOf[E ~string](events []E) []string {
	out := make([]string, len(events))
	for i, event := range events {
		out[i] = string(event)
	}
	return out
}
