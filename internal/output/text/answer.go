package text

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/found"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// labelWidth is the width of the widest label of an answer.
	labelWidth = len("rollback")
	// answerIndent is what stands before the lines of an answer, apart from a gutter.
	answerIndent = len("  ") + labelWidth
	// maxEditors is how many field managers an answer names.
	maxEditors = 4
	// screen is the height of a small terminal. A longer report that does not go to a terminal ends with the answer that it begins with,
	// because the end of a log is what its reader sees first. On a terminal the caller repeats the answer.
	screen = 24
)

// answer is the block that a text begins with: what it is about, whether that drifted, who edited it, what Helm does next, and what the
// reader can do.
type answer struct {
	title string
	lines []answerLine
}

// answerLine is one line of an answer. A line without a text is not written.
type answerLine struct {
	label, said string
	// short is what a terminal shows that is too narrow for said. It is empty if there is no shorter form.
	short string
	// isLoud is set if somebody may have to act on the line.
	isLoud bool
	// state is set if the label is a state.
	state report.State
}

// answer writes an answer. What does not fit on a line goes on below it, behind a gutter.
func (t *text) answer(a answer) {
	t.Headline(a.title)
	for _, l := range a.lines {
		if l.said == "" {
			continue
		}
		label := t.Paint(l.label, color.Faint)
		if l.state != "" {
			label = t.inColour(l.state, l.label)
		}
		lead := "  " + label + monospace.Pad("", labelWidth+2-len(l.label)) // UNINSTALL has one blank behind it
		pieces := t.Wrapped(l.said, answerIndent)
		if len(pieces) > 1 && l.short != "" {
			pieces = t.Wrapped(l.short, answerIndent)
		}
		for _, piece := range pieces {
			if l.isLoud {
				piece = t.Heading(piece)
			}
			t.Line(lead, piece)
			lead = "  " + monospace.Pad("", labelWidth) + t.Gutter
		}
	}
}

// releaseAnswer returns the answer for one release.
func (t *text) releaseAnswer(rel report.Release, opts layout.Options) answer {
	all := []report.Release{rel}
	c := counts.Of(all)
	lines := []answerLine{
		t.deployerLine(rel.Deployer),
		t.stateLine(rel.State(), all, layout.JoinNonEmpty("; ", t.found(rel), t.newestEdit(all))),
		t.editorsLine(all),
		t.operationLine(all, c),
		serverLine(c),
		doLine(t.advice(rel, c, opts)),
	}
	return answer{t.title(rel), lines}
}

// title names a release, the revision that it was compared with, and what it is to become.
func (t *text) title(rel report.Release) string {
	origin := t.origin(rel)
	if rel.Old != nil && rel.Old.Status == "deployed" && counts.IsPreview(rel.Operation) && t.Width > 0 { // as readers expect
		origin = slices.DeleteFunc(origin, func(part string) bool { return part == t.Label("deployed") })
	}
	return strings.Join(append([]string{"release " + t.ReleaseName(rel, rel.Namespace)}, origin...), t.Dot)
}

// serverLine returns the line that says what the API server answered.
func serverLine(c counts.Counts) answerLine {
	return answerLine{label: "server", said: layout.Enumerate(c.Server()), isLoud: c.Disputed > 0}
}

// stateLine returns the line that says whether something drifted. What a baseline knows is still there, so such releases do not look clean.
func (t *text) stateLine(state report.State, releases []report.Release, said string) answerLine {
	label := string(state)
	if state == report.StateClean && layout.NoDrift(releases...) != layout.NoDrift() {
		label = "known"
	}
	return answerLine{label: strings.ToUpper(label), said: said, state: state}
}

// found says what was found in a release. A record in an unexpected namespace comes first, because the rest may be about a copy.
func (t *text) found(rel report.Release) string {
	said := releaseFound(rel)
	if hasWarning(rel, report.WarnRecordElsewhere) {
		return "the record in " + t.Label(rel.StorageNamespace) + " may be a copy, " + said
	}
	return said
}

// edited returns the releases that an answer is about: those that drifted, or all if none did.
func edited(releases []report.Release) []report.Release {
	drifted := slices.DeleteFunc(slices.Clone(releases), func(rel report.Release) bool { return !rel.Drifted })
	if len(drifted) > 0 {
		return drifted
	}
	return releases
}

// newestEdit says how long ago the last edit was. It is empty if no time is known.
func (t *text) newestEdit(releases []report.Release) string {
	var newest time.Time
	for _, rel := range edited(releases) {
		if at, known := rel.NewestEdit(); known && at.After(newest) {
			newest = at
		}
	}
	if newest.IsZero() {
		return ""
	}
	return "newest edit " + layout.Age(t.Now.Sub(newest))
}

// editorsLine returns the line that says who edited. A narrow terminal names as many as fit.
func (t *text) editorsLine(releases []report.Release) answerLine {
	l := answerLine{label: "by", said: t.editors(releases, maxEditors)}
	for most := maxEditors; most > 0; most-- {
		l.short = strings.Replace(t.editors(releases, most), deletions, "deletions: audit log", 1)
		if len(t.Wrapped(l.short, answerIndent)) == 1 {
			break
		}
	}
	return l
}

// deletions says where a reader finds who deleted objects.
const deletions = "deletions: see the audit log"

// doLine returns the line that says what to do.
func doLine(said string) answerLine {
	return answerLine{label: "do", said: said, short: strings.Replace(said, keepEdits, ", or helmdrift absorb", 1)}
}

// editors names the field managers that own what drifted, or else what other edits there are, with the number of fields of each, and counts
// those beyond the first few. The API server does not record who deleted an object.
func (t *text) editors(releases []report.Release, most int) string {
	n, unknown, gone := map[string]int{}, 0, 0
	for _, rel := range edited(releases) {
		for _, f := range rel.Edits() {
			for _, o := range f.Owners {
				n[t.manager(o)]++
			}
			unknown += layout.OneIf(len(f.Owners) == 0)
		}
		_, objects := rel.ToPutBack()
		gone += objects
	}
	names := order.Sorted(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, n[name])
	}
	said := layout.Clauses(english.AtMost(names, most))
	said.AddIf(unknown > 0, fmt.Sprintf("unknown %d", unknown))
	if gone > 0 {
		return layout.JoinNonEmpty("; ", strings.Join(said, ", "), deletions)
	}
	return strings.Join(said, ", ")
}

// operationLine says what Helm does next, effects on pods first.
func (t *text) operationLine(releases []report.Release, c counts.Counts) answerLine {
	l := answerLine{label: "upgrade", said: layout.Enumerate(c.Does())}
	for _, rel := range releases {
		if counts.IsPreview(rel.Operation) {
			l.label = string(rel.Operation)
		}
	}
	effects, isLoud := t.effects(releases)
	l.isLoud = isLoud || c.Actions[report.ActionFail] > 0
	l.said, l.short = layout.JoinNonEmpty("; ", effects, l.said), layout.JoinNonEmpty("; ", effects, layout.Enumerate(c.DoesInShort()))
	return l
}

// advice says what the reader can do about a release.
func (t *text) advice(rel report.Release, c counts.Counts, opts layout.Options) string {
	op := counts.OperationName(rel.Operation)
	_, lost := c.Edits.Divided()
	n := found.In(rel)
	switch fields, objects := rel.ToPutBack(); {
	case opts.FixFollows:
		return "see the fix below"
	case rel.Terminating:
		return "nothing can be put back while the namespace is being deleted"
	case c.RenderErrors > 0:
		return "correct the chart or its values: the error says where"
	case hasWarning(rel, report.WarnRecordElsewhere):
		return "find out which record is the copy, then compare again"
	case len(opts.Plan) > 0:
		return t.Escape(opts.Fix) + partOf(workOf(opts.Plan), fields, objects) + keepEdits
	case c.Actions[report.ActionFail] > 0 && failsOnlyOnConflicts(rel):
		return op + " --force-conflicts takes the fields over, or keep the edits: helmdrift absorb"
	case c.Actions[report.ActionFail] > 0:
		return "resolve what " + op + " fails on, then compare again"
	case counts.IsPreview(rel.Operation) && c.ReleaseErrors+c.ObjectErrors > 0, fields+objects == 0 && rel.HasError():
		return "resolve the error, then compare again"
	case counts.IsPreview(rel.Operation) && len(lost) > 0:
		return "keep the edits: helmdrift absorb, or let " + op + " undo them"
	case counts.IsPreview(rel.Operation) && c.Actions[report.ActionAdopt] > 0:
		return "look at what " + op + " adopts: it overwrites the values of others there"
	case counts.IsPreview(rel.Operation) && c.Written() > 0:
		return op + " destroys no edit"
	case counts.IsPreview(rel.Operation), fields+objects == 0:
		return "nothing"
	case n.Fields+n.Missing == 0:
		return "wait until the objects are gone, then compare again"
	case opts.IsPlanned:
		return "nothing can be put back as it is; to keep the edits: helmdrift absorb"
	}
	if fix := layout.Command("fix", rel); fix != "" {
		return fix + " --dry-run" + keepEdits
	}
	return "helmdrift fix NAME -n NAMESPACE --dry-run" + keepEdits
}

// failsOnlyOnConflicts reports whether conflicts with other field managers are all that an operation fails on.
func failsOnlyOnConflicts(rel report.Release) bool {
	return !slices.ContainsFunc(rel.Objects, func(o report.Object) bool { return o.Action == report.ActionFail && !o.OnlyConflicts })
}

// keepEdits names the other thing to do about drift.
const keepEdits = ", or keep the edits: helmdrift absorb"

// partOf says how much of what drifted a plan puts back. It is empty if that is everything.
func partOf(w work, fields, objects int) string {
	var said layout.Clauses
	said.AddIf(w.fields < fields, fmt.Sprintf("%d of %s", w.fields, english.Count(fields, "field")))
	said.AddIf(w.creates < objects, fmt.Sprintf("%d of %s", w.creates, english.Count(objects, "object")))
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}
