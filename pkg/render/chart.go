package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Codes of the warnings about a chart.
const (
	// CodeDeprecatedChart marks a chart that calls itself deprecated, as helm upgrade says too.
	CodeDeprecatedChart = "deprecated-chart"
	// CodeLibraryChart marks a chart that renders to nothing, which helm upgrade takes without a word.
	CodeLibraryChart = "library-chart"
	// CodeLinkedFile marks a chart directory with a symbolic link that leads out of it.
	CodeLinkedFile = "linked-file"
	// CodeHooksNotPostRendered says that Helm 4 would have sent the hooks through the post-renderer too.
	CodeHooksNotPostRendered = "hooks-not-post-rendered"
)

// ChartOptions is the chart, and all that its templates can see.
type ChartOptions struct {
	// Path of a chart directory or of a packaged chart (.tgz).
	Path string
	// Helm4 renders with Helm 4's engine and rules, else Helm 3's serve.
	Helm4 bool
	// Install renders as helm upgrade --install does for a release that is not there.
	Install bool
	// ReleaseName and Namespace are .Release.Name and .Release.Namespace. Helm takes the namespace from the record of
	// the old revision, not from the command line.
	ReleaseName, Namespace string
	// LastRevision is the number of the newest revision, whatever its status; the templates of an upgrade see the next
	// one. Those of an install always see 1, even where an uninstalled release left its history.
	LastRevision int
	// Previous is what the old revision's record says of its values.
	Previous Previous
	// Values is what the command line says.
	Values ValueOptions
	// Capabilities of the cluster; required, because the library's own default is of another Kubernetes version.
	Capabilities *chartutil.Capabilities
	// Undiscovered are API groups of which the cluster did not say what it serves. Capabilities lack them.
	Undiscovered []string
	// Lookup is the cluster that answers lookups. It should let nothing but GET pass, and give the same answers twice.
	// Where it is nil, lookups find nothing.
	Lookup *rest.Config
	// EnableDNS lets templates look up host names.
	EnableDNS bool
	// SkipSchemaValidation leaves the values unchecked.
	SkipSchemaValidation bool
	// Known is what is known to be secret; it learns the values that the templates see. Errors, and Helm's own log where it goes through
	// Known, are freed of it. It may be nil.
	Known *secret.Known
	// PostRender changes the manifest before it is stored; nil changes nothing. It sees no hooks.
	PostRender func(ctx context.Context, manifest []byte) ([]byte, error)
}

// Rendered is a chart rendered as helm upgrade would store it.
type Rendered struct {
	// Manifest is what the record of the next revision would hold, byte for byte.
	Manifest string
	// Again is the manifest of another rendering of the same, where it came out different: what differs between the two
	// is new with every upgrade. Charts that call no function of that kind are rendered once, and Again is empty.
	Again string
	// AtOnce is the manifest of another rendering at the time of the first, where Again has its clock put forward; else it is empty.
	AtOnce string
	// Hooks are not part of the manifest.
	Hooks []Hook
	// Brings are the custom kinds that the crds/ folders of the chart and its subcharts define: only an install creates them.
	Brings []schema.GroupKind
	// Undiscovered are those of ChartOptions.Undiscovered that a template may have asked for: it was told that they are not served.
	Undiscovered []string
	// ChartName, ChartVersion and AppVersion are the chart's own words.
	ChartName, ChartVersion, AppVersion string
	Warnings                            []report.Message
}

// Hook is an object that Helm runs beside the manifest. Helm never patches hooks, so they cannot drift.
type Hook struct {
	Kind, Name string
	// Path is the template.
	Path string
	// Events are those that it runs at: pre-upgrade, test …
	Events []string
}

// Chart renders a chart as `helm upgrade RELEASE CHART` would. What is wrong with the chart or its values is an *Error.
//
// Helm 3's engine takes no context: cancelling ctx is noticed between the steps, and ends lookups only if the
// configuration of Lookup says so. Nothing is shared between calls, so one that does not end can be left behind.
func Chart(ctx context.Context, o ChartOptions) (*Rendered, error) {
	if o.Capabilities == nil {
		return nil, errors.New("rendering a chart needs the capabilities of a cluster")
	}
	if o.Known == nil {
		o.Known = &secret.Known{}
	}
	o.Values.allDocuments, o.Values.known = o.Helm4, o.Known
	values, defaults, err := o.Values.choose(o.Previous)
	if err != nil {
		return nil, err
	}
	r := renderer{o, values, defaults}
	rendered, err := r.run(ctx)
	if err != nil {
		return nil, r.fault(ctx, err)
	}
	return rendered, nil
}

// revision is what templates see as .Release.Revision (helm v3.22.0 pkg/action/upgrade.go prepareUpgrade, install.go RunWithContext).
func (o ChartOptions) revision() int {
	if o.Install {
		return 1
	}
	return o.LastRevision + 1
}

// renderer is ChartOptions with the values chosen.
type renderer struct {
	ChartOptions
	values map[string]any
	// defaults stand for the chart's own where they are not nil.
	defaults map[string]any
}

func (r renderer) run(ctx context.Context) (*Rendered, error) {
	warnings, err := inspectLinks(r.Path)
	if err != nil {
		return nil, err
	}
	p, err := r.prepare()
	if err != nil {
		return nil, err
	}
	manifest, hooks, err := r.render(ctx, p)
	if err != nil {
		return nil, err
	}
	again, atOnce, err := r.renderAgain(ctx, p, manifest)
	if err != nil {
		return nil, err
	}
	about := p.chart.about()
	return &Rendered{
		Manifest: manifest, Again: again, AtOnce: atOnce, Hooks: hooks, Brings: brings(p.chart.definitions()),
		Undiscovered: p.asked(r.ChartOptions.Undiscovered),
		ChartName:    about.name, ChartVersion: about.version, AppVersion: about.appVersion,
		Warnings: append(warnings, r.warnings(about)...),
	}, nil
}

// prepared is a chart loaded for one rendering, because preparing and rendering change it.
type prepared struct {
	chart helmChart
	// inputs is what templates see; values is the part that the user and the charts gave, in the same maps.
	inputs, values map[string]any
}

// prepare does what Helm does before its templates run, in Helm's order: check the dependencies (Helm's command line),
// process them, coalesce the values, check them against the schema, check the version of Kubernetes.
func (r renderer) prepare() (prepared, error) {
	ch, err := r.load()
	if err != nil {
		return prepared{}, err
	}
	r.Known.AddAnnounced(copyValue(ch.defaults()))
	about := ch.about()
	if err := about.check(r.Install); err != nil {
		return prepared{}, err
	}
	if r.defaults != nil {
		ch.setDefaults(copyValue(r.defaults).(map[string]any))
	}
	p := prepared{chart: ch}
	p.inputs, p.values, err = ch.inputs(r.values, r.ChartOptions)
	if err != nil {
		return prepared{}, inputFault(about.name, err)
	}
	want, have := about.kubeVersion, r.Capabilities.KubeVersion.String()
	if want != "" && !chartutil.IsCompatibleRange(want, have) {
		return prepared{}, &Error{File: about.name + "/Chart.yaml", Advice: hintKubeVersion,
			Message: fmt.Sprintf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", want, have)}
	}
	return p, nil
}

const notesFile = "NOTES.txt"

// render runs the templates, sorts what they made, and frames it as Helm does (pkg/action/action.go renderResources).
func (r renderer) render(ctx context.Context, p prepared) (string, []Hook, error) {
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	files, err := p.chart.render(ctx, p.inputs, r.ChartOptions)
	if err != nil {
		return "", nil, err
	}
	for path := range files {
		if strings.HasSuffix(path, notesFile) {
			delete(files, path)
		}
	}
	manifests, hooks, err := p.chart.sort(files)
	if err != nil {
		return "", nil, sortFault(err)
	}
	var stream bytes.Buffer
	for _, m := range manifests {
		fmt.Fprintf(&stream, "---\n%s%s\n%s\n", sourcePrefix, m.path, m.content)
	}
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	if r.PostRender == nil {
		return stream.String(), hooks, nil
	}
	text, err := r.PostRender(ctx, stream.Bytes())
	return string(text), hooks, err
}

// warnings says what a reader of the result should know of the chart. Only helm install refuses library charts;
// helm upgrade renders them to nothing and goes on to delete the release's objects.
func (r renderer) warnings(about about) []report.Message {
	var warnings []report.Message
	if about.deprecated {
		warnings = append(warnings, report.Message{Code: CodeDeprecatedChart, Message: "this chart is deprecated"})
	}
	if strings.EqualFold(about.kind, "library") {
		warnings = append(warnings, report.Message{Code: CodeLibraryChart, Message: "this is a library chart: " +
			"helm upgrade would render nothing of it and delete the objects of the release"})
	}
	if r.Helm4 && r.PostRender != nil {
		warnings = append(warnings, report.Message{Code: CodeHooksNotPostRendered, Message: "the post-renderer saw the manifest " +
			"without hooks; Helm 4 sends both through it unless told --post-renderer-strategy nohooks"})
	}
	return warnings
}

// copyValue copies maps and lists, all the way down.
func copyValue(v any) any { return mapTexts(v, func(text string) string { return text }) }

// mapTexts copies a value with each text in it changed.
func mapTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for key, below := range v {
			out[key] = mapTexts(below, change)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, below := range v {
			out[i] = mapTexts(below, change)
		}
		return out
	case string:
		return change(v)
	}
	return v
}
