package threeway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// An install writes the objects of the chart's crds folder before it renders the templates. It does not check who owns them, adds no
// metadata, and ends at the first failure. Server-side it applies each object, over an existing definition if there is one; client-side it
// leaves an existing definition alone (helm v3.22.0 and v4.3.1 pkg/action/install.go installCRDs).

// writerOf returns the comparer of an object with an index and a content. A negative index is an object of the crds folder, and its
// comparer writes as Helm writes this folder. A program that does not call Helm's library chooses how it writes for each object.
func (c *comparer) writerOf(index int, content map[string]any) *comparer {
	if index >= 0 && !c.in.By.Syncs() {
		return c
	}
	out := *c
	if c.in.By.Syncs() {
		out.in.ApplyMethod, out.writer.ForceReplace = c.in.By.Sync.Method(content)
		out.writer.ServerSide, out.in.ForceReplace = out.in.ServerSide(), out.writer.ForceReplace
	} else {
		out.asWritten, out.in.Migrates, out.writer.Migrates = true, false, false
	}
	return &out
}

// redefine takes the schemas of custom kinds that are valid once the install has written the crds folder, because Helm writes the objects
// of these kinds later. A definition changes nothing if it could not be read or if the install ends there.
func (c *comparer) redefine() {
	if len(c.in.Definitions) == 0 {
		return
	}
	c.redefined, c.unread = map[schema.GroupKind]bool{}, map[schema.GroupKind]bool{}
	writer := c.writerOf(-1, nil).writer
	for _, o := range c.in.Definitions {
		kind, defines := definedKind(o)
		live, read := c.in.Live[o.Ref]
		c.unread[kind] = defines && live.Err != nil
		if !defines || !read || live.Err != nil || live.Absence == cluster.AbsentKind || live.Object != nil && !c.in.ServerSide() {
			continue
		}
		content := o.Content
		if live.Object != nil {
			done, err := writer.Write(o.Ref, o.Content, o.Content, live.Object)
			if err != nil || done.Refusal != "" && !c.in.ForceConflicts || object.Equal(done.Result["spec"], live.Object["spec"]) {
				continue
			}
			content, c.redefined[kind] = done.Result, true
		}
		if defined, err := kinds.NewCustomSchema(content); err == nil {
			c.in.Schemas = with(c.in.Schemas, kind, defined)
			for gv, types := range c.in.ApplyTypes {
				if gv.Group == kind.Group {
					c.in.ApplyTypes = with(c.in.ApplyTypes, gv, types.Redefined(gv.WithKind(kind.Kind), defined))
				}
			}
		}
	}
	c.writer.Schemas, c.writer.ApplyTypes = c.in.Schemas, c.in.ApplyTypes
}

// with returns a copy of a map with one more entry.
func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	out := map[K]V{}
	maps.Copy(out, m)
	out[key] = value
	return out
}

// definedKind returns the kind that an object of the crds folder defines, and reports whether it defines one.
func definedKind(o object.Object) (kind schema.GroupKind, defines bool) {
	spec := object.Child(o.Content, "spec")
	kind.Group, _ = spec["group"].(string)
	kind.Kind, _ = object.Child(spec, "names")["kind"].(string)
	return kind, o.Problem == "" && o.IsDefinition() && kind.Kind != ""
}

// brings reports whether the operation makes the API server serve the version of an object. Of the definitions of the crds folder, only
// those count that the install writes.
func (c *comparer) brings(ref object.Ref) bool {
	if o := c.definitionOf(ref.GroupKind()); o != nil {
		return (c.in.Live[o.Ref].Object == nil || c.in.ServerSide()) && serves(o, ref.Version)
	}
	return slices.Contains(c.in.Brings, ref.GroupKind())
}

// isBrought reports whether the API server serves no version of an object before the operation, and all that old and desired name once the
// operation has written the crds folder.
func (c *comparer) isBrought(p pair, f found) bool {
	if f.live.Absence != cluster.AbsentKind || !c.brings(p.subject().Ref) {
		return false
	}
	return p.old == nil || f.object() == nil && f.was.Absence == cluster.AbsentKind && c.brings(p.old.Ref)
}

// definitionOf returns the definition of a kind in the crds folder, or nil.
func (c *comparer) definitionOf(kind schema.GroupKind) *object.Object {
	i := slices.IndexFunc(c.in.Definitions, func(o object.Object) bool {
		defined, _ := definedKind(o)
		return defined == kind
	})
	if i < 0 {
		return nil
	}
	return &c.in.Definitions[i]
}

// serves reports whether the API server serves a version of the kind that a definition defines.
func serves(definition *object.Object, version string) bool {
	return slices.ContainsFunc(object.Items(object.Child(definition.Content, "spec"), "versions"), func(v map[string]any) bool {
		return v["name"] == version && v["served"] == true
	})
}

// afterDefinitions returns the live states of an object once the install has written the crds folder: a definition that it changes may no
// longer serve a version.
func (c *comparer) afterDefinitions(p pair, f found) found {
	kind := p.subject().GroupKind()
	if !c.redefined[kind] {
		return f
	}
	definition := c.definitionOf(kind)
	if !serves(definition, p.subject().Version) {
		f.live.Absence = cluster.AbsentKind
	}
	if p.old != nil && !serves(definition, p.old.Version) {
		f.was.Absence = cluster.AbsentKind
	}
	return f
}

// mostPathsNamed is how many paths a note or a message names at most.
const mostPathsNamed = 5

// readAgain returns a live object as the API server returns it once the install has written the crds folder: without the fields that the
// new schema lacks. Every normal form has the new defaults.
func (c *comparer) readAgain(ref object.Ref, live map[string]any) map[string]any {
	if !c.redefined[ref.GroupKind()] {
		return live
	}
	return c.in.Schemas[ref.GroupKind()].Pruned(ref.Version, live)
}

// markPruned marks the findings on fields that no manifest names and that live loses, at least in part, because of the new definition.
func (c *comparer) markPruned(ref object.Ref, f *fields) {
	if !c.redefined[ref.GroupKind()] {
		return
	}
	left := c.readAgain(ref, f.liveText)
	for i := range f.Findings {
		found := &f.Findings[i]
		pointer, _ := found.Path.PointerInto(f.liveText, f.Live) // the API server drops no item of a list, so indexes stay
		was, _ := pointer.Lookup(f.liveText)
		if is, _ := pointer.Lookup(left); !found.Managed && found.Writes() && !object.Equal(was, is) {
			found.Pruned = true
			found.Notes = report.Notes{"the API server drops what the chart's definition lacks"}
		}
	}
}

// decideDefinition decides about an object of the crds folder.
func (c *comparer) decideDefinition(p pair, f found, rules ignore.ObjectRules) decision {
	live := f.live.Object
	switch {
	case f.live.Absence == cluster.AbsentKind:
		return c.decideUnserved(p, f, rules)
	case live == nil:
		return c.decideMissing(p, f.live.Absence)
	case !c.in.ServerSide():
		return decision{}
	}
	p.old = p.desired
	d := c.decideUpdate(p, rules, live, p.desired.Content)
	c.dropOld(&d, "")
	if kind, _ := definedKind(*p.desired); c.redefined[kind] {
		d.notes.Add(lostNote(live, c.in.Schemas[kind]))
	}
	return d
}

// lostNote returns a note on the fields and versions of a live definition that the next one lacks. It is empty if there are none. The
// objects that use them may belong to any release, and are not read, because listing all objects of the kind may take long or be forbidden.
func lostNote(live map[string]any, next *kinds.CustomSchema) string {
	before, err := kinds.NewCustomSchema(live)
	if err != nil {
		return ""
	}
	lost := before.Lost(next)
	if more := len(lost) - mostPathsNamed; more > 0 {
		lost = append(lost[:mostPathsNamed], fmt.Sprintf("%d more", more))
	}
	if len(lost) == 0 {
		return ""
	}
	return "the chart's definition lacks " + strings.Join(lost, ", ") +
		": the API server drops that from all objects of the kind, those of other releases too"
}

// stopInstall makes each failure one that ends the installation.
func (d *decision) stopInstall(source string) {
	for i := range d.failures {
		d.failures[i].scope = scopeAll
		d.failures[i].reason = "failed to install CRD " + source + ": " + d.failures[i].reason
	}
}
