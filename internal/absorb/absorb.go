package absorb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb/reads"
	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/absorb/vary"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Options say how to compare a release, and which differences to absorb. The zero value absorbs what drifted, without side effects.
type Options struct {
	// Options say how the release is compared.
	drift.Options
	// Choose returns for each field why it is left, or an empty text if it is to be absorbed. If it is nil, all are absorbed.
	Choose func(c *threeway.Comparison, fields []Field) ([]string, error)
	// Unmanaged also absorbs fields that no manifest names and that somebody added.
	Unmanaged bool
	// MaxSideEffects is how many fields of other objects the changes for one field may change; 0 means none.
	MaxSideEffects int
	// Rewrite returns the content of the values file after edits, given the edited values. If it is nil, or returns nil, the content is
	// the edited values as JSON. Run does not propose edits if Rewrite returns an error, such as a *Refusal, for them.
	Rewrite func(edits []Edit, edited map[string]any) ([]byte, error)
	// Prove returns for each edit of the last Rewrite why it must not be made, or an empty text. If it is nil, all may be made.
	Prove func() ([]string, error)
	// Tree is set if Rewrite changes a working tree and no file of values. NoPatches is set if whoever deploys has no post-renderer.
	Tree, NoPatches bool
	// RenderVariants renders a chart with many values. The default is ServeVariants.
	RenderVariants func(ctx context.Context, q drift.ChartRequest, next NextVariants) error
	// RenderTime is the time that all renderings of the search may take together; 0 means no limit. One candidate may take only a part.
	RenderTime time.Duration
}

// Field is a field that could be absorbed.
type Field struct {
	Key object.Key
	// Path is empty if live lacks the whole object. Shown is the field as a report has it.
	Path  object.Path
	Shown absorption.Field
}

// Edit is a change of one value.
type Edit = search.Edit

// Refusal says why the values file cannot take some edits.
type Refusal = search.Refusal

// Absorption is the result of a search for values that make a chart agree with the cluster. It holds values in clear; Report masks them.
type Absorption struct {
	// Result is the comparison before.
	Result *drift.Result
	// Edits are the changes of the values file, and Edited is its content before them, as values. Content is its content after
	// them, as text: what Options.Rewrite returned, or else JSON. Without edits, Content is nil.
	Edits   []Edit
	Edited  map[string]any
	Content []byte

	file   string // the name of the values file
	wanted []wantedField
	// unsearched are the fields that are left without a search, each with its reason: objects whose absence no value can absorb, and
	// what Options.Choose leaves.
	unsearched []absorption.Field
	found      search.Result
	values     map[string]any
	// templates are the files of the chart, and after is the comparison with the changed values.
	templates []render.Template
	after     *threeway.Comparison
	unproved  map[int]bool
	// refused says of some unproved fields what Options.Prove says.
	refused map[int]string
	// inTree is Options.Tree.
	inTree bool
	// announced has the secrets in the values, by the names that announce them.
	announced []string
	refuted   bool // the chart does not render with the changed values
	// kustomization has the patches for a post-renderer, or is nil. patched are the numbers of the wanted fields that the patches set.
	kustomization *absorption.Kustomization
	patched       map[int]bool
	warnings      []report.Message
}

// wantedField is a field to absorb, with its finding. The finding is nil if live lacks the object.
type wantedField struct {
	search.Wanted
	object  *threeway.ObjectComparison
	finding *threeway.Finding
}

// Run compares a release with its chart, and searches for the changes of values that make the chart render what live has. Run changes the
// values of the last of Chart.Values.Files, or else the values that the release stores. It reads the cluster and writes nothing, and
// proves the result by rendering the chart with it.
//
// A target without a chart is an error. Other than for [drift.Comparer.Compare], a chart that cannot be fetched or rendered is an error
// too. Run does not absorb secrets and fields that no value controls: [Absorption.Report] has the reason for each. The search renders
// the chart many times; Options.RenderTime bounds it. The errors are those of Compare.
func Run(ctx context.Context, from drift.Connection, t drift.Target, o Options) (*Absorption, error) {
	if o.Known == nil {
		o.Known = &drift.Secrets{}
	}
	if o.RenderVariants == nil {
		o.RenderVariants = ServeVariants
	}
	a, err := run(ctx, from, t, o)
	if err != nil {
		return nil, (*secret.Known)(o.Known).ScrubError(err)
	}
	return a, nil
}

func run(ctx context.Context, from drift.Connection, t drift.Target, o Options) (*Absorption, error) {
	if t.Chart == nil {
		return nil, errors.New("only a chart can absorb what the cluster has, and there is none")
	}
	if t.Chart.Fetch != nil {
		path, discard, err := t.Chart.Fetch(ctx)
		if err != nil {
			return nil, err
		}
		if discard != nil {
			defer discard()
		}
		// The chart is fetched only once, for the comparison and for the search.
		once := *t.Chart
		once.Fetch = func(context.Context) (string, func(), error) { return path, nil, nil }
		t.Chart = &once
	}
	// Without a record, compare objects whoever owns them. Absorb writes nothing, so it does not adopt them.
	o.TakeOwnership = o.TakeOwnership || t.Chart.Install
	result, err := drift.New(from, o.Options).Compare(ctx, t)
	if err != nil {
		return nil, err
	}
	a := &Absorption{Result: result, unproved: map[int]bool{}, refused: map[int]string{}, inTree: o.Tree}
	if files := t.Chart.Values.Files; len(files) > 0 && !o.Tree {
		a.file = files[len(files)-1]
	}
	if found := result.Comparison.Input.Errors; len(found) > 0 {
		if found[0].Code == report.ErrorRender {
			return a, fmt.Errorf("the chart could not be rendered: %s", found[0])
		}
		return a, errors.New(found[0].String())
	}
	a.wanted, a.unsearched = wantedFields(result.Comparison, o)
	if len(a.wanted) == 0 {
		return a, nil
	}
	if o.Doing != nil {
		o.Doing("searching the values")
	}
	server, err := startVariants(ctx, *result.ChartRequest(), o.RenderVariants, o.RenderTime)
	if err != nil {
		return nil, err
	}
	defer server.close()
	chart := &variantChart{
		server: server, scope: result.Scope, namespace: result.Comparison.Input.Namespace, strict: !t.Chart.SkipSchemaValidation,
	}
	p := search.Problem{Render: chart.render, MaxSideEffects: o.MaxSideEffects, YAML: yamlText}
	if err := errors.Join(json.Unmarshal(server.first.Edited, &p.Edited), json.Unmarshal(server.first.Values, &p.Values)); err != nil {
		return nil, fmt.Errorf("reading the values of the chart: %w", err)
	}
	a.announced = announcedTexts(p.Values, p.Edited) // before anything is shown
	if err := ctx.Err(); err != nil {
		return nil, err // an interrupt may have left a text unread, and the secrets in it
	}
	if err := a.choose(o); err != nil || len(a.wanted) == 0 {
		return a, err
	}
	server.renew() // a person may have chosen
	return a, a.search(ctx, chart, p, o)
}

// choose leaves the fields that are not to be absorbed.
func (a *Absorption) choose(o Options) error {
	if o.Choose == nil {
		return nil
	}
	fields := make([]Field, len(a.wanted))
	for i, w := range a.wanted {
		fields[i] = Field{Key: w.Key, Path: w.Path, Shown: a.shown(w)}
	}
	reasons, err := o.Choose(a.Result.Comparison, fields)
	if err != nil {
		return err
	}
	var wanted []wantedField
	for i, reason := range reasons {
		if reason == "" {
			wanted = append(wanted, a.wanted[i])
			continue
		}
		left := fields[i].Shown
		left.Status, left.Reason, left.Message = absorption.Left, absorption.LeftNotChosen, reason
		a.unsearched = append(a.unsearched, left)
	}
	a.wanted = wanted
	return nil
}

// wantedFields returns what drifted and, if the options say so, what somebody added. A release that is not installed has no old state, so
// everything that differs between live and the chart has drifted: an application of Argo CD has no release that records its objects. Left
// are the objects whose absence no value can absorb.
func wantedFields(c *threeway.Comparison, o Options) (out []wantedField, left []absorption.Field) {
	installs := c.Input.Operation == report.OperationInstall
	for i := range c.Objects {
		object := &c.Objects[i]
		isNew := installs && object.Name != "" && object.Problem == "" && c.Input.Live[object.Ref].Object == nil
		switch {
		case object.Err != nil:
		case !object.Gone() && !isNew:
			out = append(out, wantedInside(c, object, o)...)
		case object.IgnoredBy == nil:
			// Helm may create the object, fail on it or skip it: either way the cluster lacks what the chart has.
			reason := whyGone(c, object)
			if reason == "" {
				out = append(out, wantedField{object: object, Wanted: search.Wanted{Key: object.Key, Source: object.Source}})
				continue
			}
			left = append(left, absorption.Field{
				Object: report.ObjectKey{Key: object.Key}, Source: object.Source, Terminating: object.Terminating,
				Status: absorption.Left, Reason: absorption.LeftNoValue, Message: reason,
			})
		}
	}
	return out, append(left, endingNamespaces(c, left)...)
}

// wantedInside returns the fields of an object that is not gone.
func wantedInside(c *threeway.Comparison, object *threeway.ObjectComparison, o Options) (out []wantedField) {
	installs := c.Input.Operation == report.OperationInstall
	for n := range object.Findings {
		f := &object.Findings[n]
		if f.Drifted() || o.Unmanaged && !f.Managed && !f.Silenced() || installs && differsFromChart(c, object, f) {
			if w, differs := wantedFieldOf(c, object, f); differs {
				out = append(out, w)
			}
		}
	}
	return out
}

// whyGone returns why no value can absorb that an object is gone. It is empty if a value may keep the chart from rendering the object.
func whyGone(c *threeway.Comparison, o *threeway.ObjectComparison) string {
	in := c.Input
	isUnserved := func(old object.Object) bool {
		return old.Key == o.Key && in.Live[old.Ref].Absence == cluster.AbsentKind
	}
	switch {
	case in.Terminating[o.Namespace]:
		return fmt.Sprintf("its namespace %q is being deleted", o.Namespace)
	case o.Terminating:
		return "once it has gone, helmdrift absorb looks for a value that removes it from the chart"
	case slices.ContainsFunc(in.OldObjects, isUnserved):
		return "the cluster does not serve its kind, and Helm fails on it even if the chart no longer renders it"
	case !renders(c, o.Key):
		return "it is of a folder crds, and absorb changes only what templates render"
	}
	return ""
}

// renders reports whether the chart of a comparison renders an object.
func renders(c *threeway.Comparison, key object.Key) bool {
	return slices.ContainsFunc(c.Input.DesiredObjects, func(o object.Object) bool { return o.Key == key })
}

// endingNamespaces returns the namespaces of the release that are being deleted, except for those in known. The release goes with them,
// even if it has no object there.
func endingNamespaces(c *threeway.Comparison, known []absorption.Field) (out []absorption.Field) {
	for _, name := range []string{c.Input.Namespace, c.Input.StorageNamespace} {
		key := report.ObjectKey{Key: object.Key{Kind: "Namespace", Name: name}}
		isKnown := func(f absorption.Field) bool { return f.Object == key }
		if c.Input.Terminating[name] && !slices.ContainsFunc(known, isKnown) && !slices.ContainsFunc(out, isKnown) {
			out = append(out, absorption.Field{
				Object: key, Terminating: true, Status: absorption.Left, Reason: absorption.LeftNoValue,
				Message: "it is the namespace of the release, which goes with it",
			})
		}
	}
	return out
}

// differsFromChart reports whether a finding of an installation would be drift if the chart was deployed. Helm's own metadata would not.
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

// wantedFieldOf returns a finding as a field to absorb, or false if desired equals live.
func wantedFieldOf(c *threeway.Comparison, o *threeway.ObjectComparison, f *threeway.Finding) (wantedField, bool) {
	w := search.Wanted{Key: o.Key, Source: o.Source, Path: f.Path, Volatile: f.Class == report.ClassVolatile}
	w.Live, w.Present = f.Path.Lookup(o.Live)
	w.Text, _ = o.LiveText(f.Path)
	w.Secret = c.Field(o, *f, threeway.Mask{}).Masked
	return wantedField{Wanted: w, object: o, finding: f}, !w.IsIn(o.Desired)
}

// search finds edits, applies them to the values file, and proves the result by a comparison.
func (a *Absorption) search(ctx context.Context, chart *variantChart, p search.Problem, o Options) error {
	comparison, server := a.Result.Comparison, chart.server
	for _, d := range server.first.Documents {
		chart.first = append(chart.first, chart.objects([]render.Document{d}))
	}
	for i, w := range a.wanted {
		// Somebody wrote a secret from the values into a field that the chart renders without it.
		if desired, _ := w.Path.Lookup(w.object.Desired); a.showsAnnounced(w.Live) && !a.showsAnnounced(desired) {
			a.wanted[i].Secret = true
		}
		p.Wanted = append(p.Wanted, a.wanted[i].Wanted)
	}
	p.Form = a.form
	p.LiveForm = func(key object.Key) map[string]any {
		if o := objectOf(comparison, key); o != nil {
			return o.Live
		}
		return nil
	}
	p.Lacks = func(key object.Key) bool {
		o := objectOf(comparison, key)
		return o != nil && o.Err == nil && o.Live == nil
	}
	p.Reads = func(source string) []reads.Value {
		template := server.first.Reads[source]
		if template.Everything {
			return nil
		}
		return template.Values
	}
	p.Refuses = o.refuses(p.Edited)
	p.Again.Objects = map[object.Key]object.Object{}
	for _, o := range comparison.Input.DesiredObjects {
		p.Again.Objects[o.Key] = o
	}
	p.Hooks = search.NewHooks(chart.hooks(server.first.Hooks), chart.hooks(server.first.HooksAgain))
	a.found, a.values, a.Edited, a.templates = search.Search(ctx, p), p.Values, p.Edited, server.first.Templates
	a.Edits = a.found.Edits
	if len(a.Edits) > 0 {
		if err := a.prove(ctx, chart, p, o); err != nil {
			return err
		}
	}
	if o.NoPatches {
		return nil
	}
	return a.patch(ctx, chart)
}

// form returns the normal form of an object that the chart renders.
func (a *Absorption) form(key object.Key, content map[string]any) map[string]any {
	if o := objectOf(a.Result.Comparison, key); o != nil {
		return a.Result.Comparison.DesiredForm(o, content)
	}
	return content
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
	server    *variantServer
	scope     func(schema.GroupVersionKind) (namespaced, known bool)
	namespace string
	// strict is set if the schema of the chart checks values.
	strict bool
	// first has the objects of each document of the first rendering.
	first [][]object.Object
}

func (v *variantChart) objects(documents []render.Document) []object.Object {
	return render.Objects(documents, render.ParseOptions{Namespace: v.namespace, Scope: v.scope}).Objects
}

// render implements search.Problem.Render. A rendering of all templates is a proof, so it also checks the schema of the chart.
func (v *variantChart) render(ctx context.Context, edited []map[string]any, source string) ([]search.Rendering, error) {
	variants := make([]vary.Variant, len(edited))
	for i, content := range edited {
		text, err := json.Marshal(content)
		if err != nil {
			return nil, errors.New("the values are no JSON")
		}
		strict := source == "" && v.strict
		variants[i] = vary.Variant{Values: text, Only: v.server.first.Reads[source].Files, Strict: strict}
	}
	rendered, err := v.server.render(ctx, variants)
	if err != nil {
		return nil, err
	}
	out := make([]search.Rendering, len(rendered))
	for i, one := range rendered {
		out[i] = v.read(one)
	}
	return out, nil
}

// read returns a rendering with its objects.
func (v *variantChart) read(one vary.Rendering) search.Rendering {
	out := search.Rendering{Objects: map[object.Key]object.Object{}, Hooks: v.hooks(one.Hooks), Fault: one.Fault, GivenUp: one.GivenUp}
	for _, o := range v.list(one) {
		if o.Name != "" && o.Problem == "" {
			out.Objects[o.Key] = o
		}
	}
	return out
}

// unchanged returns the first rendering.
func (v *variantChart) unchanged() search.Rendering {
	one := vary.Rendering{Hooks: v.server.first.Hooks}
	for i := range v.first {
		one.Same = append(one.Same, i)
	}
	return v.read(one)
}

// list returns the objects of a rendering.
func (v *variantChart) list(one vary.Rendering) []object.Object {
	var out []object.Object
	for _, i := range one.Same {
		out = append(out, v.first[i]...)
	}
	return append(out, v.objects(one.Changed)...)
}

// hooks returns the hooks of documents.
func (v *variantChart) hooks(documents []vary.Hook) []search.Hook {
	var out []search.Hook
	for _, d := range documents {
		for _, o := range v.objects([]render.Document{d.Document}) {
			out = append(out, search.Hook{Object: o, Events: d.Events})
		}
	}
	return out
}
