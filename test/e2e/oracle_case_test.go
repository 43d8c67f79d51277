package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// oracleCase is one random story: a release, what somebody did to its objects, and what Helm is to do next. All of it
// follows from the seed, but for the ends of the names.
type oracleCase struct {
	seed uint64
	// rollback tells that the release is taken back from the new chart to the old one, not forth; installs that there is no release
	// yet; same that the chart stays what it is and nobody gives it to helmdrift.
	rollback, installs, same bool
	// failed tells that an upgrade failed before the edits.
	failed bool
	// route is an index of routes.
	route   int
	objects []*oracleObject
	edits   []*oracleEdit
	// extras are documents of the charts that no objects come of which the report could compare, by the chart's file.
	extras map[string][]map[string]any
	// odd tells that the hooks are of a kind that Helm does not know.
	odd bool
	// listed are the names of objects that stand in a List, by the chart's file.
	listed map[string][]string
}

// oracleObject is one object of the charts; nil where one of them does not have it.
type oracleObject struct {
	kind *poolKind
	name string
	// place is its place in the story.
	place int
	// stem and port fill in what the pool leaves open.
	stem     string
	port     int64
	old, new map[string]any
	// tried is the object in the upgrade that failed.
	tried map[string]any
	// risky tells that a risk of the kind was turned in new.
	risky bool
	// where is the namespace that the charts write: none, or what follows the release's own in its name.
	where namespacing
}

// namespacing is how a chart writes an object's namespace.
type namespacing struct {
	written bool
	suffix  string
}

// otherNamespace follows the name of the release's namespace in that of a second one.
const otherNamespace = "-b"

// newOracleCase builds the story of a seed.
func newOracleCase(pool []poolKind, seed uint64) *oracleCase {
	r := rand.New(rand.NewPCG(seed, 0))
	c := &oracleCase{seed: seed, rollback: r.IntN(3) == 0, failed: r.IntN(8) == 0}
	if n := r.IntN(10); n < 2 {
		c.route = n + 1
	}
	for i := range 3 + r.IntN(4) {
		o := newOracleObject(draw(pool, r), fmt.Sprintf("%d-%d", seed, i), r)
		o.place = i
		c.objects = append(c.objects, o)
	}
	c.fail(r)
	for range 1 + r.IntN(4) {
		if e := newOracleEdit(c.deployed(), r); e != nil {
			c.edits = append(c.edits, e)
		}
	}
	for _, o := range c.objects {
		if o.now(c.rollback) == nil && r.IntN(2) == 0 {
			c.edits = append(c.edits, newCreation(o, r))
		}
	}
	return c
}

// fail makes the chart whose upgrade fails: changes of all objects, and one that the API refuses.
func (c *oracleCase) fail(r *rand.Rand) {
	c.failed = c.failed && !c.rollback && len(c.deployed()) > 0
	if !c.failed {
		return
	}
	for _, o := range c.objects {
		if o.tried = runtime.DeepCopyJSON(o.old); o.old != nil {
			o.tried = o.changed(o.tried, r)
		}
	}
	bad := c.deployed()
	badLabel.put(bad[r.IntN(len(bad))].tried, "not a label!")
}

// badLabel is what no object may have.
var badLabel = steps{{field: "metadata"}, {field: "labels"}, {field: "bad"}}

// newOracleObject draws an object of a kind. Its name is nobody else's, as objects may have no namespace and stories run side by
// side.
func newOracleObject(kind *poolKind, number string, r *rand.Rand) *oracleObject {
	unique := tellings.Add(1)
	o := &oracleObject{kind: kind, stem: fmt.Sprintf("%s-%s-%d", kind.name[:3], number, unique), port: 30000 + unique%80}
	o.old = o.named(kind.object)
	o.name, _ = o.old["metadata"].(map[string]any)["name"].(string)
	o.setVersion(o.old, kind.versions[max(0, r.IntN(len(kind.versions)+2)-2)])
	knobs := kind.turnable(versionOf(o.old))
	for _, k := range knobs {
		// A kind with few knobs has most of them turned, one with many has some.
		if r.IntN(len(knobs)+8) < 10 {
			k.turn(o.old, r)
		}
	}
	o.old = o.named(o.old)
	o.new = runtime.DeepCopyJSON(o.old)
	if r.IntN(2) == 0 {
		o.new = o.changed(o.new, r)
	}
	switch r.IntN(14) {
	case 0:
		o.old = nil
	case 1:
		o.new = nil
	case 2:
		if len(kind.risks) > 0 {
			o.risky = kind.risks[r.IntN(len(kind.risks))].turn(o.new, r)
			o.new = o.named(o.new)
		}
	}
	return o
}

// changed is what a new version of the chart does to the object.
func (o *oracleObject) changed(obj map[string]any, r *rand.Rand) map[string]any {
	if versions := o.kind.versions; len(versions) > 1 && r.IntN(2) == 0 {
		o.setVersion(obj, versions[r.IntN(len(versions))])
	}
	knobs := o.kind.turnable(versionOf(obj))
	for range 1 + r.IntN(4) {
		knobs[r.IntN(len(knobs))].turn(obj, r)
	}
	if r.IntN(6) == 0 {
		shuffleOneList(obj, r)
	}
	return o.named(obj)
}

// setVersion writes the object at another version, without what only its own version has.
func (o *oracleObject) setVersion(obj map[string]any, version string) {
	if version == versionOf(obj) {
		return
	}
	for _, k := range o.kind.at[versionOf(obj)] {
		k.drop(obj)
	}
	obj["apiVersion"] = version
}

func versionOf(obj map[string]any) string { return fmt.Sprint(obj["apiVersion"]) }

// named copies an object of the pool and puts its name in.
func (o *oracleObject) named(obj map[string]any) map[string]any {
	return o.filledIn(obj).(map[string]any)
}

func (o *oracleObject) filledIn(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			out[key] = o.filledIn(v[key])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = o.filledIn(v[i])
		}
		return out
	case string:
		if v == "NODEPORT" {
			return o.port
		}
		return strings.ReplaceAll(v, "NAME", o.stem)
	}
	return v
}

// shuffleOneList reverses one of the object's lists of maps.
func shuffleOneList(obj map[string]any, r *rand.Rand) {
	var lists [][]any
	eachNode(obj, func(v any) {
		if list, ok := v.([]any); ok && len(list) > 1 {
			if _, ok := list[0].(map[string]any); ok {
				lists = append(lists, list)
			}
		}
	})
	if len(lists) > 0 {
		slices.Reverse(lists[r.IntN(len(lists))])
	}
}

// eachNode visits a tree in a stable order.
func eachNode(v any, visit func(any)) {
	visit(v)
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			eachNode(v[key], visit)
		}
	case []any:
		for _, item := range v {
			eachNode(item, visit)
		}
	}
}

// deployed are the objects that live has when the edits begin.
func (c *oracleCase) deployed() []*oracleObject {
	return slices.DeleteFunc(slices.Clone(c.objects), func(o *oracleObject) bool { return o.now(c.rollback) == nil })
}

// touched tells whether an edit of the object went through.
func (c *oracleCase) touched(o *oracleObject) bool {
	return slices.ContainsFunc(c.edits, func(e *oracleEdit) bool { return e.done && e.object.name == o.name })
}

// now is the object as the chart that is deployed when the edits begin has it.
func (o *oracleObject) now(rollback bool) map[string]any {
	if rollback {
		return o.new
	}
	return o.old
}

// next is the object as Helm is to bring it; nil where it does not, or only as a hook.
func (o *oracleObject) next(rollback bool) map[string]any {
	if next := o.now(!rollback); !isHook(next) {
		return next
	}
	return nil
}

// hookMark is the annotation of a hook.
const hookMark = "helm.sh/hook"

func isHook(obj map[string]any) bool {
	_, marked := steps{{field: "metadata"}, {field: "annotations"}, {field: hookMark}}.in(obj)
	return marked
}

// gvk is the kind at the version at which the object is judged: that of the chart that comes, as reports take it.
func (o *oracleObject) gvk(rollback bool) schema.GroupVersionKind {
	obj := orElseMap(o.next(rollback), orElseMap(o.now(rollback), o.kind.object))
	return schema.FromAPIVersionAndKind(versionOf(obj), fmt.Sprint(obj["kind"]))
}

// home is the namespace that the object is in.
func (o *oracleObject) home(release string) string { return release + o.where.suffix }

// ref is how stories name the object, at a version.
func (o *oracleObject) ref(version string) string {
	kind, name := o.kind.name, o.name
	if group, v, ok := strings.Cut(version, "/"); ok && version != o.kind.versions[0] {
		kind += "." + v + "." + group
	}
	if o.where.suffix != "" {
		name = "$NS" + o.where.suffix + "=" + name
	}
	return kind + "/" + name
}

// chart is the text of one of the charts.
func (c *oracleCase) chart(file string) (string, error) {
	var documents, items []any
	for _, o := range c.objects {
		obj := map[string]map[string]any{"old.yaml": o.old, "failed.yaml": o.tried, "new.yaml": o.new}[file]
		switch {
		case obj == nil:
		case slices.Contains(c.listed[file], o.name):
			items = append(items, o.written(obj))
		default:
			documents = append(documents, o.written(obj))
		}
	}
	if len(items) > 0 {
		documents = append(documents, listOf(items))
	}
	for _, obj := range c.extras[file] {
		documents = append(documents, obj)
	}
	var out strings.Builder
	for _, obj := range documents {
		text, err := yaml.Marshal(obj)
		if err != nil {
			return "", err
		}
		out.WriteString("---\n" + string(text))
	}
	return out.String(), nil
}

// written is the object as a chart writes it.
func (o *oracleObject) written(obj map[string]any) map[string]any {
	if o.where.written {
		obj = runtime.DeepCopyJSON(obj)
		steps{{field: "metadata"}, {field: "namespace"}}.put(obj, "{{ .Release.Namespace }}"+o.where.suffix)
	}
	return obj
}

// listOf puts objects into a List, one of their kind where there is only one.
func listOf(items []any) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	if only, ok := items[0].(map[string]any); ok && len(items) == 1 {
		out["apiVersion"], out["kind"] = only["apiVersion"], fmt.Sprint(only["kind"])+"List"
	}
	return out
}

// only is the story without the objects at other places, and without the edits of them. It is a story of its own: its names end
// otherwise.
func (c *oracleCase) only(pool []poolKind, places []int) *oracleCase {
	out := newStory(pool, c.seed)
	kept := map[*oracleObject]bool{}
	for _, o := range out.objects {
		kept[o] = slices.Contains(places, o.place)
	}
	out.objects = slices.DeleteFunc(out.objects, func(o *oracleObject) bool { return !kept[o] })
	out.edits = slices.DeleteFunc(out.edits, func(e *oracleEdit) bool { return !kept[e.object] })
	out.extras = nil
	return out
}
