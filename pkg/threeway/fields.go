package threeway

import (
	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fields is what the comparison of an object field by field came to. Its zero value belongs to an object whose fields were not compared.
type fields struct {
	Engine   report.Engine
	Findings []verdict.Finding
	// Old, Desired, Live and Result are the normal forms that were compared; nil where a side is absent.
	Old, Desired, Live, Result map[string]any
	// Controllers and Forgotten count what controllers and forgotten writers wrote and no upgrade touches.
	Controllers, Forgotten int

	// liveText and desiredText are what was read and what Helm would send; pointers of a report lead into them.
	liveText, desiredText map[string]any
	// conflict is the API server's text where it refuses a server-side apply because of other managers.
	conflict string
	// invalid is the API server's text where it does not take what an apply makes of live.
	invalid string
	// wantsSchema is set where the definition of the kind would tell more, even if nothing differs.
	wantsSchema bool
	// open is set where managers of which not all is known decide whether an apply fails.
	open bool
	// duplicates are items that desired has more than once.
	duplicates []object.Path
	// unpatched is why Helm can make no patch of the texts. The findings are those that the table alone gives then.
	unpatched error
}

// compareFields compares field by field. Original is the text that Helm takes as original for its patch.
func (c comparer) compareFields(p pair, rules *ignore.ObjectRules, live, original map[string]any) fields {
	ref := p.desired.Ref
	out := fields{liveText: live, desiredText: object.HelmMetadata(p.desired.Content, c.in.Name, c.in.Namespace)}
	done, err := c.writer.Write(ref, original, out.desiredText, live)
	if err != nil {
		done.Result = live
	}
	f := kinds.NewNormalizer(ref.Key, c.shapeOf(ref), live)
	n := c.sidesOf(f, p, out, done)
	w := &verdict.Walker{
		Key: ref.Key, Shape: f.Shape, Engine: done.Engine, Custom: kinds.Native().Shape(ref.GVK()) == nil, Unpatched: err != nil,
		Command: c.in.Operation.Command(), Owners: owners.Lazy(live, c.in.Managers, c.in.Name, c.writer.Deployer),
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
	var spelled *verdict.States
	if f.Respelled {
		own := c.sidesOf(f.AsSpelled(), p, out, done)
		spelled = &own
	}
	out.Findings = w.Compare(n, spelled, live, done.Conflicts)
	out.doubt(done.Doubts)
	if c.in.Operation == report.OperationDrift {
		verdict.OnlyLiveMoved(out.Findings)
	}
	if !c.in.ShowControllers {
		out.countControllers()
	}
	if !c.in.serverSide() {
		out.duplicates = apiserver.Duplicates(out.Desired, f.Shape, nil)
	}
	return out
}

// sidesOf brings the texts of an object to the sides that are compared.
func (c comparer) sidesOf(f *kinds.Normalizer, p pair, out fields, done engine.Written) verdict.States {
	read := f.Manifest
	if p.old.Version != p.desired.Version {
		read = f.ForeignManifest
	}
	n := verdict.States{
		Old: read(object.HelmMetadata(p.old.Content, c.in.Name, c.in.Namespace)), Desired: f.Manifest(out.desiredText),
		Live: f.Stored(out.liveText), Result: f.Stored(done.Result), StoresNulls: done.Engine == report.EngineApply || done.Engine == report.EngineReplace,
	}
	apiserver.ApplyServerRules(p.desired.Key, n.Live, n.Result)
	n.Again, n.AtOnce = n.Desired, n.Desired
	if again := p.desired.Again; again != nil {
		n.Again = f.Manifest(object.HelmMetadata(again, c.in.Name, c.in.Namespace))
		n.AtOnce = n.Again
		if atOnce := p.desired.AtOnce; atOnce != nil {
			n.AtOnce = f.Manifest(object.HelmMetadata(atOnce, c.in.Name, c.in.Namespace))
		}
	}
	if p.last != nil && c.in.Last != nil {
		n.Last = f.Manifest(object.HelmMetadata(p.last.Content, c.in.Name, c.in.Namespace))
	}
	return n
}
