package report

import (
	"slices"
	"time"
)

// KindFixResult is the kind of what helmdrift fix reports.
const KindFixResult = "FixResult"

// FixStatus is what became of one object of a plan.
type FixStatus string

// The statuses: put back; left as it is, because that is safer or because it changed meanwhile; refused by the API server; not known to
// be put back, because something failed.
const (
	FixFixed    FixStatus = "fixed"
	FixDeclined FixStatus = "declined"
	FixRefused  FixStatus = "refused"
	FixFailed   FixStatus = "failed"
)

// FixResult is the contract of helmdrift fix: what was planned, what became of it, and the report afterwards. It holds only masked
// values.
type FixResult struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Helmdrift  string    `json:"helmdrift"`
	Time       time.Time `json:"time"`
	Name       string    `json:"name"`
	Namespace  string    `json:"namespace"`
	// DryRun is "client" if nothing was sent, "server" if the API server was asked and stored nothing, and empty otherwise.
	DryRun string    `json:"dryRun,omitempty"`
	Plan   []FixPlan `json:"plan"`
	// Effect sums up what the plan means for pods; nil if it writes nothing that matters to them.
	Effect  *ReleaseEffect `json:"effect,omitempty"`
	Results []FixOutcome   `json:"results"`
	// After is the release as it is now, compared again if anything was written; absent if that comparison failed.
	After *Report `json:"after,omitempty"`
	// Versions are for people who read the result as text.
	Versions CustomVersions `json:"-"`
}

// FixPlan is what a fix writes to one object.
type FixPlan struct {
	Object ObjectKey `json:"object"`
	// UID is that of the object that was compared; empty if it is missing.
	UID string `json:"uid,omitempty"`
	// Create is set if the object is missing and is created again.
	Create bool `json:"create,omitempty"`
	// Outside is set if it is created outside of the release's namespace: in another one, or in none.
	Outside bool `json:"outside,omitempty"`
	// HandOver is set if only ownership is put back: a fix that was interrupted left its field manager behind.
	HandOver bool `json:"handOver,omitempty"`
	// Fields are the findings that are put back, as the report has them. Each field becomes old; a field without old is removed.
	Fields []Finding `json:"fields"`
	// Prune are the findings that are removed: no manifest names them, and a person added them. Old, if there is one, is the default that
	// takes its place.
	Prune []Finding `json:"prune,omitempty"`
	// Effect predicts what the writes mean for pods and data; nil if they mean nothing for them.
	Effect   *Effect      `json:"effect,omitempty"`
	Requests []FixRequest `json:"requests"`
}

// FixRequest is one write. It holds paths and no values.
type FixRequest struct {
	// Verb is "patch", "create" or "apply".
	Verb         string         `json:"verb"`
	FieldManager string         `json:"fieldManager"`
	Operations   []FixOperation `json:"operations,omitempty"`
}

// FixOperation is one operation of a JSON patch (RFC 6902) without its value.
type FixOperation struct {
	Op   string `json:"op"`
	Path string `json:"path"`
}

// FixOutcome is what became of one object.
type FixOutcome struct {
	Object ObjectKey `json:"object"`
	Status FixStatus `json:"status"`
	// Reason says why the object was not put back; empty if it was.
	Reason string `json:"reason,omitempty"`
	// Fields are the ids of the fields that the status is about; absent if it is about the whole object.
	Fields []string `json:"fields,omitempty"`
	// Rollout is how far the object came up, if the fix waited for it.
	Rollout *Rollout `json:"rollout,omitempty"`
}

// IsUp reports whether the object came up, or nothing waited for it.
func (o FixOutcome) IsUp() bool { return o.Rollout == nil || o.Rollout.Status == RolloutReady }

// IsNoDrift reports whether an outcome is only about unmanaged fields that the plan left as they are: the release is as Helm deployed it
// all the same.
func (r *FixResult) IsNoDrift(o FixOutcome) bool {
	return o.Status == FixDeclined && len(o.Fields) > 0 && !slices.ContainsFunc(o.Fields, func(id string) bool {
		return r.isPlanned(o.Object, id) || !r.isUnmanaged(id)
	})
}

// isPlanned reports whether the plan writes a field of an object.
func (r *FixResult) isPlanned(object ObjectKey, id string) bool {
	is := func(f Finding) bool { return f.ID == id }
	return slices.ContainsFunc(r.Plan, func(p FixPlan) bool {
		return p.Object == object && (slices.ContainsFunc(p.Fields, is) || slices.ContainsFunc(p.Prune, is))
	})
}

// isUnmanaged reports whether the report afterwards has a field as an unmanaged one.
func (r *FixResult) isUnmanaged(id string) bool {
	return r.After != nil && slices.ContainsFunc(r.After.Releases, func(rel Release) bool {
		return slices.ContainsFunc(rel.Objects, func(o Object) bool {
			return slices.ContainsFunc(o.Fields, func(f Finding) bool { return f.ID == id && !f.Managed })
		})
	})
}
