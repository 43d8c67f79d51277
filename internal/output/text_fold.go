package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// From these numbers on, what is alike is said once. One object that cannot be built makes Helm skip all others, a new chart
// version writes one label to every object, a first installation creates forty: such walls would bury the lines that matter.
const (
	groupFrom    = 3  // objects with the same change
	refusedFrom  = 3  // objects about which the server could not be asked, for the same reason
	skippedFrom  = 4  // skipped objects with nothing else to say
	volatileFrom = 4  // fields of a release that each rendering makes anew
	createdFrom  = 13 // new objects with nothing else to say
)

const (
	// maxKinds is how many kinds stand beside a group; the rest is counted.
	maxKinds = 3
	// maxNames is how many names a folded line holds on a terminal.
	maxNames = 8
	// maxTemplates is how many templates are named.
	maxTemplates = 3
)

// folds are the objects of a release, with what is said once for several of them taken out. Nothing gets lost: what blocks
// do not tell is counted by the line of another part.
type folds struct {
	groups   []group
	volatile []member
	refused  []report.Object
	created  []report.Object
	skipped  []report.Object
	// alike counts the objects with no other findings than grouped and volatile ones.
	alike int
	// blocks are the objects that speak for themselves.
	blocks []report.Object
}

// member is a finding, the object that has it, and that object's place in the report.
type member struct {
	at     int
	object report.Object
	field  report.Finding
}

// place is where an object is told, if there are enough of its sort.
type place int

const (
	inBlock place = iota
	amongAlike
	amongSkipped
	amongCreated
)

// foldRelease decides what is folded. Findings are folded in previews only: drift is told object by object.
func foldRelease(rel report.Release) folds {
	var f folds
	left := slices.Clone(rel.Objects)
	if previews(rel.Operation) {
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

// placeOf looks at what is left of an object. Missing objects are never folded, they are what a reader looks for; nor are
// those that fail, that Helm adopts or that it deletes.
func placeOf(left report.Object, hadFields bool) place {
	if len(left.Fields) > 0 || left.Gone() || left.Error != nil || len(left.Notes) > 0 || left.Reason != "" || left.IgnoredBy != nil ||
		left.Controllers > 0 || left.Forgotten > 0 || left.DryRun != nil && left.DryRun.Result != dryRunAgrees {
		return inBlock
	}
	switch {
	case left.Action == report.ActionSkip:
		return amongSkipped
	case left.Action == report.ActionCreate:
		return amongCreated
	case hadFields && groupable(left.Action):
		return amongAlike
	}
	return inBlock
}

// takeFields takes the findings that match out of the objects. The lists are made anew, since the report is not ours.
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

// takeVolatile takes out what each rendering makes anew and nobody touched, if there is much of it. What fails keeps its own.
func takeVolatile(objects []report.Object) []member {
	isVolatile := func(i, j int) bool {
		f := objects[i].Fields[j]
		return objects[i].Action != report.ActionFail && f.Class == report.ClassVolatile && f.Cause == report.CauseChange && f.IgnoredBy == nil
	}
	n := 0
	for i, o := range objects {
		for j := range o.Fields {
			n += one(isVolatile(i, j))
		}
	}
	if n < volatileFrom {
		return nil
	}
	return takeFields(objects, isVolatile)
}

// takeRefused takes out the remark that the server could not be asked, where many objects share its reason.
func takeRefused(objects []report.Object) []report.Object {
	refused := func(o report.Object) bool { return o.DryRun != nil && o.DryRun.Result == dryRunRefused }
	n := map[string]int{}
	for _, o := range objects {
		if refused(o) {
			n[o.DryRun.Message]++
		}
	}
	var taken []report.Object
	for i, o := range objects {
		if refused(o) && n[o.DryRun.Message] >= refusedFrom {
			taken = append(taken, o)
			objects[i].DryRun = nil
		}
	}
	return taken
}

// created lists new objects by kind, in the order of the report.
func (t *text) created(objects []report.Object, rel report.Release) {
	if len(objects) == 0 {
		return
	}
	t.prose("", "", fmt.Sprintf("%s creates %s:", operation(rel.Operation), plural(len(objects), "object")))
	names := map[kind][]string{}
	for _, o := range objects {
		k := t.kindOf(o)
		names[k] = append(names[k], t.nameOf(o, rel.Namespace))
	}
	for _, k := range inOrder(objects, t.kindOf) {
		all := names[k]
		t.below("  ", k.count(len(all))+": "+strings.Join(t.some(all, maxNames), ", "))
	}
}

// folded writes what is said last: what is of no interest but must be counted.
func (t *text) folded(f folds, op string) {
	t.volatile(f.volatile, op)
	for _, message := range inOrder(f.refused, func(o report.Object) string { return o.DryRun.Message }) {
		n := 0
		for _, o := range f.refused {
			n += one(o.DryRun.Message == message)
		}
		t.prose("", "", join(": ", "the server could not be asked about "+plural(n, "object"), t.lines(message)))
	}
	if n := len(f.skipped); n > 0 {
		by := t.blockers(f.skipped[0].BlockedBy)
		for _, o := range f.skipped {
			if !slices.Equal(o.BlockedBy, f.skipped[0].BlockedBy) {
				by = ""
			}
		}
		t.prose("", "", fmt.Sprintf("%s more: %s does not reach them%s", plural(n, "object"), op, by))
	}
	if f.alike > 0 {
		t.prose("", "", fmt.Sprintf("%s more: nothing but the changes said above", plural(f.alike, "object")))
	}
}

// volatile says what each rendering makes anew. That the operation writes it all the same restarts pods, so it is said.
func (t *text) volatile(members []member, op string) {
	if len(members) == 0 {
		return
	}
	var objects []report.Object
	written := 0
	for i, m := range members {
		if i == 0 || members[i-1].at != m.at {
			objects = append(objects, m.object)
		}
		written += one(!m.field.Blocked && m.field.Verdict != report.Ignore)
	}
	said := fmt.Sprintf("each rendering makes %s in %s anew", plural(len(members), "field"), plural(len(objects), "object"))
	if written > 0 {
		said += fmt.Sprintf(", and %s writes them", op)
	}
	said += ": " + t.kinds(objects)
	templates := inOrder(members, func(m member) string { return t.text(m.field.Template) })
	templates = slices.DeleteFunc(templates, func(s string) bool { return s == "" })
	if len(templates) > 0 {
		said += " (" + strings.Join(t.some(templates, maxTemplates), ", ") + ")"
	}
	t.prose("", "volatile: ", said)
}

// some gives the first names; on a terminal the others are counted.
func (t *text) some(names []string, most int) []string {
	if t.width == 0 || len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
}

// inOrder gives the different names of all, in the order in which they first occur.
func inOrder[T any, K comparable](all []T, name func(T) K) []K {
	var names []K
	seen := map[K]bool{}
	for _, x := range all {
		if n := name(x); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}
