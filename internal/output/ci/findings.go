package ci

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/consequences"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// maxDiff is how many lines of a diff are shown, and maxDiffLine how many characters of a line.
	maxDiff, maxDiffLine = 80, 300
	// longValue is how many characters a list or a map has that is shown as a diff of its lines.
	longValue = 60
	// fewest is how many objects share a row with the same change, and maxNames how many of them the row names.
	fewest, maxNames = 3, 6
)

// loud returns the entries of a release that nothing silences, the worst first. What the API server made of an edit is told beside the
// edit, and conflicts at their fields alone.
func loud(r *report.Release) []entry {
	told, made := *r, map[*report.Object][]report.Finding{}
	told.Objects = slices.Clone(r.Objects)
	for i := range told.Objects {
		o := &told.Objects[i]
		o.Fields, made[o] = consequences.Split(*o)
	}
	all := slices.DeleteFunc(releaseEntries(&told), entry.isSilent)
	for i := range all {
		e := &all[i]
		switch {
		case e.finding != nil && consequences.IsEdit(*e.finding):
			e.note = layout.JoinNonEmpty("; ", append([]string{e.note}, madeOf(made[e.object])...)...)
		case e.rule == "fail" && layout.Conflicts(*e.object) > 0 && !slices.ContainsFunc(e.object.Fields, isSilencedConflict):
			e.says, e.message = operation(r)+" fails on it: "+english.Count(layout.Conflicts(*e.object), "conflict"), ""
		}
	}
	order.Sort(all, byLevel)
	return all
}

// madeOf says what the API server made of an edit.
func madeOf(made []report.Finding) []string {
	return consequences.Lines(made, func(path string, v any) string { return line(path) + " " + value(v) }, line)
}

// isSilencedConflict reports whether a finding is a conflict that a table does not list.
func isSilencedConflict(f report.Finding) bool { return f.Verdict == report.Conflict && f.Silenced() }

// release adds what was found in the only release of a report. Errors and drift stand first and open. The rest is folded.
func (d *comment) release(r *report.Release) {
	all := loud(r)
	urgent := slices.IndexFunc(all, func(e entry) bool { return e.level > levelWarning })
	if urgent < 0 {
		urgent = len(all)
	}
	open := all[:min(urgent, maxRows)]
	d.findings(open)
	d.fold(english.Count(len(all[len(open):urgent]), "more finding"), all[len(open):urgent], d.findings)
	d.fold(others(r, all[urgent:]), all[urgent:], d.findings)
	d.fold(english.Count(len(texts(all)), "long text")+", line by line", texts(all), d.diffs)
}

// others says what the findings of a release are that are neither errors nor drift.
func others(r *report.Release, all []entry) string {
	changes, edits, unreached, answers := 0, 0, 0, 0
	for _, e := range all {
		switch {
		case e.finding != nil && e.finding.Blocked:
			unreached++
		case e.finding != nil && e.finding.Cause == report.CauseDrift:
			edits++
		case e.rule == "disputed":
			answers++
		default:
			changes++
		}
	}
	var said layout.Clauses
	said.AddIf(changes > 0, english.Count(changes, "change")+" by "+operation(r))
	said.AddIf(edits > 0, english.Count(edits, "edit")+" of what no manifest names")
	said.AddIf(unreached > 0, english.Count(unreached, "change")+" that "+operation(r)+" does not reach")
	said.AddIf(answers > 0, english.Count(answers, "answer")+" of the API server")
	return strings.Join(said, ", ")
}

// details adds a fold with what was found in one of several releases.
func (d *comment) details(r *report.Release, phrases text.Phrases) {
	escape := func(text string) string { return html.EscapeString(neutral(text)) }
	title := fmt.Sprintf("<code>%s</code>: %s", escape(ReleaseName(r)), escape(phrases.Release(*r).Found))
	d.fold(title, loud(r), func(all []entry) {
		if r.Effect != nil {
			d.item("Effect: " + code(line(r.Effect.Text)) + "\n\n")
		}
		d.findings(all)
		if long := texts(all); len(long) > 0 {
			d.add("\n")
			d.diffs(long)
		}
	})
}

// fold adds a fold around entries. It adds nothing if there are none. The fold is always closed.
func (d *comment) fold(title string, all []entry, write func([]entry)) {
	if len(all) == 0 {
		return
	}
	begin, end := "<details><summary>"+title+"</summary>\n\n", "\n</details>\n"
	if d.size+1+utf8.RuneCountInString(begin+end) > maxComment {
		d.dropped += len(all)
		return
	}
	if !strings.HasSuffix(d.text.String(), "\n\n") {
		begin = "\n" + begin
	}
	d.add(begin)
	d.size += len(end)
	write(all)
	d.size -= len(end)
	d.add(end)
}

// findings adds a table of entries. Changes that are the same in several objects share a row.
func (d *comment) findings(all []entry) {
	shared := map[string][]string{}
	for _, e := range all {
		shared[e.same()] = append(shared[e.same()], e.subject)
	}
	var rows [][]string
	for _, e := range all {
		names := []string{e.subject}
		if sharers := shared[e.same()]; len(sharers) >= fewest && e.level == levelNote {
			if sharers[0] != e.subject {
				continue
			}
			names = sharers
		}
		object := strings.ReplaceAll(codes(names, maxNames), "|", `\|`)
		if len(names) > 1 {
			object = english.Count(len(names), "object") + ": " + object
		}
		rows = append(rows, []string{e.rule, object, cell(e.path), e.shown(), cell(e.by), strings.ReplaceAll(prose(e.remark()), "|", `\|`)})
	}
	does := "Helm"
	if !slices.ContainsFunc(all, func(e entry) bool { return e.release == nil || e.release.Operation != report.OperationSync }) {
		does = "sync"
	}
	d.rows([]string{does, "object", "field", "change", "by", "note"}, rows)
}

// same returns all that an entry says apart from its object.
func (e entry) same() string {
	return strings.Join([]string{e.rule, e.path, e.change, e.by, e.remark()}, "\x00")
}

// remark returns the last cell of an entry. A message of several lines stands below.
func (e entry) remark() string {
	switch {
	case e.hasLines():
		return shorten(line(escape.SplitLines(e.message, false)[0]), maxValue) + " …"
	case e.finding == nil:
		return e.says
	}
	return e.note
}

// hasLines reports whether the message of an entry has several lines.
func (e entry) hasLines() bool { return len(escape.SplitLines(e.message, false)) > 1 }

// shown returns the cell with the values. Those of several lines are counted there; their diff stands below.
func (e entry) shown() string {
	if p, ok := e.texts(); ok {
		before, after := layout.CountLines(p.before), layout.CountLines(p.after)
		return fmt.Sprintf("%s → %s, see below", english.Count(before, "line"), english.Count(after, "line"))
	}
	return cell(e.change)
}

// rows adds a table. A column without any text is left out.
func (d *comment) rows(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	isShown := func(column int) bool {
		return slices.ContainsFunc(rows, func(row []string) bool { return row[column] != "" })
	}
	write := func(cells []string) string {
		out := "|"
		for i, c := range cells {
			if isShown(i) {
				out += " " + c + " |"
			}
		}
		return out + "\n"
	}
	d.add(write(head) + write(slices.Repeat([]string{"---"}, len(head))))
	for _, row := range rows {
		d.item(write(row))
	}
}

// texts returns the entries whose values or messages have several lines.
func texts(all []entry) []entry {
	return slices.DeleteFunc(slices.Clone(all), func(e entry) bool {
		_, ok := e.texts()
		return !ok && !e.hasLines()
	})
}

// textPair is two sides of a finding, and what they are.
type textPair struct{ before, after, says string }

// texts returns the two sides of a finding that a reader compares by their lines. It returns false if a value of one line is one of them.
func (e entry) texts() (p textPair, ok bool) {
	f := e.finding
	if f == nil || f.Masked {
		return p, false
	}
	from, to, says := f.Old, f.Live, "as Helm deployed it → live"
	switch {
	case e.release.Operation == report.OperationDrift || f.Verdict == report.Ignore || f.Desired == nil && f.Old == nil:
	case f.Cause == report.CauseChange:
		to, says = f.Desired, "as it is → as "+operation(e.release)+" makes it"
	default:
		from, to, says = f.Live, f.Desired, "live → as "+operation(e.release)+" makes it"
	}
	before, beforeOK := linesOf(from)
	after, afterOK := linesOf(to)
	isLong := max(layout.CountLines(before), layout.CountLines(after)) > 1
	return textPair{before, after, says}, beforeOK && afterOK && isLong && before != after
}

// linesOf returns a side as a text of lines: a text as it is, a long list or map as indented JSON, and nothing for an absent side. It
// returns false for any other value.
func linesOf(side any) (string, bool) {
	switch v := side.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case []any, map[string]any:
		indented, err := layout.RawJSON(v, "  ")
		lines := strings.ReplaceAll(indented, ",\n", "\n") + "\n" // a comma would make a line differ if another follows it
		return lines, err == nil && utf8.RuneCountInString(value(v)) > longValue
	}
	return "", false
}

// diffs adds the difference of each text, and each message of several lines, as a block of code.
func (d *comment) diffs(all []entry) {
	for i, e := range all {
		if i > 0 {
			d.add("\n")
		}
		if e.hasLines() {
			d.block(code(e.subject), "", gutter(e.message))
			continue
		}
		p, _ := e.texts()
		d.block(code(e.subject)+" "+code(e.path)+", "+p.says, "diff", diffLines(p))
	}
}

// block adds lines as a block of code in a language. The lines must be escaped. If there are many, the last ones are counted.
func (d *comment) block(title, language string, lines []string) {
	more := ""
	if n := len(lines) - maxDiff; n > 0 {
		lines, more = lines[:maxDiff], "\n"+english.Count(n, "more line")+"\n"
	}
	block := strings.Join(lines, "\n") + "\n"
	fence := fenceOf(block, 3)
	d.item(title + ":\n\n" + fence + language + "\n" + block + fence + "\n" + more)
}

// gutter returns the lines of a message behind a gutter, since GitHub's runner obeys a line that begins with "::".
func gutter(message string) []string {
	lines := escape.SplitLines(message, false)
	for i := range lines {
		lines[i] = strings.TrimRight(escape.Gutter(false)+shorten(lines[i], maxDiffLine), " ")
	}
	return lines
}

// diffLines returns the unified diff of two texts. Each line is escaped behind its sign.
func diffLines(p textPair) []string {
	var out []string
	for _, h := range unified.Hunks(unified.Part{Before: p.before, After: p.after}) {
		for l := range strings.Lines(h.Text(0, "")) {
			l = strings.TrimSuffix(l, "\n")
			shown := line(l[1:])
			// GitHub's runner obeys a line that begins with "::" behind blanks.
			if blanks := len(shown) - len(strings.TrimLeft(shown, " ")); strings.HasPrefix(shown[blanks:], "::") {
				shown = shown[:blanks] + `\x3a` + shown[blanks+1:]
			}
			out = append(out, l[:1]+shorten(shown, maxDiffLine))
		}
	}
	return out
}
