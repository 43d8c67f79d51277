package report

import (
	"slices"
	"time"
)

// KindFixResult stands at the head of what helmdrift fix reports.
const KindFixResult = "FixResult"

// FixStatus is what became of one object of a plan.
type FixStatus string

// The statuses: put back; left alone, because that is safer or because it changed meanwhile; refused by the API server; not
// known to be done, because something failed.
const (
	FixFixed    FixStatus = "fixed"
	FixDeclined FixStatus = "declined"
	FixRefused  FixStatus = "refused"
	FixFailed   FixStatus = "failed"
)

// FixResult is the contract of helmdrift fix: what was planned, what became of it, and the report afterwards. It holds masked
// values only.
type FixResult struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Helmdrift  string    `json:"helmdrift"`
	Time       time.Time `json:"time"`
	Name       string    `json:"name"`
	Namespace  string    `json:"namespace"`
	// DryRun is "client" where nothing was sent, "server" where the API server was asked and stored nothing; empty otherwise.
	DryRun  string       `json:"dryRun,omitempty"`
	Plan    []FixPlan    `json:"plan"`
	Results []FixOutcome `json:"results"`
	// After is the release as it is now, compared again where anything was written; absent where that comparison failed.
	After *Report `json:"after,omitempty"`
}

// FixPlan is what a fix writes to one object.
type FixPlan struct {
	Object ObjectKey `json:"object"`
	UID    string    `json:"uid,omitempty"`
	// Create tells that the object is missing and is made again.
	Create bool `json:"create,omitempty"`
	// HandOver tells that ownership is all that is put back: a repair that was broken off left its manager behind.
	HandOver bool `json:"handOver,omitempty"`
	// Fields are the findings that are put back, as the report has them; old is what each becomes, a field without old goes.
	Fields []Finding `json:"fields"`
	// Prune are the findings that are taken away: no manifest names them, and a person added them. Old, where there is one, is the
	// default that takes its place.
	Prune    []Finding    `json:"prune,omitempty"`
	Requests []FixRequest `json:"requests"`
}

// FixRequest is one write. It names places and no values.
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
	Reason string    `json:"reason,omitempty"`
	// Fields are the ids of those fields that the status is about; absent where it is about all of the object.
	Fields []string `json:"fields,omitempty"`
}

// IsNoDrift tells whether an outcome is about unmanaged fields alone that the plan left as they are: the release is as Helm deployed it
// all the same.
func (r *FixResult) IsNoDrift(o FixOutcome) bool {
	isUnmanaged := func(id string) bool {
		is := func(f Finding) bool { return f.ID == id }
		for _, p := range r.Plan {
			if p.Object == o.Object && (slices.ContainsFunc(p.Fields, is) || slices.ContainsFunc(p.Prune, is)) {
				return false
			}
		}
		return r.After != nil && slices.ContainsFunc(r.After.Releases, func(rel Release) bool {
			return slices.ContainsFunc(rel.Objects, func(o Object) bool {
				return slices.ContainsFunc(o.Fields, func(f Finding) bool { return f.ID == id && !f.Managed })
			})
		})
	}
	isManaged := func(id string) bool { return !isUnmanaged(id) }
	return o.Status == FixDeclined && len(o.Fields) > 0 && !slices.ContainsFunc(o.Fields, isManaged)
}

// ToPutBack counts what drifted in the release: fields that live has left, and objects that are missing or being deleted.
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

// ToPutBack returns the fields of the object that live has left, or reports that all of it is missing or being deleted.
func (o Object) ToPutBack() (drifted []Finding, gone bool) {
	if o.Gone() || o.IgnoredBy != nil {
		return nil, o.IgnoredBy == nil
	}
	for _, f := range o.Fields {
		if f.Drifted() {
			drifted = append(drifted, f)
		}
	}
	return drifted, false
}
