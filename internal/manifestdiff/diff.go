package manifestdiff

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// differ makes one diff.
type differ struct {
	comparison *threeway.Comparison
	release    report.Release
	show       bool
	documents  []*document
	// toLive is set if the new manifest has live's values.
	toLive bool
	// leftOut says what is left out.
	leftOut []string
}

// Diff returns the difference between a manifest, as helm get manifest prints it, and what its release has become. Manifest is the text of
// the record without the line break that Helm adds; it is empty if there is no release. Release is the report of the comparison: Diff
// leaves out findings that it masks or silences. Show is set to show secrets.
func Diff(manifest string, c *threeway.Comparison, release report.Release, show bool) *report.Patch {
	if release.Operation != report.OperationInstall {
		manifest += "\n"
	}
	d := differ{comparison: c, release: release, show: show, documents: split(manifest)}
	d.toLive = release.Operation == report.OperationDrift
	for _, o := range release.Objects {
		d.object(o)
	}
	return &report.Patch{Hunks: d.hunks(), LeftOut: d.leftOut}
}

// leaveOut notes that something is left out.
func (d *differ) leaveOut(what, why string) {
	line := d.scrub(what) + " is left out: " + why
	if !slices.Contains(d.leftOut, line) {
		d.leftOut = append(d.leftOut, line)
	}
}

// scrub replaces the secrets in a text, unless they are shown.
func (d *differ) scrub(text string) string {
	if d.show {
		return text
	}
	return d.comparison.Scrub(text)
}

// title names an object: Deployment web (apps/v1).
func title(o report.Object) string {
	return fmt.Sprintf("%s %s (%s)", o.Kind, o.Name, o.APIVersion)
}

// object changes the document of one object of the report.
func (d *differ) object(o report.Object) {
	compared := d.compared(o)
	document := d.find(o.Key())
	switch {
	case o.Error != nil:
		d.leaveOut(title(o), o.Error.Message)
	case compared == nil:
	case document == nil && !d.toLive && compared.Old == nil:
		d.add(o, compared)
	case document == nil:
		if len(o.Fields) > 0 || o.Missing {
			d.leaveOut(title(o), "the manifest has no document of it alone that can be changed")
		}
	case d.toLive && o.Missing || !d.toLive && o.Action == report.ActionDelete:
		document.title, document.removed = title(o), o.IgnoredBy == nil
	case !d.toLive && o.Missing && o.IgnoredBy == nil:
		document.title = title(o)
		d.recreate(o, compared, document)
	default:
		document.title = title(o)
		d.fields(o, compared, document)
	}
}

// compared returns the comparison of an object of the report.
func (d *differ) compared(o report.Object) *threeway.ObjectComparison {
	i := slices.IndexFunc(d.comparison.Objects, func(c threeway.ObjectComparison) bool {
		return c.Ref == o.Ref() && len(c.Findings) == len(o.Fields)
	})
	if i < 0 {
		return nil
	}
	return &d.comparison.Objects[i]
}

// find returns the document of an object, or nil if there is none. If there are several, it returns the last one, as Helm does. An
// object that names no namespace is in the namespace of the release, or in none.
func (d *differ) find(key object.Key) *document {
	for _, document := range slices.Backward(d.documents) {
		ref := document.ref
		namespace := ref.Namespace
		if namespace == "" && key.Namespace == d.release.Namespace {
			namespace = key.Namespace
		}
		if ref.Name != "" && !document.added && key == (object.Key{Group: ref.Group, Kind: ref.Kind, Namespace: namespace, Name: ref.Name}) {
			return document
		}
	}
	return nil
}

// add adds the document of an object that is created.
func (d *differ) add(o report.Object, compared *threeway.ObjectComparison) {
	text, err := yaml.Marshal(object.Copy(compared.Content))
	if err != nil || o.IgnoredBy != nil {
		return
	}
	separator := "---\n"
	if o.Source != "" {
		separator += "# Source: " + strings.ReplaceAll(o.Source, "\n", " ") + "\n"
	}
	d.documents = append(d.documents, &document{separator: separator, edited: string(text), added: true, title: title(o), ref: compared.Ref})
}

// recreate changes the document of an object that is missing and is created again to desired. Such an object has no findings.
func (d *differ) recreate(o report.Object, compared *threeway.ObjectComparison, document *document) {
	wanted, _ := object.Copy(compared.Content).(map[string]any)
	if metadata := object.Child(wanted, "metadata"); document.ref.Namespace == "" {
		delete(metadata, "namespace") // the release has it
	}
	if err := document.write(wanted); err != nil {
		d.leaveOut(title(o), "the text of the document cannot be changed there")
	}
}

// fields changes a document by the findings of its object.
func (d *differ) fields(o report.Object, compared *threeway.ObjectComparison, document *document) {
	wanted, _ := object.Copy(document.content).(map[string]any)
	changed, unreached := 0, 0
	for i, f := range o.Fields {
		t, counts := d.target(f, compared.Findings[i])
		switch {
		case !counts:
		case f.Masked:
			d.leaveOut(title(o)+" "+f.Path, "masked")
		case d.isWhole(t, compared) && t.reached(wanted, document.content, compared.Old):
			changed++
		default:
			unreached++
		}
	}
	if unreached > 0 {
		d.leaveOut(fmt.Sprintf("%s: %s", title(o), english.Count(unreached, "field")), "the text of the manifest cannot say it")
	}
	if changed == 0 {
		return
	}
	wanted, _ = swept(wanted).(map[string]any)
	if err := document.write(wanted); err != nil {
		d.leaveOut(fmt.Sprintf("%s: %s", title(o), english.Count(changed, "field")), "the text of the document cannot be changed there")
	}
}

// isWhole reports whether the value of a target equals the value on its side of the comparison. It does not for a finding about the
// order of a list, whose values are only names, or about several items with the same name, whose value is a list.
func (d *differ) isWhole(t target, compared *threeway.ObjectComparison) bool {
	side := compared.Desired
	if d.toLive {
		side = compared.Live
	}
	value, found := t.path.Lookup(side)
	return !isAmbiguous(t.path, side) && (!found && t.value == nil || found && object.Identical(object.Copy(value), object.Copy(t.value)))
}

// target returns the value that a finding gives its field, or false if the finding is silenced, or changes nothing.
func (d *differ) target(f report.Finding, clear threeway.Finding) (t target, counts bool) {
	t = target{clear.Path, clear.Desired}
	if d.toLive {
		t.value = clear.Live
	}
	isSilent := f.Silenced() || d.toLive && (f.Class == report.ClassAllocated || f.Equivalent)
	return t, !isSilent && !object.Identical(clear.Old, t.value)
}

// side is the manifest before or after the change, line by line.
type side struct {
	// secret and titles have an entry for each line: whether it is secret, and the title of its object.
	secret []bool
	titles []string
}

// add adds a text of a document.
func (s *side) add(d *differ, text, title string) {
	lines := secretLines(text, d.comparison)
	for i, line := range strings.SplitAfter(text, "\n")[:len(lines)] {
		s.secret = append(s.secret, !d.show && (lines[i] || d.comparison.Scrub(line) != line))
		s.titles = append(s.titles, title)
	}
}

// These are the reasons why a hunk is left out.
const (
	masked  = "masked"
	unclear = "a line has characters that a terminal or a CI agent obeys"
)

// hunks returns the hunks of all documents.
func (d *differ) hunks() string {
	var before, after side
	var parts []unified.Part
	for _, document := range d.documents {
		before.add(d, document.before(), document.title)
		after.add(d, document.after(), document.title)
		parts = append(parts, unified.Part{Before: document.before(), After: document.after()})
	}
	var hunks strings.Builder
	skew := 0
	for _, whole := range unified.Hunks(parts...) {
		for _, h := range d.shown(whole, &before, &after) {
			title := titleOf(h, &before, &after)
			if why := d.problem(h, &before, &after); why != "" {
				skew -= h.Added()
				d.leaveOut(title+": a change", why)
				continue
			}
			hunks.WriteString(h.Text(skew, escape.Text(d.scrub(title), false)))
		}
	}
	return hunks.String()
}

// shown returns the changes of a hunk as hunks. A change that cannot be shown is a hunk of its own. The changes between two such changes
// share a hunk, with as much context as possible, down to none.
func (d *differ) shown(whole unified.Hunk, before, after *side) []unified.Hunk {
	var out, run []unified.Hunk
	hasProblem := func(h unified.Hunk) bool { return d.problem(h, before, after) != "" }
	join := func() {
		parts := run
		for n := 3; n >= 0; n-- {
			if parts = unified.Join(run, n); !slices.ContainsFunc(parts, hasProblem) {
				break
			}
		}
		out, run = append(out, parts...), nil
	}
	for _, change := range whole.Changes() {
		if hasProblem(change) {
			join()
			out = append(out, change)
		} else {
			run = append(run, change)
		}
	}
	join()
	return out
}

// titleOf returns the title of the object that a hunk changes first.
func titleOf(h unified.Hunk, before, after *side) string {
	line, isOld := h.First()
	if isOld {
		return before.titles[line]
	}
	return after.titles[line]
}

// problem returns why a hunk cannot be shown, or "" if it can.
func (d *differ) problem(h unified.Hunk, before, after *side) string {
	fromA, toA := h.Old()
	fromB, toB := h.New()
	if slices.Contains(before.secret[fromA:toA], true) || slices.Contains(after.secret[fromB:toB], true) {
		return masked
	}
	_, lines, _ := strings.Cut(h.Text(0, ""), "\n")
	if !d.show && d.comparison.Scrub(unsigned(lines)) != unsigned(lines) {
		return masked
	}
	for line := range strings.Lines(lines) {
		if !isHarmless(line) {
			return unclear
		}
	}
	return ""
}

// unsigned returns the lines of a hunk without their signs.
func unsigned(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(line[1:])
	}
	return b.String()
}

// isHarmless reports whether a line of a hunk may be printed as it is. A tab, and a carriage return at the end, are harmless. GitHub's
// runner removes the blanks before a line, so the sign of a context line does not protect from "::".
func isHarmless(line string) bool {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if !utf8.ValidString(line) || line[0] == ' ' && strings.HasPrefix(strings.TrimSpace(line), "::") {
		return false
	}
	for i, r := range line {
		if r != '\t' && escape.IsHidden(r) || r == '#' && escape.StartsCommand(line[i:]) {
			return false
		}
	}
	return true
}
