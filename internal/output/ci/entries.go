package ci

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Options say what a report cannot know.
type Options struct {
	// Fails reports whether an object or the release as a whole, if the object is nil, sets the exit code. If it is nil, nothing does.
	Fails func(release *report.Release, o *report.Object) bool
	// Lacks reports whether the exit code depends on effects of the release that are not known. If it is nil, it never does.
	Lacks func(release *report.Release) bool
	// FailsOn reports whether orphans or overlaps, by their words of --fail-on, set the exit code. If it is nil, they do not.
	FailsOn func(word string) bool
	// ChartDir is the folder of the chart, relative to the root of the repository, or empty if there is none. The paths of templates
	// begin with it.
	ChartDir string
}

// lacks calls Lacks.
func (o Options) lacks(release *report.Release) bool { return o.Lacks != nil && o.Lacks(release) }

// fails calls Fails.
func (o Options) fails(release *report.Release, of *report.Object) bool {
	return o.Fails != nil && o.Fails(release, of)
}

// level is how bad an entry is.
type level int

// These are the levels, the worst first.
const (
	levelError level = iota
	levelWarning
	levelNote
	// levelSilent is for what a rule, a class or the baseline silences.
	levelSilent
)

// entry is one thing that a report says: an error, what happens to a whole object, or a finding.
type entry struct {
	// rule is the stable name of the kind of the entry; see rules.
	rule  string
	level level
	// release is nil for an entry about something that could not be searched, and object is nil for an entry about a release.
	release *report.Release
	object  *report.Object
	// finding is nil for an entry that is not about a field.
	finding *report.Finding
	// subject names the object, or the release. Path, change and by are the field, its sides that differ and the writer of the live
	// value; they are empty if the entry is not about a field. Says is the rest of the sentence, and note is the part of it that the rule
	// does not say already. All are escaped for use within a line.
	subject, path, change, by, says, note string
	// message is what somebody else says of the subject, as it is. It is empty for most entries.
	message string
	// id is the part of the fingerprint that tells entries of a release apart.
	id string
	// silencedBy is the reason why the entry is silent, or empty if there is nothing to say.
	silencedBy string
}

// text returns what is said of the subject in one line.
func (e entry) text() string {
	if e.path == "" {
		return e.says
	}
	text := e.path + ": " + e.change
	if e.by != "" {
		text += " (" + e.by + ")"
	}
	return text + "; " + e.says
}

// isSilent reports whether something silences the entry.
func (e entry) isSilent() bool { return e.level == levelSilent }

// byLevel orders entries by their level, the worst first.
func byLevel(a, b entry) int { return int(a.level - b.level) }

// sentence returns the entry in one line.
func (e entry) sentence() string { return e.subject + ": " + e.text() }

// rule is a kind of entry.
type rule struct{ id, text string }

// rules returns all kinds of entries: one for each verdict on a field, one for what happens to whole objects, and one for errors.
func rules() []rule {
	return []rule{
		{"error", "Something could not be read or compared."},
		{"fail", "Helm fails on the object."},
		{"conflict", "Helm fails on the field, because another field manager owns it."},
		{"missing", "The object was deployed, and the cluster does not have it."},
		{"terminating", "The object was deployed, and it is being deleted."},
		{"overwrite", "Helm overwrites the live value of the field."},
		{"add", "Helm adds the field."},
		{"remove", "Helm removes the field."},
		{"ignore", "Helm leaves the field as it is."},
		{"create", "Helm creates the object."},
		{"adopt", "Helm takes over an object that the release did not create."},
		{"replace", "Helm replaces the object."},
		{"delete", "Helm deletes the object."},
		{"disputed", "The API server contradicts the prediction."},
		{"uninstall", "The controller that deploys the release uninstalls it."},
		{"orphan", "No manifest of a release has the object any more, and no upgrade deletes it."},
		{"overlap", "Several deployers claim the object, and each writes its own manifest."},
		{"unknown", "The report has a word that this version of helmdrift does not know."},
	}
}

// entriesOf returns the entries of a report: what could not be searched first, and then release by release, each in the order of the
// report.
func entriesOf(r *report.Report) []entry {
	var out []entry
	for _, e := range r.Errors {
		out = append(out, entry{
			rule: "error", level: levelError, subject: SearchName(e), says: line(e.Message), id: e.Cluster + "/" + e.Namespace + "/" + e.Code,
		})
	}
	for i := range r.Releases {
		out = append(out, releaseEntries(&r.Releases[i])...)
	}
	number(out)
	return append(out, claimEntries(r.Scan)...)
}

// number distinguishes errors that have the same subject and code, such as two lists of a namespace that were refused. GitLab drops one of
// two issues with the same fingerprint. The message of an error is no part of its fingerprint: it may have a port or a time.
func number(all []entry) {
	seen := map[string]int{}
	for i := range all {
		if all[i].rule != "error" {
			continue
		}
		fingerprint := all[i].fingerprint()
		if seen[fingerprint]++; seen[fingerprint] > 1 {
			all[i].id += fmt.Sprintf("#%d", seen[fingerprint])
		}
	}
}

// claimEntries returns the entries of the objects that the wrong number of deployers claim. Nothing is wrong with one that Helm was asked
// to keep.
func claimEntries(scan *report.Scan) []entry {
	if scan == nil {
		return nil
	}
	var out []entry
	style := layout.NewStyle(layout.Options{Unicode: true})
	for _, o := range scan.Orphans {
		e := entry{rule: "orphan", level: levelWarning, id: o.Cluster}
		if o.Kept {
			e.level = levelNote
		}
		e.subject, e.says = style.Orphan(o, true)
		out = append(out, e)
	}
	for _, o := range scan.Overlaps {
		e := entry{rule: "overlap", level: levelWarning, id: o.Cluster}
		e.subject, e.says = style.Overlap(o, true)
		out = append(out, e)
	}
	return out
}

// SearchName names what could not be searched.
func SearchName(e report.ScanError) string {
	switch {
	case e.Namespace != "" && e.Cluster != "":
		return line("namespace " + e.Namespace + " on " + e.Cluster)
	case e.Namespace != "":
		return line("namespace " + e.Namespace)
	case e.Cluster != "":
		return line("cluster " + e.Cluster)
	}
	return "cluster"
}

// releaseEntries returns the entries of a release.
func releaseEntries(r *report.Release) []entry {
	var out []entry
	for _, m := range r.Errors {
		out = append(out, entry{rule: "error", level: levelError, release: r, subject: ReleaseName(r), says: line(m.Message),
			message: m.Message, id: m.Code + m.Object})
	}
	if r.Terminating {
		out = append(out, entry{rule: "terminating", level: levelWarning, release: r, subject: ReleaseName(r),
			says: "its namespace is being deleted"})
	}
	if r.Deployer.Uninstalls() {
		out = append(out, entry{rule: "uninstall", level: levelError, release: r, subject: ReleaseName(r), says: line(r.Deployer.Says())})
	}
	for i := range r.Objects {
		out = append(out, objectEntries(r, &r.Objects[i])...)
	}
	return out
}

// objectEntries returns the entries of an object: one for the object as a whole, if there is something to say, and one for each finding.
func objectEntries(r *report.Release, o *report.Object) []entry {
	var out []entry
	if e, ok := wholeEntry(r, o); ok {
		out = append(out, e)
	}
	disputed := entry{rule: "disputed", level: levelError, release: r, object: o, subject: objectName(o), id: o.ID}
	if o.Disputed() {
		disputed.says = "the API server contradicts the prediction: " + line(o.DryRun.Message)
		out = append(out, disputed)
	}
	for i := range o.Fields {
		out = append(out, fieldEntry(r, o, &o.Fields[i]))
	}
	if d := o.DryRun; d != nil && d.Result == report.DryRunDisagrees && !o.Disputed() { // a note, which sets no exit code and heads no list
		disputed.level, disputed.says = levelNote, "the API server contradicts an uncertain prediction: "+line(d.Message)
		out = append(out, disputed)
	}
	return out
}

// wholeEntry returns the entry of an object as a whole, and false if there is nothing to say.
func wholeEntry(r *report.Release, o *report.Object) (entry, bool) {
	e := entry{release: r, object: o, subject: objectName(o), id: o.ID, level: levelNote}
	op := operation(r)
	switch {
	case o.Error != nil:
		e.rule, e.level, e.says, e.message = "error", levelError, "could not be compared: "+line(o.Error.Message), o.Error.Message
		return e, true
	case o.Missing:
		e.rule, e.level, e.says = "missing", levelWarning, "missing; "+op+" "+does(o)
	case o.Terminating:
		e.rule, e.level, e.says = "terminating", levelWarning, "being deleted; "+op+" "+does(o)
	case o.Action == report.ActionFail:
		e.rule, e.level, e.says, e.message = "fail", levelError, op+" "+does(o), o.Reason
	case o.Action == report.ActionCreate, o.Action == report.ActionDelete, o.Action == report.ActionReplace, o.Action == report.ActionAdopt:
		e.rule, e.says = string(o.Action), op+" "+does(o)
	default:
		return entry{}, false
	}
	if o.Effect != nil {
		e.says += "; " + line(o.Effect.Text)
	}
	e.silence(o.IgnoredBy)
	return e, true
}

// does returns what Helm does with an object as a whole, with its reason.
func does(o *report.Object) string {
	words := map[report.Action]string{
		report.ActionNone: "leaves it as it is", report.ActionUpdate: "updates it", report.ActionReplace: "replaces it whole",
		report.ActionCreate: "creates it", report.ActionDelete: "deletes it", report.ActionAdopt: "adopts it",
		report.ActionKeep: "drops it from the release and leaves it in the cluster", report.ActionFail: "fails on it",
		report.ActionSkip: "does not reach it",
	}
	said, known := words[o.Action]
	if !known {
		said = line(string(o.Action))
	}
	if o.Reason != "" {
		said += " (" + line(o.Reason) + ")"
	}
	return said
}

// fieldEntry returns the entry of a finding.
func fieldEntry(r *report.Release, o *report.Object, f *report.Finding) entry {
	e := entry{
		rule: ruleOf(f.Verdict), level: levelNote, release: r, object: o, finding: f, subject: objectName(o), path: line(f.Path),
		id: f.ID + string(f.Cause),
	}
	switch {
	case f.Verdict == report.Conflict:
		e.level = levelError
	case f.Drifted():
		e.level = levelWarning
	}
	e.change, e.by, e.note = values(r, f), owners(f), noteOn(r, f)
	e.says = layout.JoinNonEmpty("; ", operation(r)+" "+effectOn(f), inside(f.Inside), knownChange(f))
	if notes := f.Notes.String(); notes != "" {
		e.says += " (" + line(notes) + ")"
	}
	e.silence(f.IgnoredBy)
	if f.Silenced() && !e.isSilent() {
		e.level, e.silencedBy = levelSilent, line(string(f.Class))
	}
	return e
}

// ruleOf returns the rule of a verdict. A saved report may have a verdict that is no word of ours.
func ruleOf(v report.Verdict) string {
	switch v {
	case report.Overwrite, report.Add, report.Remove, report.Ignore, report.Conflict:
		return string(v)
	}
	return "unknown"
}

// silence makes the entry silent if a rule silences it.
func (e *entry) silence(rule *report.IgnoreRule) {
	if rule != nil {
		e.level, e.silencedBy = levelSilent, line(strings.TrimSpace(rule.Rule+" "+rule.Reason))
	}
}

// effectOn returns what the operation does with a field.
func effectOn(f *report.Finding) string {
	words := map[report.Verdict]string{
		report.Overwrite: "overwrites it", report.Add: "adds it", report.Remove: "removes it", report.Ignore: "leaves it as it is",
		report.Conflict: "fails on it",
	}
	said, known := words[f.Verdict]
	switch {
	case !known:
		return line(string(f.Verdict))
	case f.Blocked && f.Verdict != report.Conflict:
		return "does not reach it"
	case !f.Managed && f.Verdict == report.Ignore:
		return "leaves it, since no manifest names it"
	}
	return said
}

// noteOn returns what is said of a finding beside its verdict, its path, its sides and its owners.
func noteOn(r *report.Release, f *report.Finding) string {
	why := ""
	switch {
	case f.Blocked && f.Verdict != report.Conflict:
		why = operation(r) + " does not reach it"
	case !f.Managed && f.Verdict == report.Ignore:
		why = "no manifest names it"
	}
	return layout.JoinNonEmpty("; ", why, knownChange(f), inside(f.Inside), line(f.Notes.String()))
}

// maxInside is how many changes inside a document are named.
const maxInside = 3

// inside says in a clause what differs inside the documents of a finding. It is empty if the sides are not documents. It leaves out
// values, because the values of the finding stand beside it.
func inside(in *report.Inside) string {
	if in == nil {
		return ""
	}
	if in.OnlyFormatting {
		return "only formatting differs"
	}
	var said layout.Clauses
	for _, c := range in.Changes[:min(maxInside, len(in.Changes))] {
		said = append(said, shorten(line(c.Path), maxValue)+" "+line(c.Change))
	}
	more := len(in.Changes) - len(said) + in.More
	said.AddIf(more > 0, fmt.Sprintf("%d more", more))
	return "inside: " + strings.Join(said, ", ")
}

// knownChange says that the baseline has the finding with another live value. It is empty if it has not.
func knownChange(f *report.Finding) string {
	if f.KnownLive == nil {
		return ""
	}
	return "known, value changed " + value(f.KnownLive) + " → " + value(f.Live)
}

// values returns the sides of a finding that differ: old and live for drift, and all three if a preview finds live different from old.
func values(r *report.Release, f *report.Finding) string {
	switch old, desired, live := value(f.Old), value(f.Desired), value(f.Live); {
	case f.Masked:
		return "secret values differ"
	case r.Operation == report.OperationDrift || f.Desired == nil && f.Old == nil:
		return old + " → " + live
	case f.Cause == report.CauseChange:
		return old + " → " + desired
	default:
		return "was " + old + ", is " + live + ", becomes " + desired
	}
}

// maxValue is how many characters of a value are shown.
const maxValue = 160

// isAmbiguous reports whether a text could be taken for another value in JSON or for an absent side.
func isAmbiguous(text string) bool {
	return text == "" || strings.ContainsRune(`("{[`, rune(text[0])) || json.Valid([]byte(text))
}

// value returns a value in one line: a text as it is unless it is ambiguous, and everything else as JSON.
func value(v any) string {
	text, isText := v.(string)
	switch {
	case v == nil:
		return layout.Absent
	case isText && !isAmbiguous(text):
	default:
		encoded, err := layout.RawJSON(v, "")
		if err != nil {
			return "(unreadable)"
		}
		text = encoded
	}
	return shorten(line(text), maxValue)
}

// shorten returns a text of at most n characters.
func shorten(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

// owners returns who wrote the live value, or an empty text if nobody knows.
func owners(f *report.Finding) string {
	var names []string
	for _, o := range f.Owners {
		name := line(o.Manager)
		if o.Subresource != "" {
			name += "/" + line(o.Subresource)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// operation returns the operation of a release as the subject of a sentence.
func operation(r *report.Release) string { return counts.OperationName(r.Operation) }

// ReleaseName names a release: its name and namespace, and its cluster if that is known.
func ReleaseName(r *report.Release) string {
	name := "release " + r.Name + " in " + cmp.Or(r.StorageNamespace, r.Namespace)
	if r.Cluster != "" {
		name += " on " + r.Cluster
	}
	return line(name)
}

// objectName names an object.
func objectName(o *report.Object) string {
	name := cmp.Or(o.Name, o.GenerateName+"*")
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return line(o.Kind + " " + name)
}

// fingerprint identifies the entry in every report of the same release. It depends neither on values nor on the order of a report.
func (e entry) fingerprint() string {
	h := sha256.New()
	parts := []string{e.rule, e.subject, e.path, e.id}
	if e.release != nil {
		parts = append(parts, e.release.Cluster, e.release.StorageNamespace, e.release.Name)
	}
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// file returns the template that the entry is about, relative to the root of the repository, or else a name that says which release it is
// about. Every consumer demands a location.
func (e entry) file(o Options) string {
	switch {
	case e.object != nil && e.object.Source != "":
		chart, template, _ := strings.Cut(e.object.Source, "/")
		if o.ChartDir == "" {
			return cleanPath(path.Join(chart, template))
		}
		return cleanPath(path.Join(o.ChartDir, template))
	case e.release != nil:
		return cleanPath(path.Join("helm", cmp.Or(e.release.Cluster, "cluster"), e.release.StorageNamespace, e.release.Name))
	}
	return "helm"
}

// cleanPath returns a path that leads nowhere above its root, without characters that are not plainly visible.
func cleanPath(p string) string { return strings.TrimPrefix(path.Clean("/"+line(p)), "/") }

// line escapes a foreign text for use within a line.
func line(text string) string { return escape.Text(text, false) }
