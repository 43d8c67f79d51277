package render

import (
	"bytes"
	"cmp"
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

// These are the codes of the warnings about a chart.
const (
	// CodeDeprecatedChart marks a chart that is deprecated. helm upgrade warns about it too.
	CodeDeprecatedChart = "deprecated-chart"
	// CodeLibraryChart marks a library chart, which helm upgrade renders to nothing without a warning.
	CodeLibraryChart = "library-chart"
	// CodeLinkedFile marks a chart directory with a symbolic link that leads out of it.
	CodeLinkedFile = "linked-file"
	// CodeHooksNotPostRendered says that Helm 4 would pass the hooks through the post-renderer too.
	CodeHooksNotPostRendered = "hooks-not-post-rendered"
)

// ChartOptions is the chart and everything that its templates can see.
type ChartOptions struct {
	// Path is the path of a chart directory or of a packaged chart (.tgz).
	Path string
	// Helm4 renders with the engine and the rules of Helm 4 instead of Helm 3.
	Helm4 bool
	// Install renders as helm upgrade --install does for a release that does not exist.
	Install bool
	// ReleaseName and Namespace are .Release.Name and .Release.Namespace. Helm takes the namespace from the record of
	// the old revision, not from the command line.
	ReleaseName, Namespace string
	// WritesCRDs says that the operation writes the folders crds/ before it renders the templates, so these see the new kinds. A definition
	// that exists stays as it is, unless ReplacesCRDs is set.
	WritesCRDs, ReplacesCRDs bool
	// LastRevision is the number of the newest revision, whatever its status. The templates of an upgrade see the
	// next number; those of an install always see 1, even if an uninstalled release has left its history.
	LastRevision int
	// Previous is what the old revision's record has about its values.
	Previous Previous
	// Values are the values of the command line.
	Values ValueOptions
	// Capabilities are the capabilities of the cluster. They are required, because the library's default has another
	// Kubernetes version.
	Capabilities *chartutil.Capabilities
	// Undiscovered are the API groups that could not be discovered and that Capabilities therefore lack.
	Undiscovered []string
	// Lookup is the cluster that answers lookups. It should let only GET pass, and answer a repeated lookup with the
	// same answer. If it is nil, lookups find nothing.
	Lookup *rest.Config
	// EnableDNS lets templates look up host names.
	EnableDNS bool
	// AllowOutsideLinks follows symbolic links of a chart directory that lead out of its Git working tree.
	AllowOutsideLinks bool
	// SkipSchemaValidation skips the check of the values against the chart's schema.
	SkipSchemaValidation bool
	// Known holds the known secrets, and learns the values that the templates see. Errors do not contain its
	// secrets, and neither does Helm's own log if the log is written through Known. It may be nil.
	Known *secret.Known
	// PostRender changes the manifest before it is stored; nil changes nothing. It does not get the hooks.
	PostRender func(ctx context.Context, manifest []byte) ([]byte, error)
}

// Rendered is a chart as helm upgrade would store it.
type Rendered struct {
	// Manifest is the manifest of the next revision's record, byte for byte.
	Manifest string
	// Again is the manifest of a second rendering, if it differs. Each upgrade changes what differs. A chart that
	// calls no volatile function is rendered once, and Again is empty.
	Again string
	// AtOnce is the manifest of another rendering at the time of the first, if the clock of Again was moved forward.
	AtOnce string
	// Hooks are the hooks, which are not part of the manifest.
	Hooks []Hook
	// Definitions are the documents of the crds/ folders of the chart and its subcharts, in the order of an
	// installation. Brings are the custom kinds that they define.
	Definitions []Document
	Brings      []schema.GroupKind
	// NewVersions are the API versions that the templates saw besides those of ChartOptions.Capabilities, because of WritesCRDs. LostVersions
	// are those of Capabilities that they did not see, because a definition that the operation replaces no longer serves them.
	NewVersions, LostVersions []string
	// Undiscovered are the groups of ChartOptions.Undiscovered that a template may have asked about. The answer was
	// that they are not served.
	Undiscovered []string
	// ChartName, ChartVersion and AppVersion are the fields of Chart.yaml.
	ChartName, ChartVersion, AppVersion string
	Warnings                            []report.Message
}

// Hook is an object that Helm applies apart from the manifest. Helm never patches hooks, so they cannot drift.
type Hook struct {
	Kind, Name string
	// Path is the path of its template.
	Path string
	// Events are the events that run it: pre-upgrade, test …
	Events []string
	// Weight orders the hooks of one event.
	Weight int
	// DeletePolicies say when Helm deletes it: before-hook-creation, hook-succeeded … The default is before-hook-creation.
	DeletePolicies []string
	// Text is its document.
	Text string
}

// Chart renders a chart as `helm upgrade RELEASE CHART` would. A problem with the chart or its values is an *[Error]. Nothing
// of o changes but Known, and the result belongs to the caller.
//
// Helm 3's engine takes no context: cancelling ctx has an effect between the steps, and ends lookups only if the
// configuration of Lookup does so. Calls share nothing, so a call that does not end can be abandoned.
func Chart(ctx context.Context, o ChartOptions) (*Rendered, error) {
	if o.Capabilities == nil {
		return nil, errors.New("rendering a chart needs the capabilities of a cluster")
	}
	r, err := newRenderer(o)
	if err != nil {
		return nil, err
	}
	rendered, err := r.run(ctx)
	if err != nil {
		return nil, r.asError(ctx, err)
	}
	return rendered, nil
}

// revision returns what templates see as .Release.Revision (helm v3.22.0 pkg/action/upgrade.go prepareUpgrade,
// install.go RunWithContext).
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
	// defaults replace the chart's own default values if they are not nil.
	defaults map[string]any
}

// newRenderer chooses the values. If that fails, the renderer has none.
func newRenderer(o ChartOptions) (r renderer, err error) {
	o.Known = cmp.Or(o.Known, &secret.Known{})
	o.Values.helm4, o.Values.known = o.Helm4, o.Known
	r.ChartOptions = o
	r.values, r.defaults, err = o.Values.chooseValues(o.Previous)
	return r, err
}

// run renders the chart, twice if it is volatile.
func (r renderer) run(ctx context.Context) (*Rendered, error) {
	warnings, err := inspectLinks(r.Path, r.AllowOutsideLinks)
	if err != nil {
		return nil, err
	}
	p, err := r.prepare()
	if err != nil {
		return nil, err
	}
	definitions, before := p.definitions, r.Capabilities.APIVersions
	if !r.WritesCRDs {
		definitions = p.chart.definitions()
	}
	r.ChartOptions = p.options
	manifest, hooks, err := r.render(ctx, p)
	if err != nil {
		return nil, err
	}
	again, atOnce, err := r.renderAgain(ctx, p, manifest)
	if err != nil {
		return nil, err
	}
	info := p.chart.info()
	return &Rendered{
		Manifest: manifest, Again: again, AtOnce: atOnce, Hooks: hooks,
		Definitions: definitions, Brings: DefinedKinds(Objects(definitions, ParseOptions{}).Objects),
		NewVersions:  missingFrom(before, r.Capabilities.APIVersions),
		LostVersions: missingFrom(r.Capabilities.APIVersions, before),
		Undiscovered: p.usedGroups(r.ChartOptions.Undiscovered),
		ChartName:    info.name, ChartVersion: info.version, AppVersion: info.appVersion,
		Warnings: append(warnings, r.warnings(info)...),
	}, nil
}

// prepared is a chart that was loaded for one rendering. Each rendering loads its own, because
// preparing and rendering change the chart.
type prepared struct {
	chart helmChart
	// definitions are the documents of the folders crds/ if the operation writes them. Then options are the options after that.
	definitions []Document
	options     ChartOptions
	// inputs is what templates see. values is the part of inputs that comes from the user and the charts, in the
	// same maps.
	inputs, values map[string]any
}

// prepare does what Helm does before it renders the templates, in Helm's order: check the dependencies (Helm's
// command line), process them, coalesce the values, check them against the schema, check the version of Kubernetes.
func (r renderer) prepare() (prepared, error) {
	ch, err := r.load()
	if err != nil {
		return prepared{}, err
	}
	return r.prepareLoaded(ch)
}

// prepareLoaded is prepare for a chart that is loaded. It changes the chart.
func (r renderer) prepareLoaded(ch helmChart) (p prepared, err error) {
	info, files := ch.info(), ch.tree()
	r.Known.AddAnnounced(copyValue(files.defaults()))
	if err := info.check(files.below, r.Install); err != nil {
		return prepared{}, err
	}
	if r.defaults != nil {
		ch.setDefaults(copyValue(r.defaults).(map[string]any))
	}
	p.chart = ch
	if err = ch.processDependencies(r.values); err != nil {
		return prepared{}, valuesError(info.name, err)
	}
	if p.options = r.ChartOptions; r.WritesCRDs {
		p.definitions = ch.definitions()
		p.options = r.withDefinitions(DefinitionsAmong(Objects(p.definitions, ParseOptions{}).Objects))
	}
	p.inputs, p.values, err = ch.inputs(r.values, p.options)
	if err == nil && !r.SkipSchemaValidation {
		err = ch.tree().validate(p.values, withoutValues)
	}
	if err != nil {
		return prepared{}, valuesError(info.name, err)
	}
	want, have := info.kubeVersion, r.Capabilities.KubeVersion.String()
	if want != "" && !chartutil.IsCompatibleRange(want, have) {
		return prepared{}, &Error{File: info.name + "/Chart.yaml", Advice: hintKubeVersion,
			Message: fmt.Sprintf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", want, have)}
	}
	return p, nil
}

const notesFile = "NOTES.txt"

// render renders the templates, sorts the documents, and joins them as Helm does (pkg/action/action.go
// renderResources).
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
		return "", nil, sortError(err)
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

// warnings returns what the user should know about the chart. Only helm install refuses library charts; helm upgrade
// renders them to nothing and deletes the objects of the release.
func (r renderer) warnings(info chartInfo) []report.Message {
	var warnings []report.Message
	if info.deprecated {
		warnings = append(warnings, report.Message{Code: CodeDeprecatedChart, Message: "this chart is deprecated"})
	}
	if strings.EqualFold(info.kind, "library") {
		warnings = append(warnings, report.Message{Code: CodeLibraryChart, Message: "this is a library chart: " +
			"helm upgrade would render no objects and delete those of the release"})
	}
	if r.Helm4 && r.PostRender != nil {
		warnings = append(warnings, report.Message{Code: CodeHooksNotPostRendered, Message: "the post-renderer was given the manifest " +
			"without hooks; Helm 4 passes hooks through it too, unless it is called with --post-renderer-strategy nohooks"})
	}
	return warnings
}

// copyValue returns a deep copy of a value.
func copyValue(v any) any { return mapTexts(v, func(text string) string { return text }) }

// mapTexts returns a deep copy of a value with change applied to each text in it.
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
