package output

import (
	"github.com/helmdrift/helmdrift/pkg/report"
)

// edit is what becomes of a field that left old, and whether a manifest names the field.
type edit struct {
	verb    string
	managed bool
}

// The verbs for edits, as they are read at 3 a.m.: what is lost first.
const (
	overwrites = "overwrites"
	removes    = "removes"
	reAdds     = "re-adds"
	leaves     = "leaves"
)

// editOf says what becomes of a finding that drifted; false of one that did not, or does not count.
func editOf(f report.Finding) (edit, bool) {
	if f.Silenced() || f.Cause == report.CauseChange || f.Equivalent || f.Verdict == report.Conflict || f.Blocked {
		return edit{}, false
	}
	verb := overwrites
	switch {
	case f.Verdict == report.Remove:
		verb = removes
	case f.Verdict == report.Ignore:
		verb = leaves
	case f.Verdict == report.Add && !liveHas(f):
		verb = reAdds
	}
	return edit{verb, f.Managed}, true
}

// editsOf counts the edits among findings.
func editsOf(fields []report.Finding) map[edit]int {
	n := map[edit]int{}
	for _, f := range fields {
		if e, ok := editOf(f); ok {
			n[e]++
		}
	}
	return n
}

// editClauses say what becomes of edits: those of managed fields, which are drift, and the others.
func editClauses(n map[edit]int) clauses {
	var said clauses
	for _, managed := range []bool{true, false} {
		thing := "unmanaged field"
		if managed {
			thing = "drifted field"
		}
		for _, verb := range []string{overwrites, removes, reAdds, leaves} {
			said.add(verb, n[edit{verb, managed}], thing)
		}
	}
	return said
}

// preview counts what an operation will do, as its reader asks: what becomes of edits, and what else changes.
type preview struct {
	edits map[edit]int
	// changed are fields that nobody touched and the operation writes, changedObjects those that have one; unmade are changes
	// that it will not make.
	changed, changedObjects, unmade int
	// deletedEdits are the objects that are deleted with edits on them.
	deletedEdits int
	// volatile are the fields that are counted as ignored because each rendering makes them anew.
	volatile int
}

// add counts one object.
func (p *preview) add(o report.Object) {
	if o.IgnoredBy != nil {
		return
	}
	changed := 0
	for _, f := range o.Fields {
		e, isEdit := editOf(f)
		switch {
		case f.Silenced():
			p.volatile += one(f.Class == report.ClassVolatile && f.IgnoredBy == nil)
		case o.Action == report.ActionDelete || f.Blocked || f.Verdict == report.Conflict:
		case isEdit:
			p.edits[e]++
		case f.Verdict == report.Ignore:
			p.unmade++
		default:
			changed++
		}
	}
	p.changed += changed
	p.changedObjects += one(changed > 0)
	p.deletedEdits += one(o.Action == report.ActionDelete && o.Drifted)
}

// clauses say it, edits first.
func (p *preview) clauses() clauses {
	said := editClauses(p.edits)
	if p.changed > 0 {
		said = append(said, "changes "+plural(p.changed, "field")+" in "+plural(p.changedObjects, "object"))
	}
	said.add("does not make", p.unmade, "change")
	return said
}

// unmanaged counts the unmanaged fields among the edits.
func (p *preview) unmanaged() int {
	n := 0
	for e, count := range p.edits {
		if !e.managed {
			n += count
		}
	}
	return n
}
