package repair

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Keys identify the items of a list. If somebody edits a key, one item is missing, and live has another item that no manifest names. If a
// fix simply added the missing item, live would have both: two containers, or two ports with the same name, which the API server refuses.
// So the edited item gets its old keys back.

// renames turns the return of a missing item into a rename of the one item of live that equals it except for its keys. It declines the
// change if several items qualify, or if the rename would touch what is skipped or ignored.
func (b *builder) renames(changes []Change) []Change {
	candidates := b.candidates()
	var out []Change
	for _, c := range changes {
		found := candidates[c.Path.String()]
		rivals := func(path object.Path) bool { return countClaims(candidates, path) > 1 }
		switch {
		case len(found) == 0:
			out = append(out, c)
		case len(found) > 1 || slices.ContainsFunc(found, rivals):
			b.decline(b.compared, c.ID, "it is not certain whether it was renamed: but for its keys, it equals "+b.joined(found))
		case b.whyKept(found[0]) != "":
			b.decline(b.compared, c.ID, "it was renamed to "+b.shown(found[0])+", which "+b.whyKept(found[0]))
		default:
			c.kind, c.livePath = putName, found[0] // exactly one candidate, for this missing item only
			out = append(out, c)
		}
	}
	return out
}

// countClaims counts the missing items that have an item of live as a candidate.
func countClaims(candidates map[string][]object.Path, path object.Path) int {
	n := 0
	for _, paths := range candidates {
		if slices.ContainsFunc(paths, func(p object.Path) bool { return p.Equal(path) }) {
			n++
		}
	}
	return n
}

// candidates returns, by the path of each missing item, the items of live that may be the same item under another name.
func (b *builder) candidates() map[string][]object.Path {
	out := map[string][]object.Path{}
	for _, f := range object.Filter(b.compared.Findings, threeway.Finding.Drifted) {
		last := len(f.Path) - 1
		if last < 0 || f.Path[last].Form != object.KeyStep {
			continue
		}
		if _, there := b.plan.rawAt(b.plan.source.Live, f.Path); there {
			continue
		}
		if found := b.candidatesFor(f.Path[:last], f.Path); len(found) > 0 {
			out[f.Path.String()] = found
		}
	}
	return out
}

// candidatesFor returns the items of live that somebody wrote, that no manifest names, and that equal the missing item except for their
// keys. An item has several findings if it has several owners, or if a rule ignores a part of it.
func (b *builder) candidatesFor(list, missing object.Path) []object.Path {
	var out []object.Path
	n := len(list) + 1
	for _, f := range b.compared.Findings {
		if f.Managed || len(f.Path) < n || f.Path[n-1].Form != object.KeyStep || !f.Path.HasPrefix(list) {
			continue
		}
		item := f.Path[:n]
		_, declared := item.Lookup(b.plan.source.Declared())
		if !declared && !slices.ContainsFunc(out, func(p object.Path) bool { return item.HasPrefix(p) }) && b.sameButKeys(missing, item) {
			out = append(out, item)
		}
	}
	return out
}

// sameButKeys compares old's item with one of live. Fields that no manifest names may differ if the API server or a controller filled them
// in.
func (b *builder) sameButKeys(missing, other object.Path) bool {
	source := b.plan.source
	v, _ := missing.Lookup(source.Declared())
	old, isMap := v.(map[string]any)
	w, there := other.Lookup(source.Normal(source.Live))
	live, alsoMap := w.(map[string]any)
	keys := source.Keys(missing[:len(missing)-1])
	if !isMap || !alsoMap || !there || len(keys) == 1 && len(old) == 1 {
		return false // an item with nothing but its name has no candidate
	}
	for _, name := range object.AllKeys(old, live) {
		if slices.Contains(keys, name) || object.Equal(old[name], live[name]) {
			continue
		}
		// The two may differ in a default or an allocated value, but not in anything that the manifest or a person set.
		allocated, defaulted := source.Filled(other.Field(name))
		_, held := live[name]
		if source.Named(missing.Field(name)) || held && !allocated && !defaulted {
			return false
		}
	}
	return true
}
