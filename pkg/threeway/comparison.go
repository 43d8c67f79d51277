package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
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
//	Reason                     string          why Helm takes this Action
//	BlockedBy                  []ObjectKey     the objects that fail, for one that Helm skips because of them
//	OfLast, Uncreatable        bool, string    whether the last revision, which failed, lacks it; why the server refuses its creation
//	Controllers, Forgotten     int             how many fields only controllers, or only forgotten writers, wrote, and no upgrade changes
type ObjectComparison struct {
	// Object is desired's, or old's if desired has none.
	object.Object
	// decision is what was decided about the object by itself. Nobody changes it. Its findings are the findings before the outcome.
	decision
	outcome
	report.ObjectState
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
	// remarks describe the faults in the rules of the object's own annotations.
	remarks []string
}

// Drifted reports whether the object as a whole, or a field of it, differs from what Helm deployed.
func (o ObjectComparison) Drifted() bool {
	return o.ObjectState.Drifted() || slices.ContainsFunc(o.Findings, verdict.Finding.Drifted)
}

// isCertain reports whether all verdicts on the object are certain.
func (o *ObjectComparison) isCertain() bool {
	return !slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return !f.Certain })
}

// isWritten reports whether Helm sends a write for the object. Helm does so even if a failure is predicted, unless the failure ends
// the upgrade before any write.
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

// isCreated reports whether the upgrade creates the object, and its kind exists.
func (o ObjectComparison) isCreated() bool {
	return o.Action == report.ActionCreate && o.waitsFor == ""
}

// isDefinition reports whether the object is of the crds folder.
func (o *ObjectComparison) isDefinition() bool { return o.index < 0 }

// uid returns the live object's uid, empty if it has none.
func (o *ObjectComparison) uid() string {
	uid, _ := object.Child(o.liveText, "metadata")["uid"].(string)
	return uid
}

// Deployer returns the field manager that Helm writes the release as. Its type is internal: Manager is the name, and Known is false if
// the cluster does not show it, so that the name is Helm's default.
func (c *Comparison) Deployer() owners.Deployer { return c.job.writer.Deployer() }

// DesiredForm returns the normal form of another text of desired, as it is compared with live. The object is that of a comparison.
func (c *Comparison) DesiredForm(o *ObjectComparison, content map[string]any) map[string]any {
	f := kinds.NewNormalizer(o.Key, c.job.writer.ShapeOf(o.Ref), o.liveText)
	form := f.Manifest(c.job.helmText(content)).Object()
	plain, _ := kinds.PlainNulls(form).(map[string]any)
	return plain
}

// LiveText returns what live has at a path of the normal form, as it was read.
func (o *ObjectComparison) LiveText(path object.Path) (any, bool) {
	return path.LookupIn(o.liveText, o.Live)
}

// warn adds warnings.
func (c *Comparison) warn(messages ...report.Message) { c.Warnings = append(c.Warnings, messages...) }

// anyStopsAll reports whether a failing object ends the upgrade before it writes anything.
func anyStopsAll(objects []ObjectComparison) bool {
	return slices.ContainsFunc(objects, func(o ObjectComparison) bool { return o.failure.scope >= scopeRecord })
}

// Finding is one field with a verdict, its values in clear. It never leaves the process: Comparison.Report masks it. Its fields Path,
// Verdict, Cause, Managed, Class, IgnoredBy, Certain, Old, Desired, Live, After, Notes and Owners are the fields of a
// [report.Finding] before masking; a nil value is an absent side.
type Finding = verdict.Finding
