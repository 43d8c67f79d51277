package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/sides"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// FixPlan returns the text of a plan: what a fix is about to do, and what it leaves as it is. A blank line ends it.
func FixPlan(r *report.FixResult, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	rel := comparedRelease(r)
	effects := ""
	if r.Effect != nil {
		effects = t.Message(r.Effect.Text) + t.inexact(r.Effect.Inexact)
	}
	t.answer(answer{t.title(rel), []answerLine{{label: "fix", said: fixAnswer(r)}, {label: "effects", said: effects, isLoud: true}}})
	t.troubleOf(rel)
	if len(r.Plan) > 0 {
		t.Line("")
	}
	if slices.ContainsFunc(r.Plan, func(p report.FixPlan) bool { return len(p.Fields)+len(p.Prune) > 0 }) {
		t.legend("what the fix does", "path", "deployed"+t.Arrow+"live now", "who")
	}
	for _, p := range r.Plan {
		t.plannedObject(p, layout.Scope{Namespace: r.Namespace, Versions: r.Versions})
	}
	for _, g := range t.outcomes(r, func(o report.FixOutcome) bool { return isLeftOut(r, o) }) {
		t.Prose("left: " + g)
	}
	t.Line("")
	return t.Out.Bytes()
}

// FixQuestion returns the question that a reader answers before anything is written. The cursor stays behind it.
func FixQuestion(r *report.FixResult, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	question := layout.Enumerate(workOf(r.Plan).clauses(infinitive))
	var created []string
	for _, p := range r.Plan {
		if p.Create {
			created = append(created, t.KeyName(p.Object, layout.Scope{Namespace: r.Namespace, Versions: r.Versions}))
		}
	}
	if len(created) > 0 {
		question += " (" + strings.Join(t.FirstNames(created, layout.MaxNames), ", ") + ")"
	}
	if n := workOf(r.Plan).outside; n > 0 {
		question += fmt.Sprintf(", %d outside of namespace %s", n, t.Label(r.Namespace))
	}
	t.Prose(strings.ToUpper(question[:1]) + question[1:] + "? [y/N]")
	return append(t.Out.Bytes()[:t.Out.Len()-1], ' ')
}

// FixPick returns the question for one part of a plan: a field of an object, or the object as a whole. The cursor stays behind it.
func FixPick(r *report.FixResult, part report.FixPlan, opts layout.Options) []byte {
	t := newText(opts, r.Time)
	part.Effect = nil // the plan has shown it
	t.plannedObject(part, layout.Scope{Namespace: r.Namespace, Versions: r.Versions})
	question := "Put this back?"
	switch {
	case part.Create:
		question = "Create this object?"
	case len(part.Prune) > 0:
		question = "Remove this?"
	case part.HandOver:
		question = "Hand this over?"
	}
	t.Prose(question + layout.PickAnswers)
	return append(t.Out.Bytes()[:t.Out.Len()-1], ' ')
}

// fixAnswer returns the plan in one clause.
func fixAnswer(r *report.FixResult) string {
	switch {
	case len(r.Plan) == 0:
		return "nothing to put back"
	case r.DryRun != "":
		return "would " + layout.Enumerate(workOf(r.Plan).clauses(infinitive))
	}
	return layout.Enumerate(workOf(r.Plan).clauses(thirdPerson))
}

// plannedObject writes one object of a plan: what becomes of it, and its fields as they are and as they will be.
func (t *text) plannedObject(p report.FixPlan, in layout.Scope) {
	name := t.KeyName(p.Object, in)
	switch {
	case p.Create:
		t.subject(name, "missing; to be created"+t.outside(p, in))
		t.effect(p.Effect)
		return
	case p.HandOver:
		t.subject(name, "only its ownership: a fix that was interrupted still owns a part of it")
		return
	}
	var said []string
	var sections []section
	if len(p.Fields) > 0 {
		said = append(said, english.Count(len(p.Fields), "field")+" to put back")
		sections = append(sections, section{columns: sides.OldLive, fields: fixFindings(p.Fields)})
	}
	if len(p.Prune) > 0 {
		label := ""
		if len(said) > 0 {
			label = "to be pruned:"
		}
		said = append(said, english.Count(len(p.Prune), "field")+" to prune")
		sections = append(sections, section{label: label, columns: sides.OldLive, fields: fixFindings(p.Prune)})
	}
	t.subject(name, strings.Join(said, ", "))
	t.effect(p.Effect)
	t.sections("  ", sections...)
}

// outside says that an object is created outside the release's namespace. It is empty for every other object.
func (t *text) outside(p report.FixPlan, in layout.Scope) string {
	switch {
	case !p.Outside:
		return ""
	case p.Object.Namespace == "":
		return " for the whole cluster"
	}
	return " outside of namespace " + t.Label(in.Namespace)
}

// fixFindings returns findings as a fix shows them: the sign is what the fix does, whatever the next upgrade would do.
func fixFindings(fields []report.Finding) []report.Finding {
	out := make([]report.Finding, len(fields))
	for i, f := range fields {
		if f.Verdict == report.Conflict {
			f.Notes = nil // names the manager with whom Helm would conflict, which is the owner
		}
		inOld, inLive := f.Old != nil, sides.LiveHas(f)
		if f.Masked {
			inOld = f.Managed && f.Verdict != report.Remove
		}
		switch {
		case !inOld:
			f.Verdict = report.Remove
		case !inLive:
			f.Verdict = report.Add
		default:
			f.Verdict = report.Overwrite
		}
		f.Cause, f.Certain, f.Desired, f.After = report.CauseDrift, true, nil, nil
		out[i] = f
	}
	return out
}

// work counts what a plan, or a part of it, writes.
type work struct{ fields, prunes, creates, outside, handOvers int }

// workOf adds up what plans write.
func workOf(plans []report.FixPlan) work {
	var w work
	for _, p := range plans {
		w.add(p, nil)
	}
	return w
}

// add counts the fields of a plan that have one of the ids, or all of it if there are no ids.
func (w *work) add(p report.FixPlan, ids []string) {
	w.fields += countOf(p.Fields, ids)
	w.prunes += countOf(p.Prune, ids)
	w.creates += layout.OneIf(p.Create)
	w.outside += layout.OneIf(p.Outside)
	w.handOvers += layout.OneIf(p.HandOver)
}

// countOf counts the findings that have one of the ids, or all of them if there are no ids.
func countOf(fields []report.Finding, ids []string) int {
	n := 0
	for _, f := range fields {
		n += layout.OneIf(len(ids) == 0 || slices.Contains(ids, f.ID))
	}
	return n
}

// These are the endings of the verbs in clauses: "fix would put back", "fix puts back".
const (
	infinitive  = ""
	thirdPerson = "s"
)

// clauses say what is written. They mention ownership only for objects where nothing else is put back.
func (w work) clauses(ending string) layout.Clauses {
	var said layout.Clauses
	said.Add("put"+ending+" back", w.fields, "field")
	said.Add("prune"+ending, w.prunes, "field")
	said.Add("create"+ending, w.creates, "object")
	said.Add("hand"+ending+" over the ownership of", w.handOvers, "object")
	return said
}

// amount says how many fields and objects there are. It is empty if there are none.
func amount(fields, objects int) string {
	var said layout.Clauses
	said.Count(fields, "field")
	said.Count(objects, "object")
	return layout.Enumerate(said)
}

// plannedAt returns the plan of an object.
func plannedAt(r *report.FixResult, object report.ObjectKey) (report.FixPlan, bool) {
	i := slices.IndexFunc(r.Plan, func(p report.FixPlan) bool { return p.Object == object })
	if i < 0 {
		return report.FixPlan{}, false
	}
	return r.Plan[i], true
}

// isLeftOut reports whether an outcome is about something that was never in the plan.
func isLeftOut(r *report.FixResult, o report.FixOutcome) bool {
	p, planned := plannedAt(r, o.Object)
	return !planned || len(o.Fields) > 0 && countOf(p.Fields, o.Fields)+countOf(p.Prune, o.Fields) == 0
}

// comparedRelease returns the release as it was compared, or only its name if it was not.
func comparedRelease(r *report.FixResult) report.Release {
	if r.After != nil && len(r.After.Releases) > 0 {
		return r.After.Releases[0]
	}
	return report.Release{Name: r.Name, Namespace: r.Namespace}
}

// outcomes groups the outcomes that match by their reason, and keeps their order. It returns a line for each group.
func (t *text) outcomes(r *report.FixResult, match func(report.FixOutcome) bool) []string {
	names := map[string][]string{}
	var matching []report.FixOutcome
	for _, o := range r.Results {
		if match(o) {
			matching = append(matching, o)
			names[o.Reason] = append(names[o.Reason], t.outcomeName(r, o))
		}
	}
	var lines []string
	for _, reason := range layout.Distinct(matching, func(o report.FixOutcome) string { return o.Reason }) {
		named := strings.Join(t.FirstNames(names[reason], layout.MaxNames), ", ")
		lines = append(lines, layout.JoinNonEmpty(": ", named, t.Message(reason)))
	}
	return lines
}

// outcomeName names what an outcome is about: the object, or one field of it.
func (t *text) outcomeName(r *report.FixResult, o report.FixOutcome) string {
	name := t.KeyName(o.Object, layout.Scope{Namespace: r.Namespace, Versions: r.Versions})
	if path := outcomePath(r, o); path != "" {
		return t.Escape(path) + " of " + name
	}
	if n := len(o.Fields); n > 0 {
		return english.Count(n, "field") + " of " + name
	}
	return name
}

// outcomePath returns the path of the one field that an outcome is about, from the plan or from the comparison.
func outcomePath(r *report.FixResult, o report.FixOutcome) string {
	if len(o.Fields) != 1 {
		return ""
	}
	var known []report.Finding
	for _, p := range r.Plan {
		known = append(append(known, p.Fields...), p.Prune...)
	}
	for _, object := range comparedRelease(r).Objects {
		known = append(known, object.Fields...)
	}
	for _, f := range known {
		if f.ID == o.Fields[0] {
			return f.Path
		}
	}
	return ""
}
