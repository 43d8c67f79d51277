// Package past is the contract of helmdrift history, beside the report of one comparison: what a series of reports says. It is pure data
// without secrets. internal/output/schema has its JSON Schema with that of all reports, and
// TestSchemaHasEveryField in internal/output compares the two.
package past

import (
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// History is the contract of helmdrift history: what a series of reports says about each finding over time.
type History struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Helmdrift  string `json:"helmdrift"`
	// From and Time are the times of the first and the last report, and Reports is the number of reports.
	From    time.Time `json:"from"`
	Time    time.Time `json:"time"`
	Reports int       `json:"reports"`
	// Previews counts the comparisons with a chart or another revision. They are left out, because they do not say what drifted.
	Previews int       `json:"previews,omitempty"`
	Points   []Point   `json:"points"`
	Releases []Release `json:"releases"`
}

// Point is how much drift there was at the time of a report: what the latest report on each release said by then.
type Point struct {
	Time     time.Time `json:"time"`
	Releases int       `json:"releases"`
	// Unknown counts the releases whose latest report has an error, and Drifted counts those that drifted.
	Unknown  int `json:"unknown,omitempty"`
	Drifted  int `json:"drifted"`
	Findings int `json:"findings"`
}

// Release is the history of one release.
type Release struct {
	Name string `json:"name"`
	// Namespace is the namespace of the records, as for -n.
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Deployer is what deploys the release, such as Flux, if the reports say it. A release that two of them name has two histories.
	Deployer string `json:"deployer,omitempty"`
	// FirstSeen and LastSeen are the times of the first and the last report on the release. Reports is the number of these reports, and
	// Unknown is how many have an error: what they do not list may be there.
	FirstSeen time.Time `json:"firstSeen"`
	LastSeen  time.Time `json:"lastSeen"`
	Reports   int       `json:"reports"`
	Unknown   int       `json:"unknown,omitempty"`
	Findings  []Finding `json:"findings"`
	// Versions come from the latest report, for people who read the history.
	Versions report.CustomVersions `json:"-"`
}

// Finding is the history of one field that differed, or of an object that was missing or being deleted.
type Finding struct {
	// ID is the id of the finding in the latest report that has it. It changes with the verdict.
	ID     string           `json:"id"`
	Object report.ObjectKey `json:"object"`
	// Path is empty for an object as a whole. Absence then says whether it was missing or terminating.
	Path    string  `json:"path,omitempty"`
	Absence Absence `json:"absence,omitempty"`
	// Drifted reports whether the finding counts as drift. Otherwise no manifest names the field.
	Drifted bool  `json:"drifted"`
	Masked  bool  `json:"masked,omitempty"`
	State   State `json:"state"`
	// FirstSeen and LastSeen are the times of the first and the last report that has the finding. Ended is the time of the first report
	// after LastSeen that no longer has it, or silences it. It is nil while the finding is there.
	FirstSeen time.Time  `json:"firstSeen"`
	LastSeen  time.Time  `json:"lastSeen"`
	Ended     *time.Time `json:"ended,omitempty"`
	// Seconds is how long it was there, over all periods: from the first report that has it to the first that no longer has it.
	Seconds int64 `json:"seconds"`
	// Periods is how often it came, and Changes is how often its live value changed while it was there.
	Periods int `json:"periods"`
	Changes int `json:"changes,omitempty"`
	// Flapping is set if it came back, or its live value changed more than once.
	Flapping bool `json:"flapping,omitempty"`
	// Managers are the field managers that owned the live value, in the order of their appearance. If there are several,
	// they overwrite each other.
	Managers []string `json:"managers,omitempty"`
	// Steps are the latest times when it came, changed or ended, in order.
	Steps []Step `json:"steps"`
}

// Absence says how a whole object is gone.
type Absence string

// These are the absences.
const (
	AbsenceMissing     Absence = "missing"
	AbsenceTerminating Absence = "terminating"
)

// State is the state of a finding in the latest report that says anything about it.
type State string

// These are the states of a finding.
const (
	// There means that the finding is there and counts.
	There State = "there"
	// Gone means that the release was compared without an error, and the finding was not there.
	Gone State = "gone"
	// Ignored means that a rule, a baseline or a class silences it.
	Ignored State = "ignored"
)

// Step is a change of a finding.
type Step struct {
	Time  time.Time `json:"time"`
	State State     `json:"state"`
	// Live is the live value. It is absent if it is masked or large, or if live lacks the field.
	Live     any      `json:"live,omitempty"`
	Managers []string `json:"managers,omitempty"`
	// Revision is the revision that was deployed.
	Revision int `json:"revision,omitempty"`
}
