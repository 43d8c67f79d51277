package output

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// FuzzHostileResults: no format of a report, of an absorption or of a history has a raw control character, a line that begins with a value
// or a command of a CI agent. Packages text, html and ci have stricter tests of their own.
func FuzzHostileResults(f *testing.F) {
	for _, c := range hostile() {
		f.Add(c.in)
	}
	for _, s := range []string{
		"a\n::error::b", "::add-mask::x", "x\n##vso[task.complete]", "a\r\n---\r\n+++ b", "- a", "a: b", "'", `"`, "|", "~", "# x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := patched(reportOf(s))
		for i := range r.Releases {
			r.Releases[i].Patch = &report.Patch{LeftOut: []string{s}}
		}
		for _, format := range formats() {
			if format.name == GitHub || format.name == HTML {
				continue // the lines of one are commands of our own, which test/formats looks at; FuzzHTML is faster
			}
			checkDocument(t, format.name, func() ([]byte, error) { return Document(format.name, r, Options{}) })
		}
		for _, files := range [][]string{nil, {s}} {
			absorbed := absorbOf(s)
			absorbed.Files = files
			for _, format := range absorbWriters() {
				checkDocument(t, format.name, func() ([]byte, error) { return format.write(absorbed, Options{Text: text.Options{Unicode: true}}) })
			}
		}
		h := historyOf(s)
		h.Releases[0].Findings[1].State = past.Gone // a state is always a word of our own
		for _, format := range HistoryFormats() {
			checkDocument(t, Format(format), func() ([]byte, error) { return HistoryDocument(Format(format), h, Options{}) })
		}
	})
}

// checkDocument fails the test if a document has what must not reach a terminal or a CI agent.
func checkDocument(t *testing.T, format Format, document func() ([]byte, error)) {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Errorf("%s: %v", format, err)
	}
	checkRaw(t, doc)
	if t.Failed() {
		t.Fatalf("the format is %s", format)
	}
}

// absorbOf is the result of an absorption. Each text in it is s.
func absorbOf(s string) *absorption.Result {
	message := []report.Message{{Code: s, Message: s, Object: s, File: s, Line: 3}}
	name := "[" + s + "]" // as object.Path writes what is not a plain word
	edits := []absorption.ValueEdit{{Path: []any{s, 0, s}, Name: name, Old: s, New: map[string]any{s: []any{s}}},
		{Path: []any{s}, Name: name, Remove: true, Old: s}}
	effects := []absorption.Effect{
		{Object: hostileKey(s), Path: s, Verdict: report.Overwrite, Before: s, After: s + "x"}, {Object: hostileKey(s), Action: report.ActionDelete},
		{Object: hostileKey(s), Action: report.ActionCreate, Hook: []string{s}},
	}
	finding := reportOf(s).Releases[0].Objects[0].Fields
	field := absorption.Field{
		Object: hostileKey(s), Source: s, Status: absorption.Absorbed, Edits: edits, SideEffects: effects,
		Message: s, File: s, Line: 1, Ways: []string{s},
		Others: []absorption.Candidate{{Edits: edits, SideEffects: effects}}, With: []absorption.Place{{Object: hostileKey(s), Path: s}},
	}
	if len(finding) > 0 {
		field.Field = &finding[0]
	}
	of := hostileKey(s)
	out := &absorption.Result{
		ValuesOf: &of, Helmdrift: s, Name: s, Namespace: s, Chart: s, ValuesFile: s, Edits: edits, SideEffects: effects,
		Overlay: map[string]any{s: []any{s, map[string]any{s: s}}}, Reset: true, Values: map[string]any{s: []any{s, map[string]any{s: s}}},
		Patch:    "--- " + s + "\n+++ " + s + "\n@@ -1 +1 @@\n-x: " + s + "\n+x: 1\n " + s + "\n",
		Warnings: message, Errors: message, Fields: []absorption.Field{field},
	}
	for _, reason := range []absorption.Reason{
		absorption.LeftNoValue, absorption.LeftSecret, absorption.LeftConflict, absorption.LeftSideEffects, absorption.LeftVolatile, absorption.LeftNotRendered,
		absorption.LeftNotChosen, absorption.Reason(s),
	} {
		left := field
		left.Status, left.Reason = absorption.Left, reason
		out.Fields = append(out.Fields, left)
	}
	return out
}
