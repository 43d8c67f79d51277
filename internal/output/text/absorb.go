package text

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxOthers is how many other candidates of a field are shown.
const maxOthers = 3

// Absorb returns what was absorbed and what is left, field by field, and the patch of the values file.
func Absorb(r *report.AbsorbResult, opts Options) []byte {
	t := newText(opts, r.Time)
	absorbed, left := r.Counts()
	t.head(report.Release{Name: r.Name, Namespace: r.Namespace, Desired: &report.Desired{Chart: r.Chart}}, absorbAnswer(absorbed, left))
	var last report.ObjectKey
	for _, f := range r.Fields {
		if f.Object != last {
			t.line("")
			t.line(t.heading(t.keyName(f.Object, scope{r.Namespace, r.Versions})))
		}
		last = f.Object
		t.absorbedField(f, scope{r.Namespace, r.Versions})
	}
	if len(r.SideEffects) > 0 {
		t.line("")
		t.prose("together, the changes also move:")
		t.sideEffects("  ", r.SideEffects, scope{r.Namespace, r.Versions})
	}
	if r.Patch != "" {
		t.line("")
		for _, line := range strings.Split(strings.TrimSuffix(r.Patch, "\n"), "\n") {
			t.line(t.patchLine(line))
		}
	}
	t.line("")
	for _, m := range append(r.Warnings, r.Errors...) {
		t.prose("warning: " + t.message(m.Message))
	}
	t.prose(t.absorbSummary(r, absorbed, left))
	if said := patchSummary(r, left); said != "" {
		t.prose(said)
	}
	return t.out.Bytes()
}

// patchSummary says how many of the fields that are left have a patch; nothing if none has.
func patchSummary(r *report.AbsorbResult, left int) string {
	patched := 0
	for _, f := range r.Fields {
		if f.IsLeft() && f.Patched {
			patched++
		}
	}
	switch {
	case patched == 0:
		return ""
	case patched < left:
		return fmt.Sprintf("a post-renderer can keep %d of the %s that are left: -o kustomize prints proved patches",
			patched, english.Count(left, "field"))
	case left == 1:
		return "a post-renderer can keep what is left: -o kustomize prints a proved patch"
	}
	return fmt.Sprintf("a post-renderer can keep all %d fields that are left: -o kustomize prints proved patches", left)
}

// patchLine returns a line of a patch. GitHub's runner removes the blanks before a line, so the sign of an equal line does not protect from
// "::".
func (t *text) patchLine(line string) string {
	if content := strings.TrimLeft(line, " \t"); strings.HasPrefix(content, "::") {
		return t.escape(line[:len(line)-len(content)]) + `\x3a` + t.escape(content[1:])
	}
	return t.escape(line)
}

// absorbAnswer returns the result in one clause.
func absorbAnswer(absorbed, left int) string {
	if absorbed+left == 0 {
		return "nothing to absorb"
	}
	return fmt.Sprintf("%d of %s absorbed", absorbed, english.Count(absorbed+left, "field"))
}

// absorbedField writes one field: its sides, the changes of values, and what they move.
func (t *text) absorbedField(f report.AbsorbField, in scope) {
	t.line("  ", t.absorbSign(f), " ", t.absorbedSides(f))
	for _, e := range f.Edits {
		t.line("      ", t.valueEdit(e))
	}
	if f.Status == report.AbsorbAbsorbed && len(f.Edits) == 0 {
		t.line("      the changes above do it too")
	}
	t.sideEffects("      ", f.SideEffects, in)
	if f.IsLeft() {
		t.line("      left: ", t.leftBecause(f, in))
	}
	for i, c := range f.Others {
		if i == maxOthers {
			t.line("      ", fmt.Sprintf("and %d more", len(f.Others)-i))
			break
		}
		var edits []string
		for _, e := range c.Edits {
			edits = append(edits, t.valueEdit(e))
		}
		t.line("      or: ", strings.Join(edits, ", "))
		t.sideEffects("        ", c.SideEffects, in)
	}
}

func (t *text) absorbSign(f report.AbsorbField) string {
	if f.IsLeft() {
		return t.either("✗", "x")
	}
	return t.either("✓", "v")
}

// absorbedSides returns the field with its value in desired and in live.
func (t *text) absorbedSides(f report.AbsorbField) string {
	if f.Field == nil {
		return "the object is gone from the cluster"
	}
	path := t.escape(f.Field.Path)
	if f.Field.Masked {
		return path + "  (masked)"
	}
	return path + "  " + t.side(f.Field.Desired) + t.either(" → ", " -> ") + t.side(f.Field.Live)
}

// valueEdit returns one change of values on one line.
func (t *text) valueEdit(e report.ValueEdit) string {
	arrow := t.either(" → ", " -> ")
	switch {
	case e.Masked:
		return t.escape(e.Name) + ": (masked)"
	case e.Remove:
		return t.escape(e.Name) + ": " + t.side(e.Old) + arrow + "removed from the file"
	case e.Null:
		return t.escape(e.Name) + ": " + t.side(e.Old) + arrow + "null"
	}
	return t.escape(e.Name) + ": " + t.side(e.Old) + arrow + t.value(e.New)
}

// sideEffects writes what changes of values move beyond a field.
func (t *text) sideEffects(indent string, effects []report.AbsorbEffect, in scope) {
	for _, e := range effects {
		said := t.keyName(e.Object, in)
		if e.Hook != nil {
			said = t.hookEffect(e, said)
		}
		switch {
		case e.Path == "" && e.Hook != nil:
		case e.Path == "" && e.Action == report.ActionDelete:
			said += " disappears"
		case e.Path == "":
			said += " appears"
		case e.Derived:
			said += ": " + t.escape(e.Path) + " follows"
		case e.Masked:
			said += ": " + t.escape(e.Path) + " (masked)"
		default:
			said += ": " + t.escape(e.Path) + "  " + t.side(e.Before) + t.either(" → ", " -> ") + t.side(e.After)
		}
		if e.Verdict != "" {
			said += " (" + string(e.Verdict) + ")"
		}
		t.line(indent, "also ", said)
	}
}

// hookEffect says what becomes of a hook.
func (t *text) hookEffect(e report.AbsorbEffect, name string) string {
	verb := "changes"
	switch e.Action {
	case report.ActionCreate:
		verb = "adds"
	case report.ActionDelete:
		verb = "removes"
	}
	return verb + " hook " + name + " (" + t.escape(strings.Join(e.Hook, ", ")) + ")"
}

// leftBecause says why a field is left.
func (t *text) leftBecause(f report.AbsorbField, in scope) string {
	// The messages of a schema have a line for each fault.
	said := t.escape(strings.ReplaceAll(f.Message, "\n", " "))
	switch {
	case f.Reason == report.LeftConflict: // the message has the line of the values file with the anchor
	case f.Line > 0:
		said += fmt.Sprintf("; %s:%d writes it", t.escape(f.File), f.Line)
	case f.File != "":
		said += "; " + t.escape(f.File) + " writes the object"
	}
	if len(f.Ways) > 0 {
		said += "; the chart takes an existing Secret by " + t.escape(strings.Join(f.Ways, ", "))
	}
	if f.Patched {
		said += "; -o kustomize has a patch for a post-renderer"
	}
	for _, w := range f.With {
		said += "; " + t.escape(w.Path) + " of " + t.keyName(w.Object, in)
	}
	return said
}

// absorbSummary is the last line: what was or would be written.
func (t *text) absorbSummary(r *report.AbsorbResult, absorbed, left int) string {
	file := "the release's stored values"
	if r.ValuesFile != "" {
		file = t.escape(r.ValuesFile)
	}
	switch {
	case absorbed+left == 0:
		return "the chart agrees with the cluster"
	case absorbed == 0:
		return "no change of values was found; " + english.Count(left, "field") + " left"
	case r.Written:
		return fmt.Sprintf("%s changed: %s absorbed, %d left", file, english.Count(absorbed, "field"), left)
	case r.Operation == report.OperationInstall && r.ValuesFile == "":
		return "the changes apply to the values of the chart; -o values prints them as a file for -f"
	case r.ValuesFile == "":
		return fmt.Sprintf("the changes apply to %s; -o values prints them as a file for helm upgrade --reuse-values -f", file)
	}
	return "--write changes " + file
}
