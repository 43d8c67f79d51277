package threeway

import (
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Input is everything that the comparison of one release needs. Compare does not change it. The [Comparison] refers to it, so the caller
// must not change it either.
//
// Name, the namespaces, Operation, ApplyMethod, the objects and Live are needed. Everything else may be left out. Other modules must
// leave out fields whose types are in internal packages. pkg/drift fills in everything.
type Input struct {
	// Name, Namespace and StorageNamespace of the release; Namespace is the record's own.
	Name, Namespace, StorageNamespace string
	// Cluster is the name of the cluster in reports.
	Cluster   string
	Operation report.Operation

	// Old is the revision of OldObjects; nil if nothing is installed. Last is the last revision. Reports show both.
	Old, Last *report.Revision
	// Desired says where DesiredObjects come from, and with Helm "4" that Helm 4 writes them; nil means Helm 3.
	Desired *report.Desired
	// ApplyMethod is how the operation writes. By default Helm uses the method of the last revision.
	ApplyMethod report.ApplyMethod

	// Migrates is set if Helm turns its own earlier client-side writes into an apply before it applies server-side.
	Migrates bool
	// ForceConflicts is Helm 4's flag: a server-side apply takes over what others own.
	ForceConflicts bool
	// By is who makes the operation, whoever made the last one. It is nil for the helm command.
	By *Deployment
	// ForceReplace is --force, or Helm 4's --force-replace: Helm replaces live objects and does not patch them. Helm rejects
	// it together with server-side apply.
	ForceReplace bool
	// TakeOwnership is Helm's flag: Helm adopts live objects, whoever owns them.
	TakeOwnership bool

	// OldObjects are the objects of the stored manifest, in its order, and DesiredObjects are what Helm would send. For drift both are the
	// same. Each Key occurs once, as render.Parse returns them.
	OldObjects     []object.Object
	DesiredObjects []object.Object
	// LastObjects is the manifest of the last revision if that is not old and the user did not choose old; nil otherwise.
	LastObjects []object.Object
	// NotCompared is passed on to the report.
	NotCompared []report.NotCompared
	// Hooks are the hooks that Helm runs in the course of the operation.
	Hooks []Hook
	// Definitions are the objects of the chart's crds folder, which an install writes before it builds the manifest. Brings are the kinds
	// that these define.
	Definitions []object.Object
	Brings      []schema.GroupKind
	// CreateNamespace says that an install creates StorageNamespace if it does not exist, before it stores the record.
	CreateNamespace bool

	// Live holds what was read, for every Ref of old and desired. A Ref that it lacks counts as an object that could not be read.
	Live map[object.Ref]cluster.Live
	// Terminating are the namespaces that are being deleted, as far as they could be read. Records is the resource that stores the
	// release's records: secrets or configmaps, or empty if they are not in the cluster.
	Terminating map[string]bool
	Records     string
	// NamespacesUnread are the errors of the namespaces that could not be read. They may be being deleted.
	NamespacesUnread []report.Message
	// Others says which other releases, named by annotations of live objects, exist.
	Others map[object.ReleaseName]OtherRelease
	// Schemas holds the schemas of custom kinds from their CRDs. Other kinds are compared without a schema, and
	// Comparison.Needs lists the schemas that would help.
	Schemas map[schema.GroupKind]*kinds.CustomSchema
	// SchemasUnread are the kinds whose definition could not be read.
	SchemasUnread map[schema.GroupKind]bool
	// ApplyTypes are the schemas for the server-side apply of custom resources.
	ApplyTypes map[schema.GroupVersion]*engine.ApplyTypes
	// Unknown is the text that stands in desired for values that are not known, or "" if there are none.
	Unknown string
	// Autoscaled holds the autoscaler of each object whose replicas an autoscaler sets.
	Autoscaled map[object.Key]object.Autoscaler
	// AutoscalersUnseen is set if some autoscalers could not be read, so that one of them may have set replicas.
	AutoscalersUnseen bool

	// Rules silence findings. Managers are names of field managers in addition to the known ones. ShowControllers reports fields
	// that controllers wrote and no manifest names.
	Rules           []ignore.Rule
	Managers        owners.Managers
	ShowControllers bool

	// Warnings and Errors are passed on to the report.
	Warnings, Errors []report.Message

	// Known holds more secrets than the objects have, such as the Secrets that a chart looked up. It is nil if there are none.
	Known *secret.Known
}

// ServerSide reports whether the operation applies server-side.
func (in Input) ServerSide() bool { return in.ApplyMethod == report.ApplyServerSide }

// NeedsNamespace reports whether the operation is an installation that depends on the namespace of the release: it does not create the
// namespace, or it applies it server-side. Live must have it then.
func (in Input) NeedsNamespace() bool {
	return in.Operation == report.OperationInstall && (!in.CreateNamespace || in.ServerSide())
}

// LacksNamespace reports whether the namespace that the operation needs does not exist.
func (in Input) LacksNamespace() bool {
	return in.NeedsNamespace() && !in.CreateNamespace && in.Live[object.NamespaceRef(in.StorageNamespace)].Absence == cluster.AbsentObject
}

// Release returns the name of the release.
func (in Input) Release() object.ReleaseName {
	return object.ReleaseName{Namespace: in.Namespace, Name: in.Name}
}

// helm4 reports whether Helm 4 does the operation.
func (in Input) helm4() bool { return in.Desired != nil && in.Desired.Helm == "4" }

// Deployment says how a program deploys that is not the helm command.
type Deployment engine.Deployment

// Syncs reports whether a program deploys that does not call Helm's library. A nil Deployment is the helm command.
func (d *Deployment) Syncs() bool { return (*engine.Deployment)(d).Syncs() }

// Hook is an object that Helm runs beside the manifest.
type Hook struct {
	Kind, Name string
	// Key is which object it is, and Content its manifest. It is the zero Key, without Content, if only Kind and Name are known.
	Key     object.Key
	Content map[string]any
	// Path is the template, and Event is pre-upgrade, post-rollback …
	Path, Event string
	// First is set if Helm runs it before it writes the manifest. Weight orders the hooks of one event.
	First  bool
	Weight int
	// DeletedBefore is set if Helm deletes an existing object before it creates the hook, and DeletedAfter if Helm deletes the hook after
	// it succeeded.
	DeletedBefore, DeletedAfter bool
}

// OtherRelease says whether a release exists. Problem says why that is not known, and is empty if it is known.
type OtherRelease struct {
	Exists  bool
	Problem string
}

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
	// settled is what the answers of Verify have settled, and before is the comparison before the first of them; nil if c is that.
	settled map[object.Key]settlement
	before  *Comparison

	job *comparer
}

// Finding is one field with a verdict, its values in clear. It never leaves the process: Comparison.Report masks it. Its fields Path,
// Verdict, Cause, Managed, Class, IgnoredBy, Certain, Old, Desired, Live, After, Notes and Owners are the fields of a
// [report.Finding] before masking; a nil value is an absent side.
type Finding = verdict.Finding

// Compare compares one release. It is pure: Needs lists what could be read to make the answer better.
func Compare(in Input) *Comparison {
	job := newComparer(in)
	in.Autoscaled = job.in.Autoscaled
	job.pairs, job.holdings = pairs(in), sync.OnceValue(job.findHoldings)
	c := &Comparison{Input: in, Objects: job.compareAll(job.pairs), job: job}
	c.settle(nil)
	return c
}

// settle computes what becomes of each object, from the decisions about all objects and from what the answers of the API server settle.
// The notes, warnings and errors follow from that, so settle computes them anew too.
func (c *Comparison) settle(settled map[object.Key]settlement) {
	c.settled = settled
	record := c.recordFailure()
	for i, f := range c.fates(settled, record) {
		o := &c.Objects[i]
		o.Action, o.outcome = o.decision.outcome(settled[o.key], f)
		o.Notes = slices.Concat(report.NotesOf(o.Note), o.notes)
	}
	c.Warnings, c.Errors = slices.Clone(c.Input.Warnings), slices.Concat(c.Input.Errors, c.Input.NamespacesUnread)
	c.warnOfRules()
	c.warnOfDuplicates()
	c.warnOfDeployer()
	c.warnOfPending()
	c.warnOfNamespace()
	c.failOnRecord(record)
	c.failOnUnseenAutoscalers()
	c.failOnUnseenDefinitions()
	c.noteGroupChanges()
}

// outcome returns what becomes of an object. ActionNone with findings that an upgrade writes is an update.
func (d decision) outcome(s settlement, f fate) (report.Action, outcome) {
	action, out := report.ActionUpdate, outcome{Findings: slices.Clone(d.Findings), Reason: d.reason}
	switch {
	case s.succeeds:
		out.Reason = ""
	case f.fails:
		action, out.Reason, out.failure = report.ActionFail, f.why.reason, f.why
	case d.action != "" && d.action != report.ActionNone:
		action, out.deletes = d.action, d.action == report.ActionDelete
	case !slices.ContainsFunc(d.Findings, verdict.Finding.Writes):
		action = report.ActionNone
	case d.Engine == report.EngineReplace:
		action = report.ActionReplace
	}
	for _, other := range f.by {
		action, out.BlockedBy = report.ActionSkip, append(out.BlockedBy, report.ObjectKey{Key: other.key})
	}
	for i := range out.Findings {
		s.applyTo(&out.Findings[i])
		out.Findings[i].Blocked = f.isBlocked && !out.Findings[i].Pruned
	}
	return action, out
}

// comparer compares the objects of one release.
type comparer struct {
	in     Input
	writer engine.Writer
	walker verdict.Walker
	// pairs are all objects of the release. They do not change while workers read them.
	pairs []pair
	// holdings returns which Services of the release have which number.
	holdings func() holdings
	// asWritten is set for objects that Helm sends as the chart has them, without metadata of its own.
	asWritten bool
	// redefined are the custom kinds whose definitions the install changes before it writes the manifest.
	redefined map[schema.GroupKind]bool
	// unread are those whose definitions the install writes and that could not be read.
	unread map[schema.GroupKind]bool
}

// newComparer returns a comparer. It looks for the field manager of the release only if needed; most client-side comparisons do not need
// it.
func newComparer(in Input) *comparer {
	plainStatus := map[schema.GroupVersionKind]bool{}
	for ref, live := range in.Live {
		if live.PlainStatus {
			plainStatus[ref.GVK()] = true
		}
	}
	in.Hooks = inOrder(in.Hooks)
	c := &comparer{in: in, asWritten: in.By.Syncs(), writer: engine.Writer{
		ServerSide: in.ServerSide(), ForceConflicts: in.ForceConflicts, Migrates: in.Migrates, ForceReplace: in.ForceReplace,
		ThreeWayMerge: in.TakeOwnership && in.Operation == report.OperationInstall, Helm4: in.helm4(),
		Schemas: in.Schemas, ApplyTypes: in.ApplyTypes, PlainStatus: plainStatus,
		Deployer: sync.OnceValue(func() owners.Deployer { return deployerOf(in) }), By: (*engine.Deployment)(in.By),
	}}
	c.in.Autoscaled = c.markLeaving()
	c.walker = verdict.Walker{
		Operation: in.Operation, Release: in.Name, Managers: in.Managers, Deployer: c.writer.Deployer,
		Autoscaled: c.in.Autoscaled, Unknown: in.Unknown,
	}
	c.redefine()
	return c
}

// compareAll compares each object by itself, on all processors. A panic in a worker is raised again here.
func (c *comparer) compareAll(all []pair) []ObjectComparison {
	out := make([]ObjectComparison, len(all))
	panics := make([]any, len(all))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() error {
			defer func() { panics[i] = recover() }()
			out[i] = c.compare(all[i])
			return nil
		})
	}
	_ = group.Wait() // no object returns an error
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
	return out
}

// helmText returns a manifest's object as Helm sends it.
func (c *comparer) helmText(content map[string]any) map[string]any {
	if c.asWritten {
		return content
	}
	return object.HelmMetadata(content, c.in.Name, c.in.Namespace)
}

// Deployer returns the field manager that Helm writes the release as. Its type is internal: Manager is the name, and Known is false if
// the cluster does not show it, so that the name is Helm's default.
func (c *Comparison) Deployer() owners.Deployer { return c.job.writer.Deployer() }

// DesiredForm returns the normal form of another text of desired, as it is compared with live. The object is that of a comparison.
func (c *Comparison) DesiredForm(o *ObjectComparison, content map[string]any) map[string]any {
	return c.job.storedForm(o.Ref, c.job.helmText(content), o.liveText)
}

// warn adds warnings.
func (c *Comparison) warn(messages ...report.Message) { c.Warnings = append(c.Warnings, messages...) }
