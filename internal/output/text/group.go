package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// groupFrom is the number of objects from which on a change that they share is written once.
const groupFrom = 3

// group is one change that several objects share, such as the label of a new chart version.
type group struct {
	field   report.Finding
	objects []report.Object
}

// groupKey is all that a reader is told of the findings of a group.
type groupKey struct {
	path, note, sides         string
	verdict                   report.Verdict
	managed, certain, blocked bool
}

// isGroupable reports whether the changes of such an object may be written with those of others. What fails, is adopted or is deleted is
// written in full.
func isGroupable(a report.Action) bool {
	switch a {
	case report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionSkip:
		return true
	case report.ActionCreate, report.ActionDelete, report.ActionKeep, report.ActionAdopt, report.ActionFail:
	}
	return false
}

// groupKeyOf returns the key of a finding, and false if the finding stands alone: what drifted, what a rule or a class says more about,
// and a masked value, because nobody can tell whether it is the same as another.
func groupKeyOf(f report.Finding) (groupKey, bool) {
	if f.Cause != report.CauseChange || f.Masked || f.Class != "" || f.IgnoredBy != nil || f.Verdict == report.Conflict {
		return groupKey{}, false
	}
	var values []any
	for _, side := range []any{f.Old, f.Desired, f.Live, f.After} {
		values = append(values, side != nil, side) // a side that holds null does not lack the field
	}
	sides, err := escape.Encode(values, "")
	return groupKey{f.Path, f.Notes.String(), string(sides), f.Verdict, f.Managed, f.Certain, f.Blocked}, err == nil
}

// takeGroups takes the changes that several objects share out of the objects. The largest group comes first.
func takeGroups(objects []report.Object) []group {
	type place struct{ object, field int }
	members := map[groupKey][]place{}
	for i, o := range objects {
		for j, f := range o.Fields {
			key, ok := groupKeyOf(f)
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
	slices.SortFunc(all, compareGroups)
	takeFields(objects, func(i, j int) bool { return taken[place{i, j}] })
	return all
}

// compareGroups is a total order, because groups of the same size and path differ in their keys.
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
func (t *text) groups(groups []group) {
	if len(groups) == 0 {
		return
	}
	s := section{columns: oldDesired}
	for i, g := range groups {
		thing := "object"
		if g.field.Blocked {
			thing = "blocked object"
		}
		lead, aside := "in "+english.Count(len(g.objects), thing)+":", t.kinds(g.objects)
		if i > 0 && lead == s.leads[i-1] && aside == t.kinds(groups[i-1].objects) {
			aside = "" // the line above says so
		}
		s.fields, s.leads, s.asides = append(s.fields, g.field), append(s.leads, lead), append(s.asides, aside)
	}
	t.sections("", s)
}
