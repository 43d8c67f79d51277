package threeway

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// conflictPlace is one place on which an apply fails, with the server's words on each of the managers.
type conflictPlace struct {
	path Path
	note string
}

// conflictPlaces finds the places of the server's conflicts.
func conflictPlaces(n sides, s *shape, conflicts []conflict) []conflictPlace {
	if len(conflicts) == 0 {
		return nil
	}
	paths := map[string]Path{}
	name := func(path Path) { paths[path.serverText()] = path }
	eachPlace(n.desired.written, s, nil, name) // what the server would leave out can be in conflict too
	eachPlace(n.desired.value, s, nil, name)
	var out []conflictPlace
	for _, c := range conflicts {
		path, known := paths[c.field]
		if !known {
			path = unknownPlace(c.field)
		}
		i := slices.IndexFunc(out, func(p conflictPlace) bool { return samePath(p.path, path) })
		if i < 0 {
			i, out = len(out), append(out, conflictPlace{path: path})
		}
		if !strings.Contains(out[i].note, c.message) {
			out[i].note = joinNotes(out[i].note, c.message)
		}
	}
	return out
}

// unknownPlace is a path of the server's to what a normal form does not have, such as a status that a kind lets others write.
func unknownPlace(field string) Path {
	field = strings.TrimPrefix(field, ".")
	if strings.Contains(field, "[") {
		return Path{}.Field(field)
	}
	var path Path
	for name := range strings.SplitSeq(field, ".") {
		path = path.Field(name)
	}
	return path
}

// conflicting turns the findings at the places of conflicts into conflicts. A conflict on what is one value for the API server, an
// atomic map or struct, is one finding with all that stands in it, foreign keys included.
func (w *walker) conflicting(findings []Finding, n sides) []Finding {
	for _, place := range w.conflicts {
		findings = w.conflictAt(findings, n, place.path, place.note)
	}
	sortFindings(findings)
	return findings
}

// holdsConflict tells whether an apply fails on something below a path, so that what is there is not one finding.
func (w *walker) holdsConflict(path Path) bool {
	return slices.ContainsFunc(w.conflicts, func(place conflictPlace) bool {
		return len(path) < len(place.path) && samePath(path, place.path[:len(path)])
	})
}

// conflictAt makes one conflict of the findings at a path and below it. Where a side has no such place, the finding around it becomes one.
func (w *walker) conflictAt(findings []Finding, n sides, path Path, note string) []Finding {
	for i := range findings {
		if around := findings[i].Path; len(around) < len(path) && samePath(around, path[:len(around)]) {
			findings[i].Verdict, findings[i].Note = Conflict, joinNotes(findings[i].Note, note)
			return findings
		}
	}
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return len(f.Path) >= len(path) && samePath(f.Path[:len(path)], path) })
	here := w.settleNulls(path, n.down(path)).withoutNulls()
	e := w.verdict(path, here, true)
	if e.Path == nil {
		e.Finding = Finding{Path: path, Managed: true, Certain: true, Cause: causeOf(here.drifted(), here.changed()), Owners: w.owners.of(path)}
		e.Old, e.Desired, e.Live = w.valueOf(here.old), w.valueOf(here.desired), w.valueOf(here.live)
	}
	if w.isAllocated(path, here) {
		e.Cause = CauseChange // a controller filled it, as it should; it is Helm that minds
	}
	e.Verdict, e.Note, e.After = Conflict, "", nil
	if class := w.classOf(path, here); class != "" {
		w.giveClass(&e, class)
	}
	e.Note = joinNotes(e.Note, note)
	w.markLast(&e.Finding, here)
	if here.desired.present && here.desired.same(here.live) {
		e.Note = joinNotes(e.Note, "the values mean the same, but the API server compares them as they are written")
	}
	e.IgnoredBy = w.ignored.by(path, e.Owners, e.Managed)
	return append(findings, e.Finding)
}

func samePath(a, b Path) bool { return a.String() == b.String() }

// down gives the sides at a path.
func (n sides) down(path Path) sides {
	for _, step := range path {
		if step.Form == FieldStep {
			n = n.at(step.Name)
		} else {
			n = n.item(step)
		}
	}
	return n
}

// eachPlace visits every place of a value, named as the API names list items.
func eachPlace(v any, s *shape, path Path, visit func(Path)) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			visit(path.Field(name))
			eachPlace(below, s.field(name), path.Field(name), visit)
		}
	case []any:
		for i, item := range v {
			step, named := stepTo(item, s.merges())
			if !named {
				step = Step{Form: IndexStep, Index: i}
			}
			visit(path.with(step))
			eachPlace(item, s.item(), path.with(step), visit)
		}
	}
}

// serverText gives the path as the API server writes it (structured-merge-diff v6 fieldpath, PathElement.String).
func (p Path) serverText() string {
	var b strings.Builder
	for _, s := range p {
		switch s.Form {
		case FieldStep:
			b.WriteString("." + s.Name)
		case KeyStep:
			var keys []string
			for _, k := range s.Keys {
				keys = append(keys, k.Name+"="+value.ToString(value.NewValueInterface(k.Value)))
			}
			slices.Sort(keys)
			b.WriteString("[" + strings.Join(keys, ",") + "]")
		case SetStep:
			b.WriteString("[=" + value.ToString(value.NewValueInterface(s.Value)) + "]")
		case IndexStep:
			fmt.Fprintf(&b, "[%d]", s.Index)
		}
	}
	return b.String()
}
