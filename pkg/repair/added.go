package repair

import (
	"reflect"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// isAdded reports whether persons added the value of a finding. If several managers own it, all of them must be persons: a controller
// that also owns it would write it again.
func isAdded(f threeway.Finding) bool {
	isNoPerson := func(o report.Owner) bool { return o.Group != report.ManagerPerson }
	return !f.Managed && f.Cause != report.CauseChange && f.Live != nil && !f.Silenced() && len(f.Path) > 0 &&
		len(f.Owners) > 0 && !slices.ContainsFunc(f.Owners, isNoPerson) && !isInstruction(f.Path)
}

// isInstruction reports whether a path leads to an annotation or a label that tells Helm, Flux, Argo CD or this program how to treat the
// object. Without it, the next upgrade, uninstall or repair would do what somebody has forbidden.
func isInstruction(path object.Path) bool {
	if len(path) < 3 || path[0].Name != "metadata" || path[1].Name != "annotations" && path[1].Name != "labels" {
		return false
	}
	domain, _, _ := strings.Cut(path[2].Name, "/")
	domains := []string{"helm.sh", "helmdrift.io", "toolkit.fluxcd.io", "argocd.argoproj.io"}
	return slices.ContainsFunc(domains, func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) })
}

// isPrunable reports whether live still holds what the plan prunes, and only persons own it.
func (o *ObjectPlan) isPrunable(c Change, live map[string]any, found []threeway.Finding) bool {
	if is, there := o.rawAt(live, c.Path); !there || !object.Equal(is, c.From) {
		return false
	}
	return slices.ContainsFunc(found, func(f threeway.Finding) bool {
		if !isAdded(f) || !c.Path.HasPrefix(f.Path) {
			return false
		}
		alone, held := o.isWrittenBy(f.Owners, live, c.Path)
		return alone && held == (c.To != nil)
	})
}

// isPruned reports whether an addition is gone: live has nothing there, or the rest that the plan leaves, or the API's default.
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
	if !there || o.source.IsKey(path) {
		return false
	}
	bare, _ := object.Copy(live).(map[string]any)
	pointer.Remove(bare)
	byDefault, defaulted := path.Lookup(o.source.Normal(bare))
	is, _ := path.Lookup(o.source.Normal(live))
	return defaulted && object.Equal(byDefault, is)
}

// isWrittenBy reports whether only these writers own the value at path and everything below it. A finding names only the owners of its
// own value; others may have filled in values beside it. Held reports whether somebody else wrote the map itself and these writers only
// filled it, such as the resources of a container, which the API server never omits. The map then stays.
func (o *ObjectPlan) isWrittenBy(writers []report.Owner, live map[string]any, path object.Path) (alone, held bool) {
	target, filled := owners.FieldPath(path), false
	if managed := owners.RawEntries(live); o.read == nil || !slices.EqualFunc(managed, o.read, func(raw map[string]any, e entry) bool {
		return reflect.ValueOf(raw).Pointer() == reflect.ValueOf(e.raw).Pointer()
	}) {
		o.read = readEntries(live) // once for all additions, because decoding takes long
	}
	for _, e := range o.read {
		if e.err != nil {
			return false, false // the entry may own anything
		}
		below := owners.OwnsBelow(e.fields, path)
		switch {
		case slices.ContainsFunc(writers, func(w report.Owner) bool { return owners.AreSame(e.owner, w) }):
			filled = filled || below
		case below:
			return false, false
		default:
			held = held || e.fields.Has(target)
		}
	}
	v, _ := o.rawAt(live, path)
	_, isMap := v.(map[string]any)
	return !held || filled && isMap, held
}
