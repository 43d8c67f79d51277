package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// A repair leaves what no manifest names, because it is not Helm's. With Prune it removes the part that only persons wrote. Everything
// that controllers or unknown programs own, alone or beside a person, and everything without an owner, stays.

// pruned makes the changes that remove additions. It skips what a planned change removes anyway, and what would be a default once the
// planned changes are made: a default that depends on an edited value is a finding only until the edit is undone.
func (b *builder) pruned(added []threeway.Finding, planned []Change) []Change {
	if len(added) == 0 {
		return nil
	}
	beside, err := b.plan.repaired(b.plan.source.Live, planned)
	if err != nil {
		beside = b.plan.source.Live
	}
	defer b.plan.source.Keep(beside).Done()
	var out []Change
	candidates := b.candidates()
	for _, f := range added {
		goesAlong := func(c Change) bool {
			return c.kind != putOrder && f.Path.HasPrefix(c.Path) || c.kind == putName && f.Path.HasPrefix(c.livePath)
		}
		// A planned change of an order touches no values, so it removes nothing.
		if slices.ContainsFunc(planned, goesAlong) || b.plan.isDefault(beside, f.Path) {
			continue
		}
		c := Change{ID: b.id(b.compared, f), Path: f.Path, kind: prune, finding: f}
		c.From, _ = b.plan.rawAt(b.plan.source.Live, f.Path)
		if reason := b.whyNotPruned(c, candidates); reason != "" {
			b.decline(b.compared, c.ID, reason)
			continue
		}
		// Somebody else owns the map itself, so it stays as an empty map, and the recorded ownership stays true.
		if _, held := b.plan.isWrittenBy(f.Owners, b.plan.source.Live, f.Path); held {
			c.To = map[string]any{}
		}
		out = append(out, c)
	}
	return out
}

// whyNotPruned returns why an addition stays, or "" if it is removed.
func (b *builder) whyNotPruned(c Change, candidates map[string][]object.Path) string {
	source := b.plan.source
	doubt := b.uncertainty(b.compared, c.finding)
	switch {
	case doubt != "" && !b.choice.namesField(b.compared.Key, c.Path):
		return fmt.Sprintf("%s; --only %s/%s:%s removes it", doubt, b.compared.Kind, b.compared.Name, b.shown(c.Path))
	case hasIndex(c.Path) || b.plan.ambiguous(source.Live, c.Path):
		return unclearItem
	case c.From == nil:
		return "live has nothing here to remove"
	case len(source.Whole(c.Path)) < len(c.Path):
		return b.shown(source.Whole(c.Path)) + " is one value for a server-side apply, and the manifest names it"
	}
	if allocated, _ := source.Filled(c.Path); allocated {
		return "the API server or a controller fills it in, and the earlier value is not known"
	}
	if rule := b.ignoredAt(c.Path); rule != nil {
		return "a part of it is ignored by " + rule.Rule
	}
	if alone, _ := b.plan.isWrittenBy(c.finding.Owners, source.Live, c.Path); !alone {
		return "somebody else wrote a part of it"
	}
	if item := b.addedItem(c.Path); item != nil {
		why := ", which others wrote into as well"
		if rule := b.ignoredAt(item); rule != nil {
			why = ", and a part of it is ignored by " + rule.Rule
		}
		return "it is a part of " + b.shown(item) + why
	}
	// If this item were pruned, it could no longer be renamed back.
	for _, missing := range object.SortedKeys(candidates) {
		if slices.ContainsFunc(candidates[missing], func(path object.Path) bool { return c.Path.HasPrefix(path) }) {
			return "it may be " + missing + " under another name"
		}
	}
	return ""
}

// addedItem returns the list item around path that a person added and that cannot be removed as a whole: others wrote into it, or a rule
// ignores a part. Removing only the person's part, which includes the keys, would leave an item that the API server refuses.
func (b *builder) addedItem(path object.Path) object.Path {
	for n := 1; n < len(path); n++ {
		item := path[:n]
		if _, declared := item.Lookup(b.plan.source.Declared()); declared || path[n-1].Form != object.KeyStep {
			continue
		}
		isKey := func(f threeway.Finding) bool {
			named := func(k object.ListKey) bool { return k.Name == f.Path[n].Name }
			return len(f.Path) == n+1 && isAdded(f) && f.Path.HasPrefix(item) && slices.ContainsFunc(path[n-1].Keys, named)
		}
		if slices.ContainsFunc(b.compared.Findings, isKey) {
			return item
		}
	}
	return nil
}
