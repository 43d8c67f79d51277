package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Comparison is one release compared, every value in clear. It never leaves the process; Report masks it. It is not safe for concurrent
// use, and its values must not be changed.
type Comparison struct {
	// Input is what was compared.
	Input Input
	// Objects are all objects of old and desired, in Helm's install order (helm v3.22.0 pkg/releaseutil/kind_sorter.go InstallOrder).
	Objects []ObjectComparison
	// Warnings and Errors are those of the input and of the comparison itself.
	Warnings, Errors []report.Message
	// known holds the secrets of the objects. It is made on first use.
	known *secret.Known

	job *comparer
}

// ObjectComparison is one object compared. Besides the fields that are listed here, it has:
//
//	Engine                     report.Engine   the merge that Helm uses; empty if it patches nothing
//	Findings                   []Finding       the fields with a verdict
//	Old, Desired, Live, Result map[string]any  the normal forms that were compared, and live after Helm's write; nil if absent
//	Controllers, Forgotten     int             how many fields only controllers, or only forgotten writers, wrote, and no upgrade changes
type ObjectComparison struct {
	// Object is desired's, or old's if desired has none.
	object.Object
	fields
	write
	report.ObjectState
	// Reason says why Helm takes this Action. BlockedBy are the objects whose failure makes Helm skip this one.
	Reason    string
	BlockedBy []report.ObjectKey
	// OfLast is set for a missing object that the last revision, which is not old because it failed, no longer has.
	OfLast bool
	// Uncreatable says why the API server is predicted to refuse the creation of the object; empty if it is not.
	Uncreatable string
	// Err is why the object could not be compared; nil if it was.
	Err   *report.ObjectError
	Notes report.Notes
	// DryRun is the API server's answer to a dry run of the write; nil if there was none.
	DryRun *report.DryRun
	// conflictsIgnoredBy is the rule that silences a failure on conflicts alone.
	conflictsIgnoredBy *report.IgnoreRule

	// key and index are the pair's.
	key   object.Key
	index int
	// failure is why Helm fails on the object; its zero value belongs to one that does not fail.
	failure failure
	// deletes is set if Helm deletes the object unless another one fails. hook is the decision's: only a hook before it, or a failure before
	// any write, prevents what it does.
	deletes bool
	hook    int
	// remarks describe the faults in the rules of the object's own annotations.
	remarks []string
}

// Drifted reports whether the object as a whole or a field of it has left what Helm deployed.
func (o ObjectComparison) Drifted() bool {
	return o.ObjectState.Drifted() || slices.ContainsFunc(o.Findings, verdict.Finding.Drifted)
}

// isCertain reports whether all verdicts on the object are certain.
func (o *ObjectComparison) isCertain() bool {
	return !slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return !f.Certain })
}

// isWritten reports whether Helm sends a write for the object. It does so even if a failure is predicted, unless that ends the upgrade
// before any write.
func (o *ObjectComparison) isWritten() bool {
	switch o.Action {
	case report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionAdopt, report.ActionCreate:
		return o.method != ""
	case report.ActionFail:
		return o.method != "" && o.failure.scope < scopeManifest
	case report.ActionDelete, report.ActionKeep, report.ActionSkip:
	}
	return false
}

// isCreated reports whether the upgrade creates the object, of a kind that is there.
func (o ObjectComparison) isCreated() bool {
	return o.Action == report.ActionCreate && o.waitsFor == ""
}

// uid returns the live object's uid, empty if it has none.
func (o *ObjectComparison) uid() string {
	uid, _ := object.Child(o.liveText, "metadata")["uid"].(string)
	return uid
}

// fail makes an object fail for a reason that concerns the release as a whole.
func (o *ObjectComparison) fail(scope scope, reason string) {
	o.Action, o.Reason, o.failure = report.ActionFail, reason, failure{scope: scope, reason: reason}
}

// Deployer returns the field manager under which Helm writes the release. Its type is internal: Manager is the name, and Known is false
// if the cluster does not show it, so that the name is Helm's default.
func (c *Comparison) Deployer() owners.Deployer { return c.job.writer.Deployer() }

// warn adds warnings.
func (c *Comparison) warn(messages ...report.Message) { c.Warnings = append(c.Warnings, messages...) }

// anyStopsAll reports whether a failing object ends the upgrade before it writes anything.
func anyStopsAll(objects []ObjectComparison) bool {
	return slices.ContainsFunc(objects, func(o ObjectComparison) bool { return o.failure.scope >= scopeRecord })
}

// Finding is one field with a verdict, its values in clear. It never leaves the process: Comparison.Report masks it. Its fields Path,
// Verdict, Cause, Managed, Class, IgnoredBy, Certain, Old, Desired, Live, After, Notes and Owners are those of a [report.Finding]
// before masking; a nil value is an absent side.
type Finding = verdict.Finding
