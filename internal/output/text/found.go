package text

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// found counts what was found in a release. A finding counts once, in the first group that it belongs to.
type found struct {
	missing, terminating int // objects that are gone
	objects, fields      int // drifted fields of other objects, and how many objects have some
	failing, disputed    int // objects on which the operation fails, and on which the server disagrees
	conflicts, unmanaged int // fields
	changes              int // objects and fields that Helm changes although they did not drift
	ignored              int
}

// foundIn counts what was found in a release.
func foundIn(rel report.Release) found {
	var n found
	for _, o := range rel.Objects {
		n.object(o)
	}
	return n
}

// object counts an object. The fields of an object that is gone do not count, because all of them are gone with it. If a rule silences that
// it is gone, they count as those of any other object, as they do in [report.Release.HasDrifted].
func (n *found) object(o report.Object) {
	isWhole := o.Gone() || o.Action == report.ActionFail
	n.ignored += oneIf(isWhole && o.IgnoredBy != nil)
	n.disputed += oneIf(o.DryRun != nil && o.DryRun.Result == report.DryRunDisagrees)
	switch {
	case o.Missing && o.IgnoredBy == nil:
		n.missing++
		return
	case o.Terminating && o.IgnoredBy == nil:
		n.terminating++
		return
	case o.FoundWhole() && o.Action == report.ActionFail:
		n.failing++
	case o.FoundWhole():
		n.changes++
	}
	fields := n.fields
	for _, f := range o.Fields {
		n.field(f)
	}
	n.objects += oneIf(n.fields > fields)
}

// field counts a finding. A conflict that drifted counts as drift, since the object on which the operation fails is counted too.
func (n *found) field(f report.Finding) {
	switch {
	case f.Silenced():
		n.ignored += oneIf(isIgnored(f))
	case f.Drifted():
		n.fields++
	case f.Verdict == report.Conflict:
		n.conflicts++
	case !f.Managed:
		n.unmanaged++
	default:
		n.changes++
	}
}

// String returns what was found, drift first. What is ignored is said only if there is nothing else.
func (n found) String() string {
	var said clauses
	if n.fields > 0 {
		said = append(said, english.Count(n.fields, "field")+" in "+english.Count(n.objects, "object"))
	}
	for _, group := range []struct {
		format string
		count  int
	}{
		{"%d missing", n.missing}, {"%d being deleted", n.terminating}, {"fails on %d", n.failing}, {"server disagrees on %d", n.disputed},
		{"%d unmanaged", n.unmanaged},
	} {
		if group.count > 0 {
			said = append(said, fmt.Sprintf(group.format, group.count))
		}
	}
	said.count(n.conflicts, "conflict")
	said.count(n.changes, "change")
	if len(said) == 0 && n.ignored > 0 {
		return fmt.Sprintf("%d ignored", n.ignored)
	}
	return strings.Join(said, ", ")
}

// foundCell returns what was found in a release, after what could not be seen. A release that could not be read must not look like one in
// which nothing was found.
func foundCell(e entry) string {
	var unseen clauses
	switch objects := countsOf([]report.Release{e.Release}).objectErrors; {
	case len(e.Errors) > 0 && e.Compared == 0:
		unseen = append(unseen, "could not be compared")
	case objects > 0:
		unseen = append(unseen, fmt.Sprintf("%d of %d not compared", objects, e.Compared))
	case len(e.Errors) > 0:
		unseen = append(unseen, "incomplete")
	}
	if e.Terminating {
		unseen = append(unseen, "namespace being deleted")
	}
	return english.JoinNonEmpty(", ", append(unseen, foundIn(e.Release).String())...)
}

// namespaceOf returns the namespace of a release. If its record cannot be read, only the namespace of the record is known.
func namespaceOf(rel report.Release) string { return cmp.Or(rel.Namespace, rel.StorageNamespace) }

// recordCell returns the namespace of the record, if the release has another.
func (t *text) recordCell(e entry) string {
	if e.StorageNamespace == "" || e.StorageNamespace == namespaceOf(e.Release) {
		return ""
	}
	return t.label(e.StorageNamespace)
}

// revisionCell returns the number of the revision with which the objects were compared.
func revisionCell(e entry) string {
	if e.Old == nil {
		return ""
	}
	return fmt.Sprint(e.Old.Revision)
}

// oldestCell returns the age of the oldest edit: "3 d".
func (t *text) oldestCell(e entry) string {
	at, known := e.OldestEdit()
	if !known {
		return ""
	}
	return span(t.now.Sub(at))
}

// editorsCell names one field manager and counts the others: "kubectl-edit, +2".
func (t *text) editorsCell(e entry) string {
	names := e.Editors()
	if len(names) == 0 {
		return ""
	}
	cell := t.word(names[0])
	if others := len(names) - 1; others > 0 {
		cell += fmt.Sprintf(", +%d", others)
	}
	return cell
}
