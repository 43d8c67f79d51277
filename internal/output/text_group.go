package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// group is one change that many objects share, such as the label of a new chart version.
type group struct {
	field   report.Finding
	objects []report.Object
}

// sameness is what findings of a group have in common: all that a reader is told of them.
type sameness struct {
	path, note, sides         string
	verdict                   report.Verdict
	managed, certain, blocked bool
}

// groupable tells whether the changes of such an object may be told with those of others. What fails, is adopted or goes
// is told in full.
func groupable(a report.Action) bool {
	switch a {
	case report.ActionNone, report.ActionUpdate, report.ActionReplace, report.ActionSkip:
		return true
	case report.ActionCreate, report.ActionDelete, report.ActionKeep, report.ActionAdopt, report.ActionFail:
	}
	return false
}

// samenessOf gives the key of a finding; false if it is told alone. A masked value is: nobody can tell whether it is the same
// as another. So is what drifted, and what a rule or a class says more about.
func samenessOf(f report.Finding) (sameness, bool) {
	if f.Cause != report.CauseChange || f.Masked || f.Class != "" || f.IgnoredBy != nil || f.Verdict == report.Conflict {
		return sameness{}, false
	}
	var given []any
	for _, side := range []any{f.Old, f.Desired, f.Live, f.After} {
		given = append(given, side != nil, side) // a side that holds a null is not one that lacks the field
	}
	sides, err := encodeJSON(given, "")
	return sameness{f.Path, f.Notes.String(), string(sides), f.Verdict, f.Managed, f.Certain, f.Blocked}, err == nil
}

// takeGroups takes the changes that several objects share out of them; what most objects share comes first.
func takeGroups(objects []report.Object) []group {
	type at struct{ object, field int }
	members := map[sameness][]at{}
	for i, o := range objects {
		for j, f := range o.Fields {
			key, ok := samenessOf(f)
			all := members[key]
			if again := len(all) > 0 && all[len(all)-1].object == i; ok && groupable(o.Action) && !again {
				members[key] = append(all, at{i, j})
			}
		}
	}
	var all []group
	taken := map[at]bool{}
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
	takeFields(objects, func(i, j int) bool { return taken[at{i, j}] })
	return all
}

// compareGroups is a total order: groups of one size and path differ in what samenessOf looks at.
func compareGroups(a, b group) int {
	keyA, _ := samenessOf(a.field)
	keyB, _ := samenessOf(b.field)
	return cmp.Or(cmp.Compare(len(b.objects), len(a.objects)), cmp.Compare(a.field.Path, b.field.Path),
		cmp.Compare(fmt.Sprint(keyA), fmt.Sprint(keyB)))
}

// groups writes a line for each group.
func (t *text) groups(groups []group) {
	if len(groups) == 0 {
		return
	}
	p := part{columns: []string{"old", "desired"}, lone: againstOld}
	for _, g := range groups {
		things := "object"
		if g.field.Blocked {
			things = "blocked object"
		}
		p.fields, p.asides = append(p.fields, g.field), append(p.asides, t.kinds(g.objects))
		p.leads = append(p.leads, "in "+plural(len(g.objects), things)+":")
	}
	for i := len(groups) - 1; i > 0; i-- {
		if p.leads[i] == p.leads[i-1] && p.asides[i] == p.asides[i-1] {
			p.asides[i] = "" // said one line above
		}
	}
	for _, p := range t.sayOnce("", p) {
		t.part(p)
	}
}

// kinds counts objects by kind: the most frequent by name, the others as one number.
func (t *text) kinds(objects []report.Object) string {
	n := map[kind]int{}
	for _, o := range objects {
		n[t.kindOf(o)]++
	}
	kinds := inOrder(objects, t.kindOf)
	slices.SortStableFunc(kinds, func(a, b kind) int { return cmp.Compare(n[b], n[a]) })
	var said []string
	others := 0
	for i, k := range kinds {
		if i >= maxKinds && len(kinds) > maxKinds+1 {
			others += n[k]
			continue
		}
		said = append(said, k.count(n[k]))
	}
	if others > 0 {
		said = append(said, fmt.Sprintf("%d others", others))
	}
	return strings.Join(said, ", ")
}

// count says how many there are as English does: "3 NetworkPolicies". Quoted kinds, and names that look like a plural
// (Endpoints), stay as they are.
func (k kind) count(n int) string {
	return fmt.Sprintf("%d %s%s", n, k.plural(n), k.version)
}

func (k kind) plural(n int) string {
	stem, y := strings.CutSuffix(k.name, "y")
	switch {
	case n == 1 || strings.HasSuffix(k.name, `"`) || strings.HasSuffix(k.name, "s") && !strings.HasSuffix(k.name, "ss"):
		return k.name
	case y && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case y:
		return k.name + "s"
	}
	for _, hissing := range []string{"ss", "x", "ch", "sh"} {
		if strings.HasSuffix(k.name, hissing) {
			return k.name + "es"
		}
	}
	return k.name + "s"
}
