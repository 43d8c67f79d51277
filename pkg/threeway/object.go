package threeway

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file compares one object: it finds the live states, decides what Helm does, and compares field by field. decide.go has the decisions
// about objects that are not just updated, and outcome.go what the decisions mean for each other.

// ObjectComparison is one object compared. Besides the fields that are listed here, it has:
//
//	Engine                     report.Engine   the merge that Helm uses; empty if it patches nothing
//	Findings                   []Finding       the fields with a verdict
//	Old, Desired, Live, Result map[string]any  the normal forms that were compared, and live after Helm's write; nil if absent
//	Reason                     string          why Helm takes this Action
//	BlockedBy                  []ObjectKey     the objects that fail, for one that Helm skips because of them
//	OfLast, Uncreatable        bool, string    whether the last revision, which failed, lacks it; why the server refuses its creation
//	Controllers, Forgotten     int             how many fields only controllers, or only forgotten writers, wrote, and no upgrade changes
type ObjectComparison struct {
	// Object is desired's, or old's if desired has none.
	object.Object
	// decision is what was decided about the object by itself. Nobody changes it. Its findings are the findings before the outcome.
	decision
	outcome
	report.ObjectState
	// Err is why the object could not be compared; nil if it was.
	Err   *report.ObjectError
	Notes report.Notes
	// DryRun is the API server's answer to a dry run of the write; nil if there was none.
	DryRun *report.DryRun
	// conflictsIgnoredBy is the rule that silences a failure on conflicts alone.
	conflictsIgnoredBy *report.IgnoreRule

	// key and index are the pair's.
	key   object.Key
	index int
	// remarks describe the faults in the rules of the object's own annotations.
	remarks []string
}

// decision is what Helm does with one object, and the comparison behind it. comparer.decide makes it. Most of its steps add to it, but
// dropOld and mergeVersions replace the findings, and stopInstall changes the failures. Nobody changes it afterwards.
type decision struct {
	fields
	write
	// action and reason are what Helm does if nothing fails. ActionNone with findings that an upgrade writes is an update.
	action report.Action
	reason string
	// failures are everything that Helm fails on, in the order they were found.
	failures             []failure
	missing, terminating bool
	// OfLast is set for a missing object that the last revision no longer has, if that revision failed and so is not old.
	OfLast bool
	// Uncreatable says why the API server is predicted to refuse the creation of the object. It is empty if no refusal is predicted.
	Uncreatable string
	// hook is the position, from 1, of the hook that the object becomes, if the hook runs before Helm writes the manifest.
	hook  int
	notes report.Notes
}

// fields is the result of comparing an object field by field. Its zero value belongs to an object whose fields were not compared.
type fields struct {
	Engine   report.Engine
	Findings []verdict.Finding
	// Old, Desired, Live and Result are the normal forms that were compared; nil if absent.
	Old, Desired, Live, Result map[string]any
	// Controllers and Forgotten count fields that controllers and forgotten writers wrote and no upgrade changes.
	Controllers, Forgotten int

	// liveText is the object as it was read, and desiredText the object that Helm would send. The pointers of a report refer to them.
	liveText, desiredText map[string]any
	// conflict is the API server's message if it rejects a server-side apply because of other managers.
	conflict string
	// invalid is the API server's message if it rejects the result of an apply.
	invalid string
	// lostLabels is why the API server rejects the result if it accepts everything else.
	lostLabels string
	// wantsSchema is set if the definition of the kind would make the prediction better, even if nothing differs.
	wantsSchema bool
	// moves is set if the manifests differ and have different versions. Without the schema the apply may then look like no write, because
	// the list items that it removes are not known.
	moves bool
	// open is set if it is not certain whether an apply fails, because of managers at other versions or an unknown deployer.
	open bool
	// duplicates are items that desired has more than once.
	duplicates []object.Path
	// unpatched is the reason why Helm cannot make a patch. Then the findings follow from the table alone.
	unpatched error
}

// write is how Helm writes an object.
type write struct {
	// method is empty if Helm sends nothing.
	method cluster.Method
	// original is the text that Helm computes a patch from.
	original map[string]any
	// waitsFor names an object of the release that Helm creates first and that this one needs; empty for most.
	waitsFor string
	// exchanged says which Service of the release gives up or gets a number that this one wants, before Helm comes to it; empty for most.
	exchanged string
}

// outcome is what becomes of an object.
type outcome struct {
	// Findings are the fields with a verdict.
	Findings []verdict.Finding
	// Reason says why Helm takes this Action. BlockedBy are the objects whose failure makes Helm skip this one.
	Reason    string
	BlockedBy []report.ObjectKey
	// failure is why Helm fails on the object. It is the zero value if Helm does not fail on it.
	failure failure
	// deletes is set if Helm deletes the object unless another one fails.
	deletes bool
}

// compare compares one object: it finds the live states, decides what Helm does, and applies the ignore rules.
func (c *comparer) compare(p pair) ObjectComparison {
	out := ObjectComparison{Object: *p.subject(), key: p.key, index: p.index}
	c = c.writerOf(p.index, p.subject().Content)
	found, err := c.find(p)
	out.Err = err
	texts := textsOf(p, found.object())
	rules, remarks := ignore.ForObject(c.in.Rules, c.in.Name, out.Ref, texts...)
	d := c.decide(p, found, rules, err)
	out.decision, out.remarks = d, remarks
	out.Missing, out.Terminating = d.missing, d.terminating
	out.IgnoredBy = rules.Object(out.Gone(), texts[0])
	if !slices.ContainsFunc(d.Findings, func(f verdict.Finding) bool { return f.Verdict == report.Conflict && f.IgnoredBy == nil }) {
		out.conflictsIgnoredBy = rules.Conflicts()
	}
	return out
}

// found holds the live states of one object.
type found struct {
	// live was read at desired's version, and was at old's version. The versions may be the same.
	live, was cluster.Live
}

// object returns the live object, at whatever version it was read, or nil if there is none.
func (f found) object() map[string]any {
	if f.live.Object != nil {
		return f.live.Object
	}
	return f.was.Object
}

// find returns the live states of an object. A state that was not read is an error, not an absence.
func (c *comparer) find(p pair) (found, *report.ObjectError) {
	switch main := p.subject(); {
	case main.Name == "" || main.Problem != "" && p.old == nil:
		return found{}, nil
	case main.Problem != "":
		return found{}, c.in.Live[p.old.Ref].Err // it may have drifted
	}
	read := func(ref object.Ref) cluster.Live {
		live, ok := c.in.Live[ref]
		if !ok {
			return cluster.Live{Err: &report.ObjectError{Code: "not-read", Message: ref.Key.String() + " was not read"}}
		}
		return live
	}
	out := found{live: read(p.subject().Ref)}
	if out.was = out.live; p.old != nil && p.old.Ref != p.subject().Ref {
		out.was = read(p.old.Ref)
	}
	return out, cmp.Or(out.live.Err, out.was.Err)
}

// decide returns what Helm does with an object, or the zero decision if the object could not be read.
func (c *comparer) decide(p pair, f found, rules ignore.ObjectRules, unseen *report.ObjectError) decision {
	switch main := p.subject(); {
	case main.Problem != "":
		return decision{failures: []failure{{scope: scopeAll, reason: main.Problem}}}
	case main.Name == "":
		return c.decideUnnamed(p, rules)
	case unseen != nil:
		return decision{}
	}
	d := c.decideNamed(p, f, rules)
	c.refuse(&d, p)
	if note := c.terminatingNote(p.subject().Ref, f.object(), d); note != "" {
		d.terminating = p.old != nil && p.desired != nil
		d.notes = append(report.Notes{note}, d.notes...)
	}
	c.refuseTwoNames(&d, p)
	if p.isDefinition() {
		d.stopInstall(p.desired.Source)
	}
	c.noteControlCharacters(&d, p)
	return d
}

// decideNamed decides about an object that has a name, and so a known live state.
func (c *comparer) decideNamed(p pair, f found, rules ignore.ObjectRules) decision {
	f = c.afterDefinitions(p, f)
	switch {
	case p.isDefinition():
		return c.decideDefinition(p, f, rules)
	case c.isBrought(p, f):
		return c.decideBrought(p)
	case f.was.Absence == cluster.AbsentKind || f.live.Absence == cluster.AbsentKind:
		return c.decideUnserved(p, f, rules)
	case f.live.Object == nil:
		return c.decideMissing(p, f.live.Absence)
	case p.old == nil && c.in.Operation == report.OperationRollback && !c.in.ServerSide():
		return c.decideRolledBack(p, rules, f.live.Object)
	case p.old == nil:
		return c.decideAdopted(p, rules, f.live.Object)
	case p.desired == nil:
		return c.decideDropped(p, rules, f.live.Object)
	case p.old.Version != p.desired.Version:
		return c.decideConverted(p, rules, f.was.Object, f.live.Object)
	}
	return c.decideUpdate(p, rules, f.live.Object, p.old.Content)
}

// decideUpdate decides about an object that Helm patches or replaces. Original is the text that Helm computes its patch from.
func (c *comparer) decideUpdate(p pair, rules ignore.ObjectRules, live, original map[string]any) decision {
	d := decision{fields: c.compareFields(p, rules, live, original)}
	if d.unpatched != nil {
		d.fail(scopeDeletions, d.unpatched.Error())
		return d
	}
	if d.conflict != "" {
		d.failures = append(d.failures, failure{scope: scopeDeletions, reason: conflictError(p.desired.Ref, d.conflict), onlyConflicts: true})
	}
	d.write = write{method: cluster.MethodPatch, original: original}
	if d.Engine == report.EngineReplace {
		d.write = write{method: cluster.MethodReplace}
	}
	return d
}

// fail adds a failure.
func (d *decision) fail(scope scope, reason string) {
	d.failures = append(d.failures, failure{scope: scope, reason: reason})
}

// compareFields compares an object field by field. Original is the text that Helm computes its patch from.
func (c *comparer) compareFields(p pair, rules ignore.ObjectRules, live, original map[string]any) fields {
	ref := p.desired.Ref
	out := fields{liveText: live, desiredText: c.helmText(p.desired.Content)}
	done, err := c.writer.Write(ref, original, out.desiredText, c.readAgain(ref, live))
	if err != nil {
		done.Result = live
	}
	f := kinds.NewNormalizer(ref.Key, c.writer.ShapeOf(ref), live)
	n := c.statesOf(f, p, out, done)
	compared := verdict.Object{
		Key: ref.Key, Shape: f.Shape, Engine: done.Engine, Text: live, States: n, Conflicts: done.Conflicts, Unpatched: err != nil,
		NullsStored: done.Engine == report.EngineApply && !c.in.Migrates, Template: p.desired.Source, Volatile: p.desired.Again != nil,
		Kept: done.Kept, Rules: rules,
	}
	if n.Last.Named {
		compared.LastRevision = c.in.Last.Revision
		if p.last.Version != ref.Version && p.last.Version != p.old.Version {
			compared.LastVersion = p.last.APIVersion()
		}
	}
	out.Engine, out.conflict, out.invalid, out.wantsSchema, out.unpatched = done.Engine, done.Refusal, done.Invalid, done.WantsSchema, err
	out.Old, out.Desired, out.Live, out.Result = n.Old.Object(), n.Desired.Object(), n.Live.Object(), n.Result.Object()
	if f.Shape.Custom {
		out.Old, _ = kinds.PlainNulls(out.Old).(map[string]any)
		out.Desired, _ = kinds.PlainNulls(out.Desired).(map[string]any)
	}
	if err == nil {
		out.invalid = apiserver.Join(out.invalid, c.metadataReason(ref, live, done))
		if done.Engine != report.EngineReplace {
			out.lostLabels = apiserver.LostJobLabels(ref.Key, live, done.Result)
		}
	}
	if f.Respelled {
		own := c.statesOf(f.AsSpelled(), p, out, done)
		compared.Spelled = &own
	}
	out.Findings = c.walker.Compare(compared)
	c.markPruned(ref, &out)
	out.addUncertainties(done.Uncertainties)
	if c.in.Operation == report.OperationDrift {
		verdict.SetCausesToDrift(out.Findings)
	}
	if !c.in.ShowControllers {
		out.countControllers(c.in.Autoscaled != nil && !c.in.AutoscalersUnseen)
	}
	if !c.in.ServerSide() {
		out.duplicates = apiserver.Duplicates(out.Desired, f.Shape)
	}
	return out
}

// statesOf returns the normal forms of the texts of an object.
func (c *comparer) statesOf(f *kinds.Normalizer, p pair, out fields, done engine.Written) verdict.States {
	n := verdict.States{
		Desired: f.Manifest(out.desiredText), Live: f.Stored(out.liveText),
		StoresNulls: done.Engine == report.EngineApply || done.Engine == report.EngineReplace,
	}
	// Most objects differ in nothing, so do not normalize the same texts again.
	n.Old, n.Result = n.Desired, n.Live
	if p.old.Version != p.desired.Version {
		n.Old = f.ManifestOfOtherVersion(c.helmText(p.old.Content))
	} else if !object.Identical(p.old.Content, p.desired.Content) {
		n.Old = f.Manifest(c.helmText(p.old.Content))
	}
	if !object.IsSameMap(done.Result, out.liveText) || apiserver.HasServerRules(p.desired.Key) {
		n.Result = f.Stored(done.Result)
		apiserver.ApplyServerRules(p.desired.Key, n.Live, n.Result)
	}
	n.Again, n.AtOnce = n.Desired, n.Desired
	if again := p.desired.Again; again != nil {
		n.Again = f.Manifest(c.helmText(again))
		n.AtOnce = n.Again
		if atOnce := p.desired.AtOnce; atOnce != nil {
			n.AtOnce = f.Manifest(c.helmText(atOnce))
		}
	}
	if p.last != nil && c.in.Last != nil {
		n.Last = f.Manifest(c.helmText(p.last.Content))
	}
	return n
}

// countControllers replaces findings that no upgrade changes with counts: of findings that controllers wrote, and of findings that
// only forgotten writers wrote. Replicas at 0 may be drift until the autoscalers are known, whoever wrote them.
func (o *fields) countControllers(knowsAutoscalers bool) {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		isCounted := f.IgnoredBy == nil && !f.Managed && f.Verdict == report.Ignore && f.Class == "" && f.Certain &&
			(knowsAutoscalers || !f.MaySwitchOff())
		switch {
		case isCounted && (owners.AreControllers(f.Owners) || isStatus(f)):
			o.Controllers++
		case isCounted && owners.AreForgotten(f.Owners):
			o.Forgotten++
		default:
			kept = append(kept, f)
		}
	}
	o.Findings = kept
}

// isStatus reports whether a field that no manifest names is part of a status that no person is known to have written. The controller of a
// kind writes the status, under any name.
func isStatus(f verdict.Finding) bool {
	return f.Path.HasPrefix(object.Path{{Name: "status"}}) &&
		!slices.ContainsFunc(f.Owners, func(o report.Owner) bool { return o.Group == report.ManagerPerson })
}

// addUncertainties marks the verdicts that are not certain, each with the reason. If an object may fail because of one field, the changes
// of the other fields are not certain either.
func (o *fields) addUncertainties(uncertainties []engine.Uncertainty) {
	for _, d := range uncertainties {
		o.addVanishing(d)
		fails := d.Spreads && slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return f.Acts() && f.IsAffectedBy(d) })
		o.open = o.open || fails && o.conflict == "" || d.Clears && o.conflict != ""
		for i := range o.Findings {
			f := &o.Findings[i]
			if f.IsAffectedBy(d) || fails && f.Acts() {
				f.Certain = false
				f.Notes.Add(d.Reason)
			}
		}
	}
}

// addVanishing adds findings for fields that the write may remove.
func (o *fields) addVanishing(d engine.Uncertainty) {
	for _, path := range d.Vanishing {
		v, there := path.Lookup(o.Live)
		isKnown := slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return f.Path.Equal(path) })
		if there && !isKnown {
			o.Findings = append(o.Findings, verdict.Finding{
				Path: path, Classification: report.Classification{Verdict: report.Remove, Cause: report.CauseChange},
				Old: object.Copy(v), Live: object.Copy(v), Notes: report.Notes{d.Reason},
			})
			o.Result, _ = object.Without(o.Result, path).(map[string]any)
		}
	}
	verdict.Sort(o.Findings)
}

// Drifted reports whether the object as a whole, or a field of it, differs from what Helm deployed.
func (o ObjectComparison) Drifted() bool {
	return o.ObjectState.Drifted() || slices.ContainsFunc(o.Findings, verdict.Finding.Drifted)
}

// isDefinition reports whether the object is of the crds folder.
func (o *ObjectComparison) isDefinition() bool { return o.index < 0 }

// uid returns the live object's uid, empty if it has none.
func (o *ObjectComparison) uid() string {
	uid, _ := object.Child(o.liveText, "metadata")["uid"].(string)
	return uid
}

// LiveText returns what live has at a path of the normal form, as it was read.
func (o *ObjectComparison) LiveText(path object.Path) (any, bool) {
	return path.LookupIn(o.liveText, o.Live)
}
