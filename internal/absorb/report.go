package absorb

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Report returns what was found, with secret values masked.
func (a *Absorption) Report(version string, now time.Time) *absorption.Result {
	in := a.Result.Comparison.Input
	out := &absorption.Result{
		APIVersion: report.APIVersion, Kind: report.KindAbsorbResult, Helmdrift: version, Time: now.UTC().Truncate(time.Second),
		Name: in.Name, Namespace: in.Namespace, Chart: in.Desired.Chart, Fields: []absorption.Field{}, Edits: []absorption.ValueEdit{},
		Renders: a.found.Renders, Warnings: a.warnings, Versions: a.Result.Comparison.CustomVersions(),
	}
	if in.Operation == report.OperationInstall {
		out.Operation = in.Operation
	}
	out.Errors = a.unread()
	for i := range a.wanted {
		out.Fields = append(out.Fields, a.field(i))
	}
	out.Fields = append(out.Fields, a.unsearched...)
	for _, e := range a.Edits {
		edit := a.edit(e)
		out.Masked = out.Masked || edit.Masked
		out.Edits = append(out.Edits, edit)
	}
	if len(a.Edits) > 0 {
		// A list of the overlay has all its items, although the edits may have changed only one.
		out.Overlay = search.Overlay(a.Edited, a.found.Edited)
		if out.Masked = out.Masked || a.hides(secret.Place{}, out.Overlay); out.Masked {
			out.Overlay = nil
		}
	}
	out.Kustomization = a.kustomization
	out.SideEffects = a.allEffects()
	for _, one := range a.found.GivenUp {
		out.Warnings = append(out.Warnings, report.Message{Code: "candidate-given-up",
			Message: "a candidate was given up: " + namesOf(one.Edits) + ": " + a.Result.Comparison.Scrub(one.Reason)})
	}
	if a.found.Stopped != nil {
		out.Warnings = append(out.Warnings, report.Message{Code: "search-ended", Message: "the search ended early: " +
			a.Result.Comparison.Scrub(a.found.Stopped.Error())})
	}
	return out
}

// unread returns the errors of the comparison. What could not be read may have drifted, and is not absorbed.
func (a *Absorption) unread() []report.Message {
	c := a.Result.Comparison
	out := c.Report(threeway.Mask{}).Errors
	for _, o := range c.Objects {
		if e := o.Err.Map(c.Scrub); e != nil {
			out = append(out, report.Message{Code: e.Code, Object: o.Key.String(), Message: e.Message, Subject: e.Subject})
		}
	}
	return out
}

// shown returns a field as it was compared.
func (a *Absorption) shown(w wantedField) absorption.Field {
	out := absorption.Field{Object: report.ObjectKey{Key: w.Key}, Source: w.Source, Status: absorption.Left}
	if w.finding != nil {
		shown := a.Result.Comparison.Field(w.object, *w.finding, threeway.Mask{})
		if a.showsAnnounced([]any{shown.Old, shown.Desired, shown.Live, shown.After}) {
			shown.Masked, shown.Inside = true, nil
			shown.Old, shown.Desired, shown.Live, shown.After = nil, nil, nil, nil
		}
		out.Field = &shown
	}
	return out
}

// field returns what was found for one field.
func (a *Absorption) field(i int) absorption.Field {
	w := a.wanted[i]
	out := a.shown(w)
	out.Patched = a.patched[i]
	if len(a.found.Found) == 0 {
		return out
	}
	found := a.found.Found[i]
	for _, c := range found.Others {
		out.Others = append(out.Others, absorption.Candidate{Edits: a.edits(c.Edits), SideEffects: a.effects(c.Effects)})
	}
	switch found.Status {
	case search.Absorbed:
		out.Edits, out.SideEffects = a.edits(found.Edits), a.effects(found.Effects)
		if a.unproved[i] {
			out.Reason, out.Message = absorption.LeftNotRendered, "the changed values file renders to something else"
			if a.refuted {
				out.Message = "the chart does not render with the changed values file"
			}
			if why := a.refused[i]; why != "" {
				out.Reason, out.Message = absorption.LeftConflict, why
			}
			return out
		}
		out.Status = absorption.Absorbed
	case search.Secret:
		out.Reason, out.Message = absorption.LeftSecret, "a secret is never written into values"
		out.Ways = a.secretWays()
	case search.Volatile:
		out.Reason, out.Message = absorption.LeftVolatile, "each rendering makes another value"
	case search.Conflict:
		out.Reason, out.Message = absorption.LeftConflict, "another field needs the same value otherwise"
		for _, n := range found.With {
			place := absorption.Place{Object: report.ObjectKey{Key: a.wanted[n].Key}}
			if len(a.wanted[n].Path) > 0 {
				place.Path = a.Result.Comparison.ShownPath(a.wanted[n].object, a.wanted[n].Path).String()
			}
			out.With = append(out.With, place)
		}
	case search.SideEffects:
		out.Reason, out.Message = absorption.LeftSideEffects, "every change that does it also changes other objects"
	case search.NotRendered:
		out.Reason, out.Message = absorption.LeftNotRendered, "the search ended before a value was found"
	case search.NoValue:
		out.Reason, out.Message = absorption.LeftNoValue, "no value of the chart was found that controls it"
		out.File, out.Line = w.Source, a.lineOf(w)
	}
	if found.Refused != nil && found.Status != search.Absorbed {
		a.describeRefused(&out, found)
	}
	return out
}

// describeRefused describes a change that would absorb the field but is refused. If the values file refuses it, the result is a conflict,
// because some other place has the same value. A hole is a side effect.
func (a *Absorption) describeRefused(out *absorption.Field, found search.Found) {
	r := found.Refused
	switch {
	case r.Hole != nil && found.Status == search.NoValue:
		place := a.effect(*r.Hole)
		out.Reason, out.File, out.Line = absorption.LeftSideEffects, "", 0
		out.Message = fmt.Sprintf("without %s, %s of %s would lack a part", namesOf(r.Edits), place.Path, place.Object.Key)
	case r.Hole != nil:
	case r.ByFile && len(found.With) == 0:
		out.Reason, out.File, out.Line = absorption.LeftConflict, a.file, r.Line
		out.Message = a.cannotTake(r.Edits, r.Reason)
	case !r.ByFile && found.Status == search.NoValue:
		out.Reason, out.File, out.Line = absorption.LeftNotRendered, "", 0
		out.Message = "the chart refuses the change of " + namesOf(r.Edits) + ": " + a.Result.Comparison.Scrub(r.Reason)
	}
}

// namesOf returns the names of the values that edits change.
func namesOf(edits []Edit) string {
	var names []string
	for _, e := range edits {
		names = append(names, e.Name())
	}
	return strings.Join(names, ", ")
}

func (a *Absorption) edits(edits []Edit) []absorption.ValueEdit {
	var out []absorption.ValueEdit
	for _, e := range edits {
		out = append(out, a.edit(e))
	}
	return out
}

// edit returns one change of values, masked if it may hold a secret.
func (a *Absorption) edit(e Edit) absorption.ValueEdit {
	out := absorption.ValueEdit{Path: e.Path, Name: e.Name(), Remove: e.Remove, Null: e.Value == nil && !e.Remove}
	before, _ := valuesfile.ValueAt(a.values, e.Path)
	place := search.Place(a.values, e.Path)
	out.Masked = a.hides(place, before) || a.hides(place, e.Value)
	if !out.Masked {
		out.Old, out.New = before, e.Value
	}
	return out
}

// Conceals returns a function that reports whether a text of the values file is secret: a name announces it, or it contains an announced
// text of several lines. A difference may show a single line of such a text, and Scrub does not know the line by itself. More are further
// values with names that announce secrets.
func (a *Absorption) Conceals(more ...map[string]any) func(text string) bool {
	secrets := map[string]bool{}
	for _, values := range append(more, a.Edited, a.values, a.found.Edited) {
		secret.Place{}.Each(values, func(text string) { secrets[text] = true })
	}
	return func(text string) bool {
		if secrets[text] {
			return true
		}
		for part := range secrets {
			if strings.Contains(part, "\n") && strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
}

// Scrub removes secrets from a text for the user, such as the difference of the values file. The names of values, and of more, say which.
func (a *Absorption) Scrub(text string, more ...map[string]any) string {
	known := &secret.Known{}
	for _, values := range append(more, a.Edited, a.values, a.found.Edited) {
		known.AddAnnounced(values)
	}
	return known.Scrub(a.Result.Comparison.Scrub(text))
}

// hides reports whether a value at a place of the values may be secret.
func (a *Absorption) hides(place secret.Place, v any) bool {
	text := yamlText(v)
	return place.Holds(v) || a.showsAnnounced(v) || a.Result.Comparison.Scrub(text) != text
}

// shortestAnnounced is the shortest announced text that is secret wherever it appears. The password web may be part of any name.
const shortestAnnounced = 8

// announcedTexts returns the texts that names in values announce as secret, if they count as secret wherever they appear.
func announcedTexts(all ...map[string]any) []string {
	var out []string
	for _, values := range all {
		secret.Place{}.Each(values, func(text string) {
			if len(text) >= shortestAnnounced {
				out = append(out, text)
			}
		})
	}
	return out
}

// showsAnnounced reports whether a value holds a secret of the values file or of the chart, which no Secret of the release needs to have.
func (a *Absorption) showsAnnounced(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if a.showsAnnounced(name) || a.showsAnnounced(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, a.showsAnnounced)
	case string:
		return slices.ContainsFunc(a.announced, func(text string) bool { return strings.Contains(v, text) })
	}
	return false
}

// effects returns the side effects of a change, masked.
func (a *Absorption) effects(effects []search.Effect) []absorption.Effect {
	var out []absorption.Effect
	for _, e := range effects {
		out = append(out, a.effect(e))
	}
	return out
}

func (a *Absorption) effect(e search.Effect) absorption.Effect {
	out := absorption.Effect{Object: report.ObjectKey{Key: e.Key}, Derived: e.Derived, Converges: e.Converges, Hook: e.Hook}
	if len(e.Path) == 0 {
		out.Action = report.ActionCreate
		if e.After == nil {
			out.Action = report.ActionDelete
		}
		return out
	}
	if e.Hook != nil {
		a.show(&out, e, &threeway.ObjectComparison{Object: object.Object{Ref: object.Ref{Key: e.Key}}})
		return out
	}
	for _, c := range []*threeway.Comparison{a.after, a.Result.Comparison} {
		o := objectOf(c, e.Key)
		if o == nil {
			continue
		}
		a.show(&out, e, o)
		for _, f := range o.Findings {
			if c == a.after && f.Path.Overlaps(e.Path) {
				out.Verdict = f.Verdict
			}
		}
		return out
	}
	out.Path, out.Masked = e.Path.String(), true
	return out
}

// show adds the place of an effect and its values, masked, to the report.
func (a *Absorption) show(out *absorption.Effect, e search.Effect, o *threeway.ObjectComparison) {
	f := threeway.Finding{Path: e.Path, Old: e.Before, Desired: e.After}
	shown := a.Result.Comparison.Field(o, f, threeway.Mask{})
	out.Path, out.Masked, out.Before, out.After = shown.Path, shown.Masked, shown.Old, shown.Desired
	if a.showsAnnounced([]any{e.Before, e.After}) {
		out.Masked, out.Before, out.After = true, nil, nil
	}
}

// allEffects returns the side effects of all changes together.
func (a *Absorption) allEffects() []absorption.Effect {
	var out []absorption.Effect
	seen := map[string]bool{}
	for i, found := range a.found.Found {
		if found.Status != search.Absorbed || a.unproved[i] {
			continue
		}
		for _, e := range found.Effects {
			id := strings.Join(e.Hook, ",") + " " + e.Key.String() + " " + e.Path.String()
			if !seen[id] && !a.isWanted(e) {
				seen[id] = true
				out = append(out, a.effect(e))
			}
		}
	}
	return out
}

// isWanted reports whether an effect is on a wanted field.
func (a *Absorption) isWanted(e search.Effect) bool {
	return e.Hook == nil && slices.ContainsFunc(a.wanted, func(w wantedField) bool {
		return w.Key == e.Key && (len(w.Path) == 0 || w.Path.Overlaps(e.Path))
	})
}

// objectOf returns an object of a comparison, or nil if there is none.
func objectOf(c *threeway.Comparison, key object.Key) *threeway.ObjectComparison {
	if c == nil {
		return nil
	}
	for i := range c.Objects {
		if c.Objects[i].Key == key {
			return &c.Objects[i]
		}
	}
	return nil
}

// secretWays returns the values that let the chart use an existing Secret.
func (a *Absorption) secretWays() []string {
	var out []string
	search.EachValue(a.values, func(path []any, _ any) {
		name, _ := path[len(path)-1].(string)
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "existing") && strings.Contains(lower, "secret") || strings.HasPrefix(lower, "secretname") {
			out = append(out, Edit{Path: path}.Name())
		}
	})
	return out
}

// lineOf returns the line of its template that writes a field, or 0 if there is none.
func (a *Absorption) lineOf(w wantedField) int {
	for _, t := range a.templates {
		if t.Path == w.Source {
			return search.LineOf(t.Text, w.Path)
		}
	}
	return 0
}
