package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// newStory is the case of a seed with more of what releases live through: namespaces that charts write, Lists, hooks, objects
// without a name, releases that do not exist yet or whose chart stays, and all routes.
func newStory(pool []poolKind, seed uint64) *oracleCase {
	c := newOracleCase(pool, seed)
	r := rand.New(rand.NewPCG(seed, 2))
	if r.IntN(2) == 0 {
		c.route = r.IntN(len(routes(false)))
	}
	switch r.IntN(16) {
	case 0, 1:
		c.begin(r)
	case 2, 3:
		c.stay()
	default:
		c.hookOne(r)
		c.stumble(r)
	}
	c.place(r)
	c.list(r)
	c.addHooks(r)
	c.addNameless(r)
	return c
}

// begin makes it the story of an installation: what is there before is not Helm's.
func (c *oracleCase) begin(r *rand.Rand) {
	c.installs, c.rollback, c.failed, c.edits = true, false, false, nil
	for _, o := range c.objects {
		o.new, o.old, o.tried = orElseMap(o.new, o.old), nil, nil
		if r.IntN(2) == 0 {
			c.edits = append(c.edits, newCreation(o, r))
		}
	}
}

// stay makes it the story of a chart that stays what it is.
func (c *oracleCase) stay() {
	c.same, c.rollback = true, false
	c.objects = slices.DeleteFunc(c.objects, func(o *oracleObject) bool { return o.old == nil })
	for _, o := range c.objects {
		o.new = o.old
	}
	c.edits = slices.DeleteFunc(c.edits, func(e *oracleEdit) bool { return e.how == byCreate || e.object.old == nil })
}

// stumble seldom lets a rollback come after an upgrade that failed.
func (c *oracleCase) stumble(r *rand.Rand) {
	bad := c.deployed()
	if !c.rollback || len(bad) == 0 || r.IntN(4) > 0 {
		return
	}
	o := bad[r.IntN(len(bad))]
	o.new = runtime.DeepCopyJSON(o.new)
	badLabel.put(o.new, "not a label!")
}

// hookOne seldom makes a hook of an object that was none.
func (c *oracleCase) hookOne(r *rand.Rand) {
	o := c.objects[r.IntN(len(c.objects))]
	runs := o.kind.name == "job" || o.kind.name == "pod" // Helm waits for such hooks, and nothing here lets them end
	if r.IntN(20) > 0 || o.old == nil || o.new == nil || o.kind.stays || o.kind.scales || runs {
		return
	}
	o.new = runtime.DeepCopyJSON(o.old) // which could be created: whether a hook fails is not foretold
	hooks := []string{"pre-upgrade", "post-upgrade", "test", "post-delete"}
	steps{{field: "metadata"}, {field: "annotations"}, {field: hookMark}}.put(o.new, hooks[r.IntN(len(hooks))])
}

// place lets the chart write the namespace of some objects.
func (c *oracleCase) place(r *rand.Rand) {
	for _, o := range c.objects {
		switch n := r.IntN(10); {
		case o.kind.wide:
		case n == 0:
			o.where = namespacing{written: true, suffix: otherNamespace}
		case n == 1:
			o.where = namespacing{written: true}
		}
	}
}

// addHooks gives the charts a hook that comes, changes or goes.
func (c *oracleCase) addHooks(r *rand.Rand) {
	if r.IntN(4) > 0 {
		return
	}
	n := r.IntN(5)
	c.odd = n == 4
	when := []string{"pre-install,pre-upgrade,pre-rollback", "post-install,post-upgrade,post-rollback", "test", "pre-upgrade", "no-such-hook"}[n]
	for _, file := range []string{"old.yaml", "failed.yaml", "new.yaml"} {
		if r.IntN(5) == 0 && !c.same {
			continue
		}
		annotations := map[string]any{hookMark: when, "helm.sh/hook-weight": "1"}
		if r.IntN(2) == 0 {
			annotations["helm.sh/hook-delete-policy"] = "before-hook-creation,hook-succeeded"
		}
		c.extra(file, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"file": file},
			"metadata": map[string]any{"name": fmt.Sprintf("hook-%d-%d", c.seed, tellings.Load()), "annotations": annotations},
		})
	}
}

// addNameless seldom gives the next chart an object that asks the server for a name, which no upgrade gets past.
func (c *oracleCase) addNameless(r *rand.Rand) {
	if r.IntN(40) > 0 || c.same || c.rollback {
		return
	}
	c.extra("new.yaml", map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"generateName": fmt.Sprintf("gen-%d-", c.seed)},
	})
}

func (c *oracleCase) extra(file string, obj map[string]any) {
	if c.extras == nil {
		c.extras = map[string][]map[string]any{}
	}
	c.extras[file] = append(c.extras[file], obj)
}

// hookNames are the names of the hooks in a chart.
func (c *oracleCase) hookNames(file string) []string {
	var out []string
	for _, obj := range c.extras[file] {
		if isHook(obj) {
			out = append(out, fmt.Sprint(obj["metadata"].(map[string]any)["name"]))
		}
	}
	return out
}
