package threeway

import (
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

// Repairable is one compared object as a repair has to know it: what was read, what old's manifest says at each place, and the
// API's own rules for both. It holds values in clear and, like the Comparison, never leaves the process.
//
// A text is an object as the API server writes it. Its normal form has the items of its lists in the same places.
type Repairable struct {
	// Live is the text that was read. Nobody may change it.
	Live map[string]any

	job      comparer
	object   object.Object
	shape    *kinds.Shape
	manifest kinds.State
	// stated is old's normal form without defaults, and spelled the one with defaults, each in the manifest's own spelling.
	stated, spelled map[string]any
	// applied are the fields that an apply of old owns; nil where Helm does not apply.
	applied *fieldpath.Set
	// unapplied is why applied is not known.
	unapplied error
}

// Repairable returns what a repair has to know of an object of c; false where old and live were not compared at old's own version:
// the object was not read, is missing, or its kind is no longer served so.
func (c *Comparison) Repairable(o *ObjectComparison) (*Repairable, bool) {
	if o.Err != nil || o.liveText == nil || o.Name == "" || versionOf(o.liveText, o.Version) != o.Version {
		return nil, false
	}
	r := &Repairable{Live: o.liveText, job: c.comparer(), object: o.Object}
	r.object.Again = nil
	r.shape = r.job.shapeOf(o.Ref)
	text, f := r.old(), kinds.NewNormalizer(o.Key, r.shape, o.liveText)
	r.manifest = f.Manifest(text)
	if r.manifest.Written == nil {
		return nil, false
	}
	r.manifest.Value = kinds.PlainNulls(r.manifest.Value)
	r.spelled, _ = kinds.WithNulls(f.AsSpelled().Manifest(text).Value, c.Input.serverSide()).(map[string]any)
	r.stated, _ = kinds.WithNulls(f.AsSpelled().WithoutDefaults(text), c.Input.serverSide()).(map[string]any)
	if c.Input.serverSide() {
		r.applied, r.unapplied = r.job.writer.OwnedBy(r.object.Ref, r.old())
	}
	return r, true
}

// Described reports whether the object's kind is known: native, or by its CustomResourceDefinition.
func (c *Comparison) Described(o *ObjectComparison) bool {
	return kinds.Native().Shape(o.GVK()) != nil || c.Input.Schemas[o.GroupKind()].Shape(o.Version) != nil
}

// old is the text that Helm sent.
func (r *Repairable) old() map[string]any {
	return object.HelmMetadata(r.object.Content, r.job.in.Name, r.job.in.Namespace)
}

// Normal is the normal form of a text of the object, defaults included.
func (r *Repairable) Normal(text map[string]any) map[string]any {
	return kinds.NewNormalizer(r.object.Key, r.shape, text).Stored(text).Object()
}

// Declared is old's normal form, defaults included.
func (r *Repairable) Declared() map[string]any { return r.manifest.Object() }

// Stated is what old's manifest says at a path, in normal form and without defaults; false where it says that nothing stands there.
func (r *Repairable) Stated(path object.Path) (any, bool) {
	v, ok := path.LookupIn(r.stated, r.Declared())
	return object.Copy(v), ok
}

// Spelled reports whether a text holds at a path what the API server would store of old's manifest, spelled as it would store it.
func (r *Repairable) Spelled(text map[string]any, path object.Path) bool {
	is, there := path.Lookup(kinds.NewNormalizer(r.object.Key, r.shape, text).AsSpelled().Stored(text).Value)
	was, declared := path.Lookup(r.spelled)
	return there && declared && object.Equal(is, was)
}

// At returns what a text has at a path. Several items of one name are the list of them.
func (r *Repairable) At(text map[string]any, path object.Path) (any, bool) {
	return path.LookupIn(text, r.Normal(text))
}

// Named reports whether old's manifest names a path; a null names it too.
func (r *Repairable) Named(path object.Path) bool {
	return r.manifest.Down(path).Named
}

// Locate returns the pointer of a path in a text. It is false where the text lacks the place, also where the place has a default.
func (r *Repairable) Locate(text map[string]any, path object.Path) (object.Pointer, bool) {
	return path.PointerInto(text, r.Normal(text))
}

// Keys are the list-map keys of the list at a path; none where its items are not told apart by keys.
func (r *Repairable) Keys(list object.Path) []string { return r.shape.ShapeAt(list).Merges().Keys }

// IsPlacement reports whether a finding is about the places of items that are told apart by keys. Another list is a value, in whatever
// order.
func (r *Repairable) IsPlacement(f verdict.Finding) bool {
	return f.Class == report.ClassOrder && len(r.Keys(f.Path)) > 0
}

// StepTo names an item of the list at a path; false where it cannot be named.
func (r *Repairable) StepTo(list object.Path, item any) (object.Step, bool) {
	return kinds.StepTo(item, r.shape.ShapeAt(list).Merges())
}

// Whole returns the path of what is one value for a server-side apply and holds the path: an atomic map, struct or list. Where there
// is none, or Helm does not apply, it is the path itself.
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

// Filled reports whether the place of live is the server's or a controller's to fill: it is allocated, or the API would default it to
// what it holds.
func (r *Repairable) Filled(path object.Path) (allocated, defaulted bool) {
	return verdict.Filled(r.object.Key, r.shape, r.Live, r.Normal(r.Live), path)
}

// HoldsIgnored returns the rule that silences something below a path in which live and old differ; nil where none does. What holds it
// cannot be put back without touching it.
func (r *Repairable) HoldsIgnored(path object.Path) *report.IgnoreRule {
	live, there := path.Lookup(r.Normal(r.Live))
	if !there {
		return nil
	}
	rules, _ := ignore.ForObject(r.job.in.Rules, r.job.in.Name, r.object.Ref, r.object.Content, r.Live)
	old, _ := path.Lookup(r.Declared())
	return rules.In(r.Normal(r.Live), r.Declared()).Below(path, live, old)
}

// Findings compares old with another text of the object, such as one that was read later. What a repair wrote there counts as Helm's,
// to whom it is handed over.
func (r *Repairable) Findings(live map[string]any) []verdict.Finding {
	live = withoutRepairer(live)
	p := pair{key: r.object.Key, old: &r.object, desired: &r.object}
	rules, _ := ignore.ForObject(r.job.in.Rules, r.job.in.Name, r.object.Ref, textsOf(p, live)...)
	return r.job.compareFields(p, rules, live, r.object.Content).Findings // the findings are known where no patch can be made, too
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

// Refusal says why the API server would not store is in the place of was; empty where nothing speaks against it.
func (r *Repairable) Refusal(was, is map[string]any) string {
	f := kinds.NewNormalizer(r.object.Key, r.shape, was)
	before, after := f.Stored(was), f.Stored(is)
	apiserver.ApplyServerRules(r.object.Key, before, after)
	return apiserver.Update{Ref: r.object.Ref, Text: was, Live: before.Object(), Result: after.Object()}.RefusedFields()
}

// Applied returns the fields that an apply of old owns of an object, as managedFields have them.
func (r *Repairable) Applied() (*fieldpath.Set, error) {
	if r.applied == nil && r.unapplied == nil {
		return nil, errors.New("the release is not applied server-side")
	}
	return r.applied, r.unapplied
}

// AppliedAt is the part of Applied that stands at a path itself, for what old's manifest names and the API server leaves out: an empty
// list, a null.
func (r *Repairable) AppliedAt(path object.Path) *fieldpath.Set {
	if r.applied == nil {
		return &fieldpath.Set{}
	}
	return fieldpath.NewSet(owners.FieldPath(path)).Intersection(r.applied)
}

// Field is a finding as a report has it, masked.
func (c *Comparison) Field(o *ObjectComparison, f verdict.Finding, mask Mask) report.Finding {
	return o.fieldReport(f, c.masker(o, mask))
}

// PlaceOf is the path, as a Path writes itself, that a text names: that of a place which a side of an object has, or of one of its
// findings, or the beginning of such a path up to a step, as it is or as a Report shows it. It is empty where there is none.
func (c *Comparison) PlaceOf(o *ObjectComparison, text string) (place string) {
	mask := c.masker(o, Mask{})
	visit := func(path object.Path) {
		if clear := path.String(); clear == text || mask.shownPath(path).String() == text {
			place = clear
		}
	}
	s := c.comparer().shapeOf(o.Ref)
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

// Superfluous lists what the API server refuses in a text because of what old's manifest names there, and what no manifest names. A
// repair meets it where somebody moved from one member of a union to another: what old has is put back, and the other one still stands
// beside it.
func (r *Repairable) Superfluous(text map[string]any) []object.Path {
	return slices.DeleteFunc(apiserver.Superfluous(r.object.Key, r.Normal(text), r.Named), func(path object.Path) bool {
		_, there := r.Locate(text, path)
		return !there
	})
}
