package report

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Classification is the part of a finding that decides whether it counts. The findings of pkg/threeway embed one, so the rules below hold
// for values in clear and for a report alike.
type Classification struct {
	Verdict Verdict
	Cause   Cause
	// Managed reports whether the manifest of old or desired names the field.
	Managed bool
	Class   Class // empty for an ordinary value
	// Equivalent reports whether live differs from old only in the way it is written.
	Equivalent bool
	// IgnoredBy is the rule that silences the finding; nil for most.
	IgnoredBy *IgnoreRule
}

// Silenced reports whether the finding is listed and counted as ignored only. A volatile finding is silenced if live has not left old.
func (c Classification) Silenced() bool {
	return c.IgnoredBy != nil || c.Class == ClassAutoscaled || c.Class == ClassVolatile && c.Cause == CauseChange
}

// Drifted reports whether the finding makes its object drifted: the field is managed, and live has left old. A live value that means the
// same as old has left it only if Helm fails on it. What a controller fills in by design has not left it.
func (c Classification) Drifted() bool {
	return c.Managed && c.Cause != CauseChange && c.Class != ClassAllocated && !(c.Equivalent && c.Verdict != Conflict) && !c.Silenced()
}

// Silenced reports whether the finding is listed and counted as ignored only.
func (f Finding) Silenced() bool { return f.classification().Silenced() }

// Drifted reports whether the finding makes its object drifted.
func (f Finding) Drifted() bool { return f.classification().Drifted() }

// classification returns the part of the finding that decides whether it counts.
func (f Finding) classification() Classification {
	return Classification{
		Verdict: f.Verdict, Cause: f.Cause, Managed: f.Managed, Class: f.Class, Equivalent: f.Equivalent, IgnoredBy: f.IgnoredBy,
	}
}

// ObjectState is what decides whether an object counts as a whole, apart from its fields. The objects of pkg/threeway embed one.
type ObjectState struct {
	Action Action
	// Missing reports whether old and desired have the object and live has not.
	Missing bool
	// Terminating reports whether the object, or its namespace, is being deleted.
	Terminating bool
	// IgnoredBy is the rule that silences what is said of the object itself: its action, and that it is gone.
	IgnoredBy *IgnoreRule
}

// Gone reports whether the object is missing or is being deleted. Either way it is not what Helm deployed, and only an upgrade after the
// deletion creates it again.
func (s ObjectState) Gone() bool { return s.Missing || s.Terminating }

// Drifted reports whether the object as a whole has left what Helm deployed: it is gone, and no rule silences that.
func (s ObjectState) Drifted() bool { return s.Gone() && s.IgnoredBy == nil }

// countsWhole reports whether the object counts by itself and not by its fields.
func (s ObjectState) countsWhole() bool {
	return s.Gone() || s.Action == ActionFail || s.Action == ActionCreate || s.Action == ActionDelete
}

// Gone reports whether the object is missing or is being deleted.
func (o Object) Gone() bool { return o.state().Gone() }

// state returns what decides whether the object counts as a whole.
func (o Object) state() ObjectState {
	return ObjectState{Action: o.Action, Missing: o.Missing, Terminating: o.Terminating, IgnoredBy: o.IgnoredBy}
}

// hasDrifted reports whether the object as a whole or a field of it has left what Helm deployed.
func (o Object) hasDrifted() bool {
	return o.state().Drifted() || slices.ContainsFunc(o.Fields, Finding.Drifted)
}

// HasDrifted reports whether the release as a whole or one of its objects has left what Helm deployed.
func (r Release) HasDrifted() bool {
	return r.Terminating || slices.ContainsFunc(r.Objects, func(o Object) bool { return o.Drifted })
}

// ToPutBack counts what drifted in the release: fields that live has left, and objects that are missing or being deleted. What a rule
// silences is not counted.
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

// ToPutBack returns the fields of the object that live has left, or reports that the whole object is missing or being deleted.
func (o Object) ToPutBack() (drifted []Finding, gone bool) {
	if o.Gone() || o.IgnoredBy != nil {
		return nil, o.state().Drifted()
	}
	return object.Filter(o.Fields, Finding.Drifted), false
}
