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

// Input is all that the comparison of one release is made from. Compare reads it and changes none of it.
type Input struct {
	// Name, Namespace and StorageNamespace of the release; Namespace is the record's own.
	Name, Namespace, StorageNamespace string
	Cluster                           string
	Operation                         report.Operation

	Old, Last *report.Revision
	Desired   *report.Desired
	// ApplyMethod is "client-side" or "server-side", of the last revision.
	ApplyMethod string

	// Migrates is set if Helm, before it applies server-side, makes its own earlier client-side writes part of the apply.
	Migrates bool
	// ForceConflicts is Helm 4's flag: a server-side apply takes over what others own.
	ForceConflicts bool
	// ForceReplace is --force, Helm 4's --force-replace: what lives is replaced, not patched. Helm refuses it together with
	// server-side apply.
	ForceReplace bool
	// TakeOwnership is Helm's flag: what lives is adopted, whoever owns it.
	TakeOwnership bool

	OldObjects     []object.Object
	DesiredObjects []object.Object
	// LastObjects is the manifest of the last revision where that is not old, and old was not asked for; nil otherwise.
	LastObjects []object.Object
	NotCompared []report.NotCompared
	// Hooks are the objects that Helm runs as hooks in the course of the operation, by kind and name.
	Hooks []Hook
	// Brings are the kinds that Helm itself creates before it builds the manifest: those of the chart's crds folder, at an install.
	Brings []schema.GroupKind

	// Live holds what was read, for every Ref of old and desired.
	Live map[object.Ref]Live
	// Terminating are the namespaces that are being deleted, as far as they could be read. Records is the resource in which the release's
	// records are stored: secrets or configmaps.
	Terminating map[string]bool
	Records     string
	// Schemas holds what CRDs say of custom kinds; a kind that is not in it is compared without a schema.
	// Comparison.Needs says which would help.
	Schemas map[schema.GroupKind]*kinds.CustomSchema
	// ApplyTypes are the schemas by which custom resources are applied server-side.
	ApplyTypes map[schema.GroupVersion]*engine.ApplyTypes
	// Autoscaled holds the autoscaler of each object whose replicas one governs.
	Autoscaled map[object.Key]object.Autoscaler
	// AutoscalersUnseen is set if not all autoscalers that were asked for could be read, so that replicas may be theirs.
	AutoscalersUnseen bool

	// Rules silence findings. Managers are names of field managers beside those that are known. ShowControllers makes findings of
	// what controllers wrote and no manifest names.
	Rules           []ignore.Rule
	Managers        owners.Managers
	ShowControllers bool

	Warnings, Errors []report.Message

	// Known is what is known to be secret beside what the objects hold, such as the Secrets that a chart looked up; nil for nothing.
	Known *secret.Known
}

func (in Input) serverSide() bool { return in.ApplyMethod == "server-side" }

// helm4 reports whether it is Helm 4 whose doing is predicted.
func (in Input) helm4() bool { return in.Desired != nil && in.Desired.Helm == "4" }

// Hook names an object that Helm runs beside the manifest.
type Hook struct{ Kind, Name string }

// Live is what a read of one Ref brought: an object, or the reason why there is none.
type Live struct {
	// Object is the live object; nil where there is none.
	Object map[string]any
	// Absence says why Object is nil. With AbsentKind it may be set all the same: the version asked for is not served, and
	// Object was read at another one, found by group and kind.
	Absence Absence
	// Err is set when the object could not be seen, which is never the same as absent.
	Err *report.ObjectError
}

// Absence is why there is no live object.
type Absence string

// The absences: the object, its namespace, or its kind at this version is not there.
const (
	AbsentObject    Absence = "object"
	AbsentNamespace Absence = "namespace"
	AbsentKind      Absence = "kind"
)
