package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// oracleCase is one random story: a release, what somebody did to its objects, and what Helm is to do next. All of it
// follows from the seed.
type oracleCase struct {
	seed uint64
	// rollback tells that the release is taken back from the new chart to the old one, not forth.
	rollback bool
	// failed tells that an upgrade failed before the edits.
	failed bool
	// route is an index of routes.
	route   int
	objects []*oracleObject
	edits   []*oracleEdit
}

// oracleObject is one object of the charts; nil where one of them does not have it.
type oracleObject struct {
	kind     *poolKind
	name     string
	old, new map[string]any
	// tried is the object in the upgrade that failed.
	tried map[string]any
}

// newOracleCase builds the story of a seed.
func newOracleCase(pool []poolKind, seed uint64) *oracleCase {
	r := rand.New(rand.NewPCG(seed, 0))
	c := &oracleCase{seed: seed, rollback: r.IntN(3) == 0, failed: r.IntN(8) == 0}
	if n := r.IntN(10); n < 2 {
		c.route = n + 1
	}
	for i := range 3 + r.IntN(4) {
		kind := &pool[r.IntN(len(pool))]
		c.objects = append(c.objects, newOracleObject(kind, fmt.Sprintf("%s-%d-%d", kind.name[:3], seed, i), r))
	}
	c.fail(r)
	for range 1 + r.IntN(4) {
		if e := newOracleEdit(c.deployed(), r); e != nil {
			c.edits = append(c.edits, e)
		}
	}
	for _, o := range c.objects {
		if o.now(c.rollback) == nil && r.IntN(2) == 0 {
			c.edits = append(c.edits, &oracleEdit{object: o, how: byCreate, manager: "kubectl-create", seed: r.Uint64()})
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
	steps{{field: "metadata"}, {field: "labels"}, {field: "bad"}}.put(bad[r.IntN(len(bad))].tried, "not a label!")
}

func newOracleObject(kind *poolKind, name string, r *rand.Rand) *oracleObject {
	o := &oracleObject{kind: kind, name: name, old: named(kind.object, name)}
	for _, k := range kind.knobs {
		// A kind with few knobs has most of them turned, one with many has some.
		if r.IntN(len(kind.knobs)+8) < 10 {
			k.turn(o.old, r)
		}
	}
	o.old = named(o.old, name)
	o.new = runtime.DeepCopyJSON(o.old)
	if r.IntN(2) == 0 {
		o.new = o.changed(o.new, r)
	}
	switch r.IntN(14) {
	case 0:
		o.old = nil
	case 1:
		o.new = nil
	}
	return o
}

// changed is what a new version of the chart does to the object.
func (o *oracleObject) changed(obj map[string]any, r *rand.Rand) map[string]any {
	for range 1 + r.IntN(4) {
		o.kind.knobs[r.IntN(len(o.kind.knobs))].turn(obj, r)
	}
	if r.IntN(6) == 0 {
		shuffleOneList(obj, r)
	}
	return named(obj, o.name)
}

// named copies an object of the pool and puts its name in.
func named(obj map[string]any, name string) map[string]any {
	return renamed(obj, name).(map[string]any)
}

func renamed(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			out[key] = renamed(v[key], name)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = renamed(v[i], name)
		}
		return out
	case string:
		if v == "NAME" {
			return name
		}
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

// now is the object as the chart that is deployed when the edits begin has it.
func (o *oracleObject) now(rollback bool) map[string]any {
	if rollback {
		return o.new
	}
	return o.old
}

// next is the object as Helm is to bring it.
func (o *oracleObject) next(rollback bool) map[string]any { return o.now(!rollback) }

func (o *oracleObject) gvk() schema.GroupVersionKind {
	return (&unstructured.Unstructured{Object: o.kind.object}).GroupVersionKind()
}

// ref is how stories name the object.
func (o *oracleObject) ref() string { return o.kind.name + "/" + o.name }

// chart is the text of one of the charts.
func (c *oracleCase) chart(name string) (string, error) {
	var out strings.Builder
	for _, o := range c.objects {
		obj := map[string]map[string]any{"old.yaml": o.old, "failed.yaml": o.tried, "new.yaml": o.new}[name]
		if obj == nil {
			continue
		}
		text, err := yaml.Marshal(obj)
		if err != nil {
			return "", err
		}
		out.WriteString("---\n" + string(text))
	}
	return out.String(), nil
}

// only is the story without the objects that are not among the names, and without the edits of them.
func (c *oracleCase) only(names []string) *oracleCase {
	out := *c
	out.objects = slices.DeleteFunc(slices.Clone(c.objects), func(o *oracleObject) bool { return !slices.Contains(names, o.name) })
	out.edits = slices.DeleteFunc(slices.Clone(c.edits), func(e *oracleEdit) bool { return !slices.Contains(names, e.object.name) })
	return &out
}
