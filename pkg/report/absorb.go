package report

import "time"

// KindAbsorbResult is the kind of what helmdrift absorb reports.
const KindAbsorbResult = "AbsorbResult"

// AbsorbStatus says what became of one field that differs between live and desired.
type AbsorbStatus string

// These are the statuses: a change of values makes desired equal live there, or no change does, or none is proposed.
const (
	AbsorbAbsorbed AbsorbStatus = "absorbed"
	AbsorbLeft     AbsorbStatus = "left"
)

// AbsorbReason is the reason why a field is not absorbed.
type AbsorbReason string

// These are the reasons.
const (
	// LeftNoValue: no value of the chart controls the field. File and Line say where the chart writes it, if that was found.
	LeftNoValue AbsorbReason = "no-value"
	// LeftSecret: the field holds a secret. Secrets are never written into values. Ways lists the values that refer to a Secret
	// instead.
	LeftSecret AbsorbReason = "secret"
	// LeftConflict: another field needs the same value with another content. With lists the other fields. Or an anchor or a merge in the
	// values file shares the value: then Message says so, File is the values file, and Line is the line of the anchor.
	LeftConflict AbsorbReason = "conflict"
	// LeftSideEffects: each change that would absorb the field changes more in other objects than is allowed. Others has these changes.
	LeftSideEffects AbsorbReason = "side-effects"
	// LeftVolatile: each rendering of the chart generates another value.
	LeftVolatile AbsorbReason = "volatile"
	// LeftNotRendered: the chart does not render, or stopped rendering within the limits before the search had ended, or it refuses the only
	// change that was found. Message says which.
	LeftNotRendered AbsorbReason = "not-rendered"
	// LeftNotChosen: somebody chose other fields. Message says how.
	LeftNotChosen AbsorbReason = "not-chosen"
)

// AbsorbResult is the contract of helmdrift absorb: for each field that drifted, the change of values that makes the chart agree with the
// cluster. It holds only masked values.
type AbsorbResult struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Helmdrift  string    `json:"helmdrift"`
	Time       time.Time `json:"time"`
	Name       string    `json:"name"`
	Namespace  string    `json:"namespace"`
	// Operation is install if no release is installed, and otherwise empty.
	Operation Operation `json:"operation,omitempty"`
	// Chart is the name and the version of the chart.
	Chart string `json:"chart,omitempty"`
	// ValuesFile is the file that Patch changes. It is empty if no file was given: the patch is then for the values that
	// the release stores, or for no values before an installation.
	ValuesFile string `json:"valuesFile,omitempty"`
	// Written is set if the file was changed.
	Written bool          `json:"written,omitempty"`
	Fields  []AbsorbField `json:"fields"`
	// Edits are all proposed changes of the values file together, and SideEffects are their effects beyond the fields.
	Edits       []ValueEdit    `json:"edits"`
	SideEffects []AbsorbEffect `json:"sideEffects,omitempty"`
	// Overlay holds the same changes as values that override those of the file. A null removes a value.
	Overlay map[string]any `json:"overlay,omitempty"`
	// Patch is the unified diff of the values file.
	Patch string `json:"patch,omitempty"`
	// Kustomization has patches for a post-renderer. They make desired equal live at the fields that no value controls. It is absent if no
	// field needs or can have a patch.
	Kustomization *Kustomization `json:"kustomization,omitempty"`
	// Masked is set if Edits, Overlay or Patch lack values that may be secret. Such a patch cannot be applied by hand.
	Masked bool `json:"masked,omitempty"`
	// Renders counts how often the chart was rendered, and Seconds is how long the search took.
	Renders  int       `json:"renders"`
	Seconds  float64   `json:"seconds"`
	Warnings []Message `json:"warnings,omitempty"`
	Errors   []Message `json:"errors,omitempty"`
	// Versions are for people who read the result as text.
	Versions CustomVersions `json:"-"`
}

// AbsorbField is one field, or one object that was deleted, and what was found for it.
type AbsorbField struct {
	Object ObjectKey `json:"object"`
	// Source is the template of the object.
	Source string `json:"source,omitempty"`
	// Field is the finding as in a report. It is absent if the whole object is gone from the cluster.
	Field  *Finding     `json:"field,omitempty"`
	Status AbsorbStatus `json:"status"`
	// Edits are the changes of values that absorb the field. They are empty if the edits of another field absorb it.
	Edits []ValueEdit `json:"edits,omitempty"`
	// SideEffects are the effects of these changes beyond the field.
	SideEffects []AbsorbEffect `json:"sideEffects,omitempty"`
	// Others are further proved changes that would absorb the field, with more side effects or less likely values.
	Others []AbsorbCandidate `json:"others,omitempty"`
	// Reason and Message say why the field is not absorbed.
	Reason  AbsorbReason `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
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
	With []AbsorbPlace `json:"with,omitempty"`
}

// AbsorbPlace names a field of an object.
type AbsorbPlace struct {
	Object ObjectKey `json:"object"`
	Path   string    `json:"path,omitempty"`
}

// AbsorbCandidate is a change of values that absorbs a field, other than the proposed one.
type AbsorbCandidate struct {
	Edits       []ValueEdit    `json:"edits"`
	SideEffects []AbsorbEffect `json:"sideEffects,omitempty"`
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

// AbsorbEffect is one field, or one whole object, that a change of values also changes, although nobody asked for it.
type AbsorbEffect struct {
	Object ObjectKey `json:"object"`
	// Path is empty if the whole object appears or disappears. Action says which.
	Path   string `json:"path,omitempty"`
	Action Action `json:"action,omitempty"`
	// Hook lists the events of the object if it is a hook. A hook that only helm test runs does not count as a side effect.
	Hook []string `json:"hook,omitempty"`
	// Verdict is what the next upgrade does with the field.
	Verdict Verdict `json:"verdict,omitempty"`
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
func (f AbsorbField) IsLeft() bool { return f.Status != AbsorbAbsorbed }

// Counts returns how many fields are absorbed and how many are left.
func (r *AbsorbResult) Counts() (absorbed, left int) {
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
