package threeway

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Comparison is one release compared, every value in clear. It never leaves the process; Report masks it.
type Comparison struct {
	Input   Input
	Objects []ObjectComparison
	// known is what the objects hold of secrets, once it was asked for.
	known *secret.Known

	deployer func() owners.Deployer
}

// ObjectComparison is one object compared.
type ObjectComparison struct {
	// Object is desired's, or old's where desired has none.
	object.Object
	Action    report.Action
	Reason    string
	BlockedBy []string
	Engine    report.Engine
	Missing   bool
	// Terminating is set where old has the object and it, or its namespace, is being deleted.
	Terminating bool
	// OfLast is set for a missing object that the last revision, which is not old because it failed, no longer has.
	OfLast   bool
	Err      *report.ObjectError
	Findings []Finding
	// Old, Desired, Live and Result are the normal forms that were compared; nil where a side is absent.
	Old, Desired, Live, Result map[string]any

	// key and place are the pair's.
	key   object.Key
	place int
	// stops tells how far a failing object stops an upgrade.
	stops stop
	// conflicts is the API server's text where it refuses a server-side apply because of other managers. onlyConflicts is set where the
	// operation fails on that alone, and conflictsIgnoredBy is the rule that silences such a failure.
	conflicts          string
	onlyConflicts      bool
	conflictsIgnoredBy *report.IgnoreRule
	// invalid is the API server's text where it does not take what an apply makes of live, and asks tells that the definition of the
	// kind would tell more, even where nothing differs.
	invalid string
	asks    bool
	// repeated are items that desired has more than once.
	repeated []object.Path
	// liveText and desiredText are what was read and what Helm would send; pointers of a report lead into them.
	liveText, desiredText map[string]any
	// sends is how Helm writes the object when it comes to it; empty where it sends nothing. patchFrom is the text that it takes as
	// original for a patch.
	sends     Method
	patchFrom map[string]any
	// awaits is what the release itself brings before it creates the object; empty for most.
	awaits string
	// DryRun is what the API server said of the write, where it was asked.
	DryRun *report.DryRun
	// IgnoredBy is the rule that silences what is said of the object itself: its action, and that it is missing. Controllers and Forgotten
	// count what controllers and forgotten writers wrote and no upgrade touches.
	IgnoredBy              *report.IgnoreRule
	Controllers, Forgotten int
	// rules are those that hold for the object; remarks say what is wrong with its own.
	rules   *ignore.ObjectRules
	remarks []string
}

// Drifted reports whether live has left old in a managed field, or the object is missing or being deleted.
func (o ObjectComparison) Drifted() bool {
	return o.Gone() && o.IgnoredBy == nil || slices.ContainsFunc(o.Findings, Finding.Drifted)
}

// Compare compares one release. It is pure: what more could be read to make the answer better, Needs says.
func Compare(in Input) *Comparison {
	job := newComparer(in)
	c := &Comparison{Input: in, Objects: job.compareAll(pairs(in)), deployer: job.deployer}
	if in.Operation == report.OperationInstall {
		c.installAtOnce()
	}
	c.failRecord()
	block(c.Objects)
	c.warnOfRules()
	c.warnOfRepeated()
	c.warnOfDeployer()
	c.noteGroupChanges()
	return c
}

// compareAll compares each object by itself, on all processors. A panic comes out here, as if it had happened here.
func (c comparer) compareAll(all []pair) []ObjectComparison {
	out := make([]ObjectComparison, len(all))
	panics := make([]any, len(all))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() error {
			defer func() { panics[i] = recover() }()
			out[i] = c.compare(all[i])
			return nil
		})
	}
	_ = group.Wait() // no object returns an error
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
	return out
}

// comparer compares the objects of one release.
type comparer struct {
	in      Input
	catalog *kinds.Catalog
	// deployer finds out on its first call under which name Helm writes: most client-side comparisons never need to know.
	deployer func() owners.Deployer
}

func newComparer(in Input) comparer {
	return comparer{in: in, catalog: kinds.Native(), deployer: sync.OnceValue(func() owners.Deployer { return deployerOf(in) })}
}

// comparer compares what the comparison was made from once more, or a part of it.
func (c *Comparison) comparer() comparer {
	return comparer{in: c.Input, catalog: kinds.Native(), deployer: c.deployer}
}

// Deployer is the field manager under which the release is written.
func (c *Comparison) Deployer() owners.Deployer { return c.deployer() }

func (c comparer) compare(p pair) ObjectComparison {
	out := ObjectComparison{Object: *p.main(), Action: report.ActionNone, key: p.key, place: p.place}
	switch {
	case out.Problem != "":
		out.fail(stopAll, out.Problem)
	case out.Name == "":
		c.compareUnnamed(&out, p)
	default:
		c.compareNamed(&out, p)
	}
	texts := textsOf(p, out.liveText)
	if out.rules == nil {
		out.rules, out.remarks = ignore.ForObject(c.in.Rules, c.in.Name, out.Ref, texts...)
	}
	out.IgnoredBy = out.rules.Object(out.Gone(), texts[0])
	if !slices.ContainsFunc(out.Findings, func(f Finding) bool { return f.Verdict == report.Conflict && f.IgnoredBy == nil }) {
		out.conflictsIgnoredBy = out.rules.Conflicts()
	}
	if out.Action == report.ActionNone && slices.ContainsFunc(out.Findings, Finding.writes) {
		if out.Action = report.ActionUpdate; out.Engine == report.EngineReplace {
			out.Action = report.ActionReplace
		}
	}
	return out
}

// compareNamed compares an object that the cluster can be asked for.
func (c comparer) compareNamed(out *ObjectComparison, p pair) {
	live := c.live(out.Ref)
	was := live
	if p.old != nil && p.old.Ref != out.Ref {
		was = c.live(p.old.Ref)
	}
	there := live.Object
	if there == nil {
		there = was.Object
	}
	c.terminate(out, p, there)
	switch {
	case live.Err != nil:
		out.Err = live.Err
	case was.Err != nil:
		out.Err = was.Err
	case p.old == nil && live.Absence == AbsentKind && slices.Contains(c.in.Brings, out.GroupKind()):
		out.Action, out.sends, out.awaits = report.ActionCreate, MethodCreate, "its CustomResourceDefinition"
	case was.Absence == AbsentKind || live.Absence == AbsentKind:
		c.unserved(out, p, was, live)
	case live.Object == nil:
		c.absent(out, p, live.Absence)
	case p.old == nil && c.in.Operation == report.OperationRollback && !c.in.serverSide():
		c.rollOver(out, p, live.Object)
	case p.old == nil:
		c.adopt(out, p, live.Object)
	case p.desired == nil:
		c.drop(out, p, live.Object)
	case p.old.Version != p.desired.Version:
		c.convert(out, p, was.Object, live.Object)
	default:
		c.update(out, p, live.Object, p.old.Content)
	}
	c.refuse(out, p)
	c.noteUnreadable(out, p)
}

// live is what was read of an object. What nobody read is not absent.
func (c comparer) live(ref object.Ref) Live {
	live, read := c.in.Live[ref]
	if !read {
		return Live{Err: &report.ObjectError{Code: "not-read", Message: ref.Key.String() + " was not read"}}
	}
	return live
}

// update compares an object that Helm patches, or replaces. patchFrom is the text that it takes as original for its patch.
func (c comparer) update(out *ObjectComparison, p pair, live, patchFrom map[string]any) {
	if err := c.compareFields(out, p, live, patchFrom); err != nil {
		out.fail(stopNothing, err.Error())
		return
	}
	if out.conflicts != "" {
		out.fail(stopNothing, fmt.Sprintf("conflict occurred while applying object %s/%s %s: %s", out.Namespace, out.Name, out.GVK(), out.conflicts))
		out.onlyConflicts = true
	}
	out.sends, out.patchFrom = MethodPatch, patchFrom
	if out.Engine == report.EngineReplace {
		out.sends, out.patchFrom = MethodReplace, nil
	}
}

// compareFields compares field by field. patchFrom is the text that Helm takes as original for its patch. Where no patch can
// be made of the texts, the error says why, and the findings are those that the table alone gives.
func (c comparer) compareFields(out *ObjectComparison, p pair, live, patchFrom map[string]any) error {
	ref := p.desired.Ref
	out.liveText, out.desiredText = live, object.HelmMetadata(p.desired.Content, c.in.Name, c.in.Namespace)
	done, err := c.write(ref, patchFrom, out.desiredText, live)
	out.Engine, out.conflicts = done.engine, done.refusal
	if err != nil {
		done.result = live
	}
	f := kinds.NewNormalizer(ref.Key, c.shapeOf(ref), live)
	n := c.sidesOf(f, p, out, done)
	w := &walker{
		shape: f.Shape, engine: done.engine, custom: c.catalog.Shape(ref.GVK()) == nil, unpatched: err != nil,
		command: c.in.Operation.Command(), owners: owners.Lazy(live, c.in.Managers, c.in.Name, c.deployer),
		allocated: allocatedFor(ref.Key, live), autoscaler: c.in.Autoscaled[ref.Key],
	}
	w.nullsStored = done.engine == report.EngineApply && !c.in.Migrates
	w.live, w.old, w.result = n.live.Object(), n.old.Object(), n.result.Object()
	out.rules, out.remarks = ignore.ForObject(c.in.Rules, c.in.Name, ref, textsOf(p, live)...)
	out.rules.In(n.live.Value, n.old.Value, n.desired.Value)
	w.ignored = out.rules
	w.template, w.volatile = p.desired.Source, p.desired.Again != nil
	if n.last.Named {
		w.lastRevision = c.in.Last.Revision
	}
	out.Old, out.Desired = n.old.Object(), n.desired.Object()
	if w.custom {
		out.Old, _ = kinds.PlainNulls(out.Old).(map[string]any)
		out.Desired, _ = kinds.PlainNulls(out.Desired).(map[string]any)
	}
	out.Live, out.Result = n.live.Object(), n.result.Object()
	w.conflicts = conflictPlaces(n, f.Shape, done.conflicts)
	out.Findings = w.findings(n)
	spelled := n
	if f.Respelled {
		spelled = c.sidesOf(f.AsSpelled(), p, out, done)
		out.Findings = w.respelled(out.Findings, spelled)
	}
	noteTakenAway(out)
	out.Findings = w.conflicting(out.Findings, n, spelled)
	out.doubtful(done.doubts)
	if c.in.Operation == report.OperationDrift {
		out.onlyLiveMoved()
	}
	if !c.in.ShowControllers {
		out.leftAlone()
	}
	out.invalid, out.asks = done.invalid, done.asks
	if !c.in.serverSide() {
		out.repeated = apiserver.Duplicates(out.Desired, f.Shape, nil)
	}
	return err
}

// sidesOf brings the texts of an object to the sides that are compared.
func (c comparer) sidesOf(f *kinds.Normalizer, p pair, out *ObjectComparison, done written) sides {
	read := f.Manifest
	if p.old.Version != p.desired.Version {
		read = f.ForeignManifest
	}
	n := sides{
		old: read(object.HelmMetadata(p.old.Content, c.in.Name, c.in.Namespace)), desired: f.Manifest(out.desiredText),
		live: f.Stored(out.liveText), result: f.Stored(done.result), storesNulls: done.engine == report.EngineApply || done.engine == report.EngineReplace,
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

// textsOf are the texts of an object: old's, desired's and live's; nil for those that there are not.
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

// shapeOf gives the shape of a kind: native, from its CRD, or metadata alone.
func (c comparer) shapeOf(ref object.Ref) *kinds.Shape {
	if s := c.catalog.Shape(ref.GVK()); s != nil {
		return s
	}
	return c.catalog.WithMetadata(c.in.Schemas[ref.GroupKind()].Shape(ref.Version))
}

func (o *ObjectComparison) addNote(note string) { o.Note = joinNotes(o.Note, note) }

// joinNotes puts remarks into one; any of them may be empty.
func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), "; ")
}
