// Package edits says what an operation does to what people have edited: to fields that drifted, and to fields that no manifest names.
// Its cases are the golden files of internal/output and the tests of package text.
package edits

import (
	"fmt"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/sides"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Edit is what an operation does to a field that drifted, and whether a manifest names the field.
type Edit struct {
	Verb    string
	Managed bool
}

// These are the verbs for edits, in the order of their clauses. They are the words that stand beside the sign of a finding, too.
const (
	PutsBack   = "puts back"
	Overwrites = "overwrites" // with another value than the deployed one
	Removes    = "removes"
	AddsBack   = "adds back"
	Leaves     = "leaves"
)

// OfFinding returns what becomes of a finding that drifted. It returns false for a finding that did not drift or does not count.
func OfFinding(f report.Finding) (Edit, bool) {
	if f.Silenced() || f.Cause == report.CauseChange || f.Equivalent || f.Verdict == report.Conflict || f.Blocked {
		return Edit{}, false
	}
	verb := PutsBack
	switch {
	case f.Verdict == report.Overwrite && f.Cause == report.CauseBoth:
		verb = Overwrites
	case f.Verdict == report.Remove:
		verb = Removes
	case f.Verdict == report.Ignore:
		verb = Leaves
	case f.Verdict == report.Add && !sides.LiveHas(f):
		verb = AddsBack
	}
	return Edit{verb, f.Managed}, true
}

// Counts counts the edits among findings.
type Counts map[Edit]int

// Of counts the edits among findings that nobody silenced.
func Of(fields []report.Finding) Counts {
	n := Counts{}
	for _, f := range fields {
		if e, ok := OfFinding(f); ok {
			n[e]++
		}
	}
	return n
}

// Divided says what becomes of edits: which stay, and which are lost. Edits of managed fields, which are drift, come first.
func (n Counts) Divided() (stay, lost layout.Clauses) {
	drifted, unmanaged := n[Edit{Leaves, true}], n[Edit{Leaves, false}]
	if drifted > 0 && unmanaged > 0 {
		stay = append(stay, fmt.Sprintf("%s %d drifted and %s", Leaves, drifted, english.Count(unmanaged, "unmanaged field")))
	} else {
		stay.Add(Leaves, drifted, "drifted field")
		stay.Add(Leaves, unmanaged, "unmanaged field")
	}
	for _, managed := range []bool{true, false} {
		thing := "unmanaged field"
		if managed {
			thing = "drifted field"
		}
		var verbs []layout.Verb
		for _, verb := range []string{PutsBack, Overwrites, Removes, AddsBack} {
			verbs = append(verbs, layout.Verb{Name: verb, N: n[Edit{verb, managed}]})
		}
		lost.AddVerbs(thing, verbs...)
	}
	return stay, lost
}

// Unmanaged counts the edits of unmanaged fields.
func (n Counts) Unmanaged() int {
	sum := 0
	for e, count := range n {
		sum += count * layout.OneIf(!e.Managed)
	}
	return sum
}

// Verb returns what is about to happen to the live value of a finding that drifted, in the words of the sentences that count such findings:
// the next upgrade, or a fix, puts it back, adds it back, removes or leaves it.
func Verb(f report.Finding) string {
	switch {
	case f.OwnerOnly:
		return "keeps"
	case f.Verdict == report.Conflict:
		return "conflicts"
	case f.Blocked:
		return "blocked"
	case f.Verdict == report.Ignore:
		return Leaves
	case f.Verdict == report.Remove:
		return Removes
	case f.Verdict == report.Add:
		return AddsBack
	case f.Cause == report.CauseBoth:
		return Overwrites
	}
	return PutsBack
}
