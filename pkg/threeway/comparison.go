package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Comparison is one release compared, every value in clear. It never leaves the process; Report masks it.
type Comparison struct {
	Input   Input
	Objects []ObjectComparison
	// Warnings are those of the input, and what the comparison itself has to say.
	Warnings []report.Message
	// known is what the objects hold of secrets, once it was asked for.
	known *secret.Known

	deployer func() owners.Deployer
}

// ObjectComparison is one object compared.
type ObjectComparison struct {
	// Object is desired's, or old's where desired has none.
	object.Object
	fields
	write
	Action    report.Action
	Reason    string
	BlockedBy []report.ObjectKey
	Missing   bool
	// Terminating is set where old has the object and it, or its namespace, is being deleted.
	Terminating bool
	// OfLast is set for a missing object that the last revision, which is not old because it failed, no longer has.
	OfLast bool
	Err    *report.ObjectError
	Notes  report.Notes
	// DryRun is what the API server said of the write, where it was asked.
	DryRun *report.DryRun
	// IgnoredBy is the rule that silences what is said of the object itself: its action, and that it is missing. conflictsIgnoredBy is the
	// rule that silences a failure on conflicts alone.
	IgnoredBy, conflictsIgnoredBy *report.IgnoreRule

	// key and place are the pair's.
	key   object.Key
	index int
	// failure is why Helm fails on the object; its zero value belongs to one that does not fail.
	failure failure
	// deletes is set where Helm deletes the object unless another one fails.
	deletes bool
	// remarks say what is wrong with the rules that the object itself has.
	remarks []string
}

// Drifted reports whether live has left old in a managed field, or the object is missing or being deleted.
func (o ObjectComparison) Drifted() bool {
	return o.Gone() && o.IgnoredBy == nil || slices.ContainsFunc(o.Findings, verdict.Finding.Drifted)
}

// Gone reports whether the object is missing or is being deleted: either way it is not what Helm deployed, and nothing but an upgrade
// after it has gone makes it again.
func (o ObjectComparison) Gone() bool { return o.Missing || o.Terminating }

// isCertain reports whether everything that is said of the object could be decided.
func (o *ObjectComparison) isCertain() bool {
	return !slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return !f.Certain })
}

// isWritten reports whether Helm comes to write the object. It does so where a failure is predicted too, unless that ends the upgrade
// before any write.
func (o *ObjectComparison) isWritten() bool {
	switch o.Action {
	case report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionAdopt, report.ActionCreate:
		return o.method != ""
	case report.ActionFail:
		return o.method != "" && o.failure.scope != scopeAll
	case report.ActionDelete, report.ActionKeep, report.ActionSkip:
	}
	return false
}

// isCreated reports whether the upgrade creates the object, of a kind that is there.
func (o ObjectComparison) isCreated() bool {
	return o.Action == report.ActionCreate && o.waitsFor == ""
}

// uid is the live object's own, empty where it has none.
func (o *ObjectComparison) uid() string {
	uid, _ := object.Child(o.liveText, "metadata")["uid"].(string)
	return uid
}

// fail lets an object fail for what is known of the release as a whole.
func (o *ObjectComparison) fail(scope scope, reason string) {
	o.Action, o.Reason, o.failure = report.ActionFail, reason, failure{scope: scope, reason: reason}
}

// comparer compares what the comparison was made from once more, or a part of it.
func (c *Comparison) comparer() comparer { return comparerOf(c.Input, c.deployer) }

// Deployer is the field manager under which the release is written.
func (c *Comparison) Deployer() owners.Deployer { return c.deployer() }

// warn adds warnings.
func (c *Comparison) warn(messages ...report.Message) { c.Warnings = append(c.Warnings, messages...) }

// anyStopsAll reports whether an object ends the upgrade before it writes anything.
func anyStopsAll(objects []ObjectComparison) bool {
	return slices.ContainsFunc(objects, func(o ObjectComparison) bool { return o.failure.scope == scopeAll })
}

// Finding is one field with a verdict, its values in clear. It never leaves the process: Comparison.Report masks it.
type Finding = verdict.Finding
