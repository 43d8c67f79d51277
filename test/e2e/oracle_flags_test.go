package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// This file holds the random flags of a case, which both Helm and helmdrift get, and what they act on: values that a template prints, a
// schema of the values, definitions in the folder crds/ with an instance of them, and a namespace that does not exist yet. The route
// has the flags that say how Helm writes.

// caseFlags are the flags of a case, without the flags of its route.
type caseFlags struct {
	// given are the flags of the predicted call, and first are the flags of the installation before it. In both, $WORK is the
	// folder of the story.
	given, first []string
	// files are further files of the charts and of the story.
	files map[string]string
	// values is the object that prints the values.
	values *oracleObject
	// definition is the name of the definition in the folder crds/ of the new chart; empty if it has none.
	definition string
	// freshNamespace says that the namespace of the release does not exist.
	freshNamespace bool
}

// has reports whether a flag without a value is given.
func (f caseFlags) has(flag string) bool { return slices.Contains(f.given, flag) }

// addFlags chooses the flags of the case.
func (c *oracleCase) addFlags(pool []poolKind, r *rand.Rand) {
	c.flags.files = map[string]string{}
	sometimes := func(in int, flags ...string) {
		if r.IntN(in) == 0 {
			c.flags.given = append(c.flags.given, flags...)
		}
	}
	sometimes(4, "--no-hooks")
	if c.rollback {
		return
	}
	sometimes(6, "--disable-openapi-validation")
	sometimes(6, "--skip-crds")
	if c.unchanged {
		return
	}
	sometimes(6, "--enable-dns")
	c.addValues(pool, r)
	c.addDefinition(r)
	if c.installs {
		sometimes(2, "--create-namespace")
		c.leaveNamespaceOut(r)
	}
}

// leaveNamespaceOut sometimes lets the namespace of an installation not exist.
func (c *oracleCase) leaveNamespaceOut(r *rand.Rand) {
	c.flags.freshNamespace = r.IntN(3) == 0
	for _, o := range c.objects {
		if c.flags.freshNamespace {
			o.namespace.suffix = ""
		}
	}
}

// addValues adds an object that prints the values, and flags that set them.
func (c *oracleCase) addValues(pool []poolKind, r *rand.Rand) {
	if r.IntN(2) == 0 {
		return
	}
	o := c.addObject(&pool[slices.IndexFunc(pool, func(k poolKind) bool { return k.name == "configmap" })], "values", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"values": "{{ toJson .Values }}", "mark": "plain"},
	})
	c.flags.values = o
	if r.IntN(2) == 0 && !c.installs {
		if e := newOracleEdit([]*oracleObject{o}, r); e != nil {
			c.edits = append(c.edits, e)
		}
	}
	c.flags.files = map[string]string{
		".charts/old/values.yaml": "user: old\nport: 1\nmap: {both: 1, old: 1}\nlist: [1, 2]\n",
		".charts/new/values.yaml": "user: new\nport: 2\nmap: {both: 2, new: 2}\nlist: [3]\nnone: null\n",
		"mine.yaml":               "user: mine\nmap: {both: mine, old: null}\n",
		"more.yaml":               "map: {more: 1.50}\nlist: []\n",
		"text.txt":                "a text, of two lines\nand {braces}\n",
		"mark.sh":                 "#!/bin/sh\nexec sed \"s/^  mark: plain/  mark: $1/\"\n",
	}
	c.flags.files[".charts/failed/values.yaml"] = c.flags.files[".charts/old/values.yaml"]
	sets := [][]string{
		{"-f", "mine.yaml"}, {"--values", "more.yaml"}, {"--set", "user=set,map.both=null"}, {"--set", "list[1]=9"},
		{"--set-string", "number=007"}, {"--set-json", `map={"json":[1,{"a":null}]}`}, {"--set-file", "file=$WORK/text.txt"}, {"--set-literal", `literal=a\,b{c}`},
	}
	choose := func(in int) (out []string) {
		for _, set := range sets {
			if r.IntN(in) == 0 {
				out = append(out, set...)
			}
		}
		return out
	}
	if !c.installs {
		c.flags.first = choose(4)
	}
	c.flags.given = append(c.flags.given, choose(4)...)
	if policy := r.IntN(5); policy < 3 {
		c.flags.given = append(c.flags.given, []string{"--reset-values", "--reuse-values", "--reset-then-reuse-values"}[policy])
	}
	switch r.IntN(6) {
	case 0:
		c.flags.given = append(c.flags.given, "--post-renderer", "$WORK/mark.sh", "--post-renderer-args", "rendered")
	case 1: // without the flag, neither Helm nor helmdrift would render these values
		c.flags.files[".charts/new/values.schema.json"] = `{"properties": {"port": {"type": "string"}}}` + "\n"
		c.flags.given = append(c.flags.given, "--skip-schema-validation")
	}
}

// addObject adds an object to all charts of the case.
func (c *oracleCase) addObject(kind *poolKind, stem string, obj map[string]any) *oracleObject {
	o := &oracleObject{kind: kind, name: fmt.Sprintf("%s-%d-%d", stem, c.seed, runCounter.Add(1)), position: len(c.objects)}
	obj["metadata"] = map[string]any{"name": o.name}
	o.new = obj
	if !c.installs {
		o.old = runtime.DeepCopyJSON(obj)
	}
	if c.failed {
		o.failing = runtime.DeepCopyJSON(obj)
	}
	c.objects = append(c.objects, o)
	return o
}

// addDefinition sometimes adds a definition to the folder crds/ of the new chart. An installation creates it first, and the chart may have
// an instance of it; an upgrade never writes that folder.
func (c *oracleCase) addDefinition(r *rand.Rand) {
	if r.IntN(8) > 0 && !(c.installs && r.IntN(2) == 0) {
		return
	}
	group := fmt.Sprintf("g%d-%d.flags.ex.com", c.seed, runCounter.Add(1))
	c.flags.definition = "gauges." + group
	c.flags.files[".charts/new/crds/gauges.yaml"] = fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: %s
  scope: Namespaced
  names: {plural: gauges, singular: gauge, kind: Gauge}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, c.flags.definition, group)
	if c.installs && r.IntN(3) > 0 {
		gauge := map[string]any{"apiVersion": group + "/v1", "kind": "Gauge", "spec": map[string]any{"max": int64(10)}}
		c.addObject(&poolKind{name: c.flags.definition, object: gauge, versions: []string{group + "/v1"}}, "gauge", gauge)
	}
}

// withWork fills the folder of the story into flags.
func (r *oracleRun) withWork(flags []string) []string {
	out := slices.Clone(flags)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "$WORK", r.story.dir)
	}
	return out
}

// scriptWords writes arguments as a script has them.
func scriptWords(args []string) string {
	out := slices.Clone(args)
	for i, arg := range out {
		if strings.ContainsAny(arg, " {}\\'\"#") {
			out[i] = "'" + strings.ReplaceAll(arg, "'", "''") + "'"
		}
	}
	return strings.Join(out, " ")
}

// writeFlagFiles writes what the flags of the case read, and the further files of the charts.
func (r *oracleRun) writeFlagFiles() error {
	for _, name := range slices.Sorted(maps.Keys(r.testCase.flags.files)) {
		if err := r.writeFile(name, r.testCase.flags.files[name]); err != nil {
			return err
		}
		if strings.HasSuffix(name, ".sh") {
			r.commands = append(r.commands, "chmod 755 "+name)
		}
	}
	if r.testCase.flags.freshNamespace {
		r.commands = append(r.commands, "delete namespace/$NS", "await-gone namespace/$NS")
		r.story.ns = fmt.Sprintf("%s-fresh-%d", r.story.ns, runCounter.Add(1))
		r.story.storage = r.story.ns
	}
	return nil
}

// fillInValues replaces the template of the object that prints values by what Helm has rendered into the last record.
func (r *oracleRun) fillInValues() error {
	o := r.testCase.flags.values
	if o == nil {
		return nil
	}
	objects, err := r.story.stored()
	if err != nil {
		return err
	}
	for _, obj := range objects {
		if obj.GetName() == o.name {
			o.new = obj.Object
		}
	}
	return nil
}

// judgeDefinition checks that the definition of the folder crds/ exists after an installation without --skip-crds, and only then.
func (r *oracleRun) judgeDefinition() {
	name := r.testCase.flags.definition
	if name == "" {
		return
	}
	_, err := r.story.cluster.get(context.Background(), ref{resource: "customresourcedefinition", name: name})
	if want := r.testCase.installs && !r.testCase.flags.has("--skip-crds"); (err == nil) != want {
		r.mispredict("", "the definition in crds/ exists: %v, want %v", err == nil, want)
	}
}
