package drift

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// AbsorbOptions say what is absorbed. The zero value absorbs what drifted, without side effects.
type AbsorbOptions struct {
	// Unmanaged also absorbs fields that no manifest names and that somebody added.
	Unmanaged bool
	// MaxSideEffects is how many fields of other objects the changes for one field may move; 0 means none.
	MaxSideEffects int
	// Rewrite returns the content of the values file after edits, given its content as values. If it is nil, or returns nil, the edited
	// values are the content, as JSON. Edits for which it returns an error, such as an *absorb.Refusal, are not proposed. The type of the
	// edits is internal, so other modules leave it nil and pass Absorption.Edits to RewriteValues.
	Rewrite func(edits []absorb.Edit, edited map[string]any) ([]byte, error)
}

// Absorption is the result of a search for values that make a chart agree with the cluster. It holds values in clear; Report masks them.
type Absorption struct {
	// Result is the comparison before.
	Result *Result
	// Edits are the changes of the values file, Edited is its content before as values, and Content the one after as text: what
	// AbsorbOptions.Rewrite returned, or else JSON. Without edits, Content is nil.
	Edits   []absorb.Edit
	Edited  map[string]any
	Content []byte

	file   string // the name of the values file
	wanted []wantedField
	found  absorb.Result
	values map[string]any
	// templates are the files of the chart, and after the comparison with the changed values.
	templates []render.Template
	after     *threeway.Comparison
	unproved  map[int]bool
	// announced are the secrets of the values.
	announced []string
	refuted   bool // the chart does not render with the changed values
	patches   patches
	warnings  []report.Message
}

// wantedField is a field to absorb, with the finding that it is from. The finding is nil if live lacks the object.
type wantedField struct {
	absorb.Wanted
	object  *threeway.ObjectComparison
	finding *threeway.Finding
}

// Absorb compares a release with its chart, and searches for the changes of values that make the chart render what live has. The values
// that change are those of the last of Chart.Values.Files, or else those that the release stores. It reads the cluster and writes nothing;
// the result is proved by rendering the chart with it.
//
// A target without a chart is an error, and so is a chart that cannot be fetched or rendered, other than with [Comparer.Compare]. Fields
// that no value controls, and secrets, are not absorbed: [Absorption.Report] has the reason of each. The search renders the chart many
// times; Options.RenderTime bounds it. The errors are those of Compare.
func (c *Comparer) Absorb(ctx context.Context, t Target, o AbsorbOptions) (*Absorption, error) {
	a, err := c.absorb(ctx, t, o)
	if err != nil {
		return nil, scrubbed{error: err, known: c.options.Known}
	}
	return a, nil
}

func (c *Comparer) absorb(ctx context.Context, t Target, o AbsorbOptions) (*Absorption, error) {
	if t.Chart == nil {
		return nil, errors.New("only a chart can absorb what the cluster has, and there is none")
	}
	path, discard, err := c.options.Fetch(ctx, t.Chart.Ref, t.Chart.Source)
	if err != nil {
		return nil, err
	}
	if discard != nil {
		defer discard()
	}
	// The chart is fetched once, for the comparison and for the search.
	options := c.options
	options.Fetch = func(context.Context, string, fetch.Options) (string, func(), error) { return path, nil, nil }
	// Objects without a record are compared whoever owns them. Nothing is adopted: absorb writes nothing.
	options.TakeOwnership = options.TakeOwnership || t.Chart.Install
	local := New(c.connection, options)
	result, err := local.Compare(ctx, t)
	if err != nil {
		return nil, err
	}
	a := &Absorption{Result: result, unproved: map[int]bool{}}
	if files := t.Chart.Values.Files; len(files) > 0 {
		a.file = files[len(files)-1]
	}
	if found := result.Comparison.Input.Errors; len(found) > 0 {
		if found[0].Code == report.ErrorRender {
			return a, fmt.Errorf("the chart could not be rendered: %s", found[0])
		}
		return a, errors.New(found[0].String())
	}
	a.wanted = wantedFields(result.Comparison, o)
	if len(a.wanted) == 0 {
		return a, nil
	}
	r := run{Comparer: local, target: t, records: result.records}
	request, err := r.chartRequest(ctx, result.Loaded, result.Comparison.Input, path)
	if err != nil {
		return nil, err
	}
	server, err := startVariants(ctx, request, c.options.RenderVariants, c.options.RenderTime)
	if err != nil {
		return nil, err
	}
	defer server.close()
	return a, r.search(ctx, a, server, o)
}

// wantedFields returns what drifted, and what somebody added if the options say so. A release that is not installed has no old state that
// live could have left, so everything in which live differs from the chart has drifted. That is how an application of Argo CD is absorbed,
// whose objects no release records.
func wantedFields(c *threeway.Comparison, o AbsorbOptions) []wantedField {
	installs := c.Input.Operation == report.OperationInstall
	var out []wantedField
	for i := range c.Objects {
		object := &c.Objects[i]
		if object.Err != nil || object.Terminating {
			continue
		}
		if creates := object.Action == report.ActionCreate; object.Missing || installs && creates {
			if creates && object.IgnoredBy == nil {
				out = append(out, wantedField{object: object, Wanted: absorb.Wanted{Key: object.Key, Source: object.Source}})
			}
			continue
		}
		for n := range object.Findings {
			f := &object.Findings[n]
			if f.Drifted() || o.Unmanaged && !f.Managed && !f.Silenced() || installs && differsFromChart(c, object, f) {
				if w, differs := wantedFieldOf(c, object, f); differs {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// differsFromChart reports whether a finding of an installation would be drift if the chart was what is deployed. What Helm would write
// beyond the chart, its label and annotations of ownership, would not.
func differsFromChart(c *threeway.Comparison, o *threeway.ObjectComparison, f *threeway.Finding) bool {
	deployed := f.Classification
	deployed.Cause = report.CauseDrift
	if f.Silenced() || !deployed.Drifted() {
		return false
	}
	desired, _ := f.Path.Lookup(o.Desired)
	adopted, _ := f.Path.Lookup(object.HelmMetadata(o.Live, c.Input.Name, c.Input.Namespace))
	return !object.Equal(desired, adopted)
}

// wantedFieldOf returns a finding as a field to absorb; false if desired has what live has.
func wantedFieldOf(c *threeway.Comparison, o *threeway.ObjectComparison, f *threeway.Finding) (wantedField, bool) {
	w := absorb.Wanted{Key: o.Key, Source: o.Source, Path: f.Path, Volatile: f.Class == report.ClassVolatile}
	w.Live, w.Present = f.Path.Lookup(o.Live)
	w.Text, _ = o.LiveText(f.Path)
	w.Secret = c.Field(o, *f, threeway.Mask{}).Masked
	return wantedField{Wanted: w, object: o, finding: f}, !w.IsIn(o.Desired)
}

// desired returns what the chart renders for the field; nil if it has none.
func (w wantedField) desired() any {
	v, _ := w.Path.Lookup(w.object.Desired)
	return v
}

// search searches, changes the values file, and proves the result by a comparison.
func (r run) search(ctx context.Context, a *Absorption, server *variantServer, o AbsorbOptions) error {
	comparison := a.Result.Comparison
	chart := &variantChart{server: server, run: r, namespace: comparison.Input.Namespace}
	chart.readFirst()
	p := absorb.Problem{Chart: chart, MaxSideEffects: o.MaxSideEffects, YAML: yamlText}
	if err := errors.Join(json.Unmarshal(server.first.Edited, &p.Edited), json.Unmarshal(server.first.Values, &p.Values)); err != nil {
		return fmt.Errorf("reading the values of the chart: %w", err)
	}
	a.announced = announcedTexts(p.Values, p.Edited)
	for i, w := range a.wanted {
		// A hand wrote a secret of the values where the chart has none.
		if a.showsAnnounced(w.Live) && !a.showsAnnounced(w.desired()) {
			a.wanted[i].Secret = true
		}
		p.Wanted = append(p.Wanted, a.wanted[i].Wanted)
	}
	objects := map[object.Key]*threeway.ObjectComparison{}
	for i := range comparison.Objects {
		objects[comparison.Objects[i].Key] = &comparison.Objects[i]
	}
	p.Form = func(key object.Key, content map[string]any) map[string]any {
		if o := objects[key]; o != nil {
			return comparison.DesiredForm(o, content)
		}
		return content
	}
	p.LiveForm = func(key object.Key) map[string]any {
		if o := objects[key]; o != nil {
			return o.Live
		}
		return nil
	}
	p.Reads = func(source string) [][]string {
		reads, found := server.first.Reads[source]
		if !found || reads.Everything {
			return nil
		}
		return reads.Paths
	}
	p.Refuses = o.refuses(p.Edited)
	p.Again.Objects = map[object.Key]object.Object{}
	for _, o := range comparison.Input.DesiredObjects {
		p.Again.Objects[o.Key] = o
	}
	p.Hooks = absorb.NewHooks(chart.hooks(server.first.Hooks), chart.hooks(server.first.HooksAgain))
	a.found, a.values, a.Edited, a.templates = absorb.Search(ctx, p), p.Values, p.Edited, server.first.Templates
	a.Edits = a.found.Edits
	if len(a.Edits) > 0 {
		if err := r.prove(ctx, a, chart, p, o); err != nil {
			return err
		}
	}
	return r.patch(ctx, a, chart)
}

// yamlText returns a value as a text of YAML.
func yamlText(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// variantChart is the chart of a search: it renders contents of the values file and reads the objects of the documents.
type variantChart struct {
	run
	server    *variantServer
	namespace string
	first     [][]object.Object
}

var _ absorb.Chart = (*variantChart)(nil)

// readFirst reads the objects of the first rendering.
func (v *variantChart) readFirst() {
	for _, d := range v.server.first.Documents {
		v.first = append(v.first, v.objects([]render.Document{d}))
	}
}

func (v *variantChart) objects(documents []render.Document) []object.Object {
	return render.Objects(documents, render.ParseOptions{Namespace: v.namespace, Scope: v.connection.Cluster.Scope}).Objects
}

// Render implements absorb.Chart. A rendering of all templates is a proof, so the schema of the chart counts too.
func (v *variantChart) Render(ctx context.Context, edited []map[string]any, source string) ([]absorb.Rendering, error) {
	variants := make([]render.Variant, len(edited))
	for i, content := range edited {
		text, err := json.Marshal(content)
		if err != nil {
			return nil, errors.New("the values are no JSON")
		}
		strict := source == "" && !v.target.Chart.SkipSchemaValidation
		variants[i] = render.Variant{Values: text, Only: v.server.first.Reads[source].Files, Strict: strict}
	}
	rendered, err := v.server.render(ctx, variants)
	if err != nil {
		return nil, err
	}
	out := make([]absorb.Rendering, len(rendered))
	for i, one := range rendered {
		if out[i].Fault, out[i].GivenUp = one.Fault, one.GivenUp; one.Fault != "" {
			continue
		}
		out[i].Objects, out[i].Hooks = map[object.Key]object.Object{}, v.hooks(one.Hooks)
		for _, o := range v.list(one) {
			if o.Name != "" && o.Problem == "" {
				out[i].Objects[o.Key] = o
			}
		}
	}
	return out, nil
}

// list returns the objects of a rendering.
func (v *variantChart) list(one render.VariantRendering) []object.Object {
	var out []object.Object
	for _, i := range one.Same {
		out = append(out, v.first[i]...)
	}
	return append(out, v.objects(one.Changed)...)
}

// hooks returns the hooks of documents.
func (v *variantChart) hooks(documents []render.HookDocument) []absorb.Hook {
	var out []absorb.Hook
	for _, d := range documents {
		for _, o := range v.objects([]render.Document{d.Document}) {
			out = append(out, absorb.Hook{Object: o, Events: d.Events})
		}
	}
	return out
}
