package argo

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/places"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is for absorb: it finds the places of a working tree that have the values of an Application, and proves changes there.

// chartOf is a source that is a chart. Others are the sources that its paths can name.
type chartOf struct {
	folder  *source.Folder
	others  map[string]*source.Folder
	request drift.ChartRequest
}

// Keeper changes the values of an Application in a working tree. It writes no file.
type Keeper struct {
	places.Editor
	ctx   context.Context
	plan  *Plan
	tree  *Tree
	made  *madeApp
	chart chartOf
	// at is the path to the helm of the source in the Application.
	at []any
}

// appLayer is one source of the values of an Application.
type appLayer struct {
	places.Layer
	// own composes its values alone. Its only file is the one that a change rewrites; a parameter has none.
	own render.ValueOptions
}

// Keep finds the places of the values in the tree of the plan. It is an error if the Application has no values to change, or if Argo CD is
// about to remove it.
func (p *Plan) Keep(ctx context.Context, t *Tree) (*Keeper, error) {
	switch {
	case p.app.Metadata.Deleted != "":
		return nil, fmt.Errorf("%s is being deleted", p.app.Title())
	case p.unmade != nil:
		return nil, p.unmade
	case len(p.charts) == 0:
		return nil, hint.New(fmt.Errorf("%s has no source that is a chart, and absorb changes the values of one", p.app.Title()),
			"add what should stay to the files of its source: helmdrift diff app/"+p.app.Metadata.Name+" shows each field")
	case len(p.charts) != 1:
		return nil, hint.New(fmt.Errorf("%s has %d sources that are charts, and absorb changes the values of one", p.app.Title(), len(p.charts)),
			"for one of them: helmdrift absorb "+p.app.Metadata.Name+" CHART -f FILE --install")
	}
	k := &Keeper{ctx: ctx, plan: p, tree: t, made: t.made[p.Application()], chart: p.charts[0]}
	if k.at = []any{"spec", "source", "helm"}; len(p.app.Spec.Sources) > 0 {
		k.at = []any{"spec", "sources", k.chart.folder.Number, "helm"}
	}
	values, err := k.read(k.chart.folder, nil)
	if err != nil {
		return nil, err
	}
	k.Editor = places.Editor{
		OwnName: "helm.valuesObject", Controller: "Argo CD",
		Otherwise: "a file .argocd-source.yaml, or somebody who set it in the cluster, changes it", Values: values,
		Read: func(file string) ([]byte, error) {
			return source.ReadWithin(t.Root, filepath.Join(t.Root, filepath.FromSlash(file)))
		},
	}
	k.addLayers()
	p.kept = k
	return k, nil
}

// Root returns the folder of the tree that file names are relative to.
func (k *Keeper) Root() string { return k.tree.Root }

// Application names the Application.
func (p *Plan) Application() object.Key {
	return api.RefTo("Application", p.app.Metadata.Namespace, p.app.Metadata.Name).Key
}

// Remarks returns what the plan warns of, and what helmdrift cannot predict.
func (p *Plan) Remarks() (warnings, problems []report.Message) {
	if p.kept != nil {
		var names []string
		composed, _ := p.kept.Values.Compose() // its error is that of the rendering
		for _, expression := range deployer.Integers(composed) {
			name, _, _ := strings.Cut(expression, "=")
			names = append(names, name)
		}
		if len(names) > 0 {
			p.warn("what these helm.parameters control is left, since a whole number of a parameter cannot be absorbed; " +
				"change the parameter itself: " + strings.Join(names, ", "))
		}
	}
	return p.warnings, p.problems
}

// Request returns the rendering of the chart with all values in one file, which a search can vary.
func (k *Keeper) Request(q drift.ChartRequest) drift.ChartRequest {
	out := k.chart.request
	out.Known = q.Known
	composed, err := k.Values.Compose()
	var text []byte
	if err == nil {
		text, err = json.Marshal(composed)
	}
	out.Values = render.ValueOptions{Files: []string{source.Inline}, Set: deployer.Integers(composed), Reuse: render.ReuseReset}
	out.ReadFile = func(context.Context, string) ([]byte, error) { return text, err }
	return out
}

// read composes the values of a source again, with other contents of files of the tree.
func (k *Keeper) read(f *source.Folder, changed map[string][]byte) (places.Merged, error) {
	values, err := f.Values(k.chart.others, f.Variables(k.plan.app, k.plan.instance()))
	if err != nil {
		return places.Merged{}, err
	}
	out := places.Merged{Options: values.Options, Texts: map[string][]byte{}}
	names, err := values.Options.SetFileNames()
	if err != nil {
		return out, err
	}
	for _, file := range slices.Concat(values.Options.Files, names) {
		text, isChanged := changed[k.inTree(file)]
		switch {
		case file == source.Inline:
			text = values.Inline
		case !isChanged:
			if text, err = k.chart.request.ReadFile(k.ctx, file); err != nil {
				return out, err
			}
		}
		out.Texts[file] = text
	}
	return out, nil
}

// inTree returns the name of a file in the tree, or "" if it is elsewhere.
func (k *Keeper) inTree(file string) string {
	inside, err := filepath.Rel(k.tree.Root, file)
	if err != nil || !filepath.IsAbs(file) || !filepath.IsLocal(inside) {
		return ""
	}
	return filepath.ToSlash(inside)
}

// addLayers adds the sources of the values, those first that win: parameters, the values of the Application, and value files from the last
// to the first.
func (k *Keeper) addLayers() {
	values, _ := k.Values.(places.Merged)
	add := func(l appLayer) { k.Layers, values.Own = append(k.Layers, l.Layer), append(values.Own, l.own) }
	addParameter := func(field, expression string, own render.ValueOptions) {
		name, _, _ := strings.Cut(expression, "=")
		add(appLayer{own: own, Layer: places.Layer{
			Title: fmt.Sprintf("helm.%s of %s, as %s", field, k.plan.app.Title(), name),
			Fault: "a parameter wins over all other values; change it there, or remove it so that other values count",
		}})
	}
	for _, e := range slices.Backward(values.Options.SetFile) {
		addParameter("fileParameters", e, render.ValueOptions{SetFile: []string{e}})
	}
	for _, e := range slices.Backward(values.Options.SetString) {
		addParameter("parameters", e, render.ValueOptions{SetString: []string{e}})
	}
	for _, e := range slices.Backward(values.Options.Set) {
		addParameter("parameters", e, render.ValueOptions{Set: []string{e}})
	}
	k.Own = len(k.Layers)
	add(k.inline())
	hasOwn := slices.Contains(values.Options.Files, source.Inline) // or else the first file of the tree takes its place
	for _, file := range slices.Backward(values.Options.Files) {
		if file == source.Inline {
			continue
		}
		l := k.file(file, values.Texts[file])
		if l.Place != nil && !hasOwn {
			k.Own, hasOwn = len(k.Layers), true
		}
		add(l)
	}
	k.Values = values
}

// inline returns the values that the Application itself has. It has none at all if valuesObject is new.
func (k *Keeper) inline() appLayer {
	helm := k.chart.folder.Source.Helm
	if helm == nil {
		helm = &api.HelmSource{}
	}
	field, isText := "valuesObject", false
	if !api.IsSet(helm.ValuesObject) && helm.Values != "" {
		field, isText = "values", true
	}
	out := appLayer{
		Layer: places.Layer{Title: "helm." + field + " of " + k.plan.app.Title()}, own: render.ValueOptions{Files: []string{source.Inline}},
	}
	place, raw, err := k.application(append(slices.Clone(k.at), field), isText)
	if err != nil {
		out.Fault = err.Error()
		return out
	}
	out.Place, out.Raw = place, raw
	// What somebody set in the cluster beside the tree does not count: the tree may set it, too.
	if sources := api.Decoded(k.made.content).Sources(); k.chart.folder.Number < len(sources) && sources[k.chart.folder.Number].Helm != nil {
		text, _ := sources[k.chart.folder.Number].Helm.Inline() // it was decoded from JSON
		out.Built, _ = places.Merged{Texts: map[string][]byte{source.Inline: text}}.Alone(out.own)
	}
	return out
}

// application returns a place in the file of the Application, and the values that it has.
func (k *Keeper) application(path []any, isText bool) (*places.Place, map[string]any, error) {
	switch m := k.made; {
	case m.Set != "":
		return nil, nil, fmt.Errorf("%s makes the Application: change its template", m.By)
	case m.File == "":
		return nil, nil, fmt.Errorf("%s makes the Application, and its file is not known: change what makes it", m.By)
	}
	text, err := k.regular(k.made.File)
	if err != nil {
		return nil, nil, err
	}
	document, err := places.Find(k.made.File, text, k.plan.Application(), k.plan.app.Title())
	if err != nil {
		return nil, nil, err
	}
	place := &places.Place{File: k.made.File, Document: document, Path: path, IsText: isText}
	raw, err := place.Values(text)
	return place, raw, err
}

// file returns the layer of a value file.
func (k *Keeper) file(file string, text []byte) appLayer {
	inside := k.inTree(file)
	out := appLayer{own: render.ValueOptions{Files: []string{file}}, Layer: places.Layer{Title: "the value file " + inside}}
	const change = ": change it there, or set the value in helm.valuesObject, which wins"
	if inside == "" {
		out.Title = "the value file " + k.shown(file)
		out.Fault = "it is not in the working tree" + change
		return out
	}
	if _, err := k.regular(inside); err != nil {
		out.Fault = err.Error()
		return out
	}
	if other := k.otherUser(file); other != "" {
		out.Fault = other + " reads it too, and a change would be in both; helm.valuesObject wins over it"
		return out
	}
	place := &places.Place{File: inside, Document: places.WholeFile}
	raw, err := place.Values(text)
	if err != nil {
		out.Fault = err.Error()
		return out
	}
	out.Place, out.Raw, out.Built = place, raw, raw
	return out
}

// shown returns the name of a value file that is not in the tree, as the Application has it.
func (k *Keeper) shown(file string) string {
	for ref, other := range k.chart.others {
		if inside, err := filepath.Rel(other.Root, file); err == nil && filepath.IsLocal(inside) {
			return ref + "/" + filepath.ToSlash(inside) + " of " + other.Source.RepoURL
		}
	}
	if f := k.chart.folder; !source.IsRemote(file) {
		if inside, err := filepath.Rel(f.Dir, file); err == nil {
			return filepath.ToSlash(inside) + " of " + f.Source.RepoURL
		}
	}
	return file
}

// regular reads a file of the tree. A link is refused, since only one of its names would be written.
func (k *Keeper) regular(file string) ([]byte, error) {
	name := filepath.Join(k.tree.Root, filepath.FromSlash(file))
	real, err := filepath.EvalSymlinks(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read", file)
	case real != name:
		return nil, fmt.Errorf("%s is a link, or in a folder that is one", file)
	}
	return source.ReadWithin(k.tree.Root, name)
}

// otherUser returns another Application of the tree whose chart reads a file, or "": as a value file, as its defaults, or by a template.
func (k *Keeper) otherUser(file string) string {
	for _, key := range k.tree.names() {
		m := k.tree.made[key]
		if m == k.made || m.app.Fault != nil {
			continue
		}
		all := k.tree.foldersOf(m.app)
		refs := source.Refs(all)
		for _, f := range all {
			if f.Reads(file, refs, f.Variables(m.app, m.app.InstanceName())) {
				return m.app.Title()
			}
		}
	}
	return ""
}

// Prove composes the values with the files of the last Rewrite. For each of its edits it returns why the tree refutes it, or "": Argo CD
// must compose the values that Rewrite returned, and the tree must make the same other Applications.
func (k *Keeper) Prove() ([]string, error) {
	proof := k.NewProof()
	after, err := k.tree.search(k.ctx, appset.Order{Tree: k.tree.Tree, Dir: k.tree.dir, Changed: k.Texts()})
	if err != nil {
		if k.ctx.Err() != nil {
			return nil, k.ctx.Err()
		}
		proof.All("the tree cannot be searched with it: " + err.Error())
		return proof.Reasons, nil
	}
	for _, problem := range after.Problems {
		if !slices.Contains(k.tree.found.Problems, problem) {
			proof.All("the tree cannot be searched with it: " + problem)
		}
	}
	for _, m := range changedFrom(k.tree.found.Made, after.Made) {
		var content map[string]any
		if err := json.Unmarshal(m.JSON, &content); err != nil {
			return nil, err
		}
		// What makes the Application may have it from a file that is searched, too.
		isOwn := m.File == k.made.File && (m.By == k.made.By || m.By == "")
		if key := object.RefOf(content).Key; !isOwn || key.Name != k.made.app.Metadata.Name {
			proof.File(m.File, fmt.Sprintf("the tree also makes Application %s of the same text, which would change too", key.Name))
		}
	}
	values, err := k.after()
	if err != nil {
		proof.All("Argo CD cannot compose the values with it: " + err.Error())
		return proof.Reasons, nil
	}
	proof.Composed(values, k.Otherwise)
	return proof.Reasons, nil
}

// after returns the values that Argo CD composes of the changed files.
func (k *Keeper) after() (map[string]any, error) {
	f := *k.chart.folder
	if text, isChanged := k.Texts()[k.made.File]; isChanged {
		document, err := places.Find(k.made.File, text, k.plan.Application(), k.plan.app.Title())
		if err != nil {
			return nil, err
		}
		content, err := (&places.Place{File: k.made.File, Document: document}).Values(text)
		if err != nil {
			return nil, err
		}
		m := *k.made
		m.content = places.With(content, k.plan.app.Metadata.Namespace, "metadata", "namespace")
		app := m.over(m.live)
		if app.Fault != nil {
			return nil, app.Fault
		}
		f.Source = app.Sources()[f.Number]
		if err := f.Override(k.plan.instance()); err != nil {
			return nil, err
		}
	}
	values, err := k.read(&f, k.Texts())
	if err != nil {
		return nil, err
	}
	return values.Compose()
}

// changedFrom returns the Applications that only one of two lists has.
func changedFrom(before, after []appset.Made) (out []appset.Made) {
	type made struct{ file, by, content string }
	of := func(m appset.Made) made { return made{m.File, m.By, string(m.JSON)} }
	times := map[made]int{}
	for _, m := range before {
		times[of(m)]++
	}
	for _, m := range after {
		if times[of(m)]--; times[of(m)] < 0 {
			out = append(out, m)
		}
	}
	for _, m := range before {
		if times[of(m)] > 0 {
			out = append(out, m)
		}
	}
	return out
}
