package threeway

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// comparer compares the objects of one release.
type comparer struct {
	in     Input
	writer engine.Writer
	// hooks are the input's in the order in which Helm runs them.
	hooks []Hook
	// asWritten is set for objects that Helm sends as the chart has them, without metadata of its own.
	asWritten bool
}

// newComparer returns a comparer. It looks for the field manager of the release only if it needs that, which most client-side comparisons
// do not.
func newComparer(in Input) *comparer {
	plainStatus := map[schema.GroupVersionKind]bool{}
	for ref, live := range in.Live {
		if live.PlainStatus {
			plainStatus[ref.GVK()] = true
		}
	}
	return &comparer{in: in, hooks: inOrder(in.Hooks), writer: engine.Writer{
		ServerSide: in.ServerSide(), ForceConflicts: in.ForceConflicts, Migrates: in.Migrates, ForceReplace: in.ForceReplace,
		ThreeWayMerge: in.TakeOwnership && in.Operation == report.OperationInstall, Helm4: in.helm4(),
		Schemas: in.Schemas, ApplyTypes: in.ApplyTypes, PlainStatus: plainStatus, Deployer: sync.OnceValue(func() owners.Deployer { return deployerOf(in) }),
	}}
}

// helmText returns a manifest's object as Helm sends it.
func (c *comparer) helmText(content map[string]any) map[string]any {
	if c.asWritten {
		return content
	}
	return object.HelmMetadata(content, c.in.Name, c.in.Namespace)
}

// compareFields compares an object field by field. Original is the text from which Helm computes its patch.
func (c *comparer) compareFields(p pair, rules *ignore.ObjectRules, live, original map[string]any) fields {
	ref := p.desired.Ref
	out := fields{liveText: live, desiredText: c.helmText(p.desired.Content)}
	done, err := c.writer.Write(ref, original, out.desiredText, live)
	if err != nil {
		done.Result = live
	}
	f := kinds.NewNormalizer(ref.Key, c.writer.ShapeOf(ref), live)
	n := c.statesOf(f, p, out, done)
	w := &verdict.Walker{
		Key: ref.Key, Shape: f.Shape, Engine: done.Engine, Custom: f.Shape.Custom, Unpatched: err != nil,
		Command: c.in.Operation.Command(), Owners: owners.New(live, c.in.Managers, c.in.Name, c.writer.Deployer),
		Autoscaler: c.in.Autoscaled[ref.Key], NullsStored: done.Engine == report.EngineApply && !c.in.Migrates, Rules: rules,
		Template: p.desired.Source, Volatile: p.desired.Again != nil, Kept: done.Kept,
	}
	if n.Last.Named {
		w.LastRevision = c.in.Last.Revision
		if p.last.Version != ref.Version && p.last.Version != p.old.Version {
			w.LastVersion = p.last.APIVersion()
		}
	}
	out.Engine, out.conflict, out.invalid, out.wantsSchema, out.unpatched = done.Engine, done.Refusal, done.Invalid, done.WantsSchema, err
	out.Old, out.Desired, out.Live, out.Result = n.Old.Object(), n.Desired.Object(), n.Live.Object(), n.Result.Object()
	if w.Custom {
		out.Old, _ = kinds.PlainNulls(out.Old).(map[string]any)
		out.Desired, _ = kinds.PlainNulls(out.Desired).(map[string]any)
	}
	if err == nil {
		out.invalid = apiserver.Join(out.invalid, c.metadataReason(ref, live, done))
	}
	var spelled *verdict.States
	if f.Respelled {
		own := c.statesOf(f.AsSpelled(), p, out, done)
		spelled = &own
	}
	out.Findings = w.Compare(n, spelled, live, done.Conflicts)
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
	// Most objects differ in nothing, so that the same texts are not normalized again.
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

// found holds the live states of one object.
type found struct {
	// live was read at desired's version, was at old's version, which may be the same.
	live, was Live
}

// object returns the live object, at whichever version it was read; nil if there is none.
func (f found) object() map[string]any {
	if f.live.Object != nil {
		return f.live.Object
	}
	return f.was.Object
}

// find returns the live states of an object. A state that was not read is an error, not an absence.
func (c *comparer) find(p pair) (found, *report.ObjectError) {
	if p.subject().Problem != "" || p.subject().Name == "" {
		return found{}, nil
	}
	read := func(ref object.Ref) Live {
		live, ok := c.in.Live[ref]
		if !ok {
			return Live{Err: &report.ObjectError{Code: "not-read", Message: ref.Key.String() + " was not read"}}
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

// textsOf returns the texts of an object: old's, desired's and live's; nil for those that are absent.
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
