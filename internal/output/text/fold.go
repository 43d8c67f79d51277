package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/sides"
	"github.com/helmdrift/helmdrift/internal/output/urgency"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// From these numbers on, similar things share a line. One object that cannot be built makes Helm skip all others, a new chart version
// changes one label of every object, and a first installation creates forty objects. Such lists would hide the lines that matter.
const (
	refusedFrom  = 3  // objects that the server could not be asked about, for the same reason
	skippedFrom  = 4  // skipped objects with nothing else to say
	volatileFrom = 4  // fields of a release that each rendering changes
	createdFrom  = 13 // new objects with nothing else to say
)

// maxTemplates is how many templates are named.
const maxTemplates = 3

// folds are the objects of a release, without what is written once for several of them. Nothing gets lost: whatever is not in blocks is
// listed or counted by another part.
type folds struct {
	groups   []group
	volatile []member
	refused  []report.Object
	created  []report.Object
	skipped  []report.Object
	// alike counts the objects that have only grouped and volatile findings.
	alike int
	// unasked counts the objects whose only remark is that the server could not be asked.
	unasked int
	// blocks are the objects that are written one by one.
	blocks []report.Object
}

// place is where an object is written, if there are enough of its sort.
type place int

const (
	inBlock place = iota
	amongAlike
	amongSkipped
	amongCreated
	amongRefused
)

// foldRelease decides what is folded. A preview folds the changes that objects share, and a report of drift folds the edits that they
// share.
func foldRelease(rel report.Release, listsEdits bool) folds {
	var f folds
	left := slices.Clone(rel.Objects)
	if counts.IsPreview(rel.Operation) {
		f.groups = takeGroups(left, report.CauseChange)
		f.volatile = takeVolatile(left)
	} else if !listsEdits {
		f.groups = takeGroups(left, report.CauseDrift)
	}
	f.refused = takeRefused(left)
	places, count := make([]place, len(left)), map[place]int{}
	for i, o := range left {
		places[i] = placeOf(o, rel.Objects[i])
		count[places[i]]++
	}
	for i, o := range left {
		switch p := places[i]; {
		case p == amongAlike:
			f.alike++
		case p == amongRefused:
			f.unasked++
		case p == amongSkipped && count[p] >= skippedFrom:
			f.skipped = append(f.skipped, o)
		case p == amongCreated && count[p] >= createdFrom:
			f.created = append(f.created, o)
		default:
			f.blocks = append(f.blocks, o)
		}
	}
	return f
}

// placeOf decides by what is left of an object. Whole is the object before anything was taken out. Missing objects are never folded,
// because readers look for them; nor are objects that fail, or that Helm adopts or deletes.
func placeOf(left, whole report.Object) place {
	if len(left.Fields) > 0 || left.Gone() || left.Error != nil || len(left.Notes) > 0 || left.Reason != "" || left.IgnoredBy != nil ||
		left.Effect != nil && left.Action != report.ActionCreate || left.Controllers > 0 || left.Forgotten > 0 ||
		left.DryRun != nil && left.DryRun.Result != report.DryRunAgrees {
		return inBlock
	}
	switch {
	case left.Action == report.ActionSkip:
		return amongSkipped
	case left.Action == report.ActionCreate:
		return amongCreated
	case len(whole.Fields) > 0 && isGroupable(left.Action):
		return amongAlike
	case left.Action == report.ActionNone && len(whole.Fields) == 0 && left.DryRun == nil && whole.DryRun != nil:
		return amongRefused
	}
	return inBlock
}

// takeVolatile takes out the fields that each rendering changes and nobody touched, if there are many. A failing object keeps its
// fields.
func takeVolatile(objects []report.Object) []member {
	isVolatile := func(i, j int) bool {
		f := objects[i].Fields[j]
		return objects[i].Action != report.ActionFail && f.Class == report.ClassVolatile && f.Cause == report.CauseChange && !counts.IsIgnored(f)
	}
	n := 0
	for i, o := range objects {
		for j := range o.Fields {
			n += layout.OneIf(isVolatile(i, j))
		}
	}
	if n < volatileFrom {
		return nil
	}
	return takeFields(objects, isVolatile)
}

// takeRefused takes out the remark that the server could not be asked, if many objects share its reason.
func takeRefused(objects []report.Object) []report.Object {
	isRefused := func(o report.Object) bool { return o.DryRun != nil && o.DryRun.Result == report.DryRunRefused }
	n := map[string]int{}
	for _, o := range objects {
		if isRefused(o) {
			n[o.DryRun.Message]++
		}
	}
	var taken []report.Object
	for i, o := range objects {
		if isRefused(o) && n[o.DryRun.Message] >= refusedFrom {
			taken = append(taken, o)
			objects[i].DryRun = nil
		}
	}
	return taken
}

// objects writes the objects of a release in the order of the report. What many of them share comes first, and what is only counted
// comes last. In a report of drift no blank line separates them.
func (t *text) objects(rel report.Release) {
	note := releaseNote(rel)
	rel.Objects = note.withoutIn(rel.Objects)
	rel.Objects = urgency.Objects(rel.Objects)
	f := foldRelease(rel, t.Verbose)
	from := t.Out.Len()
	first := func() {
		if len(note.notes) > 0 {
			t.Prose(t.Escape(note.String()))
		}
		columns := sides.OldLive
		if counts.IsPreview(rel.Operation) {
			columns = sides.OldDesired
		}
		t.groups(f.groups, columns)
	}
	created := func() { t.createdObjects(f.created, rel) }
	each := func() {
		for _, o := range f.blocks {
			t.object(o, rel)
		}
		t.cutBody(from)
	}
	last := func() { t.foldedObjects(f, rel) }
	if counts.IsPreview(rel.Operation) {
		t.Blocks(first, created, each, last)
		return
	}
	first()
	created()
	each()
	last()
}

// legend says what the columns of findings are. Sections with three columns have headings.
func (t *text) legend(columns ...string) {
	for _, l := range t.Wrapped("fields: "+strings.Join(columns, t.Dot), 0) {
		t.Line(t.Paint(l, color.Faint))
	}
}

// createdObjects lists new objects by kind, in the order of the report.
func (t *text) createdObjects(objects []report.Object, rel report.Release) {
	if len(objects) == 0 {
		return
	}
	t.Prose(counts.OperationName(rel.Operation) + " creates " + english.Count(len(objects), "object") + ":")
	names := map[layout.Kind][]string{}
	for _, o := range objects {
		k := t.KindOf(o)
		names[k] = append(names[k], t.NameOf(o, rel))
	}
	for _, k := range layout.Distinct(objects, t.KindOf) {
		t.Continuation("  ", k.Count(len(names[k]))+": "+strings.Join(t.FirstNames(names[k], layout.MaxNames), ", "))
	}
}

// foldedObjects writes the counts of the objects that are not interesting by themselves.
func (t *text) foldedObjects(f folds, rel report.Release) {
	op := counts.OperationName(rel.Operation)
	t.volatileFields(f.volatile, op)
	messageOf := func(o report.Object) string { return o.DryRun.Message }
	for _, message := range layout.Distinct(f.refused, messageOf) {
		n := 0
		for _, o := range f.refused {
			n += layout.OneIf(messageOf(o) == message)
		}
		t.Prose(layout.JoinNonEmpty(": ", "the server could not be asked about "+english.Count(n, "object"), t.Message(message)))
	}
	if f.unasked > 0 {
		t.Prose(english.Count(f.unasked, "more object") + ": nothing but that the server could not be asked")
	}
	if n := len(f.skipped); n > 0 {
		by := f.skipped[0].BlockedBy
		for _, o := range f.skipped {
			if !slices.Equal(o.BlockedBy, by) {
				by = nil
			}
		}
		t.Prose(fmt.Sprintf("%s: %s does not reach them%s", english.Count(n, "more object"), op, t.Blockers(by, rel)))
	}
	if f.alike > 0 {
		t.Prose(english.Count(f.alike, "more object") + ": nothing but what is listed above")
	}
}

// volatileFields writes which fields each rendering changes. It says whether the operation writes them, because that restarts pods.
func (t *text) volatileFields(members []member, op string) {
	if len(members) == 0 {
		return
	}
	var objects []report.Object
	written := 0
	for i, m := range members {
		if i == 0 || members[i-1].index != m.index {
			objects = append(objects, m.object)
		}
		written += layout.OneIf(!m.field.Blocked && m.field.Verdict != report.Ignore)
	}
	said := "volatile: each rendering changes " + english.Count(len(members), "field") + " in " + english.Count(len(objects), "object")
	if written > 0 {
		said += ", and " + op + " writes them"
	}
	said += ": " + t.Kinds(objects)
	templates := layout.Distinct(members, func(m member) string { return t.Escape(m.field.Template) })
	templates = slices.DeleteFunc(templates, func(s string) bool { return s == "" })
	if len(templates) > 0 {
		said += " (" + strings.Join(t.FirstNames(templates, maxTemplates), ", ") + ")"
	}
	t.Prose(said)
}

// groupFrom is the least number of objects that makes a shared change a group.
const groupFrom = 3

// group is one change that several objects share, such as the label of a new chart version.
type group struct {
	field   report.Finding
	objects []report.Object
}

// groupKey is everything that a reader learns about the findings of a group. The times of the edits may differ.
type groupKey struct {
	path, note, sides, owners string
	verdict                   report.Verdict
	managed, certain, blocked bool
}

// isGroupable reports whether changes of objects with this action may be grouped. Objects that fail, are adopted or are deleted are
// written in full.
func isGroupable(a report.Action) bool {
	switch a {
	case report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionSkip:
		return true
	case report.ActionCreate, report.ActionDelete, report.ActionKeep, report.ActionAdopt, report.ActionFail:
	}
	return false
}

// groupKeyOf returns the key of a finding, and false if the finding stands alone: if a rule or a class says more about it, if lines below
// it say what differs, or if it is masked, because then nobody can tell whether two values are equal.
func groupKeyOf(f report.Finding) (groupKey, bool) {
	if f.Inside != nil || f.Masked || f.Class != "" || f.IgnoredBy != nil || f.Verdict == report.Conflict {
		return groupKey{}, false
	}
	var values []any
	for _, side := range []any{f.Old, f.Desired, f.Live, f.After, f.KnownLive} {
		values = append(values, side != nil, side) // a side that holds null has the field
	}
	sides, err := escape.Encode(values, "")
	var owners []string
	for _, o := range f.Owners {
		if f.Cause != report.CauseChange { // otherwise nobody reads them
			owners = append(owners, o.Manager, o.Subresource)
		}
	}
	return groupKey{f.Path, f.Notes.String(), string(sides), fmt.Sprintf("%q", owners), f.Verdict, f.Managed, f.Certain, f.Blocked}, err == nil
}

// takeGroups takes the changes with a cause that several objects share out of the objects. The largest group comes first.
func takeGroups(objects []report.Object, cause report.Cause) []group {
	type place struct{ object, field int }
	members := map[groupKey][]place{}
	for i, o := range objects {
		for j, f := range o.Fields {
			key, ok := groupKeyOf(f)
			ok = ok && f.Cause == cause
			all := members[key]
			if again := len(all) > 0 && all[len(all)-1].object == i; ok && isGroupable(o.Action) && !again {
				members[key] = append(all, place{i, j})
			}
		}
	}
	var all []group
	taken := map[place]bool{}
	for _, places := range members {
		if len(places) < groupFrom {
			continue
		}
		g := group{field: objects[places[0].object].Fields[places[0].field]}
		for _, p := range places {
			taken[p] = true
			g.objects = append(g.objects, objects[p.object])
		}
		all = append(all, g)
	}
	order.Sort(all, compareGroups)
	takeFields(objects, func(i, j int) bool { return taken[place{i, j}] })
	return all
}

// compareGroups is a total order: groups of the same size and path differ in their keys.
func compareGroups(a, b group) int {
	keyA, _ := groupKeyOf(a.field)
	keyB, _ := groupKeyOf(b.field)
	return cmp.Or(cmp.Compare(len(b.objects), len(a.objects)), cmp.Compare(a.field.Path, b.field.Path),
		cmp.Compare(fmt.Sprint(keyA), fmt.Sprint(keyB)))
}

// member is a finding, the object that has it, and the index of that object in the report.
type member struct {
	index  int
	object report.Object
	field  report.Finding
}

// takeFields takes the findings that match out of the objects. It copies the lists, since other formats are written from the same report.
func takeFields(objects []report.Object, match func(object, field int) bool) []member {
	var taken []member
	for i, o := range objects {
		var kept []report.Finding
		for j, f := range o.Fields {
			if match(i, j) {
				taken = append(taken, member{i, o, f})
			} else {
				kept = append(kept, f)
			}
		}
		objects[i].Fields = kept
	}
	return taken
}

// groups writes a line for each group.
func (t *text) groups(groups []group, c sides.Columns) {
	if len(groups) == 0 {
		return
	}
	s := section{columns: c}
	for i, g := range groups {
		thing := "object"
		if g.field.Blocked {
			thing = "blocked object"
		}
		lead, aside := "in "+english.Count(len(g.objects), thing)+":", t.Kinds(g.objects)
		if i > 0 && lead == s.leads[i-1] && aside == t.Kinds(groups[i-1].objects) {
			aside = "" // the line above says so
		}
		s.fields, s.leads, s.asides = append(s.fields, g.field), append(s.leads, lead), append(s.asides, aside)
	}
	t.sections("", s)
}
