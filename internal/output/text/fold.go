package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// From these numbers on, what is alike is written once. One object that cannot be built makes Helm skip all others, a new chart version
// changes one label of every object, and a first installation creates forty objects: such lists would hide the lines that matter.
const (
	refusedFrom  = 3  // objects about which the server could not be asked, for the same reason
	skippedFrom  = 4  // skipped objects with nothing else to say
	volatileFrom = 4  // fields of a release that each rendering changes
	createdFrom  = 13 // new objects with nothing else to say
)

// maxTemplates is how many templates are named.
const maxTemplates = 3

// folds are the objects of a release, without what is written once for several of them. Nothing gets lost: what is not in blocks is in the
// line of another part, or counted by it.
type folds struct {
	groups   []group
	volatile []member
	refused  []report.Object
	created  []report.Object
	skipped  []report.Object
	// alike counts the objects that have only grouped and volatile findings.
	alike int
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
)

// foldRelease decides what is folded. Findings are folded in previews only; drift is written object by object.
func foldRelease(rel report.Release) folds {
	var f folds
	left := slices.Clone(rel.Objects)
	if isPreview(rel.Operation) {
		f.groups = takeGroups(left)
		f.volatile = takeVolatile(left)
	}
	f.refused = takeRefused(left)
	places, count := make([]place, len(left)), map[place]int{}
	for i, o := range left {
		places[i] = placeOf(o, len(rel.Objects[i].Fields) > 0)
		count[places[i]]++
	}
	for i, o := range left {
		switch p := places[i]; {
		case p == amongAlike:
			f.alike++
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

// placeOf looks at what is left of an object. Missing objects are never folded, because readers look for them; nor are objects that fail,
// or that Helm adopts or deletes.
func placeOf(left report.Object, hadFields bool) place {
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
	case hadFields && isGroupable(left.Action):
		return amongAlike
	}
	return inBlock
}

// takeVolatile takes out the fields that each rendering changes and nobody touched, if there are many. A failing object keeps its own.
func takeVolatile(objects []report.Object) []member {
	isVolatile := func(i, j int) bool {
		f := objects[i].Fields[j]
		return objects[i].Action != report.ActionFail && f.Class == report.ClassVolatile && f.Cause == report.CauseChange && !isIgnored(f)
	}
	n := 0
	for i, o := range objects {
		for j := range o.Fields {
			n += oneIf(isVolatile(i, j))
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

// objects writes the objects of a release in the order of the report: first what is the same for many of them, and last what is only
// counted. In a report of drift no blank line separates them.
func (t *text) objects(rel report.Release) {
	note := releaseNote(rel)
	rel.Objects = note.withoutIn(rel.Objects)
	f := foldRelease(rel)
	first := func() {
		if len(note.notes) > 0 {
			t.prose(t.escape(note.String()))
		}
		t.groups(f.groups)
	}
	created := func() { t.createdObjects(f.created, rel) }
	each := func() {
		for _, o := range f.blocks {
			t.object(o, rel)
		}
	}
	last := func() { t.foldedObjects(f, rel) }
	if isPreview(rel.Operation) {
		t.blocks(first, created, each, last)
		return
	}
	first()
	created()
	each()
	last()
}

// createdObjects lists new objects by kind, in the order of the report.
func (t *text) createdObjects(objects []report.Object, rel report.Release) {
	if len(objects) == 0 {
		return
	}
	t.prose(operationName(rel.Operation) + " creates " + english.Count(len(objects), "object") + ":")
	names := map[kind][]string{}
	for _, o := range objects {
		k := t.kindOf(o)
		names[k] = append(names[k], t.nameOf(o, rel))
	}
	for _, k := range distinct(objects, t.kindOf) {
		t.continuation("  ", k.count(len(names[k]))+": "+strings.Join(t.firstNames(names[k], maxNames), ", "))
	}
}

// foldedObjects writes what is of no interest but must be counted.
func (t *text) foldedObjects(f folds, rel report.Release) {
	op := operationName(rel.Operation)
	t.volatileFields(f.volatile, op)
	messageOf := func(o report.Object) string { return o.DryRun.Message }
	for _, message := range distinct(f.refused, messageOf) {
		n := 0
		for _, o := range f.refused {
			n += oneIf(messageOf(o) == message)
		}
		t.prose(english.JoinNonEmpty(": ", "the server could not be asked about "+english.Count(n, "object"), t.message(message)))
	}
	if n := len(f.skipped); n > 0 {
		by := f.skipped[0].BlockedBy
		for _, o := range f.skipped {
			if !slices.Equal(o.BlockedBy, by) {
				by = nil
			}
		}
		t.prose(fmt.Sprintf("%s: %s does not reach them%s", english.Count(n, "more object"), op, t.blockers(by, rel)))
	}
	if f.alike > 0 {
		t.prose(english.Count(f.alike, "more object") + ": nothing but the changes above")
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
		written += oneIf(!m.field.Blocked && m.field.Verdict != report.Ignore)
	}
	said := "volatile: each rendering changes " + english.Count(len(members), "field") + " in " + english.Count(len(objects), "object")
	if written > 0 {
		said += ", and " + op + " writes them"
	}
	said += ": " + t.kinds(objects)
	templates := distinct(members, func(m member) string { return t.escape(m.field.Template) })
	templates = slices.DeleteFunc(templates, func(s string) bool { return s == "" })
	if len(templates) > 0 {
		said += " (" + strings.Join(t.firstNames(templates, maxTemplates), ", ") + ")"
	}
	t.prose(said)
}
