// Package absorb writes the text of helmdrift absorb: each field that drifted, the change of values that keeps it, and what else that
// change moves. The stories absorb*.txtar in test/e2e and the scripts absorb*.txtar of cmd/helmdrift test it, and FuzzHostileResults in
// internal/output tries hostile texts.
package absorb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// maxOthers is how many other candidates of a field are shown.
const maxOthers = 3

// text is the lines about one result.
type text struct{ *layout.Text }

// Text returns what was absorbed and what is left, field by field, and the patch of the values file.
func Text(r *absorption.Result, opts layout.Options) []byte {
	t := &text{layout.New(opts, r.Time)}
	absorbed, left := r.Counts()
	in := layout.Scope{Namespace: r.Namespace, Versions: r.Versions}
	t.Headline("release " + t.ReleaseName(report.Release{Name: r.Name}, r.Namespace) + ": " + answer(absorbed, left))
	var last report.ObjectKey
	for _, f := range r.Fields {
		if f.Object != last {
			t.Line("")
			t.Line(t.Heading(t.KeyName(f.Object, in)))
		}
		last = f.Object
		t.absorbedField(f, in)
	}
	if len(r.SideEffects) > 0 {
		t.Line("")
		t.Prose("together, the changes also move:")
		t.sideEffects("  ", r.SideEffects, in)
	}
	if r.Patch != "" {
		t.Line("")
		for _, line := range strings.Split(strings.TrimSuffix(r.Patch, "\n"), "\n") {
			t.Line(t.patchLine(line))
		}
	}
	t.Line("")
	for _, m := range r.Warnings {
		t.Prose("warning: " + t.Message(m.Message))
	}
	for _, m := range r.Errors {
		said := t.Message(m.Message)
		if m.Object != "" {
			said = t.Escape(m.Object) + ": " + said
		}
		t.Prose("error: " + said)
	}
	t.Prose(t.summary(r, absorbed, left))
	if said := patchSummary(r, left); said != "" {
		t.Prose(said)
	}
	return t.Out.Bytes()
}

// Pick returns the question whether to absorb a field. The cursor stays behind it.
func Pick(r *absorption.Result, f absorption.Field, opts layout.Options) []byte {
	t := &text{layout.New(opts, r.Time)}
	t.Line(t.Heading(t.KeyName(f.Object, layout.Scope{Namespace: r.Namespace, Versions: r.Versions})))
	t.Line("  ", t.absorbedSides(f))
	t.Prose("Keep this edit?" + layout.PickAnswers)
	return append(t.Out.Bytes()[:t.Out.Len()-1], ' ')
}

// patchSummary says how many of the fields that are left have a patch. It is empty if none has.
func patchSummary(r *absorption.Result, left int) string {
	patched := 0
	for _, f := range r.Fields {
		patched += layout.OneIf(f.IsLeft() && f.Patched)
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
		return t.Escape(line[:len(line)-len(content)]) + `\x3a` + t.Escape(content[1:])
	}
	return t.Escape(line)
}

// answer returns the result in one clause.
func answer(absorbed, left int) string {
	if absorbed+left == 0 {
		return "nothing to absorb"
	}
	return fmt.Sprintf("%d of %s absorbed", absorbed, english.Count(absorbed+left, "field"))
}

// absorbedField writes one field: its sides, the changes of values, and what they move.
func (t *text) absorbedField(f absorption.Field, in layout.Scope) {
	t.Line("  ", t.absorbSign(f), " ", t.absorbedSides(f))
	for _, e := range f.Edits {
		t.Line("      ", t.valueEdit(e))
	}
	if f.Status == absorption.Absorbed && len(f.Edits) == 0 {
		t.Line("      the changes above do it too")
	}
	t.sideEffects("      ", f.SideEffects, in)
	switch {
	case f.Reason == absorption.LeftNotChosen:
		t.Line("      not chosen: ", t.leftBecause(f, in))
	case f.IsLeft():
		t.Line("      left: ", t.leftBecause(f, in))
	}
	for i, c := range f.Others {
		if i == maxOthers {
			t.Line("      ", fmt.Sprintf("and %d more", len(f.Others)-i))
			break
		}
		var edits []string
		for _, e := range c.Edits {
			edits = append(edits, t.valueEdit(e))
		}
		t.Line("      or: ", strings.Join(edits, ", "))
		t.sideEffects("        ", c.SideEffects, in)
	}
}

func (t *text) absorbSign(f absorption.Field) string {
	if f.IsLeft() {
		return t.Either("✗", "x")
	}
	return t.Either("✓", "v")
}

// absorbedSides returns the field with its value in desired and in live.
func (t *text) absorbedSides(f absorption.Field) string {
	if f.Terminating {
		return "the object is being deleted"
	}
	if f.Field == nil {
		return "the object is gone from the cluster"
	}
	path := t.Escape(f.Field.Path)
	if f.Field.Masked {
		return path + "  (masked)"
	}
	return path + "  " + t.Side(f.Field.Desired) + t.Arrow + t.Side(f.Field.Live)
}

// valueEdit returns one change of values on one line.
func (t *text) valueEdit(e absorption.ValueEdit) string {
	becomes := t.Value(e.New)
	switch {
	case e.Masked:
		return t.Escape(e.Name) + ": (masked)"
	case e.Remove:
		becomes = "removed from the file"
	case e.Null:
		becomes = "null"
	}
	return t.Escape(e.Name) + ": " + t.Side(e.Old) + t.Arrow + becomes
}

// sideEffects writes what changes of values move beyond a field.
func (t *text) sideEffects(indent string, effects []absorption.Effect, in layout.Scope) {
	for _, e := range effects {
		said := t.KeyName(e.Object, in)
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
			said += ": " + t.Escape(e.Path) + " follows"
		case e.Masked:
			said += ": " + t.Escape(e.Path) + " (masked)"
		default:
			said += ": " + t.Escape(e.Path) + "  " + t.Side(e.Before) + t.Arrow + t.Side(e.After)
		}
		if e.Verdict != "" {
			said += " (" + string(e.Verdict) + ")"
		}
		t.Line(indent, "also ", said)
	}
}

// hookEffect says what becomes of a hook.
func (t *text) hookEffect(e absorption.Effect, name string) string {
	verb := "changes"
	switch e.Action {
	case report.ActionCreate:
		verb = "adds"
	case report.ActionDelete:
		verb = "removes"
	}
	return verb + " hook " + name + " (" + t.Escape(strings.Join(e.Hook, ", ")) + ")"
}

// leftBecause says why a field is left.
func (t *text) leftBecause(f absorption.Field, in layout.Scope) string {
	// The messages of a schema have a line for each fault.
	said := layout.Clauses{t.Escape(strings.ReplaceAll(f.Message, "\n", " "))}
	switch {
	case f.Reason == absorption.LeftConflict: // the message has the line of the values file with the anchor
	case f.Line > 0:
		said = append(said, fmt.Sprintf("%s:%d writes it", t.Escape(f.File), f.Line))
	case f.File != "":
		said = append(said, t.Escape(f.File)+" writes the object")
	}
	said.AddIf(len(f.Ways) > 0, "the chart takes an existing Secret by "+t.Escape(strings.Join(f.Ways, ", ")))
	said.AddIf(f.Patched, "-o kustomize has a patch for a post-renderer")
	for _, w := range f.With {
		said = append(said, t.Escape(w.Path)+" of "+t.KeyName(w.Object, in))
	}
	return strings.Join(said, "; ")
}

// summary is the last line: what was or would be written.
func (t *text) summary(r *absorption.Result, absorbed, left int) string {
	file := "the release's stored values"
	switch {
	case len(r.Files) > 0:
		file = t.Escape(strings.Join(r.Files, ", "))
	case r.ValuesFile != "":
		file = t.Escape(r.ValuesFile)
	}
	switch {
	case absorbed+left == 0 && len(r.Errors) > 0:
		return "no drift was seen, but not everything could be compared"
	case absorbed+left == 0:
		return "the chart agrees with the cluster"
	case absorbed == 0 && !slices.ContainsFunc(r.Fields, func(f absorption.Field) bool { return f.Reason != absorption.LeftNotChosen }):
		return english.Count(left, "field") + " left"
	case absorbed == 0:
		return "no change of values was found; " + english.Count(left, "field") + " left"
	case r.Written:
		return fmt.Sprintf("%s changed: %s absorbed, %d left", file, english.Count(absorbed, "field"), left)
	case len(r.Files) > 0:
	case r.ValuesOf != nil:
		return "the changes apply to the values of " + t.KeyName(*r.ValuesOf, layout.Scope{}) + "; " + printedBy(r.ValuesOf.Kind)
	case r.Operation == report.OperationInstall && r.ValuesFile == "":
		return "the changes apply to the values of the chart; -o values prints them as a file for -f"
	case r.Reset:
		return fmt.Sprintf("the changes remove some of %s, which --reuse-values would keep; "+
			"-o values prints all values as a file for helm upgrade --reset-values -f", file)
	case r.ValuesFile == "":
		return fmt.Sprintf("the changes apply to %s; -o values prints them as a file for helm upgrade --reuse-values -f", file)
	}
	return "--write changes " + file
}

// printedBy says how the changes are printed for what has the values.
func printedBy(kind string) string {
	switch kind {
	case "helm_release":
		return "-o hcl prints them as an item for its values"
	case "helmfile release":
		return "-o helmfile prints them as an item for its values"
	}
	return "-o flux prints them as a patch of it, and --from FOLDER changes a working tree"
}
