package threeway

import (
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Comparison is one release compared, every value in clear. It never leaves the process; Report masks it.
type Comparison struct {
	Input   Input
	Objects []ObjectComparison
	// Warnings are those of the input, and what the comparison itself has to say.
	Warnings []report.Message
	// known is what the objects hold of secrets, once it was asked for.
	known *secret.Known

	deployer func() owners.Deployer
}

// ObjectComparison is one object compared.
type ObjectComparison struct {
	// Object is desired's, or old's where desired has none.
	object.Object
	fields
	sending
	Action    report.Action
	Reason    string
	BlockedBy []report.ObjectKey
	Missing   bool
	// Terminating is set where old has the object and it, or its namespace, is being deleted.
	Terminating bool
	// OfLast is set for a missing object that the last revision, which is not old because it failed, no longer has.
	OfLast bool
	Err    *report.ObjectError
	Notes  report.Notes
	// DryRun is what the API server said of the write, where it was asked.
	DryRun *report.DryRun
	// IgnoredBy is the rule that silences what is said of the object itself: its action, and that it is missing. conflictsIgnoredBy is the
	// rule that silences a failure on conflicts alone.
	IgnoredBy, conflictsIgnoredBy *report.IgnoreRule

	// key and place are the pair's.
	key   object.Key
	place int
	// failure is why Helm fails on the object; its zero value belongs to one that does not fail.
	failure failure
	// deletes is set where Helm deletes the object unless another one fails.
	deletes bool
	// remarks say what is wrong with the rules that the object itself has.
	remarks []string
}

// Drifted reports whether live has left old in a managed field, or the object is missing or being deleted.
func (o ObjectComparison) Drifted() bool {
	return o.Gone() && o.IgnoredBy == nil || slices.ContainsFunc(o.Findings, verdict.Finding.Drifted)
}

// Compare compares one release. It is pure: what more could be read to make the answer better, Needs says.
func Compare(in Input) *Comparison {
	job := newComparer(in)
	c := &Comparison{Input: in, Objects: job.compareAll(pairs(in)), Warnings: slices.Clone(in.Warnings), deployer: job.writer.Deployer}
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
	in     Input
	writer engine.Writer
}

func newComparer(in Input) comparer {
	return comparerOf(in, sync.OnceValue(func() owners.Deployer { return deployerOf(in) }))
}

// comparerOf returns a comparer that asks deployer under which name Helm writes: most client-side comparisons never need to know.
func comparerOf(in Input, deployer func() owners.Deployer) comparer {
	return comparer{in: in, writer: engine.Writer{
		ServerSide: in.serverSide(), ForceConflicts: in.ForceConflicts, Migrates: in.Migrates, ForceReplace: in.ForceReplace,
		ThreeWayMerge: in.TakeOwnership && in.Operation == report.OperationInstall, Strict: in.helm4(),
		Schemas: in.Schemas, ApplyTypes: in.ApplyTypes, Deployer: deployer,
	}}
}

// comparer compares what the comparison was made from once more, or a part of it.
func (c *Comparison) comparer() comparer { return comparerOf(c.Input, c.deployer) }

// Deployer is the field manager under which the release is written.
func (c *Comparison) Deployer() owners.Deployer { return c.deployer() }

// compare compares one object: it reads what there is, decides what Helm does, and applies the rules of what to ignore.
func (c comparer) compare(p pair) ObjectComparison {
	out := ObjectComparison{Object: *p.main(), key: p.key, place: p.place}
	found, err := c.find(p)
	if err != nil {
		out.Err = err
	}
	texts := textsOf(p, found.object())
	rules, remarks := ignore.ForObject(c.in.Rules, c.in.Name, out.Ref, texts...)
	d := c.decide(p, found, rules, err)
	out.fields, out.sending, out.remarks = d.fields, d.sending, remarks
	out.Action, out.Reason, out.failure = d.outcome()
	out.deletes = out.Action == report.ActionDelete
	out.Missing, out.Terminating, out.OfLast = d.missing, d.terminating, d.ofLast
	out.Notes.Add(report.NoteObject, out.Note)
	for _, note := range d.notes {
		out.Notes.AddNote(note)
	}
	out.IgnoredBy = rules.Object(out.Gone(), texts[0])
	if !slices.ContainsFunc(out.Findings, func(f verdict.Finding) bool { return f.Verdict == report.Conflict && f.IgnoredBy == nil }) {
		out.conflictsIgnoredBy = rules.Conflicts()
	}
	return out
}

// found is what was read of one object.
type found struct {
	// live was read at desired's version, was at old's where that is another one.
	live, was Live
}

// object is the live object, at whichever version it was read; nil where there is none.
func (f found) object() map[string]any {
	if f.live.Object != nil {
		return f.live.Object
	}
	return f.was.Object
}

// find returns what was read of an object. What nobody read is not absent.
func (c comparer) find(p pair) (found, *report.ObjectError) {
	if p.main().Problem != "" || p.main().Name == "" {
		return found{}, nil
	}
	read := func(ref object.Ref) Live {
		live, ok := c.in.Live[ref]
		if !ok {
			return Live{Err: &report.ObjectError{Code: "not-read", Message: ref.Key.String() + " was not read"}}
		}
		return live
	}
	out := found{live: read(p.main().Ref)}
	if out.was = out.live; p.old != nil && p.old.Ref != p.main().Ref {
		out.was = read(p.old.Ref)
	}
	if out.live.Err != nil {
		return out, out.live.Err
	}
	return out, out.was.Err
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

// shapeOf returns the shape of a kind: native, from its CRD, or metadata alone.
func (c comparer) shapeOf(ref object.Ref) *kinds.Shape {
	return kinds.ShapeOf(ref, c.in.Schemas[ref.GroupKind()])
}
