package threeway

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Comparison is one release compared, every value in clear. It never leaves the process; Report masks it.
type Comparison struct {
	Input   Input
	Objects []ObjectComparison
}

// ObjectComparison is one object compared.
type ObjectComparison struct {
	// Object is desired's, or old's where desired has none.
	Object
	Action    Action
	Reason    string
	BlockedBy []string
	Engine    Engine
	Missing   bool
	Err       *ObjectError
	Findings  []Finding
	// Old, Desired, Live and Result are the normal forms that were compared; nil where a side is absent.
	Old, Desired, Live, Result map[string]any

	// stops tells how far a failing object stops an upgrade.
	stops stop
}

// stop is what a failing object keeps Helm from doing.
type stop int

const (
	// stopNothing: the visit goes on.
	stopNothing stop = iota
	// stopRest: objects after this one are not reached.
	stopRest
	// stopAll: the upgrade ends before it writes anything.
	stopAll
)

// Drifted tells whether live has left old in a managed field, or the object is missing.
func (o ObjectComparison) Drifted() bool {
	return o.Missing || slices.ContainsFunc(o.Findings, Finding.Drifted)
}

// pair is one object on its manifests' sides.
type pair struct {
	old, desired, last *Object
}

// main is the object the report speaks of.
func (p pair) main() *Object {
	if p.desired != nil {
		return p.desired
	}
	return p.old
}

var nativeKinds = sync.OnceValue(newCatalog)

// Compare compares one release. It is pure: what more could be read to make the answer better, Needs says.
func Compare(in Input) *Comparison {
	c := &Comparison{Input: in}
	job := comparer{in: in, catalog: nativeKinds()}
	for _, p := range pairs(in) {
		c.Objects = append(c.Objects, job.compare(p))
	}
	block(c.Objects)
	return c
}

// pairs matches old, desired and last by key, in Helm's install order.
func pairs(in Input) []pair {
	byKey := map[Key]*pair{}
	var order []Key
	at := func(key Key) *pair {
		if byKey[key] == nil {
			byKey[key] = &pair{}
			order = append(order, key)
		}
		return byKey[key]
	}
	each(in.DesiredObjects, func(key Key, o *Object) { at(key).desired = o })
	each(in.OldObjects, func(key Key, o *Object) { at(key).old = o })
	each(in.LastObjects, func(key Key, o *Object) {
		if p := byKey[key]; p != nil {
			p.last = o
		}
	})
	rank := installRank()
	slices.SortStableFunc(order, func(a, b Key) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Kind, b.Kind), a.Compare(b))
	})
	out := make([]pair, len(order))
	for i, key := range order {
		out[i] = *byKey[key]
	}
	return out
}

// each calls f for every object under its key. Objects that ask for a name are told apart by their place among their like.
func each(objects []Object, f func(Key, *Object)) {
	nth := map[Key]int{}
	for i := range objects {
		key := objects[i].Key
		if key.Name == "" {
			key.Name = objects[i].GenerateName + "*"
			nth[key]++
			key.Name = fmt.Sprintf("%s%d", key.Name, nth[key])
		}
		f(key, &objects[i])
	}
}

// installRank orders kinds as helm v3.22.0 pkg/releaseutil InstallOrder does, unknown ones last.
func installRank() func(kind string) int {
	rank := map[string]int{}
	for i, kind := range releaseutil.InstallOrder {
		rank[kind] = i
	}
	return func(kind string) int {
		if r, ok := rank[kind]; ok {
			return r
		}
		return len(rank)
	}
}

// comparer compares the objects of one release.
type comparer struct {
	in      Input
	catalog *catalog
}

func (c comparer) compare(p pair) ObjectComparison {
	out := ObjectComparison{Object: *p.main(), Action: ActionNone}
	live := c.in.Live[out.Ref]
	switch {
	case out.Problem != "":
		out.fail(stopAll, out.Problem)
	case out.GenerateName != "":
		c.compareUnnamed(&out, p)
	case live.Err != nil:
		out.Err = live.Err
	case live.Object == nil:
		c.absent(&out, p, live.Absence)
	case p.old == nil:
		c.adopt(&out, p, live.Object)
	case p.desired == nil:
		c.drop(&out, live.Object)
	default:
		c.update(&out, p, live.Object)
	}
	return out
}

func (o *ObjectComparison) fail(stops stop, reason string) {
	o.Action, o.Reason, o.stops = ActionFail, reason, stops
}

// update compares an object that old and desired have and that lives.
func (c comparer) update(out *ObjectComparison, p pair, live map[string]any) {
	if p.old.Version != p.desired.Version {
		c.updateAcross(out, p, live)
		return
	}
	c.compareFields(out, p, live, p.old.Content)
}

// updateAcross compares an object whose manifests name different versions: drift is read at old's version, verdicts at
// desired's. There a field cannot be told to have drifted unless the object has at old's.
func (c comparer) updateAcross(out *ObjectComparison, p pair, live map[string]any) {
	then := ObjectComparison{Object: *p.old}
	if before := c.in.Live[p.old.Ref]; before.Object != nil {
		c.compareFields(&then, pair{old: p.old, desired: p.old, last: p.last}, before.Object, p.old.Content)
	}
	c.compareFields(out, p, live, p.old.Content)
	drift := map[string]Finding{}
	for _, f := range then.Findings {
		drift[f.Path.String()] = f
	}
	kept := out.Findings[:0]
	for _, f := range out.Findings {
		before, drifted := drift[f.Path.String()]
		delete(drift, f.Path.String())
		switch {
		case drifted:
			f.Cause = CauseBoth
		case f.Verdict == Ignore:
			continue
		default:
			f.Cause = CauseChange
		}
		f.Old = before.Old
		kept = append(kept, f)
	}
	for _, path := range sortedKeys(drift) {
		f := drift[path]
		f.Verdict, f.Note = Ignore, "seen at "+p.old.APIVersion()+"; the upgrade writes "+p.desired.APIVersion()
		kept = append(kept, f)
	}
	out.Findings = kept
	out.Note = "the chart moves it from " + p.old.APIVersion() + " to " + p.desired.APIVersion()
}

// compareFields compares field by field. patchFrom is the text that Helm takes as original for its patch.
func (c comparer) compareFields(out *ObjectComparison, p pair, live, patchFrom map[string]any) {
	name, ns := c.in.Name, c.in.Namespace
	desired := HelmMetadata(p.desired.Content, name, ns)
	engine := c.catalog.clientSideFor(gvkOf(p.desired.Ref), desired)
	out.Engine = engine.engine
	result, err := engine.result(patchFrom, desired, live)
	if err != nil {
		out.fail(stopNothing, err.Error())
		result = live
	}
	s := c.shapeOf(p.desired.Ref)
	form := func(obj map[string]any, f fidelity) map[string]any {
		n := normalObject(obj, s, f)
		if f == asStored {
			fillObject(n, s)
		}
		return n
	}
	old := HelmMetadata(p.old.Content, name, ns)
	out.Old, out.Desired = form(old, asStored), form(desired, asStored)
	out.Live, out.Result = form(live, asStored), form(result, asStored)
	n := sides{
		old:     side{value: out.Old, present: true, written: form(old, asWritten), named: true},
		desired: side{value: out.Desired, present: true, written: form(desired, asWritten), named: true},
		live:    side{value: out.Live, present: true},
		result:  side{value: out.Result, present: true},
	}
	w := &walker{shape: s, engine: engine.engine, live: out.Live, owners: ownershipOf(live), allocated: allocatedFor(out.Key, live), autoscaler: c.in.Autoscaled[out.Key]}
	if p.last != nil {
		last := HelmMetadata(p.last.Content, name, ns)
		n.last = side{value: form(last, asStored), present: true, written: form(last, asWritten), named: true}
		w.lastRevision = c.in.Last.Revision
	}
	out.Findings = w.findings(n)
	if out.Action == ActionNone && slices.ContainsFunc(out.Findings, Finding.writes) {
		out.Action = ActionUpdate
	}
	c.noteServerSide(out)
	if child(live, "metadata")["deletionTimestamp"] != nil {
		out.Note = "it is being deleted"
	}
}

// writes tells whether the upgrade changes the field.
func (f Finding) writes() bool {
	return f.Verdict == Add || f.Verdict == Remove || f.Verdict == Overwrite
}

// findings walks the object and gives its findings in order of their paths.
func (w *walker) findings(n sides) []Finding {
	var out []Finding
	for _, e := range w.walk(nil, n, w.shape) {
		if e.weight != silent {
			out = append(out, e.Finding)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
	return out
}

// shapeOf gives the shape of a kind: native, from its CRD, or metadata alone.
func (c comparer) shapeOf(ref Ref) *shape {
	if s := c.catalog.native(gvkOf(ref)); s != nil {
		return s
	}
	return c.catalog.withMetadata(c.in.Schemas[groupKind(ref)].at(ref.Version))
}

func gvkOf(ref Ref) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind}
}

func groupKind(ref Ref) schema.GroupKind {
	return schema.GroupKind{Group: ref.Group, Kind: ref.Kind}
}

// noteServerSide marks the verdicts of a release that Helm 4 applies server-side: the drift is right, the word is the
// client-side one.
func (c comparer) noteServerSide(out *ObjectComparison) {
	if c.in.ApplyMethod != "server-side" {
		return
	}
	for i := range out.Findings {
		out.Findings[i].Certain = false
		if out.Findings[i].Note != "" {
			out.Findings[i].Note += "; "
		}
		out.Findings[i].Note += "this release is applied server-side; the verdict is what client-side apply would do"
	}
}

// Needs names what more could be read to settle findings.
type Needs struct {
	// CRDs are kinds whose schema would tell defaults and list keys.
	CRDs []schema.GroupKind
	// Autoscalers are namespaces in which an autoscaler may own replicas that differ.
	Autoscalers []string
}

// Empty tells that nothing more is needed.
func (n Needs) Empty() bool { return len(n.CRDs) == 0 && len(n.Autoscalers) == 0 }

// Needs tells what more to read. What the input already holds, be it empty, is not asked for again.
func (c *Comparison) Needs() Needs {
	crds, namespaces := map[schema.GroupKind]bool{}, map[string]bool{}
	for _, o := range c.Objects {
		if len(o.Findings) == 0 {
			continue
		}
		kind := groupKind(o.Ref)
		if _, asked := c.Input.Schemas[kind]; !asked && nativeKinds().native(gvkOf(o.Ref)) == nil {
			crds[kind] = true
		}
		if c.Input.Autoscaled == nil && slices.ContainsFunc(o.Findings, isReplicas) {
			namespaces[o.Namespace] = true
		}
	}
	needs := Needs{Autoscalers: sortedKeys(namespaces)}
	for kind := range crds {
		needs.CRDs = append(needs.CRDs, kind)
	}
	slices.SortFunc(needs.CRDs, func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
	return needs
}

func isReplicas(f Finding) bool { return f.Path.String() == "spec.replicas" }
