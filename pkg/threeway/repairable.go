package threeway

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Repairable is one compared object for a repair: live as it was read, what old's manifest says at each place, and the API's own
// rules for both. It holds values in clear and, like the Comparison, never leaves the process.
//
// A text is an object as the API server writes it. Its normal form has the items of its lists in the same places. A Repairable is not safe
// for concurrent use.
type Repairable struct {
	// Live is the text that was read. It must not be changed.
	Live map[string]any

	job      *comparer
	object   object.Object
	shape    *kinds.Shape
	manifest kinds.State
	// stated is old's normal form without defaults, and spelled is the one with defaults. Both have the manifest's own spelling.
	stated, spelled map[string]any
	// applied are the fields that an apply of old owns; nil if Helm does not apply.
	applied *fieldpath.Set
	// unapplied is the reason why applied is not known.
	unapplied error
	kept      []*Kept
}

// Kept is a text whose forms are computed once, because many changes ask for them.
type Kept struct {
	of      *Repairable
	text    map[string]any
	normal  map[string]any
	spelled any
}

// Keep makes r compute the forms of a text once. Whoever changes the text calls Changed, unless paths still lead to the same places and
// have no other value than a text or a number. Live is always kept.
func (r *Repairable) Keep(text map[string]any) *Kept {
	k := &Kept{of: r, text: text}
	r.kept = append(r.kept, k)
	return k
}

// Changed makes the forms of the text be computed again.
func (k *Kept) Changed() { k.normal, k.spelled = nil, nil }

// Done ends the effect of Keep.
func (k *Kept) Done() {
	k.of.kept = slices.DeleteFunc(k.of.kept, func(other *Kept) bool { return other == k })
}

// find returns the Kept of a text: the one that r keeps, or a new one, which forgets its forms.
func (r *Repairable) find(text map[string]any) *Kept {
	if i := slices.IndexFunc(r.kept, func(k *Kept) bool { return object.IsSameMap(k.text, text) }); i >= 0 {
		return r.kept[i]
	}
	return &Kept{of: r, text: text}
}

// Repairable returns the Repairable of an object of c. It returns false if old and live were not compared at old's
// own version: the object was not read, is missing, or its kind is no longer served at that version.
func (c *Comparison) Repairable(o *ObjectComparison) (*Repairable, bool) {
	if o.Err != nil || o.liveText == nil || o.Name == "" || cmp.Or(object.RefOf(o.liveText).Version, o.Version) != o.Version {
		return nil, false
	}
	r := &Repairable{Live: o.liveText, job: c.job, object: o.Object}
	r.object.Again = nil
	r.Keep(r.Live)
	r.shape = r.job.writer.ShapeOf(o.Ref)
	text, f := r.old(), kinds.NewNormalizer(o.Key, r.shape, o.liveText)
	r.manifest = f.Manifest(text)
	if r.manifest.Written == nil {
		return nil, false
	}
	r.manifest.Value = kinds.PlainNulls(r.manifest.Value)
	r.spelled, _ = kinds.ResolveNulls(f.AsSpelled().Manifest(text).Value, c.Input.ServerSide()).(map[string]any)
	r.stated, _ = kinds.ResolveNulls(f.AsSpelled().WithoutDefaults(text), c.Input.ServerSide()).(map[string]any)
	if c.Input.ServerSide() {
		r.applied, r.unapplied = r.job.writer.OwnedBy(r.object.Ref, r.old())
	}
	return r, true
}

// Described reports whether the object's kind is known: native, or by its CustomResourceDefinition.
func (c *Comparison) Described(o *ObjectComparison) bool {
	return kinds.Native().Shape(o.GVK()) != nil || c.Input.Schemas[o.GroupKind()].Shape(o.Version) != nil
}

// old returns the text that Helm sent.
func (r *Repairable) old() map[string]any {
	return r.job.helmText(r.object.Content)
}

// Normal returns the normal form of a text of the object, defaults included.
func (r *Repairable) Normal(text map[string]any) map[string]any {
	k := r.find(text)
	if k.normal == nil {
		k.normal = kinds.NewNormalizer(r.object.Key, r.shape, text).Stored(text).Object()
	}
	return k.normal
}

// Declared returns old's normal form, defaults included.
func (r *Repairable) Declared() map[string]any { return r.manifest.Object() }

// Stated returns what old's manifest sets at a path, in normal form and without defaults. It returns false if the manifest sets nothing.
func (r *Repairable) Stated(path object.Path) (any, bool) {
	v, ok := path.LookupIn(r.stated, r.Declared())
	return object.Copy(v), ok
}

// Spelled reports whether a text has at a path exactly what the API server would store for old's manifest, in the same spelling.
func (r *Repairable) Spelled(text map[string]any, path object.Path) bool {
	k := r.find(text)
	if k.spelled == nil {
		k.spelled = kinds.NewNormalizer(r.object.Key, r.shape, text).AsSpelled().Stored(text).Value
	}
	is, there := path.Lookup(k.spelled)
	was, declared := path.Lookup(r.spelled)
	return there && declared && object.Equal(is, was)
}

// At returns what a text has at a path. If several items have the name, it returns a list of them.
func (r *Repairable) At(text map[string]any, path object.Path) (any, bool) {
	return path.LookupIn(text, r.Normal(text))
}

// Named reports whether old's manifest names a path; a null names it too.
func (r *Repairable) Named(path object.Path) bool {
	return r.manifest.Lookup(path).Named
}

// Locate returns the pointer of a path in a text. It returns false if the text lacks the place, even if the place has a default.
func (r *Repairable) Locate(text map[string]any, path object.Path) (object.Pointer, bool) {
	return path.PointerInto(text, r.Normal(text))
}

// Keys returns the list-map keys of the list at a path, or none if its items have no keys.
func (r *Repairable) Keys(list object.Path) []string { return r.shape.Lookup(list).ListRule().Keys }

// IsKey reports whether a path leads to an entry of a map with keys of any name, such as a label. Such an entry has no default.
func (r *Repairable) IsKey(path object.Path) bool {
	holder := r.shape.Lookup(path[:max(len(path)-1, 0)])
	return len(path) > 0 && holder != nil && holder.Form == kinds.FormMap
}

// IsPlacement reports whether a finding is about the order of items with keys. Any other list is one value.
func (r *Repairable) IsPlacement(f verdict.Finding) bool {
	return f.Class == report.ClassOrder && len(r.Keys(f.Path)) > 0
}

// StepTo returns the step to an item of the list at a path, and false if the item lacks its keys.
func (r *Repairable) StepTo(list object.Path, item any) (object.Step, bool) {
	return kinds.StepTo(item, r.shape.Lookup(list).ListRule())
}

// Whole returns the path of the atomic map, struct or list that holds a path. A server-side apply treats it as one value. If there is
// none, or Helm does not apply, it returns the path itself.
func (r *Repairable) Whole(path object.Path) object.Path {
	if r.applied == nil {
		return path
	}
	for n := 1; n < len(path); n++ {
		if owners.OwnsWhole(r.applied, path[:n]) {
			return path[:n]
		}
	}
	return path
}

// Filled reports whether the server or a controller fills in the place of live: it is allocated, or the API would default it to the
// value that it has.
func (r *Repairable) Filled(path object.Path) (allocated, defaulted bool) {
	return verdict.Filled(r.object.Key, r.shape, r.Live, r.Normal(r.Live), path)
}

// HoldsIgnored returns the rule that silences a difference of live and old below a path, or nil if there is none. The path cannot
// be restored as a whole without changing that difference.
func (r *Repairable) HoldsIgnored(path object.Path) *report.IgnoreRule {
	live, there := path.Lookup(r.Normal(r.Live))
	if !there {
		return nil
	}
	rules, _ := ignore.ForObject(r.job.in.Rules, r.job.in.Name, r.object.Ref, r.object.Content, r.Live)
	old, _ := path.Lookup(r.Declared())
	return rules.WithStates(r.Normal(r.Live), r.Declared()).DifferingPart(path, live, old)
}

// Findings compares old with another text of the object, such as one that was read later. Fields that a repair wrote count as Helm's.
func (r *Repairable) Findings(live map[string]any) []verdict.Finding {
	live = withoutRepairer(live)
	p := pair{key: r.object.Key, old: &r.object, desired: &r.object}
	rules, _ := ignore.ForObject(r.job.in.Rules, r.job.in.Name, r.object.Ref, textsOf(p, live)...)
	return r.job.compareFields(p, rules, live, r.object.Content).Findings // the findings are known even if no patch can be made
}

// withoutRepairer returns an object without the repairer's entries in managedFields.
func withoutRepairer(live map[string]any) map[string]any {
	entries, _ := object.Child(live, "metadata")["managedFields"].([]any)
	kept := slices.DeleteFunc(slices.Clone(entries), func(v any) bool {
		entry, _ := v.(map[string]any)
		return entry["manager"] == owners.Repairer && entry["operation"] == "Update"
	})
	if len(kept) == len(entries) {
		return live
	}
	out := maps.Clone(live)
	metadata := maps.Clone(object.Child(live, "metadata"))
	out["metadata"], metadata["managedFields"] = metadata, kept
	return out
}

// Refusal returns the reason why the API server would reject an update from was to is. It is empty if none is known.
func (r *Repairable) Refusal(was, is map[string]any) string {
	f := kinds.NewNormalizer(r.object.Key, r.shape, was)
	before, after := f.Stored(was), f.Stored(is)
	apiserver.ApplyServerRules(r.object.Key, before, after)
	return apiserver.Update{Ref: r.object.Ref, Text: was, Live: before.Object(), Result: after.Object()}.RefusedFields()
}

// Applied returns the fields that an apply of old owns, as managedFields record them.
func (r *Repairable) Applied() (*fieldpath.Set, error) {
	if r.applied == nil && r.unapplied == nil {
		return nil, errors.New("the release is not applied server-side")
	}
	return r.applied, r.unapplied
}

// AppliedAt returns the part of Applied at a path itself. It is for values that old's manifest names and the API server leaves out: an
// empty list or a null. A key in the data of a Secret may have been applied as stringData.
func (r *Repairable) AppliedAt(path object.Path) *fieldpath.Set {
	if r.applied == nil {
		return &fieldpath.Set{}
	}
	at := fieldpath.NewSet(owners.FieldPath(path))
	if sent, ok := owners.SentAsText(path); ok && r.object.GroupKind().String() == "Secret" {
		at.Insert(owners.FieldPath(sent))
	}
	return at.Intersection(r.applied)
}

// Field returns a finding as a report has it, masked.
func (c *Comparison) Field(o *ObjectComparison, f verdict.Finding, mask Mask) report.Finding {
	return o.fieldReport(f, c.masker(o, mask))
}

// PlaceOf returns the path that a text names, as Path.String writes it. The text may be the path of a place in a state of the object
// or in one of its findings, or a parent of such a path, in clear or as a Report shows it. PlaceOf returns an empty text if there is
// no such path.
func (c *Comparison) PlaceOf(o *ObjectComparison, text string) (place string) {
	mask := c.masker(o, Mask{})
	visit := func(path object.Path) {
		if clear := path.String(); clear == text || mask.shownPath(path).String() == text {
			place = clear
		}
	}
	s := c.job.writer.ShapeOf(o.Ref)
	for _, side := range []map[string]any{o.Old, o.Live} {
		kinds.EachPlace(side, s, nil, visit)
	}
	for _, f := range o.Findings {
		for n := range f.Path {
			visit(f.Path[:n+1])
		}
	}
	return place
}

// Superfluous returns the fields of a text that no manifest names and that the API server rejects next to what old's manifest names. A
// repair meets them if somebody changed the member of a union: it restores old's member, while the other one still exists.
func (r *Repairable) Superfluous(text map[string]any) []object.Path {
	return slices.DeleteFunc(apiserver.Superfluous(r.object.Key, r.Normal(text), r.Named), func(path object.Path) bool {
		_, there := r.Locate(text, path)
		return !there
	})
}
