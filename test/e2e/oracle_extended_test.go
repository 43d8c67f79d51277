package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// newExtendedCase returns the case of a seed with more that can happen to releases: namespaces that charts write, Lists, hooks, objects
// without a name, releases that do not exist yet or whose chart stays the same, all routes, and all flags.
func newExtendedCase(pool []poolKind, seed uint64) *oracleCase {
	c := newOracleCase(pool, seed)
	r := rand.New(rand.NewPCG(seed, 2))
	if r.IntN(2) == 0 {
		c.route = r.IntN(len(routes(false)))
	}
	switch r.IntN(16) {
	case 0, 1:
		c.makeInstall(r)
	case 2, 3:
		c.makeUnchanged()
	default:
		c.turnIntoHook(r)
		c.failBeforeRollback(r)
	}
	c.placeInNamespaces(r)
	c.putIntoLists(r)
	c.addHooks(r)
	c.addNameless(r)
	c.addFlags(pool, rand.New(rand.NewPCG(seed, 4)))
	return c
}

// makeInstall turns the case into an installation. Objects that exist before it are not Helm's.
func (c *oracleCase) makeInstall(r *rand.Rand) {
	c.installs, c.rollback, c.failed, c.edits = true, false, false, nil
	for _, o := range c.objects {
		o.new, o.old, o.failing = orElseMap(o.new, o.old), nil, nil
		if r.IntN(2) == 0 {
			c.edits = append(c.edits, newCreation(o, r))
		}
	}
}

// makeUnchanged turns the case into one whose chart stays the same.
func (c *oracleCase) makeUnchanged() {
	c.unchanged, c.rollback = true, false
	c.objects = slices.DeleteFunc(c.objects, func(o *oracleObject) bool { return o.old == nil })
	for _, o := range c.objects {
		o.new = o.old
	}
	c.edits = slices.DeleteFunc(c.edits, func(e *oracleEdit) bool { return e.way == byCreate || e.object.old == nil })
}

// failBeforeRollback sometimes lets a rollback follow a failed upgrade.
func (c *oracleCase) failBeforeRollback(r *rand.Rand) {
	bad := c.deployed()
	if !c.rollback || len(bad) == 0 || r.IntN(4) > 0 {
		return
	}
	o := bad[r.IntN(len(bad))]
	o.new = runtime.DeepCopyJSON(o.new)
	badLabel.put(o.new, "not a label!")
}

// turnIntoHook sometimes turns an object into a hook.
func (c *oracleCase) turnIntoHook(r *rand.Rand) {
	o := c.objects[r.IntN(len(c.objects))]
	runs := o.kind.name == "job" || o.kind.name == "pod" // Helm waits for such hooks, and nothing here completes them
	if r.IntN(20) > 0 || o.old == nil || o.new == nil || o.kind.onlyHelmDeletes || o.kind.scales || runs {
		return
	}
	o.new = runtime.DeepCopyJSON(o.old) // it can be created: whether a hook fails is not predicted
	hooks := []string{"pre-upgrade", "post-upgrade", "test", "post-delete"}
	annotations := fieldPath{{field: "metadata"}, {field: "annotations"}}
	append(annotations, pathStep{field: hookAnnotation}).put(o.new, hooks[r.IntN(len(hooks))])
	if policy := []string{"", "", "hook-succeeded", "hook-failed"}[r.IntN(4)]; policy != "" {
		append(annotations, pathStep{field: policyAnnotation}).put(o.new, policy)
	}
}

// placeInNamespaces lets the chart write the namespace of some objects.
func (c *oracleCase) placeInNamespaces(r *rand.Rand) {
	for _, o := range c.objects {
		switch n := r.IntN(10); {
		case o.kind.clusterScoped:
		case n == 0:
			o.namespace = chartNamespace{written: true, suffix: otherNamespace}
		case n == 1:
			o.namespace = chartNamespace{written: true}
		}
	}
}

// addHooks adds a hook that appears, changes or disappears with the next chart.
func (c *oracleCase) addHooks(r *rand.Rand) {
	if r.IntN(4) > 0 {
		return
	}
	n := r.IntN(5)
	c.unknownHook = n == 4
	when := []string{"pre-install,pre-upgrade,pre-rollback", "post-install,post-upgrade,post-rollback", "test", "pre-upgrade", "no-such-hook"}[n]
	for _, file := range []string{"old.yaml", "failed.yaml", "new.yaml"} {
		if r.IntN(5) == 0 && !c.unchanged {
			continue
		}
		annotations := map[string]any{hookAnnotation: when, "helm.sh/hook-weight": "1"}
		if r.IntN(2) == 0 {
			annotations[policyAnnotation] = "before-hook-creation,hook-succeeded"
		}
		c.extra(file, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"file": file},
			"metadata": map[string]any{"name": fmt.Sprintf("hook-%d-%d", c.seed, runCounter.Load()), "annotations": annotations},
		})
	}
}

// addNameless sometimes adds an object to the next chart that asks the server for a name. Every upgrade fails on it.
func (c *oracleCase) addNameless(r *rand.Rand) {
	if r.IntN(40) > 0 || c.unchanged || c.rollback {
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

// hookNames returns the names of the hooks in a chart.
func (c *oracleCase) hookNames(file string) []string {
	var out []string
	for _, obj := range c.extras[file] {
		if isHook(obj) {
			out = append(out, fmt.Sprint(obj["metadata"].(map[string]any)["name"]))
		}
	}
	return out
}
