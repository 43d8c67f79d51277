package report

import (
	"slices"
	"time"
)

// FixStatus says what became of one object of a plan.
type FixStatus string

// These are the statuses: put back; left as it is, because that is safer or because it changed meanwhile; refused by the API server;
// not known to be put back, because something failed.
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
	// Effect sums up what the plan means for pods. It is nil if no write affects them.
	Effect  *ReleaseEffect `json:"effect,omitempty"`
	Results []FixOutcome   `json:"results"`
	// After is the report on the release as it is now, from another comparison if anything was written. It is
	// absent if that comparison failed.
	After *Report `json:"after,omitempty"`
	// Versions are for people who read the result as text.
	Versions CustomVersions `json:"-"`
}

// FixPlan is what a fix writes to one object.
type FixPlan struct {
	Object ObjectKey `json:"object"`
	// UID is the uid of the object that was compared. It is empty if the object is missing.
	UID string `json:"uid,omitempty"`
	// Create is set if the object is missing and is created again.
	Create bool `json:"create,omitempty"`
	// Outside is set if it is created outside of the release's namespace: in another namespace, or in none.
	Outside bool `json:"outside,omitempty"`
	// HandOver is set if only ownership is put back: an interrupted fix left its field manager behind.
	HandOver bool `json:"handOver,omitempty"`
	// Fields are the findings that are put back, as in the report. Each field gets its old value; a field without an old value
	// is removed.
	Fields []Finding `json:"fields"`
	// Prune are the findings to remove: no manifest names these fields, and a person added them. Old, if there is one, is the default
	// that replaces the value.
	Prune []Finding `json:"prune,omitempty"`
	// Effect predicts what the writes mean for pods and data. It is nil if they have no effect on them.
	Effect   *Effect      `json:"effect,omitempty"`
	Requests []FixRequest `json:"requests"`
}

// FixRequest is one write. It holds paths but no values.
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

// FixOutcome says what became of one object.
type FixOutcome struct {
	Object ObjectKey `json:"object"`
	Status FixStatus `json:"status"`
	// Reason says why the object was not put back. It is empty if it was.
	Reason string `json:"reason,omitempty"`
	// LeftOut is set if somebody left it out: with a flag that chooses what to put back, such as --only, or with an answer.
	LeftOut bool `json:"leftOut,omitempty"`
	// Fields are the ids of the fields that the status is about. They are absent if it is about the whole object.
	Fields []string `json:"fields,omitempty"`
	// Rollout says how far the object came up, if the fix waited for it.
	Rollout *Rollout `json:"rollout,omitempty"`
}

// IsUp reports whether the object came up, or nothing waited for it.
func (o FixOutcome) IsUp() bool { return o.Rollout == nil || o.Rollout.Status == RolloutReady }

// IsNoDrift reports whether an outcome is only about unmanaged fields that the plan left as they are. The release is still as Helm
// deployed it.
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

// RolloutStatus says how the wait for one object ended.
type RolloutStatus string

// These are the statuses: the object is as it should be; it has ended and does not come up by itself; the time was over; the wait was
// interrupted.
const (
	RolloutReady       RolloutStatus = "ready"
	RolloutFailed      RolloutStatus = "failed"
	RolloutTimedOut    RolloutStatus = "timed-out"
	RolloutInterrupted RolloutStatus = "interrupted"
)

// Rollout says how far an object came up after it was written. Its texts come from the cluster and are scrubbed.
type Rollout struct {
	// Status is empty while the wait goes on.
	Status RolloutStatus `json:"status"`
	// PodCounts is nil for kinds without pods.
	*PodCounts
	// Message says how far the object is, in the words of the library that Helm 4 waits with.
	Message string `json:"message,omitempty"`
	RolloutProblem
	// Unread are the resources that could not be read, such as "pods". The problem is then less exact, or missing.
	Unread []string `json:"unread,omitempty"`
}

// PodCounts counts the pods of a workload.
type PodCounts struct {
	Wanted      int64 `json:"wanted"`
	Updated     int64 `json:"updated"`
	Ready       int64 `json:"ready"`
	Unavailable int64 `json:"unavailable"`
}

// RolloutProblem says why an object does not come up, with what the cluster says about it. If nothing is known, all of it is empty;
// otherwise only Reason is always set.
type RolloutProblem struct {
	Reason    string `json:"reason,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	// ExitCode is the exit code of the container, if it ended.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Events are the last ones about the objects of the problem, the oldest first.
	Events []RolloutEvent `json:"events,omitempty"`
	// Log is the end of the container's log, line by line.
	Log []string `json:"log,omitempty"`
}

// RolloutEvent is one event of the cluster.
type RolloutEvent struct {
	// Object is the kind and the name of what the event is about: "Pod/web-0".
	Object  string `json:"object"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Count is how often it happened.
	Count int32 `json:"count"`
}
