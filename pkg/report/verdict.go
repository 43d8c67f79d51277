package report

// Verdict is what Helm will do with a field.
type Verdict string

// These are the verdicts. docs/verdict-rules.md has the rule behind each, with its source in Helm or Kubernetes.
const (
	Add       Verdict = "add"       // live gets a value that it lacks
	Remove    Verdict = "remove"    // live loses its value, or gets a default instead
	Overwrite Verdict = "overwrite" // live gets another value
	Ignore    Verdict = "ignore"    // the upgrade leaves live as it is, although it differs
	Conflict  Verdict = "conflict"  // the upgrade fails on the field; only a server-side apply does
)

// Writes reports whether an upgrade changes the field.
func (v Verdict) Writes() bool { return v == Add || v == Remove || v == Overwrite }

// Acts reports whether an upgrade changes the field or fails on it.
func (v Verdict) Acts() bool { return v.Writes() || v == Conflict }

// Cause is the side that differs from old.
type Cause string

// These are the causes: live changed, the chart or its values changed, or both did.
const (
	CauseDrift  Cause = "drift"
	CauseChange Cause = "change"
	CauseBoth   Cause = "both"
)

// Action is what Helm will do with a whole object.
type Action string

// These are the actions. Keep leaves an object in the cluster that the manifest no longer has, because its resource policy says so.
// Adopt takes over an object that the release did not create. Skip means that the failure of another object keeps Helm from reaching
// this one.
const (
	ActionNone    Action = "none"
	ActionUpdate  Action = "update"
	ActionReplace Action = "replace"
	ActionCreate  Action = "create"
	ActionDelete  Action = "delete"
	ActionKeep    Action = "keep"
	ActionAdopt   Action = "adopt"
	ActionFail    Action = "fail"
	ActionSkip    Action = "skip"
)

// Writes reports whether an upgrade would send a write of the object. A write that adopts an object may leave it as it is.
func (a Action) Writes() bool {
	switch a {
	case ActionUpdate, ActionReplace, ActionCreate, ActionDelete, ActionAdopt:
		return true
	case ActionNone, ActionKeep, ActionFail, ActionSkip:
	}
	return false
}

// Engine is the merge that Helm uses for an object.
type Engine string

// These are the engines: strategic three-way merge patch, JSON merge patch from old to desired, server-side apply, and PUT.
const (
	EngineStrategic Engine = "strategic"
	EngineMerge     Engine = "merge"
	EngineApply     Engine = "apply"
	EngineReplace   Engine = "replace"
)

// Class says what a finding is about, if that is not an ordinary value. Some classes are silenced ([Classification.Silenced]).
type Class string

// These are the classes: a value that differs with each rendering, replicas under an autoscaler, the order of a list, a conflict about a
// field that a controller fills in by design, so that it has not drifted, and a value of the chart that is not known here.
const (
	ClassVolatile   Class = "volatile"
	ClassAutoscaled Class = "autoscaled"
	ClassOrder      Class = "order"
	ClassAllocated  Class = "allocated"
	ClassUnknown    Class = "unknown"
)

// Operation is the question that a report answers for one release.
type Operation string

// These are the operations.
const (
	OperationDrift    Operation = "drift"    // desired is old: what drifted, and what another upgrade to the same release would do
	OperationUpgrade  Operation = "upgrade"  // helm upgrade with a chart
	OperationRollback Operation = "rollback" // helm rollback to a stored revision
	OperationInstall  Operation = "install"  // helm upgrade --install of a release that is not installed
	OperationSync     Operation = "sync"     // the next sync of an Application of Argo CD
)

// Command returns the command that the operation predicts. For drift that is another upgrade to what is already deployed.
func (o Operation) Command() string {
	switch o {
	case OperationRollback, OperationInstall:
		return "helm " + string(o)
	case OperationSync:
		return "a sync"
	case OperationDrift, OperationUpgrade:
	}
	return "helm upgrade"
}
