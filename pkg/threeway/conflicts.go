package threeway

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// conflicting turns the findings at the places of conflicts into conflicts. A conflict on what is one value for the API server, an
// atomic map or struct, is one finding with all that stands in it, foreign keys included.
func (w *walker) conflicting(findings []Finding, n sides, conflicts []conflict) []Finding {
	places := map[string]Path{}
	eachPlace(n.desired.value, w.shape, nil, func(path Path) { places[path.serverText()] = path })
	notes, paths := map[string]string{}, []Path{}
	for _, c := range conflicts {
		path, known := places[c.field]
		if !known {
			path = Path{}.Field(strings.TrimPrefix(c.field, "."))
		}
		text := path.String()
		if notes[text] == "" {
			paths = append(paths, path)
		}
		if !strings.Contains(notes[text], c.message) {
			notes[text] = joinNotes(notes[text], c.message)
		}
	}
	for _, path := range paths {
		findings = w.conflictAt(findings, n, path, notes[path.String()])
	}
	sortFindings(findings)
	return findings
}

// conflictAt makes one conflict of the findings at a path and below it. A finding that was folded around the path becomes one.
func (w *walker) conflictAt(findings []Finding, n sides, path Path, note string) []Finding {
	for i := range findings {
		if around := findings[i].Path; len(around) < len(path) && samePath(around, path[:len(around)]) {
			findings[i].Verdict, findings[i].Note = Conflict, joinNotes(findings[i].Note, note)
			return findings
		}
	}
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return len(f.Path) >= len(path) && samePath(f.Path[:len(path)], path) })
	here := n.down(path)
	e := w.verdict(path, here, true)
	if e.Path == nil {
		e.Finding = Finding{Path: path, Managed: true, Certain: true, Cause: causeOf(here.drifted(), here.changed()), Owners: w.owners.of(path)}
		e.Old, e.Desired, e.Live = here.old.orNil(), here.desired.orNil(), here.live.orNil()
	}
	if w.allocated.line(path) != nil {
		e.Cause = CauseChange // a controller filled it, as it should; it is Helm that minds
	}
	e.Verdict, e.Note, e.After = Conflict, "", nil
	if class := w.classOf(path, here); class != "" {
		w.giveClass(&e, class)
	}
	e.Note = joinNotes(e.Note, note)
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
