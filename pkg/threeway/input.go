package threeway

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Input is everything from which one release is compared. Compare reads it and does not change it; the [Comparison] refers to it, so the
// caller does not change it either.
//
// Name, the namespaces, Operation, ApplyMethod, the objects and Live are needed. Everything else may be left out, as by other modules if
// its type is one of an internal package. pkg/drift fills in all of it.
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
	// ApplyMethod is "client-side" or "server-side": how the operation writes. By default Helm does as for the last revision.
	ApplyMethod string

	// Migrates is set if Helm turns its own earlier client-side writes into an apply before it applies server-side.
	Migrates bool
	// ForceConflicts is Helm 4's flag: a server-side apply takes over what others own.
	ForceConflicts bool
	// ForceReplace is --force, Helm 4's --force-replace: live objects are replaced, not patched. Helm rejects it together with
	// server-side apply.
	ForceReplace bool
	// TakeOwnership is Helm's flag: live objects are adopted, whoever owns them.
	TakeOwnership bool

	// OldObjects are those of the stored manifest, in its order, and DesiredObjects what Helm would send. For drift both are the same. Each
	// Key occurs once, as render.Parse returns them.
	OldObjects     []object.Object
	DesiredObjects []object.Object
	// LastObjects is the manifest of the last revision if that is not old and the user did not choose old; nil otherwise.
	LastObjects []object.Object
	// NotCompared is passed on to the report.
	NotCompared []report.NotCompared
	// Hooks are the hooks that Helm runs in the course of the operation.
	Hooks []Hook
	// Definitions are the objects of the chart's crds folder, which an install writes before it builds the manifest. Brings are the kinds
	// that they define.
	Definitions []object.Object
	Brings      []schema.GroupKind
	// CreateNamespace says that an install creates StorageNamespace if it does not exist, before it stores the record.
	CreateNamespace bool

	// Live holds what was read, for every Ref of old and desired. A Ref that it lacks counts as an object that could not be read.
	Live map[object.Ref]Live
	// Terminating are the namespaces that are being deleted, as far as they could be read. Records is the resource in which the release's
	// records are stored: secrets or configmaps, or empty if they are not in the cluster.
	Terminating map[string]bool
	Records     string
	// NamespacesUnread are the errors of those that could not be read: nobody knows whether they are being deleted.
	NamespacesUnread []report.Message
	// Others says of the other releases that annotations of live objects name whether they exist.
	Others map[object.ReleaseName]OtherRelease
	// Schemas holds the schemas of custom kinds from their CRDs; a kind that is not in it is compared without a schema.
	// Comparison.Needs lists those that would help.
	Schemas map[schema.GroupKind]*kinds.CustomSchema
	// SchemasUnread are the kinds whose definition could not be read.
	SchemasUnread map[schema.GroupKind]bool
	// ApplyTypes are the schemas by which custom resources are applied server-side.
	ApplyTypes map[schema.GroupVersion]*engine.ApplyTypes
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

	// Known holds secrets in addition to those of the objects, such as the Secrets that a chart looked up; nil if there are none.
	Known *secret.Known
}

// ServerSide reports whether the operation applies server-side.
func (in Input) ServerSide() bool { return in.ApplyMethod == "server-side" }

// Release returns the name of the release.
func (in Input) Release() object.ReleaseName {
	return object.ReleaseName{Namespace: in.Namespace, Name: in.Name}
}

// helm4 reports whether Helm 4 does the operation.
func (in Input) helm4() bool { return in.Desired != nil && in.Desired.Helm == "4" }

// Hook is an object that Helm runs beside the manifest.
type Hook struct {
	Kind, Name string
	// Path is the template, and Event is pre-upgrade, post-rollback …
	Path, Event string
	// First is set if Helm runs it before it writes the manifest. Weight orders the hooks of one event.
	First  bool
	Weight int
	// DeletedBefore and DeletedAfter are set if Helm deletes what exists before it creates the hook, and the hook after it has succeeded.
	DeletedBefore, DeletedAfter bool
}

// OtherRelease says whether a release exists. Problem is why that is not known; empty if it is.
type OtherRelease struct {
	Exists  bool
	Problem string
}

// Live is the result of reading one Ref: an object, or the reason why there is none. The zero value means that it does not exist.
type Live struct {
	// Object is the live object; nil if there is none.
	Object map[string]any
	// Absence says why Object is nil. With AbsentKind Object may be set anyway: the requested version is not served, and
	// Object was read at another one, found by group and kind.
	Absence Absence
	// PlainStatus is set if the server has no status subresource for the kind: the status is a field like any other then. It matters for
	// custom kinds whose definition is not in Input.Schemas.
	PlainStatus bool
	// Err is set if the object could not be read, which does not mean that it is absent.
	Err *report.ObjectError
}

// Absence is why there is no live object.
type Absence string

// The absences: the object, its namespace, or its kind at this version does not exist.
const (
	AbsentObject    Absence = "object"
	AbsentNamespace Absence = "namespace"
	AbsentKind      Absence = "kind"
)
