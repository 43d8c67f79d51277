package threeway

import (
	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fields is what the comparison of an object field by field came to. Its zero value belongs to an object whose fields were not compared.
type fields struct {
	Engine   report.Engine
	Findings []Finding
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
	w := &walker{
		shape: f.Shape, engine: done.Engine, custom: kinds.Native().Shape(ref.GVK()) == nil, unpatched: err != nil,
		command: c.in.Operation.Command(), owners: owners.Lazy(live, c.in.Managers, c.in.Name, c.writer.Deployer),
		allocated: allocatedFor(ref.Key, live), autoscaler: c.in.Autoscaled[ref.Key],
		nullsStored: done.Engine == report.EngineApply && !c.in.Migrates,
		live:        n.live.Object(), old: n.old.Object(), result: n.result.Object(),
		rules:    rules.In(n.live.Value, n.old.Value, n.desired.Value),
		template: p.desired.Source, volatile: p.desired.Again != nil,
		conflicts: conflictPlaces(n, f.Shape, done.Conflicts),
	}
	if n.last.Named {
		w.lastRevision = c.in.Last.Revision
	}
	out.Engine, out.conflict, out.invalid, out.wantsSchema, out.unpatched = done.Engine, done.Refusal, done.Invalid, done.WantsSchema, err
	out.Old, out.Desired, out.Live, out.Result = n.old.Object(), n.desired.Object(), n.live.Object(), n.result.Object()
	if w.custom {
		out.Old, _ = kinds.PlainNulls(out.Old).(map[string]any)
		out.Desired, _ = kinds.PlainNulls(out.Desired).(map[string]any)
	}
	out.Findings = w.findings(n)
	spelled := n
	if f.Respelled {
		spelled = c.sidesOf(f.AsSpelled(), p, out, done)
		out.Findings = w.respelled(out.Findings, spelled)
	}
	if apiserver.ChangesService(ref.Key, out.Live, out.Result) {
		noteDropped(out.Findings)
	}
	out.Findings = w.conflicting(out.Findings, n, spelled)
	out.doubt(done.Doubts)
	if c.in.Operation == report.OperationDrift {
		onlyLiveMoved(out.Findings)
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
func (c comparer) sidesOf(f *kinds.Normalizer, p pair, out fields, done engine.Written) sides {
	read := f.Manifest
	if p.old.Version != p.desired.Version {
		read = f.ForeignManifest
	}
	n := sides{
		old: read(object.HelmMetadata(p.old.Content, c.in.Name, c.in.Namespace)), desired: f.Manifest(out.desiredText),
		live: f.Stored(out.liveText), result: f.Stored(done.Result), storesNulls: done.Engine == report.EngineApply || done.Engine == report.EngineReplace,
	}
	apiserver.ApplyServerRules(p.desired.Key, n.live, n.result)
	n.again, n.atOnce = n.desired, n.desired
	if again := p.desired.Again; again != nil {
		n.again = f.Manifest(object.HelmMetadata(again, c.in.Name, c.in.Namespace))
		n.atOnce = n.again
		if atOnce := p.desired.AtOnce; atOnce != nil {
			n.atOnce = f.Manifest(object.HelmMetadata(atOnce, c.in.Name, c.in.Namespace))
		}
	}
	if p.last != nil && c.in.Last != nil {
		n.last = f.Manifest(object.HelmMetadata(p.last.Content, c.in.Name, c.in.Namespace))
	}
	return n
}
