package verdict

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// conflictPlace is one place that makes an apply fail, with the server's message about each of the managers.
type conflictPlace struct {
	path  object.Path
	notes report.Notes
}

// conflictPlaces finds the places of the server's conflicts. For a Secret, the server names fields of stringData as the apply sends them,
// and the normal form has them in data.
func (o Object) conflictPlaces() []conflictPlace {
	if len(o.Conflicts) == 0 {
		return nil
	}
	paths := map[string]object.Path{}
	name := func(path object.Path) {
		last := path[len(path)-1]
		isNamed := func(c engine.Conflict) bool { return strings.HasSuffix(c.Field, last.Name) }
		if last.Form == object.FieldStep && !slices.ContainsFunc(o.Conflicts, isNamed) {
			return // to make the text of each path would take most of the time
		}
		if server := owners.FieldPath(path); len(server) == len(path) { // no manager owns an item that has only an index
			paths[server.String()] = path
		}
	}
	kinds.EachPlace(o.States.Desired.Written, o.Shape, nil, name) // what the server would leave out can be in conflict too
	kinds.EachPlace(o.States.Desired.Value, o.Shape, nil, name)
	var out []conflictPlace
	for _, c := range o.Conflicts {
		field := c.Field
		if sent, isText := strings.CutPrefix(field, ".stringData."); isText && o.Key.GroupKind().String() == "Secret" {
			field = ".data." + sent
		}
		path, known := paths[field]
		if !known {
			path = unknownPath(c.Field)
		}
		i := slices.IndexFunc(out, func(p conflictPlace) bool { return p.path.Equal(path) })
		if i < 0 {
			i, out = len(out), append(out, conflictPlace{path: path})
		}
		out[i].notes.Add(c.Message)
	}
	return out
}

// unknownPath parses the server's path to a field that no normal form has, such as a status that clients may write.
func unknownPath(field string) object.Path {
	field = strings.TrimPrefix(field, ".")
	if strings.Contains(field, "[") {
		return object.Path{}.Field(field)
	}
	var path object.Path
	for name := range strings.SplitSeq(field, ".") {
		path = path.Field(name)
	}
	return path
}

// withConflicts turns the findings at the places of conflicts into conflicts. The API server treats an atomic map or struct as one value,
// so a conflict on it is one finding with all keys, including those of other managers. The states of spelled keep their own spelling.
func (w *objectWalk) withConflicts(findings []Finding, n, spelled States) []Finding {
	for _, place := range w.conflicts {
		findings = w.withConflict(findings, n, spelled, place)
	}
	Sort(findings)
	return findings
}

// holdsConflict reports whether an apply fails on something below a path. The values there are then not one finding.
func (w *objectWalk) holdsConflict(path object.Path) bool {
	return slices.ContainsFunc(w.conflicts, func(place conflictPlace) bool {
		return len(path) < len(place.path) && place.path.HasPrefix(path)
	})
}

// withConflict replaces the findings at a path and below it by one conflict. If a finding covers a parent of the path, that finding
// becomes the conflict.
func (w *objectWalk) withConflict(findings []Finding, n, spelled States, place conflictPlace) []Finding {
	path := place.path
	for i := range findings {
		if around := findings[i].Path; len(around) < len(path) && path.HasPrefix(around) {
			findings[i].Verdict, findings[i].Notes = report.Conflict, append(slices.Clip(findings[i].Notes), place.notes...)
			return findings
		}
	}
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Path.HasPrefix(path) })
	here := w.resolveNulls(path, n.lookup(path)).withoutNulls()
	if here.Desired.IsUnstored() { // the conflict shows that the server holds a value, although it returns none
		here.Old, here.Desired = here.Old.Shown(), here.Desired.Shown()
	}
	allocated := w.isAllocated(path, here) || w.isOverridden(path, here)
	e := w.verdict(path, here, true)
	if e.Path == nil {
		e.Finding = w.equivalentConflict(path, here, spelled.lookup(path).withoutNulls())
	}
	if allocated {
		e.Cause, e.Class = report.CauseChange, report.ClassAllocated // a controller fills it in by design, and the chart sets it
	}
	e.Verdict, e.Notes, e.After = report.Conflict, nil, nil
	if class := w.classOf(path, here); class != "" {
		w.setClass(&e, class)
	}
	e.Notes = append(e.Notes, place.notes...)
	w.markLast(&e.Finding, here)
	if here.Desired.Present && here.Desired.Same(here.Live) {
		e.Notes.Add("the values mean the same, but the API server compares them as they are written")
	}
	e.IgnoredBy = w.Rules.Field(path, e.Owners, e.Managed)
	return append(findings, e.Finding)
}

// equivalentConflict returns the finding on a conflict between values that mean the same. The cause is the state that spells the value in
// another way, or, if the API server stores both in one spelling, the manager that took the field over.
func (w *objectWalk) equivalentConflict(path object.Path, here, spelled States) Finding {
	out := Finding{Path: path, Classification: report.Classification{Managed: true}, Certain: true, Owners: w.owners.OwnersOf(path)}
	switch {
	case here.hasDrifted() || here.hasChanged():
		out.Cause = causeOf(here.hasDrifted(), here.hasChanged())
	case spelled.hasChanged():
		out.Cause, out.Equivalent = causeOf(spelled.hasDrifted(), true), true
	default:
		out.Cause, out.Equivalent = report.CauseDrift, true
	}
	if object.EqualSets(spelled.Desired.Value, spelled.Live.Value) && !spelled.Desired.Same(spelled.Live) {
		out.Class = report.ClassOrder
	}
	out.Old, out.Desired = spelled.Old.WrittenOr(w.valueOf(spelled.Old)), spelled.Desired.WrittenOr(w.valueOf(spelled.Desired))
	out.Live = w.valueOf(spelled.Live)
	return out
}
