package report

// Verdict is what Helm will do with a field.
type Verdict string

// The verdicts. Conflict belongs to server-side apply: the upgrade fails on this field.
const (
	Add       Verdict = "add"
	Remove    Verdict = "remove"
	Overwrite Verdict = "overwrite"
	Ignore    Verdict = "ignore"
	Conflict  Verdict = "conflict"
)

// Writes reports whether an upgrade changes the field.
func (v Verdict) Writes() bool { return v == Add || v == Remove || v == Overwrite }

// Cause says which side moved away from old.
type Cause string

// The causes: live moved, chart or values moved, or both did.
const (
	CauseDrift  Cause = "drift"
	CauseChange Cause = "change"
	CauseBoth   Cause = "both"
)

// Action is what Helm will do with a whole object.
type Action string

// The actions of design section 2.
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

// Writes reports whether an upgrade would send a write for the object that has an effect.
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

// The engines: strategic three-way merge patch, JSON merge patch old to desired, server-side apply, and PUT.
const (
	EngineStrategic Engine = "strategic"
	EngineMerge     Engine = "merge"
	EngineApply     Engine = "apply"
	EngineReplace   Engine = "replace"
)

// Class marks findings that are listed and counted as ignored only.
type Class string

// The classes: a value that each render makes anew, replicas under an autoscaler, the order of a list.
const (
	ClassVolatile   Class = "volatile"
	ClassAutoscaled Class = "autoscaled"
	ClassOrder      Class = "order"
)

// Operation is the question a report answers for one release.
type Operation string

// The operations.
const (
	OperationDrift    Operation = "drift"
	OperationUpgrade  Operation = "upgrade"
	OperationRollback Operation = "rollback"
	OperationInstall  Operation = "install"
)

// Command returns the command of Helm that the operation predicts; drift is what an upgrade would find.
func (o Operation) Command() string {
	if o == OperationRollback || o == OperationInstall {
		return "helm " + string(o)
	}
	return "helm upgrade"
}
