package absorb

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/helmdrift/helmdrift/internal/absorb/kustomize"
	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/absorb/vary"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// This file makes patches of kustomize for the fields that no value controls, and proves them: it renders the chart with the changed
// values and kustomize as the post-renderer, as helm upgrade --post-renderer does.

// patchedObject is an object with fields that need a patch.
type patchedObject struct {
	target kustomize.Target
	// fields are their numbers in Absorption.wanted.
	fields []int
	// forms are equivalent patches, the preferred one first.
	forms []absorption.KustomizePatch
}

// patcher searches for patches on top of the changes of values.
type patcher struct {
	*Absorption
	chart   *variantChart
	variant vary.Variant
	// before has the objects that the chart renders without patches, and random has the objects that differ with each rendering.
	before map[object.Key]object.Object
	random map[object.Key]bool
}

// patch searches for patches for the fields that no value controls, or that values control only with side effects: a patch has none.
// If there can be no patches, the search for values still counts, so the reason is only a warning.
func (a *Absorption) patch(ctx context.Context, chart *variantChart) error {
	if len(a.patchable()) == 0 {
		return nil
	}
	p := &patcher{Absorption: a, chart: chart, before: map[object.Key]object.Object{}, random: map[object.Key]bool{}}
	for _, o := range a.Result.Comparison.Input.DesiredObjects {
		p.random[o.Key] = o.Again != nil
	}
	chosen, err := p.search(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && a.found.Stopped == nil {
		a.warnings = append(a.warnings, report.Message{Code: "no-patch",
			Message: "there is no patch for a post-renderer: " + a.Result.Comparison.Scrub(err.Error())})
	}
	if len(chosen) == 0 {
		return nil
	}
	a.kustomization, a.patched = kustomizationOf(chosen), map[int]bool{}
	for _, o := range chosen {
		for _, i := range o.fields {
			a.patched[i] = true
		}
	}
	return nil
}

// patchable returns the numbers of the fields that need a patch.
func (a *Absorption) patchable() []int {
	var out []int
	for i, f := range a.found.Found {
		if f.Status == search.NoValue || f.Status == search.SideEffects || f.Status == search.Absorbed && a.unproved[i] {
			out = append(out, i)
		}
	}
	return out
}

// search returns the objects with proved patches. The error says why there are none.
func (p *patcher) search(ctx context.Context) ([]patchedObject, error) {
	p.variant = vary.Variant{Values: p.chart.server.first.Edited}
	if len(p.Edits) > 0 {
		p.variant.Values = p.Content
	}
	// The objects of the comparison do not serve, because a snapshot may have masked some.
	rendered, err := p.chart.server.render(ctx, []vary.Variant{p.variant})
	switch {
	case err != nil:
		return nil, err
	case rendered[0].Fault != "":
		return nil, errors.New(rendered[0].Fault)
	}
	for _, o := range p.chart.list(rendered[0]) {
		p.before[o.Key] = o
	}
	objects := p.objects()
	if len(objects) == 0 {
		return nil, nil
	}
	return p.choose(ctx, objects)
}

// objects returns the objects with fields that a patch may set, each with the patches to try.
func (p *patcher) objects() []patchedObject {
	var out []patchedObject
	for _, i := range p.patchable() {
		w := p.wanted[i]
		o, rendered := p.before[w.Key]
		if !rendered {
			continue
		}
		at := slices.IndexFunc(out, func(known patchedObject) bool { return known.target.Key == w.Key })
		if at < 0 {
			at = len(out)
			form := p.form(o.Key, o.Content)
			target := kustomize.Target{Ref: o.Ref, Text: o.Content, Normal: form, Live: w.object.Live, Release: p.chart.namespace}
			out = append(out, patchedObject{target: target})
		}
		out[at].fields = append(out[at].fields, i)
	}
	for i := range out {
		out[i].forms = p.forms(out[i])
	}
	return object.Filter(out, func(o patchedObject) bool { return len(o.forms) > 0 })
}

// forms returns the patches to try for an object. It leaves out a patch with a secret.
func (p *patcher) forms(o patchedObject) []absorption.KustomizePatch {
	var changes []kustomize.Change
	for _, i := range o.fields {
		w := p.wanted[i]
		change := kustomize.Change{Path: w.Path, Live: w.Text, Present: w.Present}
		if w.Text == nil {
			change.Live = w.Live
		}
		changes = append(changes, change)
	}
	var out []absorption.KustomizePatch
	for _, form := range []func(kustomize.Target, []kustomize.Change) (absorption.KustomizePatch, bool){kustomize.Strategic, kustomize.JSON} {
		if one, ok := form(o.target, changes); ok && !p.showsSecret(one) {
			out = append(out, one)
		}
	}
	return out
}

// showsSecret reports whether a patch may hold a secret.
func (p *patcher) showsSecret(one absorption.KustomizePatch) bool {
	var content any
	if json.Unmarshal([]byte(one.Patch), &content) != nil {
		return true
	}
	return p.hides(secret.Place{}, content) || p.Result.Comparison.Scrub(one.Patch) != one.Patch
}

// choose returns the objects with a proved patch, each with the form that was proved. The error says why there are none.
func (p *patcher) choose(ctx context.Context, objects []patchedObject) ([]patchedObject, error) {
	proved, err := p.prove(ctx, [][]patchedObject{objects})
	if err != nil {
		return nil, err
	}
	if proved[0] == nil {
		return objects, nil
	}
	// Try each object by itself, in each form, and take the first form that is proved.
	var alone [][]patchedObject
	for _, o := range objects {
		for _, form := range o.forms {
			alone = append(alone, []patchedObject{{o.target, o.fields, []absorption.KustomizePatch{form}}})
		}
	}
	if proved, err = p.prove(ctx, alone); err != nil {
		return nil, err
	}
	var chosen []patchedObject
	for i, one := range alone {
		isChosen := len(chosen) > 0 && chosen[len(chosen)-1].target.Key == one[0].target.Key
		if proved[i] == nil && !isChosen {
			chosen = append(chosen, one[0])
		}
	}
	if len(chosen) == 0 {
		return nil, proved[0]
	}
	together, err := p.prove(ctx, [][]patchedObject{chosen})
	if err == nil {
		err = together[0]
	}
	if err != nil {
		return nil, err
	}
	return chosen, nil
}

// prove renders the chart once with the patches of each group of objects. For each group it returns nil if the fields equal live and
// nothing else changed, and the reason otherwise.
func (p *patcher) prove(ctx context.Context, groups [][]patchedObject) ([]error, error) {
	var all []*absorption.Kustomization
	for _, group := range groups {
		all = append(all, kustomizationOf(group))
	}
	variants := slices.Repeat([]vary.Variant{p.variant}, len(all))
	rendered, err := p.chart.server.batch(ctx, VariantOrder{Variants: variants, Kustomizations: all})
	if err != nil {
		return nil, err
	}
	out := make([]error, len(groups))
	for i, one := range rendered {
		if one.Fault != "" {
			out[i] = errors.New(one.Fault)
			continue
		}
		after := map[object.Key]object.Object{}
		for _, o := range p.chart.list(one) {
			after[o.Key] = o
		}
		out[i] = p.check(groups[i], after)
	}
	return out, nil
}

// kustomizationOf returns the kustomization with the first form of each patch.
func kustomizationOf(objects []patchedObject) *absorption.Kustomization {
	var out []absorption.KustomizePatch
	for _, o := range objects {
		out = append(out, o.forms[0])
	}
	return absorption.NewKustomization(out)
}

// check compares the objects of the patched chart: with live at the fields, and elsewhere with the objects of the chart without patches.
func (p *patcher) check(group []patchedObject, after map[object.Key]object.Object) error {
	patched := map[object.Key][]int{}
	for _, o := range group {
		patched[o.target.Key] = o.fields
	}
	for key := range after {
		if _, known := p.before[key]; !known {
			return errors.New("kustomize prints an object that the chart does not render: " + key.String())
		}
	}
	for key, was := range p.before {
		is, found := after[key]
		fields := patched[key]
		switch {
		case !found && (len(fields) == 0 || len(p.wanted[fields[0]].Path) > 0):
			return errors.New("kustomize leaves out " + key.String())
		case found && len(fields) == 0 && !p.isPatched(was, is, nil):
			return errors.New("kustomize changes " + key.String() + ", and there is no patch for it")
		case found && !p.isPatched(was, is, fields):
			return errors.New("kustomize does not make of " + key.String() + " what live has, or moves more of it")
		}
	}
	return nil
}

// isPatched reports whether the fields of an object equal live, and everything else is as before. If the object differs with
// each rendering, it compares only the fields.
func (p *patcher) isPatched(was, is object.Object, fields []int) bool {
	before, after := any(p.form(was.Key, was.Content)), any(p.form(is.Key, is.Content))
	for _, i := range fields {
		w := p.wanted[i]
		if len(w.Path) == 0 || !w.IsIn(after) { // without a path, the object should be gone
			return false
		}
	}
	if p.random[was.Key] {
		return true
	}
	for _, i := range fields {
		before, after = object.Without(before, p.wanted[i].Path), object.Without(after, p.wanted[i].Path)
	}
	return object.Equal(withoutEmpty(before), withoutEmpty(after))
}

// withoutEmpty returns a value without its empty maps and lists, such as the parent of the only field that a patch adds.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range v {
			if kept := withoutEmpty(below); kept != nil {
				out[name] = kept
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, below := range v {
			out = append(out, withoutEmpty(below))
		}
		if len(out) > 0 {
			return out
		}
		return nil
	}
	return v
}
