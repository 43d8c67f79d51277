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

// oracleCase is one random case: a release, the edits of its objects, and what Helm does next. The seed determines all of it except the
// ends of the names.
type oracleCase struct {
	seed uint64
	// rollback says that Helm goes back from the new chart to the old one, installs that the release does not exist yet, and unchanged
	// that the chart stays the same and helmdrift gets no chart.
	rollback, installs, unchanged bool
	// failed says that an upgrade failed before the edits.
	failed bool
	// route is an index of routes.
	route   int
	objects []*oracleObject
	edits   []*oracleEdit
	// extras are documents that cause no comparable objects, by the file of the chart.
	extras map[string][]map[string]any
	// unknownHook says that the hooks are of a kind that Helm does not know.
	unknownHook bool
	// listed are the names of objects that are items of a List, by the file of the chart.
	listed map[string][]string
	flags  caseFlags
}

// oracleObject is one object of the charts; old or new is nil if that chart lacks it.
type oracleObject struct {
	kind *poolKind
	name string
	// position is the object's index in the case.
	position int
	// stem and port fill in what the pool leaves open.
	stem     string
	port     int64
	old, new map[string]any
	// failing is the object in the upgrade that failed.
	failing map[string]any
	// risky reports whether new has something that only a risk sets.
	risky bool
	// namespace is what the charts write as the namespace.
	namespace chartNamespace
}

// chartNamespace is how a chart writes the namespace of an object: not at all, or as the release's with a suffix.
type chartNamespace struct {
	written bool
	suffix  string
}

// otherNamespace is the suffix that makes the second namespace's name out of the release's.
const otherNamespace = "-b"

// newOracleCase builds the case of a seed.
func newOracleCase(pool []poolKind, seed uint64) *oracleCase {
	r := rand.New(rand.NewPCG(seed, 0))
	c := &oracleCase{seed: seed, rollback: r.IntN(3) == 0, failed: r.IntN(8) == 0}
	if n := r.IntN(10); n < 2 {
		c.route = n + 1
	}
	for i := range 3 + r.IntN(4) {
		o := newOracleObject(draw(pool, r), fmt.Sprintf("%d-%d", seed, i), r)
		o.position = i
		c.objects = append(c.objects, o)
	}
	c.addFailingUpgrade(r)
	for range 1 + r.IntN(4) {
		if e := newOracleEdit(c.deployed(), r); e != nil {
			c.edits = append(c.edits, e)
		}
	}
	for _, o := range c.objects {
		if o.deployed(c.rollback) == nil && r.IntN(2) == 0 {
			c.edits = append(c.edits, newCreation(o, r))
		}
	}
	return c
}

// addFailingUpgrade builds the chart whose upgrade fails: it changes all objects, and the API refuses one of them.
func (c *oracleCase) addFailingUpgrade(r *rand.Rand) {
	c.failed = c.failed && !c.rollback && len(c.deployed()) > 0
	if !c.failed {
		return
	}
	for _, o := range c.objects {
		if o.failing = runtime.DeepCopyJSON(o.old); o.old != nil {
			o.failing = o.newVersion(o.failing, r)
		}
	}
	bad := c.deployed()
	badLabel.put(bad[r.IntN(len(bad))].failing, "not a label!")
}

// badLabel is a label that the API refuses on any object.
var badLabel = fieldPath{{field: "metadata"}, {field: "labels"}, {field: "bad"}}

// newOracleObject draws an object of a kind. Its name is unique, because objects may have no namespace and cases run in parallel.
func newOracleObject(kind *poolKind, number string, r *rand.Rand) *oracleObject {
	unique := runCounter.Add(1)
	o := &oracleObject{kind: kind, stem: fmt.Sprintf("%s-%s-%d", kind.name[:3], number, unique), port: 30000 + unique%80}
	o.old = o.withName(kind.object)
	o.name, _ = o.old["metadata"].(map[string]any)["name"].(string)
	o.setVersion(o.old, kind.versions[max(0, r.IntN(len(kind.versions)+2)-2)])
	knobs := kind.knobsAt(versionOf(o.old))
	for _, k := range knobs {
		// If there are few knobs, turn most of them; if there are many, only some.
		if r.IntN(len(knobs)+8) < 10 {
			k.turn(o.old, r)
		}
	}
	o.old = o.withName(o.old)
	o.new = runtime.DeepCopyJSON(o.old)
	if r.IntN(2) == 0 {
		o.new = o.newVersion(o.new, r)
	}
	switch r.IntN(14) {
	case 0:
		o.old = nil
	case 1:
		o.new = nil
	case 2:
		if len(kind.risks) > 0 {
			o.risky = kind.risks[r.IntN(len(kind.risks))].turn(o.new, r)
			o.new = o.withName(o.new)
		}
	}
	return o
}

// newVersion changes the object as a new version of the chart does.
func (o *oracleObject) newVersion(obj map[string]any, r *rand.Rand) map[string]any {
	if versions := o.kind.versions; len(versions) > 1 && r.IntN(2) == 0 {
		o.setVersion(obj, versions[r.IntN(len(versions))])
	}
	knobs := o.kind.knobsAt(versionOf(obj))
	for range 1 + r.IntN(4) {
		knobs[r.IntN(len(knobs))].turn(obj, r)
	}
	if r.IntN(6) == 0 {
		shuffleOneList(obj, r)
	}
	return o.withName(obj)
}

// setVersion writes the object at another version and removes what only its own version has.
func (o *oracleObject) setVersion(obj map[string]any, version string) {
	if version == versionOf(obj) {
		return
	}
	for _, k := range o.kind.versionKnobs[versionOf(obj)] {
		k.drop(obj)
	}
	obj["apiVersion"] = version
}

func versionOf(obj map[string]any) string { return fmt.Sprint(obj["apiVersion"]) }

// withName copies an object of the pool and fills in the name.
func (o *oracleObject) withName(obj map[string]any) map[string]any {
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

// deployed returns the objects that live has when the edits begin.
func (c *oracleCase) deployed() []*oracleObject {
	return slices.DeleteFunc(slices.Clone(c.objects), func(o *oracleObject) bool { return o.deployed(c.rollback) == nil })
}

// wasEdited reports whether an edit of the object succeeded.
func (c *oracleCase) wasEdited(o *oracleObject) bool {
	return slices.ContainsFunc(c.edits, func(e *oracleEdit) bool { return e.applied && e.object.name == o.name })
}

// deployed returns the object as the chart has it when the edits begin.
func (o *oracleObject) deployed(rollback bool) map[string]any {
	if rollback {
		return o.new
	}
	return o.old
}

// target returns the object as Helm is to deploy it; nil if the target lacks it or has it as a hook.
func (o *oracleObject) target(rollback bool) map[string]any {
	if next := o.deployed(!rollback); !isHook(next) {
		return next
	}
	return nil
}

// becomesFirstHook reports whether the target has the object as a hook that Helm runs before it writes anything else.
func (o *oracleObject) becomesFirstHook(rollback bool) bool {
	return strings.HasPrefix(hookOf(o.deployed(!rollback)), "pre-")
}

// hasPolicy reports whether the target has the object as a hook with a delete policy of its own.
func (o *oracleObject) hasPolicy(rollback bool) bool {
	_, has := fieldPath{{field: "metadata"}, {field: "annotations"}, {field: policyAnnotation}}.lookup(o.deployed(!rollback))
	return has
}

// hookAnnotation marks a hook, and policyAnnotation says when Helm deletes it.
const (
	hookAnnotation   = "helm.sh/hook"
	policyAnnotation = "helm.sh/hook-delete-policy"
)

func isHook(obj map[string]any) bool { return hookOf(obj) != "" }

// hookOf returns when an object runs as a hook, or an empty text if it is not a hook.
func hookOf(obj map[string]any) string {
	when, _ := fieldPath{{field: "metadata"}, {field: "annotations"}, {field: hookAnnotation}}.lookup(obj)
	text, _ := when.(string)
	return text
}

// gvk returns the kind at the version that the object is judged at: the target's version, as in reports.
func (o *oracleObject) gvk(rollback bool) schema.GroupVersionKind {
	obj := orElseMap(o.target(rollback), orElseMap(o.deployed(rollback), o.kind.object))
	return schema.FromAPIVersionAndKind(versionOf(obj), fmt.Sprint(obj["kind"]))
}

// namespaceIn returns the object's namespace for a release in a namespace.
func (o *oracleObject) namespaceIn(release string) string { return release + o.namespace.suffix }

// ref names the object as stories do, at a version.
func (o *oracleObject) ref(version string) string {
	kind, name := o.kind.name, o.name
	if group, v, ok := strings.Cut(version, "/"); ok && version != o.kind.versions[0] {
		kind += "." + v + "." + group
	}
	if o.namespace.suffix != "" {
		name = "$NS" + o.namespace.suffix + "=" + name
	}
	return kind + "/" + name
}

// chart returns the text of one of the charts.
func (c *oracleCase) chart(file string) (string, error) {
	var documents, items []any
	for _, o := range c.objects {
		obj := map[string]map[string]any{"old.yaml": o.old, "failed.yaml": o.failing, "new.yaml": o.new}[file]
		switch {
		case obj == nil:
		case slices.Contains(c.listed[file], o.name):
			items = append(items, o.manifest(obj))
		default:
			documents = append(documents, o.manifest(obj))
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

// manifest returns the object as a chart writes it.
func (o *oracleObject) manifest(obj map[string]any) map[string]any {
	if o.namespace.written {
		obj = runtime.DeepCopyJSON(obj)
		fieldPath{{field: "metadata"}, {field: "namespace"}}.put(obj, "{{ .Release.Namespace }}"+o.namespace.suffix)
	}
	return obj
}

// listOf returns a List of objects; a single object gets the list kind of its own kind.
func listOf(items []any) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	if only, ok := items[0].(map[string]any); ok && len(items) == 1 {
		out["apiVersion"], out["kind"] = only["apiVersion"], fmt.Sprint(only["kind"])+"List"
	}
	return out
}

// subset returns the case with only the objects at some positions and the edits of them. It is a case of its own: its names end
// differently.
func (c *oracleCase) subset(pool []poolKind, places []int) *oracleCase {
	out := newExtendedCase(pool, c.seed)
	kept := map[*oracleObject]bool{}
	for _, o := range out.objects {
		kept[o] = slices.Contains(places, o.position)
	}
	out.objects = slices.DeleteFunc(out.objects, func(o *oracleObject) bool { return !kept[o] })
	out.edits = slices.DeleteFunc(out.edits, func(e *oracleEdit) bool { return !kept[e.object] })
	out.extras = nil
	if !kept[out.flags.values] {
		out.flags.values = nil
	}
	return out
}

// operation returns what Helm is to do: a verb, "again" for an upgrade to the deployed chart, and a chart or a revision.
func (c *oracleCase) operation() (verb, target string) {
	switch {
	case c.rollback:
		return "rollback", "1"
	case c.installs:
		return "install", "new.yaml"
	case c.unchanged:
		return "again", "old.yaml"
	}
	return "upgrade", "new.yaml"
}
