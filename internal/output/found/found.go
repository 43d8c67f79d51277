// Package found counts what a comparison found in a release, and says it in a few words: "5 fields in 4 objects, 1 missing".
package found

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Counts counts what was found in releases. A finding counts once, in the first group that it belongs to.
type Counts struct {
	Missing, Terminating int // objects that are gone
	Objects, Fields      int // drifted fields of other objects, and how many objects have some
	Failing, Disputed    int // objects that the operation fails on, and that the server disagrees about
	Conflicts, Unmanaged int // fields
	Changes              int // objects and fields that Helm changes although they did not drift
	Ignored              int
}

// In counts what was found in releases.
func In(releases ...report.Release) Counts {
	var n Counts
	for _, rel := range releases {
		for _, o := range rel.Objects {
			n.object(o)
		}
	}
	return n
}

// object counts an object. The fields of an object that is gone do not count, because all of them are gone with it. If a rule silences the
// loss of the object, they count as in any other object, and as in [report.Release.HasDrifted].
func (n *Counts) object(o report.Object) {
	isWhole := o.Gone() || o.Action == report.ActionFail
	n.Ignored += layout.OneIf(isWhole && o.IgnoredBy != nil)
	n.Disputed += layout.OneIf(o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees)
	switch {
	case o.Missing && o.IgnoredBy == nil:
		n.Missing++
		return
	case o.Terminating && o.IgnoredBy == nil:
		n.Terminating++
		return
	case o.FoundWhole() && o.Action == report.ActionFail:
		n.Failing++
	case o.FoundWhole():
		n.Changes++
	}
	fields := n.Fields
	for _, f := range o.Fields {
		n.field(f)
	}
	n.Objects += layout.OneIf(n.Fields > fields)
}

// field counts a finding. A conflict that drifted counts as drift, because the failing object is counted too.
func (n *Counts) field(f report.Finding) {
	switch {
	case f.Silenced():
		n.Ignored += layout.OneIf(f.IgnoredBy != nil)
	case f.Drifted():
		n.Fields++
	case f.Verdict == report.Conflict:
		n.Conflicts++
	case !f.Managed:
		n.Unmanaged++
	default:
		n.Changes++
	}
}

// String returns what was found, drift first. What is ignored is said only if there is nothing else.
func (n Counts) String() string {
	var said layout.Clauses
	said.AddIf(n.Fields > 0, english.Count(n.Fields, "field")+" in "+english.Count(n.Objects, "object"))
	said.AddIf(n.Missing > 0, fmt.Sprintf("%d missing", n.Missing))
	said.AddIf(n.Terminating > 0, fmt.Sprintf("%d being deleted", n.Terminating))
	said.AddIf(n.Failing > 0, fmt.Sprintf("fails on %d", n.Failing))
	said.AddIf(n.Disputed > 0, fmt.Sprintf("server disagrees on %d", n.Disputed))
	said.AddIf(n.Unmanaged > 0, fmt.Sprintf("%d unmanaged", n.Unmanaged))
	said.Count(n.Conflicts, "conflict")
	said.Count(n.Changes, "change")
	if len(said) == 0 && n.Ignored > 0 {
		return fmt.Sprintf("%d ignored", n.Ignored)
	}
	return strings.Join(said, ", ")
}

// Drift says what drifted in one clause: "5 fields in 4 of 42 objects, 1 missing". It is empty if nothing did.
func (n Counts) Drift(compared int) string {
	of := " of " + english.Count(compared, "object")
	var said []string
	add := func(count int, format string, objects int) {
		if count > 0 {
			said = append(said, fmt.Sprintf(format, objects, of))
			of = ""
		}
	}
	add(n.Fields, english.Count(n.Fields, "field")+" in %d%s", n.Objects)
	add(n.Missing, "%d%s missing", n.Missing)
	add(n.Terminating, "%d%s being deleted", n.Terminating)
	return strings.Join(said, ", ")
}
