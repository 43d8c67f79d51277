package threeway

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// NewReport puts compared releases into one report, in order, and counts them.
func NewReport(version string, now time.Time, releases []ReleaseReport) *Report {
	r := &Report{APIVersion: APIVersion, Kind: KindReport, Helmdrift: version, Time: now.UTC().Truncate(time.Second), Releases: releases}
	for _, release := range releases {
		r.Summary.add(release)
	}
	return r
}

func (s *Summary) add(r ReleaseReport) {
	s.Releases++
	s.Objects += r.Compared
	s.Errors += len(r.Errors)
	if r.Drifted {
		s.DriftedReleases++
	}
	for _, o := range r.Objects {
		if o.Drifted {
			s.DriftedObjects++
		}
		if o.Missing && o.IgnoredBy == nil {
			s.Missing++
		}
		if o.Terminating && o.IgnoredBy == nil {
			s.Terminating++
		}
		if o.Error != nil {
			s.Errors++
		}
		for _, f := range o.Fields {
			s.addField(f)
		}
	}
}

func (s *Summary) addField(f FieldFinding) {
	if f.Silenced() {
		s.Ignored++
		return
	}
	if f.Managed {
		s.Managed++
	} else {
		s.Unmanaged++
	}
	switch f.Verdict {
	case Add:
		s.Fields.Add++
	case Remove:
		s.Fields.Remove++
	case Overwrite:
		s.Fields.Overwrite++
	case Ignore:
		s.Fields.Ignore++
	case Conflict:
		s.Fields.Conflict++
	}
}

// Silenced tells whether the finding is listed and counted as ignored only. A volatile finding is silenced where live has
// not left old.
func (f FieldFinding) Silenced() bool {
	return f.IgnoredBy != nil || f.Class == ClassAutoscaled || f.Class == ClassVolatile && f.Cause == CauseChange
}

// Drifted reports whether the finding makes its object drifted: managed, and live has moved. Where live means the same as old, it has
// moved only if Helm fails on it.
func (f FieldFinding) Drifted() bool {
	return f.Managed && f.Cause != CauseChange && !(f.Equivalent && f.Verdict != Conflict) && !f.Silenced()
}

// Writes tells whether an upgrade would send a write for the object that has an effect.
func (a Action) Writes() bool {
	switch a {
	case ActionUpdate, ActionReplace, ActionCreate, ActionDelete, ActionAdopt:
		return true
	case ActionNone, ActionKeep, ActionFail, ActionSkip:
	}
	return false
}

// Report makes the part of a Report that speaks of this release. It is the only way from clear values to what is written.
func (c *Comparison) Report(mask Mask) ReleaseReport {
	in := c.Input
	scrub := func(text string) string { return text }
	if !mask.Show {
		scrub = c.Scrub
	}
	r := ReleaseReport{
		Name: in.Name, Namespace: in.Namespace, StorageNamespace: in.StorageNamespace, Cluster: in.Cluster,
		Terminating: in.Terminating[in.Namespace] || in.Terminating[in.StorageNamespace],
		Operation:   in.Operation, Old: in.Old, Last: in.Last, Desired: in.Desired, ApplyMethod: in.ApplyMethod,
		Warnings: scrubbed(in.Warnings, scrub), Errors: scrubbed(in.Errors, scrub), NotCompared: orEmpty(in.NotCompared),
		Objects: []ObjectReport{}, Compared: len(c.Objects),
	}
	if d := c.Deployer(); in.serverSide() && d.Known {
		r.FieldManager = d.Manager
	}
	r.Drifted = r.Terminating
	for i := range c.Objects {
		o := &c.Objects[i]
		r.Drifted = r.Drifted || o.Drifted()
		if o.speaks() {
			r.Objects = append(r.Objects, o.report(c.masker(o, mask)))
		}
	}
	return r
}

func scrubbed(messages []Message, scrub func(string) string) []Message {
	out := make([]Message, len(messages))
	for i, m := range messages {
		m.Message = scrub(m.Message)
		out[i] = m
	}
	return out
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (o *ObjectComparison) report(mask *masker) ObjectReport {
	scrub := mask.scrub
	out := ObjectReport{
		ID:         hashOf(o.key.String(), string(o.Action), goneWord(o)),
		APIVersion: o.APIVersion(), Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, GenerateName: o.GenerateName,
		Source: o.Source, Action: o.Action, Reason: scrub(o.Reason), BlockedBy: o.BlockedBy, Engine: o.Engine,
		Missing: o.Missing, Terminating: o.Terminating, Drifted: o.Drifted(), Note: scrub(o.Note), DryRun: o.DryRun.shown(scrub),
		Fields:    []FieldFinding{},
		IgnoredBy: o.IgnoredBy.shown(scrub), Controllers: o.Controllers, Forgotten: o.Forgotten,
	}
	if out.OnlyConflicts = o.onlyConflicts; out.OnlyConflicts && o.IgnoredBy == nil {
		out.IgnoredBy = o.conflictsIgnoredBy.shown(scrub)
	}
	if o.Err != nil {
		out.Error = &ObjectError{Code: o.Err.Code, Message: scrub(o.Err.Message)}
	}
	for _, f := range o.Findings {
		out.Fields = append(out.Fields, o.fieldReport(f, mask))
	}
	return out
}

// goneWord is what the identifier of an object says of its absence.
func goneWord(o *ObjectComparison) string {
	switch {
	case o.Missing:
		return "missing"
	case o.Terminating:
		return "terminating"
	}
	return ""
}

func (o *ObjectComparison) fieldReport(f Finding, mask *masker) FieldFinding {
	out := FieldFinding{
		ID: hashOf(o.key.String(), mask.hidden(f.Path).String(), string(f.Verdict)), Path: mask.path(f.Path).String(),
		Verdict: f.Verdict, Cause: f.Cause, Managed: f.Managed, Certain: f.Certain, Class: f.Class, Template: f.Template,
		Note: mask.scrub(f.Note), Equivalent: f.Equivalent, Blocked: f.Blocked, Owners: f.Owners, IgnoredBy: f.IgnoredBy.shown(mask.scrub),
		Pattern: mask.pattern(f.Path), Masked: mask.hides(f), Unrecorded: f.Unrecorded,
	}
	out.Pointer, out.DesiredPointer = o.pointers(f.Path)
	if !out.Masked {
		out.Old, out.Desired, out.Live, out.After = f.Old, f.Desired, f.Live, f.After
	}
	return out
}

// shown is the rule as a report has it: its name may have the path that somebody wrote.
func (r *IgnoreRule) shown(scrub func(string) string) *IgnoreRule {
	if r == nil {
		return nil
	}
	return &IgnoreRule{Rule: scrub(r.Rule), Reason: scrub(r.Reason)}
}

// pointers leads into live as it was read, or, where live lacks the field, into what Helm would send: at most one is not
// empty. What a Secret's manifest writes as stringData is compared as data, and pointed at where it stands.
func (o *ObjectComparison) pointers(path Path) (live, desired string) {
	if pointer, ok := path.PointerInto(o.liveText, o.Live); ok {
		return pointer.String(), ""
	}
	if len(path) == 2 && path[0].Name == "data" && has(child(o.desiredText, "stringData"), path[1].Name) {
		return "", Pointer{"stringData", path[1].Name}.String()
	}
	if pointer, ok := path.PointerInto(o.desiredText, o.Desired); ok {
		return "", pointer.String()
	}
	return "", ""
}

// hashOf gives a short stable identifier of its parts.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Quiet reports whether there is nothing to report: every object was seen, none has anything to say, and no namespace is going.
func (c *Comparison) Quiet() bool {
	return len(c.Input.Terminating) == 0 && !slices.ContainsFunc(c.Objects, ObjectComparison.speaks)
}

// speaks reports whether a report lists the object: it has a finding, an action, a remark, a value by forgotten writers, could not be seen,
// or the server disagrees.
func (o ObjectComparison) speaks() bool {
	disagrees := o.DryRun != nil && o.DryRun.Result == dryRunDisagrees
	return len(o.Findings) > 0 || o.Action != ActionNone || o.Err != nil || o.Note != "" || o.Forgotten > 0 || disagrees
}

// HasError tells whether anything could not be seen.
func (r *Report) HasError() bool {
	return slices.ContainsFunc(r.Releases, func(rel ReleaseReport) bool {
		return len(rel.Errors) > 0 || slices.ContainsFunc(rel.Objects, func(o ObjectReport) bool { return o.Error != nil })
	})
}

// Disputed tells whether the API server, where it was asked, said otherwise of an object of which all was certain.
func (r *Report) Disputed() bool {
	return slices.ContainsFunc(r.Releases, func(rel ReleaseReport) bool { return slices.ContainsFunc(rel.Objects, ObjectReport.disputed) })
}

func (o ObjectReport) disputed() bool {
	return o.DryRun != nil && o.DryRun.Result == dryRunDisagrees && !slices.ContainsFunc(o.Fields, func(f FieldFinding) bool { return !f.Certain })
}
