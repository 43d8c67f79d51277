// Package absorption is the contract of helmdrift absorb, beside the report of a comparison: what programs read as JSON, and what
// internal/output shows. It is pure data without secrets. internal/output/schema has its JSON Schema with that of all reports, and
// TestSchemaHasEveryField in internal/output compares the two.
package absorption

import (
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Status says what became of one field that differs between live and desired.
type Status string

// These are the statuses: a change of values makes desired equal live there, or no change does, or none is proposed.
const (
	Absorbed Status = "absorbed"
	Left     Status = "left"
)

// Reason is the reason why a field is not absorbed.
type Reason string

// These are the reasons.
const (
	// LeftNoValue: no value of the chart controls the field. File and Line say where the chart writes it, if that was found. Or no
	// value can absorb that the object is gone: Message says why.
	LeftNoValue Reason = "no-value"
	// LeftSecret: the field holds a secret. Secrets are never written into values. Ways lists the values that refer to a Secret
	// instead.
	LeftSecret Reason = "secret"
	// LeftConflict: another field needs the same value with another content. With lists the other fields. Or an anchor or a merge in the
	// values file shares the value: then Message says so, File is the values file, and Line is the line of the anchor.
	LeftConflict Reason = "conflict"
	// LeftSideEffects: each change that would absorb the field changes more in other objects than is allowed. Others has these changes.
	LeftSideEffects Reason = "side-effects"
	// LeftVolatile: each rendering of the chart generates another value.
	LeftVolatile Reason = "volatile"
	// LeftNotRendered: the chart does not render, or stopped rendering within the limits before the search had ended, or it refuses the only
	// change that was found. Message says which.
	LeftNotRendered Reason = "not-rendered"
	// LeftNotChosen: somebody chose other fields. Message says how.
	LeftNotChosen Reason = "not-chosen"
)

// Result is the contract of helmdrift absorb: for each field that drifted, the change of values that makes the chart agree with the
// cluster. It holds only masked values.
type Result struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Helmdrift  string    `json:"helmdrift"`
	Time       time.Time `json:"time"`
	Name       string    `json:"name"`
	Namespace  string    `json:"namespace"`
	// Operation is install if no release is installed, and otherwise empty.
	Operation report.Operation `json:"operation,omitempty"`
	// Chart is the name and the version of the chart.
	Chart string `json:"chart,omitempty"`
	// ValuesFile is the file that Patch changes. It is empty if no file was given: the patch is then for the values that
	// the release stores, or for no values before an installation.
	ValuesFile string `json:"valuesFile,omitempty"`
	// ValuesOf is the object that a controller composes the values from, such as a HelmRelease of Flux. The values that Edits and Overlay
	// change are then those that it composes.
	ValuesOf *report.ObjectKey `json:"valuesOf,omitempty"`
	// Files are the files of a working tree that Patch changes, relative to the root of the tree.
	Files []string `json:"files,omitempty"`
	// Written is set if the file, or all files, were changed.
	Written bool    `json:"written,omitempty"`
	Fields  []Field `json:"fields"`
	// Edits are all proposed changes of the values file together, and SideEffects are their effects beyond the fields.
	Edits       []ValueEdit `json:"edits"`
	SideEffects []Effect    `json:"sideEffects,omitempty"`
	// Overlay holds the same changes as values that override those of the file. A null removes a value.
	Overlay map[string]any `json:"overlay,omitempty"`
	// Reset is set if the changes remove a value that the release stores. helm upgrade --reuse-values keeps such a value although Overlay
	// has a null for it, so Values has all values, for helm upgrade --reset-values. It is absent if some of them may be secret.
	Reset  bool           `json:"reset,omitempty"`
	Values map[string]any `json:"values,omitempty"`
	// Patch is the unified diff of the values file.
	Patch string `json:"patch,omitempty"`
	// Kustomization has patches for a post-renderer. They make desired equal live at the fields that no value controls. It is absent if no
	// field needs or can have a patch.
	Kustomization *Kustomization `json:"kustomization,omitempty"`
	// Masked is set if Edits, Overlay, Values or Patch lack values that may be secret. Such a patch cannot be applied by hand.
	Masked bool `json:"masked,omitempty"`
	// Renders counts how often the chart was rendered, and Seconds is how long the search took.
	Renders  int              `json:"renders"`
	Seconds  float64          `json:"seconds"`
	Warnings []report.Message `json:"warnings,omitempty"`
	Errors   []report.Message `json:"errors,omitempty"`
	// Versions are for people who read the result as text.
	Versions report.CustomVersions `json:"-"`
}

// Field is one field, or one object that was deleted, and what was found for it.
type Field struct {
	Object report.ObjectKey `json:"object"`
	// Source is the template of the object.
	Source string `json:"source,omitempty"`
	// Field is the finding as in a report. It is absent if the whole object is gone from the cluster or is being deleted.
	Field *report.Finding `json:"field,omitempty"`
	// Terminating is set for an object that is still there and is being deleted.
	Terminating bool   `json:"terminating,omitempty"`
	Status      Status `json:"status"`
	// Edits are the changes of values that absorb the field. They are empty if the edits of another field absorb it.
	Edits []ValueEdit `json:"edits,omitempty"`
	// SideEffects are the effects of these changes beyond the field.
	SideEffects []Effect `json:"sideEffects,omitempty"`
	// Others are further proved changes that would absorb the field, with more side effects or less likely values.
	Others []Candidate `json:"others,omitempty"`
	// Reason and Message say why the field is not absorbed.
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// File and Line say where the chart writes a field that no value controls, or where the values file has an anchor that prevents the
	// edit.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Patched is set if Kustomization has a patch for the field. The patch was proved: applied with the library of kustomize, and
	// compared with live.
	Patched bool `json:"patched,omitempty"`
	// Ways are the values that make the chart use an existing Secret, such as auth.existingSecret.
	Ways []string `json:"ways,omitempty"`
	// With lists the fields that are in conflict with the field.
	With []Place `json:"with,omitempty"`
}

// Place names a field of an object.
type Place struct {
	Object report.ObjectKey `json:"object"`
	Path   string           `json:"path,omitempty"`
}

// Candidate is a change of values that absorbs a field, other than the proposed one.
type Candidate struct {
	Edits       []ValueEdit `json:"edits"`
	SideEffects []Effect    `json:"sideEffects,omitempty"`
}

// ValueEdit is one change of the values file.
type ValueEdit struct {
	// Path leads to the value: keys of maps are strings, and indexes of lists are numbers. Name is the same path for people.
	Path []any  `json:"path"`
	Name string `json:"name"`
	// Remove is set if the value is removed from the file. Null is set if it becomes null, so that Helm drops a default of the chart.
	Remove bool `json:"remove,omitempty"`
	Null   bool `json:"null,omitempty"`
	// Old is the present value, and New is the value after the change. A side without the value has no key.
	Old any `json:"old,omitempty"`
	New any `json:"new,omitempty"`
	// Masked is set if the values are not shown because they may be secret.
	Masked bool `json:"masked,omitempty"`
}

// Effect is one field, or one whole object, that a change of values also changes, although nobody asked for it.
type Effect struct {
	Object report.ObjectKey `json:"object"`
	// Path is empty if the whole object appears or disappears. Action says which.
	Path   string        `json:"path,omitempty"`
	Action report.Action `json:"action,omitempty"`
	// Hook lists the events of the object if it is a hook. A hook that only helm test runs does not count as a side effect.
	Hook []string `json:"hook,omitempty"`
	// Verdict is what the next upgrade does with the field.
	Verdict report.Verdict `json:"verdict,omitempty"`
	// Before and After are the desired values without and with the change.
	Before any  `json:"before,omitempty"`
	After  any  `json:"after,omitempty"`
	Masked bool `json:"masked,omitempty"`
	// Converges is set if the place becomes equal to live, so that it no longer drifts. It does not count as a side effect.
	Converges bool `json:"converges,omitempty"`
	// Derived is set for a checksum of something else that changes, and for the label app.kubernetes.io/version of an object. It does not
	// count as a side effect.
	Derived bool `json:"derived,omitempty"`
}

// IsLeft reports whether the field is not absorbed.
func (f Field) IsLeft() bool { return f.Status != Absorbed }

// Counts returns how many fields are absorbed and how many are left.
func (r *Result) Counts() (absorbed, left int) {
	for _, f := range r.Fields {
		if f.IsLeft() {
			left++
		} else {
			absorbed++
		}
	}
	return absorbed, left
}

// Kustomization is the file kustomization.yaml. Its Resources are the files in its folder with what Helm renders.
type Kustomization struct {
	APIVersion  string           `json:"apiVersion"`
	Kind        string           `json:"kind"`
	Resources   []string         `json:"resources"`
	SortOptions KustomizeSort    `json:"sortOptions"`
	Patches     []KustomizePatch `json:"patches"`
}

// NewKustomization returns a kustomization with patches. The objects keep Helm's order of creation.
func NewKustomization(patches []KustomizePatch) *Kustomization {
	return &Kustomization{
		APIVersion: "kustomize.config.k8s.io/v1beta1", Kind: "Kustomization", Resources: []string{"all.yaml"},
		SortOptions: KustomizeSort{Order: "fifo"}, Patches: patches,
	}
}

// KustomizeSort is the order of the objects that kustomize prints.
type KustomizeSort struct {
	Order string `json:"order"`
}

// KustomizePatch is a patch of one object.
type KustomizePatch struct {
	Target KustomizeTarget `json:"target"`
	// Patch is the patch as JSON: an object is a strategic merge patch, and a list is a JSON patch (RFC 6902).
	Patch string `json:"patch"`
}

// KustomizeTarget selects an object. Each part is a regular expression that matches the whole text, and an absent one matches everything.
type KustomizeTarget struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}
