package report

import (
	"cmp"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// APIVersion and KindReport are the first two keys of every report.
const (
	APIVersion = "helmdrift.io/v1"
	KindReport = "Report"
	// These are the kinds of what fix, list, history and absorb report.
	KindFixResult    = "FixResult"
	KindReleaseList  = "ReleaseList"
	KindHistory      = "History"
	KindAbsorbResult = "AbsorbResult"
)

// Report is the contract of helmdrift diff: every output format is a view of it. [New] and [NewScan] make one, and [Read] reads a saved
// one. It holds only masked values, unless the caller asked for others with threeway.Mask.
type Report struct {
	// APIVersion and Kind are the constants APIVersion and KindReport.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Helmdrift is the version of the program that made the report, and Time is when it did, in UTC and whole seconds.
	Helmdrift string    `json:"helmdrift"`
	Time      time.Time `json:"time"`
	Summary   Summary   `json:"summary"`
	Releases  []Release `json:"releases"`
	// Errors are about what has no entry in Releases: a cluster that did not answer, a namespace whose records cannot be read.
	Errors []ScanError `json:"errors,omitempty"`
	// Scan is set if the releases were selected, not named.
	Scan *Scan `json:"scan,omitempty"`
}

// New returns a report of releases, in their order, with the counts of its summary. Version is the version of the program, and now is
// the time of the comparison; the report has it in UTC and whole seconds. The report keeps the list of releases; nil becomes an empty
// list.
func New(version string, now time.Time, releases []Release) *Report {
	if releases == nil {
		releases = []Release{}
	}
	r := &Report{APIVersion: APIVersion, Kind: KindReport, Helmdrift: version, Time: now.UTC().Truncate(time.Second), Releases: releases}
	for _, release := range releases {
		r.Summary.add(release)
	}
	return r
}

// NewScan returns the report of a selection of releases. It sorts them in place by cluster, namespace and name. Errors are about what could
// not be searched, and scan says what the selection covers. Overlaps of the same object become one. The other arguments are the same as for
// [New].
func NewScan(version string, now time.Time, releases []Release, errors []ScanError, scan Scan) *Report {
	order.Sort(releases, func(a, b Release) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.StorageNamespace, b.StorageNamespace), cmp.Compare(a.Name, b.Name))
	})
	r := New(version, now, releases)
	order.Sort(scan.Orphans, func(a, b Orphan) int { return a.Compare(b.ClaimedObject) })
	scan.Overlaps = joined(scan.Overlaps)
	r.Errors, r.Scan = errors, &scan
	r.Summary.Errors += len(errors)
	return r
}

// TimeOf returns when a cluster was compared. It is the time of the report, unless reports of several times were merged.
func (r *Report) TimeOf(cluster string) time.Time {
	if r.Scan != nil {
		if at, known := r.Scan.Times[cluster]; known {
			return at
		}
	}
	return r.Time
}

// ScanError says what could not be searched for releases. Namespace is empty if it is the whole cluster.
type ScanError struct {
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Code is for programs, such as "forbidden" and ErrorNotFound, and Message is for people. pkg/live has the codes.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Subject is what could not be read. It is nil if that is the cluster as a whole, or a name that no release has.
	Subject *Subject `json:"subject,omitempty"`
}

// Scan says what a selection of releases covers and what it took.
type Scan struct {
	// Clusters are the clusters that were searched, including those without a release.
	Clusters []string `json:"clusters,omitempty"`
	// Seconds is how long it took, and Requests is how many requests were sent.
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests,omitempty"`
	// Times says when a cluster was compared, for each cluster of a merged report that is older than the report: the time of the oldest of
	// the reports that have it.
	Times map[string]time.Time `json:"times,omitempty"`
	// Shard is set if only one part of the selected releases was compared.
	Shard *Shard `json:"shard,omitempty"`
	// Idle are the values of --only and --skip that match nothing in the releases of the part. Another part may have what they name.
	Idle []string `json:"idle,omitempty"`
	// Orphans are objects of the selected releases that no manifest has any more, as far as they were listed. OrphansSought is set if every
	// kind of the manifests was listed in every namespace of the releases, so that no orphan of these kinds is missing.
	Orphans       []Orphan `json:"orphans,omitempty"`
	OrphansSought bool     `json:"orphansSought,omitempty"`
	// Overlaps are objects of the selected releases that others deploy too.
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// Named is set if a merged report has releases that were named, not selected: nobody has looked for their overlaps.
	Named bool `json:"named,omitempty"`
}

// Shard is one of Count parts of a selection. Index counts from 0.
type Shard struct {
	Index int `json:"index"`
	Count int `json:"count"`
}

// Summary counts over all releases. A finding that a rule or a class silences counts in Ignored and nowhere else.
type Summary struct {
	Releases        int `json:"releases"`
	DriftedReleases int `json:"driftedReleases"`
	// Objects counts all compared objects, including those that are not listed. Missing and Terminating count objects that are gone or
	// are being deleted, unless a rule silences that; they are among DriftedObjects.
	Objects        int `json:"objects"`
	DriftedObjects int `json:"driftedObjects"`
	Missing        int `json:"missing"`
	Terminating    int `json:"terminating,omitempty"`
	// Errors counts what could not be read or compared: errors of the report, of releases and of objects.
	Errors int `json:"errors"`
	// Managed and Unmanaged count findings on fields that a manifest names, and on fields that none names. Fields counts both by
	// verdict.
	Managed   int         `json:"managed"`
	Unmanaged int         `json:"unmanaged"`
	Ignored   int         `json:"ignored"`
	Fields    FieldCounts `json:"fields"`
	// Restarts counts the pods that the operation restarts, and Downtime counts the workloads that have no ready pod for a time.
	Restarts int `json:"restarts,omitempty"`
	Downtime int `json:"downtime,omitempty"`
}

// FieldCounts counts findings by verdict.
type FieldCounts struct {
	Add       int `json:"add"`
	Remove    int `json:"remove"`
	Overwrite int `json:"overwrite"`
	Ignore    int `json:"ignore"`
	Conflict  int `json:"conflict"`
}

// ApplyMethod is how Helm writes objects.
type ApplyMethod string

// These are the methods. Helm 3 has only the first.
const (
	ApplyClientSide ApplyMethod = "client-side"
	ApplyServerSide ApplyMethod = "server-side"
)

// Release is the comparison of one release.
type Release struct {
	Name string `json:"name"`
	// Namespace is the record's own, which is the default for the objects, and StorageNamespace is the namespace that stores the record.
	// With GitOps controllers the two may differ. Cluster, storage namespace and name identify a release.
	Namespace        string `json:"namespace"`
	StorageNamespace string `json:"storageNamespace"`
	// Cluster is the caller's name for the cluster. The commands take the name in the kubeconfig.
	Cluster   string    `json:"cluster"`
	Operation Operation `json:"operation"`
	// Old is the revision that Helm starts from, or nil if nothing is installed. Last is the last revision. It differs from Old if it
	// failed.
	Old  *Revision `json:"old,omitempty"`
	Last *Revision `json:"last,omitempty"`
	// Desired is nil if the release could not be compared at all.
	Desired *Desired `json:"desired,omitempty"`
	// ApplyMethod is the method of the operation. It is empty if that is not known.
	ApplyMethod ApplyMethod `json:"applyMethod,omitempty"`
	// FieldManager is the field manager of a release that is applied server-side, if the cluster shows it.
	FieldManager string `json:"fieldManager,omitempty"`
	// Deployer is set if the report is about an object that a controller deploys the release from.
	Deployer *Deployer `json:"deployer,omitempty"`
	// Terminating is set if the namespace of the release, or of its records, is being deleted.
	Terminating bool `json:"terminating,omitempty"`
	// Drifted is what HasDrifted returned when the report was made, or when it was updated, as Recount does.
	Drifted bool `json:"drifted"`
	// Errors say what made the comparison incomplete, apart from errors of single objects; see HasError.
	Warnings    []Message     `json:"warnings"`
	Errors      []Message     `json:"errors"`
	NotCompared []NotCompared `json:"notCompared"`
	// Objects are in Helm's install order (helm v3.22.0 pkg/releaseutil/kind_sorter.go InstallOrder).
	Objects []Object `json:"objects"`
	// Effect sums up what the operation means for pods. It is nil if no write affects them.
	Effect *ReleaseEffect `json:"effect,omitempty"`
	// Values are the values that the user gave the release, in the order of their paths. Only a comparison of one release in several
	// environments has them.
	Values []GivenValue `json:"values,omitempty"`
	// Compared is the number of objects that were compared. Objects lists only those with something to report.
	Compared int `json:"compared"`
	// Patch is the output of -o diff for the release. It is nil if it was not asked for. It is not part of the contract.
	Patch *Patch `json:"-"`
}

// GivenValue is a value that the user gave a release. A list and an empty map are one value.
type GivenValue struct {
	// Path is for people, and not to be parsed: image.tag.
	Path string `json:"path"`
	// Value is nil for a null, and if it is Masked because it is secret.
	Value  any  `json:"value,omitempty"`
	Masked bool `json:"masked,omitempty"`
}

// Patch is the difference between a manifest and what its release has become, without what a report masks or silences.
type Patch struct {
	// LeftOut says what the hunks lack, one line each. Hunks are the hunks of a unified diff without its header. They are safe to print.
	LeftOut []string
	Hunks   string
}

// Revision names a stored revision.
type Revision struct {
	Revision int `json:"revision"`
	// Status is Helm's word, such as deployed or failed. Chart is name and version, such as shop-1.2.0.
	Status string `json:"status,omitempty"`
	Chart  string `json:"chart,omitempty"`
}

// Desired is the source of the desired state.
type Desired struct {
	// Source is "record" for the manifest of old itself, "chart", "kustomization" or "folder" (of manifests), or "revision" for a stored one.
	Source string `json:"source"`
	// Revision is the stored revision, or 0. Chart is name and version of the chart, or the path of the kustomization or the folder.
	Revision int    `json:"revision,omitempty"`
	Chart    string `json:"chart,omitempty"`
	// Helm is the major version of the Helm that is predicted: "3" or "4".
	Helm string `json:"helm,omitempty"`
}

// These are the reasons for a hook, for an object whose name the API server chooses, and for a field that is masked in a snapshot.
const (
	NotComparedHook      = "hook"
	NotComparedGenerated = "generateName"
	NotComparedMasked    = "masked"
)

// NotCompared is an object of the manifest that has no live counterpart by design: a hook, or one with generateName. With a path it is
// one field of an object. It is not an error: the comparison is complete.
type NotCompared struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	// Name is the name, or the prefix of a generated name.
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
	// Reason is NotComparedHook, NotComparedGenerated or NotComparedMasked.
	Reason string `json:"reason"`
}

// Object is one object with a finding, an action other than none, a note or an error.
type Object struct {
	// ID is stable across reports: a hash of the key, the action, and whether the object is missing or being deleted.
	ID         string `json:"id,omitempty"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	// Name is empty if the API server generates it from GenerateName.
	Name         string `json:"name"`
	GenerateName string `json:"generateName,omitempty"`
	// Source is the template that the object comes from, if the manifest says so.
	Source string `json:"source,omitempty"`
	// OldFrom says what stands for old if no record has it. It is empty for a release.
	OldFrom OldFrom `json:"old,omitempty"`
	// Action is what Helm does with the object, and Reason says why; a failure always has a reason. BlockedBy lists the objects whose
	// failure makes Helm skip this one.
	Action    Action      `json:"action"`
	Reason    string      `json:"reason,omitempty"`
	BlockedBy []ObjectKey `json:"blockedBy,omitempty"`
	// Engine is empty if Helm does not patch the object, for example because it creates it.
	Engine Engine `json:"engine,omitempty"`
	// Missing is set for an object that old has but the cluster does not. Terminating is set if it is being deleted.
	Missing     bool `json:"missing"`
	Terminating bool `json:"terminating,omitempty"`
	// Drifted is set if the object is gone, or one of its findings counts as drift, and nothing silences that.
	Drifted bool  `json:"drifted"`
	Notes   Notes `json:"note,omitempty"`
	// Error is set if the object could not be compared. It is then neither clean nor missing.
	Error *ObjectError `json:"error,omitempty"`
	// IgnoredBy is the rule that silences the object as a whole.
	IgnoredBy *IgnoreRule `json:"ignoredBy,omitempty"`
	// Known is set by package accept: the earlier report already has everything that Helm writes to the object.
	Known bool `json:"known,omitempty"`
	// Controllers counts values that no manifest names and that only controllers wrote.
	Controllers int `json:"controllers,omitempty"`
	// Forgotten counts values that no manifest names and whose writers the API server has forgotten (ancient-changes, before-first-apply).
	Forgotten int     `json:"forgotten,omitempty"`
	DryRun    *DryRun `json:"dryRun,omitempty"`
	// Effect predicts what the write of the object means for pods and data. It is nil if it has no effect on them.
	Effect *Effect `json:"effect,omitempty"`
	// Fields are the findings, ordered by path.
	Fields []Finding `json:"fields"`
	// OnlyConflicts is set if conflicts are the only reason why the operation fails on the object.
	OnlyConflicts bool `json:"onlyConflicts,omitempty"`
}

// OldFrom says what stands for the deployed state of an object that no record of Helm has.
type OldFrom string

// These are the places: the annotation of kubectl apply, a rendering of the sources that were deployed last, and the fields that the
// deployer still owns. With the last, a field that somebody else owns counts as if the desired value had been deployed.
const (
	OldApplied  OldFrom = "applied"
	OldRendered OldFrom = "rendered"
	OldOwned    OldFrom = "owned"
)

// ObjectError is the reason why an object could not be compared.
type ObjectError struct {
	// Code is for programs, such as "forbidden"; pkg/live has most of them. Message is for people, and holds no masked value.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Subject is what could not be read: the object, or what is in its place.
	Subject *Subject `json:"subject,omitempty"`
}

// IgnoreRule names the rule, or the baseline, that silences a finding or an object as a whole.
type IgnoreRule struct {
	// Rule is the rule as its author named or wrote it, and Reason is the author's reason.
	Rule   string `json:"rule"`
	Reason string `json:"reason,omitempty"`
	// KnownSince is set by accept.Known: the rule is an earlier report, and this is its time.
	KnownSince *time.Time `json:"knownSince,omitempty"`
	// LeftOut is set if the rule is a flag that chooses from the findings, such as --only.
	LeftOut bool `json:"leftOut,omitempty"`
	// Origin is that of the RuleText. A file does not have it.
	Origin string `json:"-"`
}

// DryRun is the API server's own answer to the write, if it was asked.
type DryRun struct {
	// Result is DryRunAgrees, DryRunDisagrees, or DryRunRefused: the server, or this program, did not try the write. That proves
	// nothing.
	Result string `json:"result"`
	// Message says what differs, or why the server could not be asked.
	Message string `json:"message,omitempty"`
}

// These are the results of a dry run.
const (
	DryRunAgrees    = "agrees"
	DryRunDisagrees = "disagrees"
	DryRunRefused   = "refused"
)

// Finding is one field with a verdict. A side without the field is nil and has no key; if the finding is masked, no side has a value.
// Values are as in pkg/object: an integer is an int64, and a null is object.Null.
type Finding struct {
	// ID is stable across reports: a hash of the object's key, the path and the verdict.
	ID string `json:"id"`
	// Path is for people, and not to be parsed. Pointer is the place in live, and DesiredPointer the place in desired if live lacks the
	// field, both as JSON pointers (RFC 6901) for programs. At most one of the two is set.
	Path           string `json:"path"`
	Pointer        string `json:"pointer,omitempty"`
	DesiredPointer string `json:"desiredPointer,omitempty"`
	// Verdict is what Helm does with the field, and Cause says which side differs from old.
	Verdict Verdict `json:"verdict"`
	Cause   Cause   `json:"cause"`
	// Managed is set if the manifest of old or desired names the field.
	Managed bool `json:"managed"`
	// Certain is not set if the verdict could not be decided without a write; a note says why.
	Certain bool  `json:"certain"`
	Class   Class `json:"class,omitempty"`
	// Template is the file of the chart that generates a volatile value.
	Template string `json:"template,omitempty"`
	// Masked is set if the values are not shown because they are secret.
	Masked bool `json:"masked,omitempty"`
	// Old is the value of the revision that Helm starts from, Desired is what Helm would send, and Live is what the API server
	// returned. After is the value after the operation if it is not the desired one, such as the default of a removed field.
	Old     any `json:"old,omitempty"`
	Desired any `json:"desired,omitempty"`
	Live    any `json:"live,omitempty"`
	After   any `json:"after,omitempty"`
	// KnownLive is set by accept.Known: the earlier report has the finding with this live value, so it is not known.
	KnownLive any `json:"knownLive,omitempty"`
	// Nulls are the names of the sides that hold a null. MarshalJSON sets them from the sides that are object.Null.
	Nulls []string `json:"nulls,omitempty"`
	Notes Notes    `json:"note,omitempty"`
	// Equivalent is set if live means the same as old but is spelled differently.
	Equivalent bool `json:"equivalent,omitempty"`
	// Blocked is set if Helm fails on the object or skips it: nothing will change, and the verdict says what Helm would do otherwise.
	Blocked bool `json:"blocked,omitempty"`
	// IgnoredBy is the rule that silences the finding. It is nil for most. See Finding.Silenced.
	IgnoredBy *IgnoreRule `json:"ignoredBy,omitempty"`
	// Owners are the field managers that last wrote the live value, from metadata.managedFields.
	Owners []Owner `json:"owners,omitempty"`
	// Inside is set if the sides are documents, and says what differs inside them. A masked finding has none.
	Inside *Inside `json:"inside,omitempty"`
	// Unrecorded is set if the API server does not record who wrote the live value; a note says why.
	Unrecorded bool `json:"unrecorded,omitempty"`
	// OwnerOnly is set in a FixPlan if only the owner of the live value changes. It is not part of the contract.
	OwnerOnly bool `json:"-"`
	// Pattern is the path as an ignore rule names it. It is empty if no rule can name it.
	Pattern string `json:"pattern,omitempty"`
}

// MarshalJSON encodes the finding. It never encodes the value of a side as null; Nulls names the sides that hold one.
func (f Finding) MarshalJSON() ([]byte, error) {
	type plain Finding
	out := plain(f)
	out.Nulls = takeNulls((*Finding)(&out).sides())
	return json.Marshal(out)
}

// takeNulls sets the sides that hold a null to nil, and returns their names.
func takeNulls(sides iter.Seq2[string, *any]) []string {
	var nulls []string
	for name, side := range sides {
		if *side == (object.Null{}) {
			*side, nulls = nil, append(nulls, name)
		}
	}
	return nulls
}

// sides returns the values of the finding by their keys, in the order of a report.
func (f *Finding) sides() iter.Seq2[string, *any] {
	return func(yield func(string, *any) bool) {
		_ = yield("old", &f.Old) && yield("desired", &f.Desired) && yield("live", &f.Live) && yield("after", &f.After) &&
			yield("knownLive", &f.KnownLive)
	}
}

// Key returns the identity of the object, whatever its version.
func (o Object) Key() object.Key { return o.Ref().Key }

// Ref returns the identity of the object with its version.
func (o Object) Ref() object.Ref {
	ref := object.Ref{Key: object.Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, Version: o.APIVersion}
	if group, version, isGrouped := strings.Cut(o.APIVersion, "/"); isGrouped {
		ref.Group, ref.Version = group, version
	}
	return ref
}
