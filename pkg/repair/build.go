package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// builder makes the changes of one object.
type builder struct {
	*planner
	plan     *ObjectPlan
	compared *threeway.ObjectComparison
	// ignored are the findings that a rule ignores, and failed those of the failed revision that no selector names.
	ignored, failed []threeway.Finding
}

// shown returns a path of the object as a report prints it.
func (b *builder) shown(path object.Path) string { return b.shownPath(b.compared, path) }

// build turns drift, and additions to be pruned, into changes that the API server would store.
func (b *builder) build(drift, added []threeway.Finding) {
	var base []Change
	seen := map[string][]Change{} // by their paths as texts
	for _, f := range drift {
		if c, reason := b.change(f); reason != "" {
			b.decline(b.compared, b.id(b.compared, f), reason)
		} else if c.kind == putOrder && object.Equal(c.From, c.To) {
			continue // the order is right once the items are back
		} else if text := c.Path.String(); !slices.ContainsFunc(seen[text], func(other Change) bool {
			return other.Path.Equal(c.Path) && other.kind == c.kind
		}) {
			base, seen[text] = append(base, c), append(seen[text], c)
		}
	}
	// Renames come first, because they decide which items are missing, and so what is pruned.
	base = b.withoutRestarts(nil, b.renames(b.possible(base)))
	changes := b.accepted(base, b.withoutRestarts(base, b.pruned(added, base)))
	order.Sort(changes, func(a, b Change) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	b.plan.Changes = changes
}

// change makes the change of one finding, or returns why there is none.
func (b *builder) change(f threeway.Finding) (Change, string) {
	source := b.plan.source
	atomic := source.Whole(f.Path)
	if reason := b.whyNotPutBack(f.Path, atomic); reason != "" {
		return Change{}, reason
	}
	if source.IsPlacement(f) { // a finding about order only; its values are the items of the list
		return b.orderOf(f), ""
	}
	c := Change{ID: b.id(b.compared, f), Path: f.Path, finding: f}
	if f.Equivalent { // the value is already right, so at most its owner must change
		if owner, reason := b.ownerOf(f); owner || reason != "" {
			c.kind = putOwner
			return c, reason
		}
	}
	if len(atomic) < len(f.Path) {
		c = b.atomicChange(f, atomic)
	}
	stated, names := source.Stated(c.Path)
	// The manifest may say null. For an untyped field, the API server stores the null, which is not the same as no field.
	if c.To = stated; names && stated == nil {
		c.To = object.Null{}
	}
	c.From, _ = b.plan.rawAt(source.Live, c.Path)
	if areMaps(c.From, c.To) {
		c.kind = putAtomic
	}
	if c.To == nil && c.From == nil {
		return c, "live has nothing here to remove, and the manifest has nothing to put back"
	}
	return c, ""
}

// possible returns the changes without those that cannot be made at all, and declines these: they would later make the patch of the whole
// object fail.
func (b *builder) possible(changes []Change) []Change {
	if _, err := b.plan.repaired(b.plan.source.Live, changes); err == nil {
		return changes
	}
	return object.Filter(changes, func(c Change) bool {
		_, err := b.plan.repaired(b.plan.source.Live, []Change{c})
		if err != nil {
			b.decline(b.compared, c.ID, err.Error())
		}
		return err == nil
	})
}

// whyNotPutBack returns why the place at path stays as it is, or "" if it can be put back. Atomic is the part of path that is written as
// one value, so everything inside it counts: what a rule ignores there, and what the failed revision wrote.
func (b *builder) whyNotPutBack(path, atomic object.Path) string {
	if hasIndex(path) || b.plan.ambiguous(b.plan.source.Live, path) {
		return unclearItem
	}
	what := "it"
	if len(atomic) < len(path) {
		what = b.shown(atomic)
	}
	if rule := b.ignoredAt(atomic); rule != nil {
		return fmt.Sprintf("a part of %s is ignored by %s, and %[1]s can only be put back as a whole", what, rule.Rule)
	}
	if part := overlapping(b.failed, atomic); part != nil && len(atomic) < len(path) {
		return fmt.Sprintf("%s%s %s, and %s can only be put back as a whole%s",
			b.failedRevision(), failedVerb(*part), b.shown(part.Path), what, b.undoFailedHint())
	}
	return ""
}

// unclearItem is the reason for a path through a list item that nothing identifies.
const unclearItem = "the items of its list lack their keys or share them, so it is unclear which one is meant"

// ownerOf reports whether only the ownership of a field is put back: live means the same as old, but an apply conflicts on it. If
// something prevents that, it returns why.
func (b *builder) ownerOf(f threeway.Finding) (bool, string) {
	source := b.plan.source
	if allocated, _ := source.Filled(f.Path); allocated {
		return false, "the API server or a controller fills it in, and would do so again; " +
			"helm upgrade conflicts on it as long as the chart names it"
	}
	if _, declared := f.Path.Lookup(source.Declared()); !declared {
		return false, "fix does not compare it; helm upgrade --force-conflicts writes it"
	}
	owned := source.AppliedAt(f.Path)
	if !source.Spelled(source.Live, f.Path) || owned.Empty() {
		return false, ""
	}
	losers := holders(b.plan.entriesOf(source.Live).others, owned)
	if len(losers) == 0 {
		return false, "its owner is not named in managedFields, so it cannot be handed over to " + b.plan.Deployer
	}
	// An entry at another version has the field names of that version, so removing our fields from it could remove the wrong ones.
	for _, e := range losers {
		if e.raw["apiVersion"] != b.plan.Ref.APIVersion() {
			return false, fmt.Sprintf("%s owns it at another version than %s", e.owner.Manager, b.plan.Ref.APIVersion())
		}
	}
	return true, ""
}

// areMaps reports whether both values are maps. The comparison goes into maps, so a change of a whole map means that the map is atomic.
func areMaps(a, b any) bool {
	_, isMap := a.(map[string]any)
	_, alsoMap := b.(map[string]any)
	return isMap && alsoMap
}

// atomicChange makes the change for a finding inside an atomic value of a server-side apply.
func (b *builder) atomicChange(f threeway.Finding, path object.Path) Change {
	id := b.id(b.compared, f)
	f.Old, _ = b.plan.source.Stated(path)
	f.Live, _ = path.Lookup(b.plan.source.Normal(b.plan.source.Live))
	f.Path, f.Desired, f.After = path, f.Old, nil
	f.Notes = report.Notes{"it is one value for a server-side apply"}
	return Change{ID: id, Path: path, kind: putAtomic, finding: f}
}

// orderOf makes the change that puts the order of a list back.
func (b *builder) orderOf(f threeway.Finding) Change {
	c := Change{ID: b.id(b.compared, f), Path: f.Path, kind: putOrder, finding: f}
	c.From = b.plan.order(b.plan.source.Live, f.Path)
	if after, err := b.plan.repaired(b.plan.source.Live, []Change{c}); err == nil {
		c.To = b.plan.order(after, f.Path)
	}
	return c
}

// removal makes the change that removes what no manifest names, because another change needs that.
func (b *builder) removal(path object.Path, kind changeKind, note string) Change {
	c := Change{Path: path, kind: kind}
	c.From, _ = b.plan.rawAt(b.plan.source.Live, path)
	at := slices.IndexFunc(b.compared.Findings, func(f threeway.Finding) bool { return f.Path.Equal(path) && !f.Managed })
	if at >= 0 {
		c.finding = b.compared.Findings[at]
	} else {
		live, _ := path.Lookup(b.plan.source.Normal(b.plan.source.Live))
		edit := report.Classification{Verdict: report.Ignore, Cause: report.CauseDrift}
		c.finding = threeway.Finding{Path: path, Classification: edit, Certain: true, Live: live}
	}
	c.finding.Notes = report.Notes{note}
	c.ID = b.id(b.compared, c.finding)
	return c
}

// accepted returns the changes that the API server would store together, and the changes that these need. It declines a change
// that does not fit, so that the others are not lost. Pruned fields are declined first, because putting back matters more.
func (b *builder) accepted(base, pruned []Change) []Change {
	all, reason := b.completed(slices.Concat(base, pruned))
	if reason == "" {
		return all
	}
	kept := b.storable(base)
	// Try one at a time, together with all that fitted before.
	for _, c := range pruned {
		if _, reason := b.completed(append(slices.Clip(kept), c)); reason != "" {
			b.decline(b.compared, c.ID, refusedAhead+reason)
		} else {
			kept = append(kept, c)
		}
	}
	all, _ = b.completed(kept)
	return all
}

// refusedAhead begins the reason of a change that is not even tried.
const refusedAhead = "the API server would refuse it: "

// storable returns the changes that the API server would store, and declines the others.
func (b *builder) storable(base []Change) []Change {
	for len(base) > 0 {
		_, reason := b.completed(base)
		if reason == "" {
			return base
		}
		out := b.culprit(base)
		for _, c := range base {
			if out == nil || c.ID == out.ID {
				b.decline(b.compared, c.ID, refusedAhead+reason)
			}
		}
		if out == nil {
			return nil
		}
		base = slices.DeleteFunc(base, func(c Change) bool { return c.ID == out.ID })
	}
	return nil
}

// culprit returns the change that alone keeps the others from being stored, or nil if there is no such change. Each try takes as long as a
// comparison of the object, so among many changes it tries only one, which it finds by halves: the half with it is refused by itself.
func (b *builder) culprit(base []Change) *Change {
	const many = 100
	from, to := 0, len(base)
	for len(base) > many && to-from > 1 {
		middle := (from + to) / 2
		if _, reason := b.completed(base[from:middle]); reason != "" {
			to = middle
		} else {
			from = middle
		}
	}
	for i := from; i < to; i++ {
		others := slices.Delete(slices.Clone(base), i, i+1)
		if _, reason := b.completed(others); reason == "" {
			return &base[i]
		}
	}
	return nil
}

// completed adds what the changes need. It returns why the API server would refuse the result, or "" if it would not.
func (b *builder) completed(base []Change) ([]Change, string) {
	if len(base) == 0 {
		return nil, ""
	}
	all := slices.Clone(base)
	for _, c := range base {
		if c.kind == putName {
			all = append(all, b.removal(c.livePath, dropName, "it is the item whose keys were edited"))
		}
	}
	live := b.plan.source.Live
	after, err := b.plan.repaired(live, all)
	if err != nil {
		return nil, err.Error()
	}
	// A value of old may exclude what somebody set instead, such as another member of a union.
	for _, path := range b.plan.source.Superfluous(after) {
		if _, there := b.plan.rawAt(live, path); there && b.whyKept(path) == "" {
			all = append(all, b.removal(path, putValue, "the API server rejects it beside what is put back"))
		}
	}
	if after, err = b.plan.repaired(live, all); err != nil {
		return nil, err.Error()
	}
	return all, b.plan.source.Refusal(live, after)
}

// whyKept returns why a place must stay although another change needs its removal, or "" if it may be removed. The text completes
// "it …".
func (b *builder) whyKept(path object.Path) string {
	rule, ofFailed := b.ignoredAt(path), overlapping(b.failed, path)
	switch {
	case reachOf(b.choice.skip, b.plan.Ref.Key, path) != outside:
		return "is skipped"
	case rule != nil:
		return "is ignored by " + rule.Rule
	case ofFailed != nil:
		return b.failedRevision() + failedVerb(*ofFailed)
	}
	return ""
}

// ignoredAt returns the rule that ignores a place, or something below it in live, or nil if there is none.
func (b *builder) ignoredAt(path object.Path) *report.IgnoreRule {
	if f := overlapping(b.ignored, path); f != nil {
		return f.IgnoredBy
	}
	return b.plan.source.HoldsIgnored(path)
}

// joined lists paths for people.
func (b *builder) joined(paths []object.Path) string {
	texts := make([]string, len(paths))
	for i, p := range paths {
		texts[i] = b.shown(p)
	}
	return strings.Join(texts, " and ")
}
