package report

import "time"

// KindHistory is the kind of what helmdrift history reports.
const KindHistory = "History"

// History is the contract of helmdrift history: what a series of reports says of each finding over time.
type History struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Helmdrift  string `json:"helmdrift"`
	// From and Time are the times of the first and the last report, and Reports is the number of all.
	From    time.Time `json:"from"`
	Time    time.Time `json:"time"`
	Reports int       `json:"reports"`
	// Previews counts comparisons with a chart or another revision, which are left out: they do not say what drifted.
	Previews int              `json:"previews,omitempty"`
	Points   []HistoryPoint   `json:"points"`
	Releases []ReleaseHistory `json:"releases"`
}

// HistoryPoint is how much drift there was at the time of a report: what the latest report on each release said by then.
type HistoryPoint struct {
	Time     time.Time `json:"time"`
	Releases int       `json:"releases"`
	// Unknown counts the releases of which the latest report has an error, and Drifted those that drifted.
	Unknown  int `json:"unknown,omitempty"`
	Drifted  int `json:"drifted"`
	Findings int `json:"findings"`
}

// ReleaseHistory is the history of one release.
type ReleaseHistory struct {
	Name string `json:"name"`
	// Namespace is that of the records, as for -n.
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// FirstSeen and LastSeen are the times of the first and the last report on the release. Reports is the number of all, and Unknown the
	// number of those with an error: what they do not list may be there.
	FirstSeen time.Time        `json:"firstSeen"`
	LastSeen  time.Time        `json:"lastSeen"`
	Reports   int              `json:"reports"`
	Unknown   int              `json:"unknown,omitempty"`
	Findings  []FindingHistory `json:"findings"`
	// Versions are those of the latest report, for people who read the history.
	Versions CustomVersions `json:"-"`
}

// FindingHistory is the history of one field that differed, or of an object that was missing or being deleted.
type FindingHistory struct {
	// ID is the id of the finding in the latest report that has it. It changes with the verdict.
	ID     string    `json:"id"`
	Object ObjectKey `json:"object"`
	// Path is empty for an object as a whole, and Absence says then whether it was missing or terminating.
	Path    string  `json:"path,omitempty"`
	Absence Absence `json:"absence,omitempty"`
	// Drifted reports whether the finding counts as drift; others are on fields that no manifest names.
	Drifted bool         `json:"drifted"`
	Masked  bool         `json:"masked,omitempty"`
	State   FindingState `json:"state"`
	// FirstSeen and LastSeen are the times of the first and the last report that has the finding. Ended is the time of the first report
	// after that which has it no longer, or silences it; nil while it is there.
	FirstSeen time.Time  `json:"firstSeen"`
	LastSeen  time.Time  `json:"lastSeen"`
	Ended     *time.Time `json:"ended,omitempty"`
	// Seconds is how long it was there: from the first report that has it to the first that has it no longer, over all periods.
	Seconds int64 `json:"seconds"`
	// Periods is how often it came, and Changes how often its live value changed while it was there.
	Periods int `json:"periods"`
	Changes int `json:"changes,omitempty"`
	// Flapping is set if it came back, or its live value changed more than once.
	Flapping bool `json:"flapping,omitempty"`
	// Managers are the field managers that owned the live value, in the order of their appearance. Several of them fight.
	Managers []string `json:"managers,omitempty"`
	// Steps are the latest times at which it came, changed or ended, the first of them first.
	Steps []HistoryStep `json:"steps"`
}

// Absence says how a whole object is gone.
type Absence string

// The absences.
const (
	AbsenceMissing     Absence = "missing"
	AbsenceTerminating Absence = "terminating"
)

// FindingState says what the latest report that says anything of a finding says.
type FindingState string

// The states of a finding.
const (
	// FindingThere means that the finding is there and counts.
	FindingThere FindingState = "there"
	// FindingGone means that the release was compared without an error, and the finding was not there.
	FindingGone FindingState = "gone"
	// FindingIgnored means that a rule, a baseline or a class silences it.
	FindingIgnored FindingState = "ignored"
)

// HistoryStep is a change of a finding.
type HistoryStep struct {
	Time  time.Time    `json:"time"`
	State FindingState `json:"state"`
	// Live is the live value. It is absent if it is masked, large or not there.
	Live     any      `json:"live,omitempty"`
	Managers []string `json:"managers,omitempty"`
	// Revision is the revision that was deployed.
	Revision int `json:"revision,omitempty"`
}
