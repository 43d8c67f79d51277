package threeway

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Report returns the part of a report that describes this release, with an empty Effect and without a Patch. It is the only way from clear
// values to output. The report shares its values with c: replace them, but do not change their contents.
func (c *Comparison) Report(mask Mask) report.Release {
	in := c.Input
	scrub := func(text string) string { return text }
	if !mask.Show {
		scrub = c.Scrub
	}
	r := report.Release{
		Name: in.Name, Namespace: in.Namespace, StorageNamespace: in.StorageNamespace, Cluster: in.Cluster,
		Terminating: in.Terminating[in.Namespace] || in.Terminating[in.StorageNamespace],
		Operation:   in.Operation, Old: in.Old, Last: in.Last, Desired: in.Desired, ApplyMethod: in.ApplyMethod,
		Warnings: scrubbed(c.Warnings, scrub), Errors: scrubbed(c.Errors, scrub), NotCompared: append([]report.NotCompared{}, in.NotCompared...),
		Objects: []report.Object{}, Compared: len(c.Objects),
	}
	if d := c.Deployer(); in.ServerSide() && d.Known {
		r.FieldManager = d.Manager
	}
	for i := range c.Objects {
		o := &c.Objects[i]
		r.Drifted = r.Drifted || o.Drifted()
		if o.isReported() {
			shown := o.report(c.masker(o, mask))
			shown.Notes.Add(deletionNote(o, c.Objects))
			r.Objects = append(r.Objects, shown)
		}
	}
	r.Drifted = r.HasDrifted()
	if c.Interrupted() && !mask.Show {
		// Every text is masked now, also those that findings are known by.
		r.Warnings, r.Objects, r.Terminating, r.Drifted, r.Compared = []report.Message{}, []report.Object{}, false, false, 0
		r.Errors = []report.Message{{
			Code: report.ErrorInterrupted, Message: "interrupted before all secrets in it were found, so nothing of it is shown",
		}}
	}
	return r
}

func scrubbed(messages []report.Message, scrub func(string) string) []report.Message {
	out := make([]report.Message, len(messages))
	for i, m := range messages {
		m.Message = scrub(m.Message)
		out[i] = m
	}
	return out
}

func (o *ObjectComparison) report(mask *masker) report.Object {
	scrub := mask.scrub
	out := report.Object{
		ID:         hashOf(o.key.String(), string(o.Action), absenceID(o)),
		APIVersion: o.APIVersion(), Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, GenerateName: o.GenerateName,
		Source: o.Source, Action: o.Action, Reason: scrub(o.Reason), BlockedBy: o.BlockedBy, Engine: o.Engine,
		Missing: o.Missing, Terminating: o.Terminating, Drifted: o.Drifted(), Notes: o.Notes.Map(scrub), DryRun: shownDryRun(o.DryRun, scrub),
		Fields:    []report.Finding{},
		IgnoredBy: shownRule(o.IgnoredBy, scrub), Controllers: o.Controllers, Forgotten: o.Forgotten, Error: o.Err.Map(scrub),
	}
	if out.OnlyConflicts = o.failure.onlyConflicts; out.OnlyConflicts && o.IgnoredBy == nil {
		out.IgnoredBy = shownRule(o.conflictsIgnoredBy, scrub)
	}
	for _, f := range o.Findings {
		out.Fields = append(out.Fields, o.fieldReport(f, mask))
	}
	return out
}

// absenceID returns the part of an object's identifier that describes its absence.
func absenceID(o *ObjectComparison) string {
	switch {
	case o.Missing:
		return "missing"
	case o.Terminating:
		return "terminating"
	}
	return ""
}

func (o *ObjectComparison) fieldReport(f verdict.Finding, mask *masker) report.Finding {
	out := report.Finding{
		ID: hashOf(o.key.String(), mask.hiddenPath(f.Path).String(), string(f.Verdict)), Path: mask.shownPath(f.Path).String(),
		Verdict: f.Verdict, Cause: f.Cause, Managed: f.Managed, Certain: f.Certain, Class: f.Class, Template: f.Template,
		Notes: f.Notes.Map(mask.scrub), Equivalent: f.Equivalent, Blocked: f.Blocked, Owners: f.Owners,
		IgnoredBy: shownRule(f.IgnoredBy, mask.scrub), Pattern: mask.pattern(f.Path), Unrecorded: f.Unrecorded,
		Masked: mask.hides(f.Path, f.Old, f.Desired, f.Live, f.After),
	}
	if !mask.hidesName(f.Path) {
		out.Pointer, out.DesiredPointer = o.pointers(f.Path)
	}
	if !out.Masked {
		out.Old, out.Desired, out.Live, out.After = f.Old, f.Desired, f.Live, f.After
		out.Inside = o.inside(f, mask)
	}
	return out
}

// hides reports whether the values at a path are masked.
func (m *masker) hides(path object.Path, values ...any) bool {
	if m.showsAll {
		return false
	}
	place := m.placeAt(path)
	return slices.ContainsFunc(values, func(v any) bool { return place.Holds(v) || m.known.Holds(v) })
}

// shownRule returns a rule with secrets replaced: a path that somebody wrote may hold one.
func shownRule(r *report.IgnoreRule, scrub func(string) string) *report.IgnoreRule {
	if r == nil {
		return nil
	}
	return &report.IgnoreRule{Rule: scrub(r.Rule), Reason: scrub(r.Reason), Origin: r.Origin}
}

// pointers returns the pointer of a path into live as it was read, or, if live lacks the field, into what Helm would send. At most one of
// the two is not empty. The stringData of a Secret's manifest is compared as data, but its pointer leads to stringData.
func (o *ObjectComparison) pointers(path object.Path) (live, desired string) {
	if pointer, ok := path.PointerInto(o.liveText, o.Live); ok {
		return pointer.String(), ""
	}
	if len(path) == 2 && path[0].Name == "data" && object.Has(object.Child(o.desiredText, "stringData"), path[1].Name) {
		return "", object.Pointer{"stringData", path[1].Name}.String()
	}
	if pointer, ok := path.PointerInto(o.desiredText, o.Desired); ok {
		return "", pointer.String()
	}
	return "", ""
}

// hashOf returns a short stable identifier of its parts.
func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:8])
}

// Quiet reports whether there is nothing to report: every object was read, none is reported, and no namespace is being deleted.
func (c *Comparison) Quiet() bool {
	return len(c.Input.Terminating) == 0 && !slices.ContainsFunc(c.Objects, ObjectComparison.isReported)
}

// isReported reports whether a report lists the object. It does if the object has a finding, an action, a note or a value by forgotten
// writers, if it could not be read, or if the server disagrees with the prediction or could not be asked.
func (o ObjectComparison) isReported() bool {
	unproved := o.DryRun != nil && o.DryRun.Result != report.DryRunAgrees
	return len(o.Findings) > 0 || o.Action != report.ActionNone || o.Err != nil || len(o.Notes) > 0 || o.Forgotten > 0 || unproved
}

// CustomVersions returns the API versions of the objects of custom kinds.
func (c *Comparison) CustomVersions() report.CustomVersions {
	out := report.CustomVersions{}
	for i := range c.Objects {
		o := &c.Objects[i]
		out.Add(report.ObjectKey{Key: o.key}, o.APIVersion(), o.Engine)
	}
	return out
}
