package threeway

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// comparer compares the objects of one release.
type comparer struct {
	in     Input
	writer engine.Writer
	walker verdict.Walker
	// hooks are the input's hooks in the order Helm runs them.
	hooks []Hook
	// asWritten is set for objects that Helm sends as the chart has them, without metadata of its own.
	asWritten bool
	// redefined are the custom kinds whose definitions the install changes before it writes the manifest.
	redefined map[schema.GroupKind]bool
	// unread are those whose definitions the install writes and that could not be read.
	unread map[schema.GroupKind]bool
}

// newComparer returns a comparer. It looks for the field manager of the release only if needed; most client-side comparisons do not need
// it.
func newComparer(in Input) *comparer {
	plainStatus := map[schema.GroupVersionKind]bool{}
	for ref, live := range in.Live {
		if live.PlainStatus {
			plainStatus[ref.GVK()] = true
		}
	}
	c := &comparer{in: in, hooks: inOrder(in.Hooks), asWritten: in.By.Syncs(), writer: engine.Writer{
		ServerSide: in.ServerSide(), ForceConflicts: in.ForceConflicts, Migrates: in.Migrates, ForceReplace: in.ForceReplace,
		ThreeWayMerge: in.TakeOwnership && in.Operation == report.OperationInstall, Helm4: in.helm4(),
		Schemas: in.Schemas, ApplyTypes: in.ApplyTypes, PlainStatus: plainStatus, Deployer: sync.OnceValue(func() owners.Deployer { return deployerOf(in) }),
		By: (*engine.Deployment)(in.By),
	}}
	c.walker = verdict.Walker{
		Command: in.Operation.Command(), Release: in.Name, Managers: in.Managers, Deployer: c.writer.Deployer, Autoscaled: in.Autoscaled, Unknown: in.Unknown,
	}
	c.redefine()
	return c
}

// helmText returns a manifest's object as Helm sends it.
func (c *comparer) helmText(content map[string]any) map[string]any {
	if c.asWritten {
		return content
	}
	return object.HelmMetadata(content, c.in.Name, c.in.Namespace)
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
		out.countControllers()
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
// only forgotten writers wrote.
func (o *fields) countControllers() {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		isCounted := f.IgnoredBy == nil && !f.Managed && f.Verdict == report.Ignore && f.Class == "" && f.Certain
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
	return f.Path.HasPrefix(object.Path{{Name: "status"}}) && !slices.ContainsFunc(f.Owners, func(o report.Owner) bool { return o.Group == report.ManagerPerson })
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
	if p.subject().Name == "" {
		return found{}, nil
	}
	if p.subject().Problem != "" {
		if p.old == nil {
			return found{}, nil
		}
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
	if out.live.Err != nil {
		return out, out.live.Err
	}
	return out, out.was.Err
}

// textsOf returns old's, desired's and live's text of an object. An absent text is nil.
func textsOf(p pair, live map[string]any) []map[string]any {
	out := []map[string]any{nil, nil, live}
	if p.old != nil {
		out[0] = p.old.Content
	}
	if p.desired != nil {
		out[1] = p.desired.Content
	}
	return out
}
