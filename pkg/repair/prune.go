package repair

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// What no manifest names is not Helm's, and a repair leaves it. With Prune it removes the part that persons wrote and nobody else did. What
// controllers or unknown programs own, alone or beside a person, and what nobody has signed, stays.

// isAdded reports whether a finding is what persons added. If several own a value, all of them have to be persons: a controller that also
// owns it would write it again.
func isAdded(f threeway.Finding) bool {
	isNoPerson := func(o report.Owner) bool { return o.Group != report.ManagerPerson }
	return !f.Managed && f.Cause != report.CauseChange && f.Live != nil && !f.Silenced() && len(f.Path) > 0 &&
		len(f.Owners) > 0 && !slices.ContainsFunc(f.Owners, isNoPerson) && !isInstruction(f.Path)
}

// isInstruction reports whether a path leads to an annotation or a label by which people tell Helm, Flux, Argo CD or this program how to
// treat the object. Without it, the next upgrade, uninstall or repair would do what somebody has forbidden.
func isInstruction(path object.Path) bool {
	if len(path) < 3 || path[0].Name != "metadata" || path[1].Name != "annotations" && path[1].Name != "labels" {
		return false
	}
	domain, _, _ := strings.Cut(path[2].Name, "/")
	for _, of := range []string{"helm.sh", "helmdrift.io", "toolkit.fluxcd.io", "argocd.argoproj.io"} {
		if domain == of || strings.HasSuffix(domain, "."+of) {
			return true
		}
	}
	return false
}

// additions returns what is to be pruned of an object. What is not selected is left without a reason, because it is no drift.
func (p *planner) additions(o *threeway.ObjectComparison) []threeway.Finding {
	if !p.prunes {
		return nil
	}
	return p.chosen(o, object.Filter(o.Findings, isAdded), "go", "", func(threeway.Finding) string { return "" })
}

// pruned makes the changes that remove additions. It skips what a planned change removes anyway, and what would be a default once the
// planned changes are made: a default that depends on an edited value is a finding only as long as the edit stands.
func (b *builder) pruned(added []threeway.Finding, planned []Change) []Change {
	if len(added) == 0 {
		return nil
	}
	beside, err := b.plan.repaired(b.plan.source.Live, planned)
	if err != nil {
		beside = b.plan.source.Live
	}
	var out []Change
	candidates := b.candidates()
	for _, f := range added {
		goesAlong := func(c Change) bool {
			return c.kind != putOrder && f.Path.HasPrefix(c.Path) || c.kind == putName && f.Path.HasPrefix(c.livePath)
		}
		// A planned change of an order touches no values, so nothing goes along with it.
		if slices.ContainsFunc(planned, goesAlong) || b.plan.isDefault(beside, f.Path) {
			continue
		}
		c := Change{ID: b.id(b.compared, f), Path: f.Path, kind: prune, finding: f}
		c.From, _ = b.plan.rawAt(b.plan.source.Live, f.Path)
		if reason := b.whyNotPruned(c, candidates); reason != "" {
			b.decline(b.compared, c.ID, reason)
			continue
		}
		// Somebody else owns the map itself, so it stays as an empty one and their ownership stays true.
		if _, held := b.plan.isWrittenBy(f.Owners, b.plan.source.Live, f.Path); held {
			c.To = map[string]any{}
		}
		out = append(out, c)
	}
	return out
}

// whyNotPruned returns why an addition stays; empty if it goes.
func (b *builder) whyNotPruned(c Change, candidates map[string][]object.Path) string {
	source := b.plan.source
	doubt := b.uncertainty(b.compared, c.finding)
	switch {
	case doubt != "" && reachOf(b.choice.only, b.compared.Key, c.Path) != inside:
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
			why = ", a part of which is ignored by " + rule.Rule
		}
		return "it is a part of " + b.shown(item) + why
	}
	// Pruned, an item could not be renamed back any more.
	for _, missing := range slices.Sorted(maps.Keys(candidates)) {
		if slices.ContainsFunc(candidates[missing], func(path object.Path) bool { return c.Path.HasPrefix(path) }) {
			return "it may be " + missing + " under another name"
		}
	}
	return ""
}

// addedItem returns the item of a list around path that a person added and that cannot be removed as one: others wrote into it, or a rule
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

// isPrunable reports whether live still holds what is to be pruned, and persons alone still own it.
func (o *ObjectPlan) isPrunable(c Change, live map[string]any, found []threeway.Finding) bool {
	if is, there := o.rawAt(live, c.Path); !there || !object.Equal(is, c.From) {
		return false
	}
	return slices.ContainsFunc(found, func(f threeway.Finding) bool {
		alone, held := o.isWrittenBy(f.Owners, live, c.Path)
		return isAdded(f) && c.Path.HasPrefix(f.Path) && alone && held == (c.To != nil)
	})
}

// isPruned reports whether an addition is gone: live has nothing there, or what the plan leaves, or the API's default.
func (o *ObjectPlan) isPruned(c Change, live map[string]any) bool {
	is, there := o.rawAt(live, c.Path)
	if !there || c.To != nil && object.Equal(is, c.To) {
		return true
	}
	return !object.Equal(is, c.From) && o.isDefault(live, c.Path)
}

// isDefault reports whether the API would set the same value at path again if it were removed.
func (o *ObjectPlan) isDefault(live map[string]any, path object.Path) bool {
	pointer, there := o.source.Locate(live, path)
	if !there {
		return false
	}
	bare, _ := object.Copy(live).(map[string]any)
	pointer.Remove(bare)
	byDefault, defaulted := path.Lookup(o.source.Normal(bare))
	is, _ := path.Lookup(o.source.Normal(live))
	return defaulted && object.Equal(byDefault, is)
}

// isWrittenBy reports whether only these writers own what stands at path and below it. A finding names the owners of the value that it is
// about; what others filled in beside it is theirs. Held reports that somebody else wrote the map itself, which the writers then filled,
// such as the resources of a container, which the API server never omits. The map stays then.
func (o *ObjectPlan) isWrittenBy(writers []report.Owner, live map[string]any, path object.Path) (alone, held bool) {
	target, filled := owners.FieldPath(path), false
	for _, raw := range owners.RawEntries(live) {
		fields, err := owners.Fields(raw)
		if err != nil {
			return false, false // the entry may own anything
		}
		below := owners.OwnsBelow(fields, path)
		switch by := owners.OwnerOf(raw); {
		case slices.ContainsFunc(writers, func(w report.Owner) bool { return isSame(by, w) }):
			filled = filled || below
		case below:
			return false, false
		default:
			held = held || fields.Has(target)
		}
	}
	v, _ := o.rawAt(live, path)
	_, isMap := v.(map[string]any)
	return !held || filled && isMap, held
}

// isSame reports whether two owners are the same writer, whenever they wrote.
func isSame(a, b report.Owner) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}
