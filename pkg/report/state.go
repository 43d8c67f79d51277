package report

import (
	"cmp"
	"slices"
	"time"
)

// State is what is said of a release in one word.
type State string

// The states, the most urgent first. A release of several states has the first of them.
const (
	// StateError means that something of the release could not be read or compared.
	StateError State = "error"
	// StateDrifted means that the release has left what Helm deployed.
	StateDrifted State = "drifted"
	// StateChanged means that nothing drifted, and that something else was found that is not silenced: a field that no manifest names, a
	// conflict, an object on which the operation fails, something that the chart changes, a contradiction by the API server.
	StateChanged State = "changed"
	// StateClean means that everything was compared, and that nothing was found or all of it is silenced.
	StateClean State = "clean"
)

// States returns all states, the most urgent first.
func States() []State { return []State{StateError, StateDrifted, StateChanged, StateClean} }

// State returns the state of the release.
func (r Release) State() State {
	switch {
	case r.HasError():
		return StateError
	case r.Drifted:
		return StateDrifted
	case slices.ContainsFunc(r.Objects, Object.hasChanged):
		return StateChanged
	}
	return StateClean
}

// hasChanged reports whether anything that is not silenced was found in the object.
func (o Object) hasChanged() bool {
	return o.FoundWhole() || o.DryRun != nil && o.DryRun.Result == DryRunDisagrees ||
		slices.ContainsFunc(o.Fields, func(f Finding) bool { return !f.Silenced() })
}

// FoundWhole reports whether the operation fails on the object, or creates, adopts or deletes it, and neither a rule nor the baseline
// silences that. An object that is gone drifted instead.
func (o Object) FoundWhole() bool {
	return !o.Gone() && o.IgnoredBy == nil && !o.Known && (o.state().countsWhole() || o.Action == ActionAdopt)
}

// edits returns the findings that drifted, or those that somebody else wrote if none drifted.
func (r Release) edits() []Finding {
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

// OldestEdit returns the earliest time at which an owner of what drifted wrote, or of what else was found if nothing drifted. It returns
// false if no owner has a time. An owner has one time for all that it wrote to an object, which is the time of its last write.
func (r Release) OldestEdit() (oldest time.Time, known bool) {
	for _, f := range r.edits() {
		for _, owner := range f.Owners {
			if owner.Time != nil && (!known || owner.Time.Before(oldest)) {
				oldest, known = *owner.Time, true
			}
		}
	}
	return oldest, known
}

// Editors returns the field managers that own what drifted, or what else was found if nothing drifted. People come first, and then whoever
// owns the most findings.
func (r Release) Editors() []string {
	groups, findings := map[string]ManagerGroup{}, map[string]int{}
	var names []string
	for _, f := range r.edits() {
		for _, owner := range f.Owners {
			if findings[owner.Manager]++; findings[owner.Manager] == 1 {
				names = append(names, owner.Manager)
				groups[owner.Manager] = owner.Group
			}
		}
	}
	urgency := []ManagerGroup{ManagerPerson, ManagerUnknown, ManagerController, ManagerDeployer}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(urgency, groups[a]), slices.Index(urgency, groups[b])),
			cmp.Compare(findings[b], findings[a]), cmp.Compare(a, b))
	})
	return names
}
