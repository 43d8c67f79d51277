package output

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxRemaining is how many of the things that remain drifted are named.
const maxRemaining = 3

// handsOver is what a fix does with the ownership of fields.
const handsOver = "hands over the ownership of"

// WriteFixPlan writes to w, as text, what a fix is about to do, and what it leaves as it is. A blank line ends it.
func WriteFixPlan(w io.Writer, r *report.FixResult, opts Options) error {
	t := newText(opts, r.Time)
	t.head(releaseOf(r), fixAnswer(r))
	if len(r.Plan) > 0 {
		t.line("")
	}
	for _, p := range r.Plan {
		t.planned(p, r.Namespace)
	}
	isLeft := func(o report.FixOutcome) bool { return left(r, o) }
	for _, g := range t.outcomes(r, isLeft) {
		t.prose("", "left: ", g.String())
	}
	t.line("")
	return send(w, t.out.Bytes())
}

// WriteFixQuestion writes to w what a reader has to answer before anything is written, on lines of its own but for the last.
func WriteFixQuestion(w io.Writer, r *report.FixResult, opts Options) error {
	t := newText(opts, r.Time)
	work := workOf(r.Plan)
	question := enumerate(work.clauses("put back", "prune", "create", "hand over the ownership of"))
	if n := len(work.creates); n > 0 {
		names := make([]string, n)
		for i, object := range work.creates {
			names[i] = t.keyed(object, r.Namespace)
		}
		if question += " ("; n > maxNames {
			names = append(names[:maxNames], fmt.Sprintf("%d more", n-maxNames))
		}
		question += strings.Join(names, ", ") + ")"
	}
	t.prose("", "", strings.ToUpper(question[:1])+question[1:]+"? [y/N]")
	return send(w, append(t.out.Bytes()[:t.out.Len()-1], ' '))
}

// writeFixText gives what became of a plan: object by object, and in the last lines what is true now.
func writeFixText(r *report.FixResult, opts Options) ([]byte, error) {
	t := newText(opts, r.Time)
	for _, status := range []report.FixStatus{report.FixFixed, report.FixDeclined, report.FixRefused, report.FixFailed} {
		became := func(o report.FixOutcome) bool { return o.Status == status && !left(r, o) }
		for _, g := range t.outcomes(r, became) {
			t.prose("", string(status)+": ", g.String())
		}
	}
	for _, l := range t.fixSummary(r) {
		t.prose("", "", l)
	}
	return t.out.Bytes(), nil
}

// fixHint names the command that puts back what drifted.
func (t *text) fixHint(opts Options) {
	if w := workOf(opts.Plan); len(opts.Plan) > 0 {
		var does clauses
		if put := counted(w.fields, len(w.creates)); put != "" {
			does = append(does, "puts back "+put)
		}
		does.add(handsOver, w.handOvers, "object")
		t.prose("", "", t.text(opts.Fix)+" "+enumerate(does))
	}
}

// releaseOf is the release as the comparison has it; its name where there is no comparison.
func releaseOf(r *report.FixResult) report.Release {
	if r.After != nil && len(r.After.Releases) > 0 {
		return r.After.Releases[0]
	}
	return report.Release{Name: r.Name, Namespace: r.Namespace}
}

// fixAnswer is the plan in one clause.
func fixAnswer(r *report.FixResult) string {
	switch {
	case len(r.Plan) == 0:
		return "nothing to put back"
	case r.DryRun != "":
		return "fix would " + enumerate(workOf(r.Plan).clauses("put back", "prune", "create", "hand over the ownership of"))
	}
	return "fix " + enumerate(workOf(r.Plan).clauses("puts back", "prunes", "creates", handsOver))
}

// work is what a plan, or a part of it, puts back and takes away.
type work struct {
	fields, prunes, handOvers int
	// creates are the objects that are made again.
	creates []string
}

func workOf(plans []report.FixPlan) work {
	var w work
	for _, p := range plans {
		w.fields, w.prunes = w.fields+len(p.Fields), w.prunes+len(p.Prune)
		switch {
		case p.Create:
			w.creates = append(w.creates, p.Object)
		case ownershipOnly(p):
			w.handOvers++
		}
	}
	return w
}

// ownershipOnly tells that a plan hands over what a broken-off fix still owns, and does nothing else.
func ownershipOnly(p report.FixPlan) bool { return !p.Create && len(p.Fields)+len(p.Prune) == 0 }

// clauses say it with these verbs. Helm's ownership is spoken of only where it is all there is to put back.
func (w work) clauses(putBack, prune, create, handOver string) clauses {
	var said clauses
	said.add(putBack, w.fields, "field")
	said.add(prune, w.prunes, "field")
	said.add(create, len(w.creates), "object")
	said.add(handOver, w.handOvers, "object")
	return said
}

// counted says how much it is in words that fit behind any verb; empty where it is nothing.
func counted(fields, objects int) string {
	var said clauses
	if fields > 0 {
		said = append(said, plural(fields, "field"))
	}
	if objects > 0 {
		said = append(said, plural(objects, "object"))
	}
	if len(said) == 0 {
		return ""
	}
	return enumerate(said)
}

// planned writes one object of a plan: what becomes of it, then its fields as they are and will be.
func (t *text) planned(p report.FixPlan, namespace string) {
	name := t.keyed(p.Object, namespace)
	switch {
	case p.Create:
		t.subject(name, "missing; to be created")
		return
	case ownershipOnly(p):
		t.subject(name, "nothing but its ownership: a fix that was broken off still owns a part of it")
		return
	}
	back := part{columns: []string{"live", "becomes"}, lone: liveAgainst, back: true}
	pruned := back
	for _, f := range p.Fields {
		back.fields = append(back.fields, putBack(f))
	}
	for _, f := range p.Prune {
		pruned.fields = append(pruned.fields, putBack(f))
	}
	var said clauses
	var parts []part
	if len(back.fields) > 0 {
		said, parts = append(said, plural(len(p.Fields), "field")+" to put back"), append(parts, back)
	}
	if len(pruned.fields) > 0 {
		if pruned.label = ""; len(parts) > 0 {
			pruned.label = "to be pruned:"
		}
		said, parts = append(said, plural(len(p.Prune), "field")+" to prune"), append(parts, pruned)
	}
	t.subject(name, strings.Join(said, ", "))
	for _, p := range t.sayOnce("  ", parts...) {
		t.part(p)
	}
}

// putBack gives a finding as a fix sees it: the sign is what the fix does, whatever the next upgrade would do.
func putBack(f report.Finding) report.Finding {
	if f.Verdict == report.Conflict {
		f.Notes = nil // with whom Helm would conflict; the owner says it
	}
	there, live := f.Old != nil, f.Live != nil
	if f.Masked {
		there, live = f.Managed && f.Verdict != report.Remove, liveHas(f)
	}
	switch {
	case !there:
		f.Verdict = report.Remove
	case !live:
		f.Verdict = report.Add
	default:
		f.Verdict = report.Overwrite
	}
	f.Cause, f.Certain, f.Desired, f.After = report.CauseDrift, true, nil, nil
	return f
}

// keyed names an object by its key, cut for show: the namespace of the release goes without saying, and so does a group of
// Kubernetes itself.
func (t *text) keyed(object, namespace string) string {
	kind, name, _ := strings.Cut(object, " ")
	if short, group, _ := strings.Cut(kind, "."); !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") {
		kind = short
	}
	return t.word(kind) + " " + t.label(strings.TrimPrefix(name, namespace+"/"))
}

// left tells whether an outcome is about what the plan left out from the beginning.
func left(r *report.FixResult, o report.FixOutcome) bool {
	i := slices.IndexFunc(r.Plan, func(p report.FixPlan) bool { return p.Object == o.Object })
	if i < 0 || len(o.Fields) == 0 {
		return i < 0
	}
	return countOf(r.Plan[i].Fields, o.Fields)+countOf(r.Plan[i].Prune, o.Fields) == 0
}

// outcomeGroup are the outcomes that have one reason.
type outcomeGroup struct {
	names  []string
	reason string
}

// String names them and gives the reason.
func (g outcomeGroup) String() string { return join(": ", strings.Join(g.names, ", "), g.reason) }

// outcomes groups those that match by their reason, in the order in which they come.
func (t *text) outcomes(r *report.FixResult, match func(report.FixOutcome) bool) []outcomeGroup {
	var groups []outcomeGroup
	for _, o := range r.Results {
		if !match(o) {
			continue
		}
		reason := t.lines(o.Reason)
		i := slices.IndexFunc(groups, func(g outcomeGroup) bool { return g.reason == reason })
		if i < 0 {
			i, groups = len(groups), append(groups, outcomeGroup{reason: reason})
		}
		groups[i].names = append(groups[i].names, t.outcomeName(r, o))
	}
	for i, g := range groups {
		groups[i].names = t.some(g.names, maxNames)
	}
	return groups
}

// outcomeName names what an outcome is about: the object, or one field of it.
func (t *text) outcomeName(r *report.FixResult, o report.FixOutcome) string {
	name := t.keyed(o.Object, r.Namespace)
	if path := pathOf(r, o); path != "" {
		return t.text(path) + " of " + name
	}
	if n := len(o.Fields); n > 0 {
		return plural(n, "field") + " of " + name
	}
	return name
}

// pathOf finds the path of the one field that an outcome is about, in the plan or in the comparison.
func pathOf(r *report.FixResult, o report.FixOutcome) string {
	if len(o.Fields) != 1 {
		return ""
	}
	var known []report.Finding
	for _, p := range r.Plan {
		known = slices.Concat(known, p.Fields, p.Prune)
	}
	for _, object := range releaseOf(r).Objects {
		known = append(known, object.Fields...)
	}
	i := slices.IndexFunc(known, func(f report.Finding) bool { return f.ID == o.Fields[0] })
	if i < 0 {
		return ""
	}
	return known[i].Path
}

// fixSummary says in the last lines what is true now.
func (t *text) fixSummary(r *report.FixResult) []string {
	said, done := "", doneOf(r)
	switch {
	case r.DryRun != "" && len(r.Plan) > 0:
		said = "nothing was written; " + tried(r)
	case done != "":
		said = done
	case len(r.Plan) > 0:
		said = "nothing was written"
	default:
		said = "nothing to put back"
	}
	if r.After == nil {
		return []string{said, "the release could not be compared again, so what remains is not known"}
	}
	c := tally(r.After)
	lines := []string{join("; ", t.standing(r, &c, said), c.extras(r.After.Summary))}
	return append(lines, c.incomplete(r.After.Summary)...)
}

// tried says what would be written if it were no dry run. Of what the server would take it tells nothing more.
func tried(r *report.FixResult) string {
	taken := slices.DeleteFunc(slices.Clone(r.Plan), func(p report.FixPlan) bool {
		return slices.ContainsFunc(r.Results, func(o report.FixOutcome) bool { return o.Object == p.Object && !left(r, o) })
	})
	if len(taken) == 0 {
		return "the server would take none of it"
	}
	return "--yes in place of --dry-run " + enumerate(workOf(taken).clauses("puts back", "prunes", "creates", handsOver))
}

// doneOf says what was put back; empty where it is nothing.
func doneOf(r *report.FixResult) string {
	fields, prunes, objects, handOvers := 0, 0, 0, 0
	for _, o := range r.Results {
		i := slices.IndexFunc(r.Plan, func(p report.FixPlan) bool { return p.Object == o.Object })
		if i < 0 || o.Status != report.FixFixed || r.DryRun != "" {
			continue
		}
		p := r.Plan[i]
		fields, prunes = fields+countOf(p.Fields, o.Fields), prunes+countOf(p.Prune, o.Fields)
		objects += one(p.Create)
		handOvers += one(ownershipOnly(p))
	}
	var said []string
	if put := counted(fields, objects); put != "" {
		said = append(said, put+" put back")
	}
	if prunes > 0 {
		said = append(said, plural(prunes, "field")+" pruned")
	}
	if handOvers > 0 {
		said = append(said, "the ownership of "+plural(handOvers, "object")+" handed over")
	}
	return strings.Join(said, ", ")
}

// countOf counts those findings that have one of the ids; all of them where there are no ids.
func countOf(fields []report.Finding, ids []string) int {
	n := 0
	for _, f := range fields {
		n += one(len(ids) == 0 || slices.Contains(ids, f.ID))
	}
	return n
}

// standing puts what was done together with what remains. That the release is as Helm deployed it is said only where all of
// it was seen.
func (t *text) standing(r *report.FixResult, c *counts, said string) string {
	rel := releaseOf(r)
	fields, objects := rel.ToPutBack()
	remains := counted(fields, objects)
	switch {
	case r.DryRun != "" && len(r.Plan) > 0:
		return said
	case remains == "" && r.After.HasError():
		return said + "; no drift seen, but not all was"
	case remains == "" && unfinished(r):
		return said
	case remains == "" && ruled(r.After) > 0:
		return t.label(r.Name) + " is as Helm deployed it, but for what rules ignore: " + said
	case remains == "":
		return t.label(r.Name) + " is as Helm deployed it: " + said
	}
	verb := " remain"
	if fields+objects == 1 {
		verb = " remains"
	}
	names := ""
	if fields+objects <= maxRemaining {
		names = strings.Join(t.remaining(rel), ", ")
	}
	return join("; ", said, join(": ", remains+verb, names))
}

// unfinished tells whether anything of the plan was not put back, which a comparison need not show: ownership is no drift.
func unfinished(r *report.FixResult) bool {
	return slices.ContainsFunc(r.Results, func(o report.FixOutcome) bool { return o.Status != report.FixFixed && !r.IsNoDrift(o) }) ||
		len(r.Plan) > 0 && (len(r.Results) == 0 || r.DryRun != "")
}

// remaining names what drifted still.
func (t *text) remaining(rel report.Release) []string {
	var names []string
	for _, o := range rel.Objects {
		name := t.keyed(o.Key().String(), rel.Namespace)
		drifted, gone := o.ToPutBack()
		if gone {
			names = append(names, name)
		}
		for _, f := range drifted {
			names = append(names, t.text(f.Path)+" of "+name)
		}
	}
	return names
}
