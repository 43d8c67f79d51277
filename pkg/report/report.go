package report

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// APIVersion and KindReport stand at the head of every report.
const (
	APIVersion = "helmdrift.io/v1"
	KindReport = "Report"
)

// Report is the contract: every output format is a view of it. Keys are only ever added within APIVersion v1.
// It holds masked values only; Comparison.Report makes its releases.
type Report struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Helmdrift  string    `json:"helmdrift"`
	Time       time.Time `json:"time"`
	Summary    Summary   `json:"summary"`
	Releases   []Release `json:"releases"`
}

// Summary counts over all releases. Findings silenced by a rule or a class are counted in Ignored alone.
type Summary struct {
	Releases        int         `json:"releases"`
	DriftedReleases int         `json:"driftedReleases"`
	Objects         int         `json:"objects"`
	DriftedObjects  int         `json:"driftedObjects"`
	Missing         int         `json:"missing"`
	Terminating     int         `json:"terminating,omitempty"`
	Errors          int         `json:"errors"`
	Managed         int         `json:"managed"`
	Unmanaged       int         `json:"unmanaged"`
	Ignored         int         `json:"ignored"`
	Fields          FieldCounts `json:"fields"`
}

// FieldCounts counts findings by verdict.
type FieldCounts struct {
	Add       int `json:"add"`
	Remove    int `json:"remove"`
	Overwrite int `json:"overwrite"`
	Ignore    int `json:"ignore"`
	Conflict  int `json:"conflict"`
}

// Release is the comparison of one release.
type Release struct {
	Name             string    `json:"name"`
	Namespace        string    `json:"namespace"`
	StorageNamespace string    `json:"storageNamespace"`
	Cluster          string    `json:"cluster"`
	Operation        Operation `json:"operation"`
	Old              *Revision `json:"old,omitempty"`
	Last             *Revision `json:"last,omitempty"`
	Desired          *Desired  `json:"desired,omitempty"`
	ApplyMethod      string    `json:"applyMethod,omitempty"`
	// FieldManager is the name under which the release is applied server-side, where the cluster shows it.
	FieldManager string `json:"fieldManager,omitempty"`
	// Terminating is set where the namespace of the release, or of its records, is being deleted.
	Terminating bool          `json:"terminating,omitempty"`
	Drifted     bool          `json:"drifted"`
	Warnings    []Message     `json:"warnings"`
	Errors      []Message     `json:"errors"`
	NotCompared []NotCompared `json:"notCompared"`
	Objects     []Object      `json:"objects"`
	// Compared is the number of objects looked at; Objects lists only those with something to say.
	Compared int `json:"compared"`
}

// Revision names a stored revision.
type Revision struct {
	Revision int    `json:"revision"`
	Status   string `json:"status,omitempty"`
	Chart    string `json:"chart,omitempty"`
}

// Desired says where the desired state came from.
type Desired struct {
	// Source is "record", "chart" or "revision".
	Source   string `json:"source"`
	Revision int    `json:"revision,omitempty"`
	Chart    string `json:"chart,omitempty"`
	// Helm is the major version of the Helm that is predicted: "3" or "4".
	Helm string `json:"helm,omitempty"`
}

// Message is a warning or an error that belongs to a release.
type Message struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Object  string `json:"object,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// ErrorRender is the code of an error that says that the chart could not be rendered. It is part of the contract.
const ErrorRender = "render"

// WarnRecordElsewhere is the code of the warning that the record may be a copy of one in the namespace that it names. It is part of the
// contract.
const WarnRecordElsewhere = "record-elsewhere"

// NotComparedHook is the reason of a hook.
const NotComparedHook = "hook"

// NotCompared is an object of the manifest that has no live counterpart by design: a hook, or one with generateName.
type NotCompared struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Reason    string `json:"reason"`
}

// Object is one object with a finding, an action other than none, or an error.
type Object struct {
	ID           string       `json:"id,omitempty"`
	APIVersion   string       `json:"apiVersion"`
	Kind         string       `json:"kind"`
	Namespace    string       `json:"namespace,omitempty"`
	Name         string       `json:"name"`
	GenerateName string       `json:"generateName,omitempty"`
	Source       string       `json:"source,omitempty"`
	Action       Action       `json:"action"`
	Reason       string       `json:"reason,omitempty"`
	BlockedBy    []ObjectKey  `json:"blockedBy,omitempty"`
	Engine       Engine       `json:"engine,omitempty"`
	Missing      bool         `json:"missing"`
	Terminating  bool         `json:"terminating,omitempty"`
	Drifted      bool         `json:"drifted"`
	Notes        Notes        `json:"note,omitempty"`
	Error        *ObjectError `json:"error,omitempty"`
	IgnoredBy    *IgnoreRule  `json:"ignoredBy,omitempty"`
	// Known is set by a baseline: the earlier report has all that Helm writes to the object.
	Known       bool `json:"known,omitempty"`
	Controllers int  `json:"controllers,omitempty"`
	// Forgotten counts values that no manifest names and that only forgotten writers signed (ancient-changes, before-first-apply).
	Forgotten int       `json:"forgotten,omitempty"`
	DryRun    *DryRun   `json:"dryRun,omitempty"`
	Fields    []Finding `json:"fields"`
	// OnlyConflicts is set where the operation fails on the object on nothing but conflicts. It is no part of the contract.
	OnlyConflicts bool `json:"-"`
}

// ObjectError says why an object could not be compared.
type ObjectError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// IgnoreRule names the rule, or the baseline, that silenced a finding.
type IgnoreRule struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason,omitempty"`
	// Baseline is set by Accept: the rule is an earlier report, and Reason says when that was made. It is no part of the contract.
	Baseline bool `json:"-"`
}

// DryRun is the API server's own answer, where it was asked.
type DryRun struct {
	// Result is "agrees", "disagrees" or "refused": the server, or this program, would not try.
	Result  string `json:"result"`
	Message string `json:"message,omitempty"`
}

// The results of a dry run.
const (
	DryRunAgrees    = "agrees"
	DryRunDisagrees = "disagrees"
	DryRunRefused   = "refused"
)

// Finding is one field with a verdict. A side that does not have the field lacks the key; all sides lack it when masked.
type Finding struct {
	ID             string  `json:"id"`
	Path           string  `json:"path"`
	Pointer        string  `json:"pointer,omitempty"`
	DesiredPointer string  `json:"desiredPointer,omitempty"`
	Verdict        Verdict `json:"verdict"`
	Cause          Cause   `json:"cause"`
	Managed        bool    `json:"managed"`
	Certain        bool    `json:"certain"`
	Class          Class   `json:"class,omitempty"`
	Template       string  `json:"template,omitempty"`
	Masked         bool    `json:"masked,omitempty"`
	Old            any     `json:"old,omitempty"`
	Desired        any     `json:"desired,omitempty"`
	Live           any     `json:"live,omitempty"`
	After          any     `json:"after,omitempty"`
	// Nulls are the names of the sides that hold a null. MarshalJSON fills it from those that are Null.
	Nulls      []string    `json:"nulls,omitempty"`
	Notes      Notes       `json:"note,omitempty"`
	Equivalent bool        `json:"equivalent,omitempty"`
	Blocked    bool        `json:"blocked,omitempty"`
	IgnoredBy  *IgnoreRule `json:"ignoredBy,omitempty"`
	Owners     []Owner     `json:"owners,omitempty"`
	// Unrecorded is set where the API server does not record who wrote the live value; Note says why.
	Unrecorded bool `json:"unrecorded,omitempty"`
	// OwnerOnly is set in a FixPlan if the live value stays and only its owner changes. It is no part of the contract.
	OwnerOnly bool `json:"-"`
	// Pattern is the path as an ignore rule names it. It is no part of the contract.
	Pattern string `json:"-"`
}

// MarshalJSON writes the finding. The value of a side is never written as null: Nulls names the sides that hold one.
func (f Finding) MarshalJSON() ([]byte, error) {
	type plain Finding
	out := plain(f)
	out.Nulls = nil
	for _, side := range []struct {
		name  string
		value *any
	}{{"old", &out.Old}, {"desired", &out.Desired}, {"live", &out.Live}, {"after", &out.After}} {
		if *side.value == (object.Null{}) {
			*side.value, out.Nulls = nil, append(out.Nulls, side.name)
		}
	}
	return json.Marshal(out)
}

// Key returns what identifies the object.
func (o Object) Key() object.Key {
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return object.Key{Group: group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Gone reports whether the object is missing or is being deleted.
func (o Object) Gone() bool { return o.Missing || o.Terminating }
