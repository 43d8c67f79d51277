package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// State describes a release in one word.
type State string

// These are the states, the most urgent first. If several apply to a release, the first one counts.
const (
	// StateError means that something of the release could not be read or compared.
	StateError State = "error"
	// StateDrifted means that the release has left what Helm deployed.
	StateDrifted State = "drifted"
	// StateUninstall means that nothing drifted, but the controller that deploys the release uninstalls it, for good or to install it anew.
	StateUninstall State = "uninstall"
	// StateBlocked means that nothing drifted, but the operation fails on an object, and nothing silences that.
	StateBlocked State = "blocked"
	// StateChanged means that nothing drifted, but something else was found and is not silenced: a field that no manifest names, a
	// change of the chart, an object that the operation creates, adopts or deletes, or a contradiction by the API server.
	StateChanged State = "changed"
	// StateClean means that everything was compared, and that nothing was found or all of it is silenced.
	StateClean State = "clean"
)

// States returns all states, the most urgent first.
func States() []State {
	return []State{StateError, StateDrifted, StateUninstall, StateBlocked, StateChanged, StateClean}
}

// State returns the state of the release.
func (r Release) State() State {
	switch {
	case r.HasError():
		return StateError
	case r.Drifted:
		return StateDrifted
	case r.Deployer.Uninstalls():
		return StateUninstall
	case slices.ContainsFunc(r.Objects, func(o Object) bool { return o.Action == ActionFail && o.FoundWhole() }):
		return StateBlocked
	case slices.ContainsFunc(r.Objects, Object.hasChanged):
		return StateChanged
	}
	return StateClean
}

// hasChanged reports whether anything in the object was found and is not silenced.
func (o Object) hasChanged() bool {
	return o.FoundWhole() || o.DryRun != nil && o.DryRun.Result == DryRunDisagrees ||
		slices.ContainsFunc(o.Fields, func(f Finding) bool { return !f.Silenced() })
}

// Disputed reports whether the API server was asked, and contradicts a prediction that is certain. If a finding is uncertain, the answer of
// the server shows what the report has left open.
func (o Object) Disputed() bool {
	return o.DryRun != nil && o.DryRun.Result == DryRunDisagrees && !slices.ContainsFunc(o.Fields, func(f Finding) bool { return !f.Certain })
}

// FoundWhole reports whether the operation fails on the object, or creates, adopts or deletes it, and neither a rule nor the baseline
// silences that. An object that is gone drifted instead.
func (o Object) FoundWhole() bool {
	return !o.Gone() && o.IgnoredBy == nil && !o.Known && (o.CountsWhole() || o.Action == ActionAdopt)
}

// Edits returns the findings that drifted, or those that somebody else wrote if none drifted.
func (r Release) Edits() []Finding {
	var drifted, others []Finding
	for _, o := range r.Objects {
		for _, f := range o.Fields {
			switch {
			case f.Drifted():
				drifted = append(drifted, f)
			case !f.Silenced() && f.Cause != CauseChange:
				others = append(others, f)
			}
		}
	}
	if len(drifted) > 0 {
		return drifted
	}
	return others
}

// OldestEdit returns the earliest time of an owner of what drifted, or, if nothing drifted, of what else was found. It returns false if
// no owner has a time. An owner has a single time for everything that it wrote to an object: the time of its last write.
func (r Release) OldestEdit() (oldest time.Time, known bool) {
	return firstTime(r.Edits(), time.Time.Before)
}

// NewestEdit returns the latest of the times that OldestEdit looks at.
func (r Release) NewestEdit() (newest time.Time, known bool) {
	return firstTime(r.Edits(), time.Time.After)
}

// NewestWrite returns the latest time of an owner of the live value. It returns false if no owner has a time.
func (f Finding) NewestWrite() (newest time.Time, known bool) {
	return firstTime([]Finding{f}, time.Time.After)
}

// firstTime returns the time of an owner that comes before all others in an order.
func firstTime(fields []Finding, before func(a, b time.Time) bool) (first time.Time, known bool) {
	for _, f := range fields {
		for _, owner := range f.Owners {
			if owner.Time != nil && (!known || before(*owner.Time, first)) {
				first, known = *owner.Time, true
			}
		}
	}
	return first, known
}

// Editors returns the field managers that own what drifted, or, if nothing drifted, what else was found. People come first, and then the
// owners of the most findings.
func (r Release) Editors() []string {
	groups, findings := map[string]ManagerGroup{}, map[string]int{}
	var names []string
	for _, f := range r.Edits() {
		for _, owner := range f.Owners {
			if findings[owner.Manager]++; findings[owner.Manager] == 1 {
				names = append(names, owner.Manager)
				groups[owner.Manager] = owner.Group
			}
		}
	}
	urgency := []ManagerGroup{ManagerPerson, ManagerUnknown, ManagerController, ManagerDeployer}
	order.Sort(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(urgency, groups[a]), slices.Index(urgency, groups[b])),
			cmp.Compare(findings[b], findings[a]), cmp.Compare(a, b))
	})
	return names
}

// Classification is the part of a finding that decides whether it counts. The findings of pkg/threeway embed one, so the rules below hold
// for values in clear and for a report alike.
type Classification struct {
	Verdict Verdict
	Cause   Cause
	// Managed reports whether the manifest of old or desired names the field.
	Managed bool
	Class   Class // empty for an ordinary value
	// Equivalent reports whether live differs from old only in its spelling.
	Equivalent bool
	// IgnoredBy is the rule that silences the finding. It is nil for most.
	IgnoredBy *IgnoreRule
}

// Silenced reports whether the finding is listed and counted only as ignored. A volatile finding is silenced if live still equals old.
func (c Classification) Silenced() bool {
	return c.IgnoredBy != nil || c.Class == ClassAutoscaled || c.Class == ClassVolatile && c.Cause == CauseChange
}

// Drifted reports whether the finding makes its object drifted: the field is managed, and live has left old. If live means the same as
// old, it has left old only if Helm fails on it. A value that a controller fills in by design has not left old.
func (c Classification) Drifted() bool {
	return c.Managed && c.Cause != CauseChange && c.Class != ClassAllocated && !(c.Equivalent && c.Verdict != Conflict) && !c.Silenced()
}

// Silenced reports whether the finding is listed and counted only as ignored.
func (f Finding) Silenced() bool { return f.classification().Silenced() }

// Drifted reports whether the finding makes its object drifted.
func (f Finding) Drifted() bool { return f.classification().Drifted() }

// classification returns the part of the finding that decides whether it counts.
func (f Finding) classification() Classification {
	return Classification{
		Verdict: f.Verdict, Cause: f.Cause, Managed: f.Managed, Class: f.Class, Equivalent: f.Equivalent, IgnoredBy: f.IgnoredBy,
	}
}

// ObjectState is the part of an object that decides whether it counts as a whole, apart from its fields. The objects of
// pkg/threeway embed one.
type ObjectState struct {
	Action Action
	// Missing reports whether old and desired have the object but live does not.
	Missing bool
	// Terminating reports whether the object, or its namespace, is being deleted.
	Terminating bool
	// IgnoredBy is the rule that silences what a report says about the object itself: its action, and that it is gone.
	IgnoredBy *IgnoreRule
}

// Gone reports whether the object is missing or is being deleted. Either way it is not what Helm deployed, and only an upgrade after the
// deletion creates it again.
func (s ObjectState) Gone() bool { return s.Missing || s.Terminating }

// Drifted reports whether the object as a whole has left what Helm deployed: it is gone, and no rule silences that.
func (s ObjectState) Drifted() bool { return s.Gone() && s.IgnoredBy == nil }

// CountsWhole reports whether the object counts by itself and not by its fields.
func (s ObjectState) CountsWhole() bool {
	return s.Gone() || s.Action == ActionFail || s.Action == ActionCreate || s.Action == ActionDelete
}

// Gone reports whether the object is missing or is being deleted.
func (o Object) Gone() bool { return o.state().Gone() }

// CountsWhole reports whether the object counts by itself and not by its fields.
func (o Object) CountsWhole() bool { return o.state().CountsWhole() }

// state returns what decides whether the object counts as a whole.
func (o Object) state() ObjectState {
	return ObjectState{Action: o.Action, Missing: o.Missing, Terminating: o.Terminating, IgnoredBy: o.IgnoredBy}
}

// HasDrifted reports whether the object as a whole or a field of it has left what Helm deployed.
func (o Object) HasDrifted() bool {
	return o.state().Drifted() || slices.ContainsFunc(o.Fields, Finding.Drifted)
}

// HasDrifted reports whether the release as a whole or one of its objects has left what Helm deployed.
func (r Release) HasDrifted() bool {
	return r.Terminating || slices.ContainsFunc(r.Objects, func(o Object) bool { return o.Drifted })
}

// ToPutBack counts what drifted in the release: fields that left what Helm deployed, and objects that are missing or being deleted.
// It does not count what a rule silences.
func (r Release) ToPutBack() (fields, objects int) {
	for _, o := range r.Objects {
		drifted, gone := o.ToPutBack()
		fields += len(drifted)
		if gone {
			objects++
		}
	}
	return fields, objects
}

// ToPutBack returns the fields of the object that drifted, or reports that the whole object is missing or being deleted.
func (o Object) ToPutBack() (drifted []Finding, gone bool) {
	if o.Gone() || o.IgnoredBy != nil {
		return nil, o.state().Drifted()
	}
	return object.Filter(o.Fields, Finding.Drifted), false
}
