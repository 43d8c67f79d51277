package render

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Codes of the warnings about a chart.
const (
	// CodeDeprecatedChart marks a chart that calls itself deprecated, as helm upgrade says too.
	CodeDeprecatedChart = "deprecated-chart"
	// CodeLibraryChart marks a chart that renders to nothing, which helm upgrade takes without a word.
	CodeLibraryChart = "library-chart"
)

// ChartOptions is the chart, and all that its templates can see.
type ChartOptions struct {
	// Path of a chart directory or of a packaged chart (.tgz).
	Path string
	// ReleaseName and Namespace are .Release.Name and .Release.Namespace. Helm takes the namespace from the record of
	// the old revision, not from the command line.
	ReleaseName, Namespace string
	// LastRevision is the number of the newest revision, whatever its status; templates see the next one.
	LastRevision int
	// Config is the old revision's own values, used when Values gives none. Its numbers are float64, as encoding/json
	// decodes them: Helm's templates print what they hold, 1e+06 for a million.
	Config map[string]any
	// Values is what the command line says.
	Values ValueOptions
	// Capabilities of the cluster; required, because the library's own default is of another Kubernetes version.
	Capabilities *chartutil.Capabilities
	// Engine renders: engine.New(config) answers lookups from a cluster, the zero Engine answers them with nothing.
	Engine engine.Engine
}

// Rendered is a chart rendered as helm upgrade would store it.
type Rendered struct {
	// Manifest is what the record of the next revision would hold, byte for byte.
	Manifest string
	// Hooks are not part of the manifest.
	Hooks []Hook
	// ChartName, ChartVersion and AppVersion are the chart's own words.
	ChartName, ChartVersion, AppVersion string
	Warnings                            []threeway.Message
}

// Hook is an object that Helm runs beside the manifest. Helm never patches hooks, so they cannot drift.
type Hook struct {
	Kind, Name string
	// Path is the template.
	Path string
}

// Chart renders a chart as `helm upgrade RELEASE CHART` would. Errors of templates name file and line, in Helm's words.
//
// The engine takes no context: cancelling ctx is noticed between the steps, and ends lookups only if the Engine's own
// configuration says so.
func Chart(ctx context.Context, o ChartOptions) (*Rendered, error) {
	if o.Capabilities == nil {
		return nil, errors.New("rendering a chart needs the capabilities of a cluster")
	}
	values, err := o.Values.choose(o.Config)
	if err != nil {
		return nil, err
	}
	ch, err := loadChart(o.Path)
	if err != nil {
		return nil, err
	}
	inputs, err := o.templateInputs(ch, values)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", ch.Name(), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("rendering chart %s: %w", ch.Name(), err)
	}
	files, err := o.Engine.Render(ch, inputs)
	if err != nil {
		return nil, fmt.Errorf("rendering chart %s: %w", ch.Name(), err)
	}
	rendered := &Rendered{
		ChartName:    ch.Name(),
		ChartVersion: ch.Metadata.Version,
		AppVersion:   ch.Metadata.AppVersion,
		Warnings:     chartWarnings(ch.Metadata),
	}
	rendered.Manifest, rendered.Hooks, err = assemble(files)
	if err != nil {
		return nil, fmt.Errorf("rendering chart %s: %w", ch.Name(), err)
	}
	return rendered, nil
}

// loadChart reads a chart anew for each rendering, because processing dependencies changes it.
func loadChart(path string) (*chart.Chart, error) {
	ch, err := loader.Load(path)
	if err != nil {
		return nil, fmt.Errorf("loading chart %s: %w; give the path of a chart directory or of a packaged chart "+
			"(`helm pull` fetches one from a repository or a registry)", path, err)
	}
	if missing := missingDependencies(ch); len(missing) > 0 {
		return nil, fmt.Errorf("loading chart %s: found in Chart.yaml, but missing in charts/ directory: %s; "+
			"try `helm dependency build %s`", path, strings.Join(missing, ", "), path)
	}
	return ch, nil
}

// missingDependencies is what action.CheckDependencies looks for (helm v3.22.0 pkg/action/install.go). Without the check
// an umbrella chart renders with parts missing, which would look like objects to delete. It is spelled out here because
// pkg/action links every client Helm has.
func missingDependencies(ch *chart.Chart) []string {
	present := map[string]bool{}
	for _, dependency := range ch.Dependencies() {
		present[dependency.Name()] = true
	}
	var missing []string
	for _, wanted := range ch.Metadata.Dependencies {
		if !present[wanted.Name] {
			missing = append(missing, wanted.Name)
		}
	}
	return missing
}

// templateInputs are the values under which templates run, and the checks Helm makes on the way: the values schema, then
// the version of Kubernetes.
func (o ChartOptions) templateInputs(ch *chart.Chart, values map[string]any) (chartutil.Values, error) {
	if err := chartutil.ProcessDependenciesWithMerge(ch, values); err != nil {
		return nil, fmt.Errorf("processing dependencies: %w", err)
	}
	release := chartutil.ReleaseOptions{
		Name:      o.ReleaseName,
		Namespace: o.Namespace,
		Revision:  o.LastRevision + 1,
		IsUpgrade: true,
	}
	const skipSchemaValidation = false
	inputs, err := chartutil.ToRenderValuesWithSchemaValidation(ch, values, release, o.Capabilities, skipSchemaValidation)
	if err != nil {
		return nil, err
	}
	want, have := ch.Metadata.KubeVersion, o.Capabilities.KubeVersion.String()
	if want != "" && !chartutil.IsCompatibleRange(want, have) {
		return nil, fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", want, have)
	}
	return inputs, nil
}

// chartWarnings says what a reader of the result should know of the chart. Only helm install refuses library charts;
// helm upgrade renders them to nothing and goes on to delete the release's objects.
func chartWarnings(metadata *chart.Metadata) []threeway.Message {
	var warnings []threeway.Message
	if metadata.Deprecated {
		warnings = append(warnings, threeway.Message{Code: CodeDeprecatedChart, Message: "this chart is deprecated"})
	}
	if strings.EqualFold(metadata.Type, "library") {
		warnings = append(warnings, threeway.Message{Code: CodeLibraryChart, Message: "this is a library chart: " +
			"helm upgrade would render nothing of it and delete the objects of the release"})
	}
	return warnings
}

const notesFile = "NOTES.txt"

// assemble joins rendered templates to the manifest that Helm stores, and takes the hooks out.
func assemble(files map[string]string) (string, []Hook, error) {
	for path := range files {
		if strings.HasSuffix(path, notesFile) {
			delete(files, path)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return "", nil, sortFault(err)
	}
	var stream strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&stream, "---\n%s%s\n%s\n", sourcePrefix, m.Name, m.Content)
	}
	var listed []Hook
	for _, h := range hooks {
		listed = append(listed, Hook{Kind: h.Kind, Name: h.Name, Path: h.Path})
	}
	return stream.String(), listed, nil
}

// sortFault keeps the place that SortManifests names ("YAML parse error on FILE: …") and says the rest without quoting the
// rendered text.
func sortFault(err error) error {
	place, _, _ := strings.Cut(err.Error(), ": ")
	return fmt.Errorf("%s: the rendered text %w", place, yamlFault(err))
}
