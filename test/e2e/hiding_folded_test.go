package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// hidingN is how many combinations TestHiding tries of each group of places.
var hidingN = flag.Int("hiding.n", 50, "how many combinations TestHiding tries of each group of places")

// place is a part of an object. Its content decides what the API server and Helm make of the fields beside it and below it: defaults
// that depend on siblings, unions, maps that a report folds into one line, templates that the API server completes.
type place struct {
	name, base string
	// path leads to the place in the object, and report is its path as a report has it.
	path   []string
	report string
	// states are the values of the place in old, live and the new chart. An empty one is absent. With merges, they are only parts, and the
	// base has the rest.
	states []string
	merges bool
	// byDesign are values that a report leaves out if the manifest does not name the field, because they are the API server's defaults
	// for the rest of live.
	byDesign map[string]string
}

const (
	podBase = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME}\nspec:\n  selector: {matchLabels: {a: b}}\n" +
		"  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, emptyDir: {}}]}}\n"
	jobBase = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: NAME}\nspec:\n  suspend: true\n" +
		"  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}\n"
	setBase = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: NAME}\nspec:\n  serviceName: s\n  selector: {matchLabels: {a: b}}\n" +
		"  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}\n" +
		"  volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"
	claimBase = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: NAME}\n" +
		"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	daemonBase = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: NAME}\nspec:\n  selector: {matchLabels: {a: b}}\n" +
		"  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}\n"
	scalerBase = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: NAME}\n" +
		"spec: {maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}\n"
	cronBase    = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: NAME}\nspec: {schedule: \"0 0 1 1 *\", suspend: true}\n"
	thingBase   = "apiVersion: ex.com/v1\nkind: Thing\nmetadata: {name: NAME}\n"
	jobTemplate = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"
)

// places are the groups of places that TestHiding tries.
var places = map[string][]place{
	"pods": {
		{name: "security", base: podBase, path: []string{"spec", "template", "spec", "securityContext"}, report: "spec.template.spec.securityContext",
			states: []string{"", "{runAsUser: 1}", "{runAsUser: 2, seLinuxOptions: {level: a}}", "{seLinuxOptions: {level: b, role: r}}"}},
		{name: "resources", base: podBase, path: []string{"spec", "template", "spec", "containers", "0", "resources"},
			report: "spec.template.spec.containers[name=c].resources",
			states: []string{"", "{limits: {cpu: 1}}", "{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}", "{requests: {cpu: 1, memory: 1Gi}}"}},
		{name: "probe", base: podBase, path: []string{"spec", "template", "spec", "containers", "0", "livenessProbe"},
			report: "spec.template.spec.containers[name=c].livenessProbe",
			states: []string{"", "{tcpSocket: {port: 80}}", "{httpGet: {port: 80, path: /a}}", "{tcpSocket: {port: 80}, periodSeconds: 5}"}},
		{name: "image", base: podBase, path: []string{"spec", "template", "spec", "containers", "0"}, report: "spec.template.spec.containers[name=c]",
			states: []string{"{name: c, image: \"a:1\"}", "{name: c, image: a}", "{name: c, image: \"a:1\", imagePullPolicy: Always}",
				"{name: c, image: \"a:2\", imagePullPolicy: IfNotPresent}"},
			byDesign: map[string]string{"spec.template.spec.containers[name=c].imagePullPolicy": `"IfNotPresent"`}},
		{name: "volume", base: podBase, path: []string{"spec", "template", "spec", "volumes", "0"}, report: "spec.template.spec.volumes[name=v]",
			states: []string{"{name: v, emptyDir: {}}", "{name: v, emptyDir: {medium: Memory}}", "{name: v, configMap: {name: m}}",
				"{name: v, configMap: {name: m, defaultMode: 256, optional: true}}"},
			byDesign: map[string]string{"spec.template.spec.volumes[name=v].emptyDir": "{}"}},
	},
	"strategies": {
		{name: "strategy", base: podBase, path: []string{"spec", "strategy"}, report: "spec.strategy",
			states: []string{"", "{type: Recreate}", "{type: RollingUpdate, rollingUpdate: {maxSurge: 1}}", "{rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}"}},
		{name: "set", base: setBase, path: []string{"spec", "updateStrategy"}, report: "spec.updateStrategy",
			states: []string{"", "{type: OnDelete}", "{rollingUpdate: {partition: 2}}", "{type: RollingUpdate, rollingUpdate: {partition: 0}}"}},
		{name: "daemon", base: daemonBase, path: []string{"spec", "updateStrategy"}, report: "spec.updateStrategy",
			states: []string{"", "{type: OnDelete}", "{rollingUpdate: {maxUnavailable: 2}}", "{rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"}},
		{name: "behavior", base: scalerBase, path: []string{"spec", "behavior"}, report: "spec.behavior",
			states: []string{"", "{scaleDown: {selectPolicy: Max}}", "{scaleDown: {stabilizationWindowSeconds: 5}}",
				"{scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 5}]}}"}},
	},
	"jobs": {
		{name: "cron", base: cronBase, path: []string{"spec", "jobTemplate"}, report: "spec.jobTemplate",
			states: []string{"{spec: {" + jobTemplate + "}}", "{metadata: {labels: {x: \"1\"}}, spec: {backoffLimit: 1, " + jobTemplate + "}}",
				"{spec: {backoffLimit: 6, completionMode: Indexed, completions: 2, " + jobTemplate + "}}",
				"{metadata: {annotations: {w: z}, labels: {x: \"2\"}}, spec: {suspend: true, " + jobTemplate + "}}"}},
		{name: "job", base: jobBase, path: []string{"spec"}, report: "spec", merges: true,
			states: []string{"", "{parallelism: 2}", "{parallelism: 3, backoffLimit: 6, activeDeadlineSeconds: 100}", "{ttlSecondsAfterFinished: 5, backoffLimit: 1}"}},
		{name: "labels", base: jobBase, path: []string{"spec", "template", "metadata", "labels"}, report: "spec.template.metadata.labels", merges: true,
			states: []string{"", "{x: \"1\"}", "{x: \"2\", w: \"1\"}", "{w: \"2\"}"}},
		{name: "nodes", base: jobBase, path: []string{"spec", "template", "spec", "nodeSelector"}, report: "spec.template.spec.nodeSelector",
			states: []string{"", "{a: b}", "{a: c, d: e}", "{d: f}"}},
	},
	"claims": {
		{name: "claim", base: claimBase, path: []string{"spec"}, report: "spec", merges: true,
			states: []string{"", "{storageClassName: a}", "{storageClassName: \"\", volumeName: v}", "{volumeMode: Filesystem, resources: {requests: {storage: 2Gi}}}",
				"{volumeName: w}"}},
		{name: "template", base: setBase, path: []string{"spec", "volumeClaimTemplates", "0"}, report: "spec.volumeClaimTemplates[0]", merges: true,
			states: []string{"", "{metadata: {labels: {x: \"1\"}}}", "{spec: {storageClassName: a, volumeMode: Filesystem}}", "{spec: {resources: {requests: {storage: 2Gi}}}}"}},
		{name: "set", base: setBase, path: []string{"spec"}, report: "spec", merges: true,
			states: []string{"", "{persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}", "{ordinals: {start: 1}, minReadySeconds: 5}",
				"{persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}, revisionHistoryLimit: 10}"}},
	},
	"things": {
		{name: "thing", base: thingBase, path: []string{"spec"}, report: "spec",
			states: []string{"", "{max: 1}", "{max: 1, x: {a: 1, b: {c: 1}}}", "{x: {b: {c: 2, d: 1}}}", "{x: {a: 2}, mode: manual}", "{x: {}, mode: auto}"}},
	},
}

// placeCases returns cases of a group: each combination of states in old, live and the new chart, or as many of them as the size allows.
func placeCases(group string) (out []hidingCase) {
	for _, p := range places[group] {
		for was := range p.states {
			for will := range p.states {
				for live := range p.states {
					name := fmt.Sprintf("%s-%d-%d-%d", p.name, was, will, live)
					h := hidingCase{old: p.manifest(name, p.states[was]), desired: p.manifest(name, p.states[will])}
					h.ref = strings.ToLower(parsed(h.old)["kind"].(string)) + "/" + name
					if live != was {
						h.edits = append(h.edits, hidingEdit{manager: "kubectl-edit", body: p.edit(p.states[was], p.states[live]), leaves: p.leaves(was, live)})
					}
					out = append(out, h)
				}
			}
		}
	}
	rand.New(rand.NewPCG(1, uint64(len(out)))).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(len(out), *hidingN)]
}

// manifest returns the base with a state in the place.
func (p place) manifest(name, state string) string {
	object := parsed(strings.ReplaceAll(p.base, "NAME", name))
	if state != "" {
		set(object, p.path, parsed(state), p.merges)
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// set puts a value at a path, or merges it into what is there.
func set(node any, path []string, value any, merges bool) {
	for _, token := range path[:len(path)-1] {
		node = nodeBelow(node, token, true)
	}
	last := path[len(path)-1]
	if merges {
		merge(nodeBelow(node, last, true).(map[string]any), value.(map[string]any))
		return
	}
	switch node := node.(type) {
	case map[string]any:
		node[last] = value
	case []any:
		i, _ := strconv.Atoi(last)
		node[i] = value
	}
}

// nodeBelow returns what is below a map or a list, or nil if there is nothing. If makes is set, it creates missing maps.
func nodeBelow(node any, token string, makes bool) any {
	switch node := node.(type) {
	case map[string]any:
		if node[token] == nil && makes {
			node[token] = map[string]any{}
		}
		return node[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i < len(node) {
			return node[i]
		}
	}
	return nil
}

func merge(into, from map[string]any) {
	for name, value := range from {
		below, isMap := value.(map[string]any)
		if there, both := into[name].(map[string]any); isMap && both {
			merge(there, below)
		} else {
			into[name] = value
		}
	}
}

// edit returns the body of a patch that turns the place from one state into another.
func (p place) edit(from, to string) string {
	if !p.merges {
		op := map[string]any{"op": "add", "path": "/" + strings.Join(p.path, "/"), "value": parsed(to)}
		switch _, err := strconv.Atoi(p.path[len(p.path)-1]); {
		case to == "":
			op["op"] = "remove"
			delete(op, "value")
		case err == nil:
			op["op"] = "replace"
		}
		return marshalled([]any{op})
	}
	body := map[string]any{}
	for _, leaf := range leavesOf(parsed(from)) {
		set(body, leaf, nil, false)
	}
	merge(body, parsed(to))
	for i, token := range slices.Backward(p.path) {
		if _, err := strconv.Atoi(token); err != nil {
			body = map[string]any{token: body}
			continue
		}
		merge(body, map[string]any{"metadata": map[string]any{"name": "d"}}) // the key of the item
		return marshalled(wrapped(p.path[:i], []any{body}))
	}
	return marshalled(body)
}

// wrapped puts a value under a path of maps.
func wrapped(path []string, value any) any {
	for _, token := range slices.Backward(path) {
		value = map[string]any{token: value}
	}
	return value
}

// hidingLeaf is a field that a manifest or an edit names.
type hidingLeaf struct {
	// path leads to it in the object, and report is its path as a report has it.
	path   []string
	report string
	// byDesign is a value, in JSON, that needs no line. It is empty for most fields.
	byDesign string
}

// leaves returns the fields of the states before and after an edit.
func (p place) leaves(was, live int) (out []hidingLeaf) {
	seen := map[string]bool{}
	for i, state := range []string{p.states[was], p.states[live]} {
		for _, leaf := range leavesOf(parsed(state)) {
			l := hidingLeaf{path: slices.Concat(p.path, leaf), report: p.report + "." + strings.Join(leaf, ".")}
			if i > 0 {
				l.byDesign = p.byDesign[l.report]
			}
			if !seen[l.report] {
				seen[l.report] = true
				out = append(out, l)
			}
		}
	}
	return out
}

// leavesOf returns the paths of the values of a map that are not maps, and of empty maps.
func leavesOf(m map[string]any) (out [][]string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		below, _ := m[name].(map[string]any)
		if len(below) == 0 {
			out = append(out, []string{name})
		}
		for _, leaf := range leavesOf(below) {
			out = append(out, append([]string{name}, leaf...))
		}
	}
	return out
}

// valueAt returns the value at a path; nil if there is none.
func valueAt(node any, path []string) any {
	for _, token := range path {
		node = nodeBelow(node, token, false)
	}
	return node
}

// changedLeaves returns the values of the leaves that differ between two states of an object, by their paths in the report.
func changedLeaves(leaves []hidingLeaf, before, after map[string]any) map[string]any {
	out := map[string]any{}
	for _, l := range leaves {
		if value := valueAt(after, l.path); !reflect.DeepEqual(valueAt(before, l.path), value) && marshalled(value) != l.byDesign {
			out[l.report] = value
		}
	}
	return out
}

// showsLeaf reports whether a report shows that a field of a live object has a value. It may have a line on the field, on something
// below it, or on something above it whose live value includes the field with this value.
func showsLeaf(r *driftReport, object, path string, value any) bool {
	_, name, _ := strings.Cut(object, "/")
	return slices.ContainsFunc(r.Releases[0].Objects, func(o objectReport) bool {
		return o.Name == name && slices.ContainsFunc(o.Fields, func(f fieldReport) bool {
			if strings.HasPrefix(f.Path+".", path+".") || strings.HasPrefix(f.Path, path+"[") {
				return true
			}
			rest, isAbove := strings.CutPrefix(path, f.Path+".")
			var live any
			_ = json.Unmarshal(f.Live, &live)
			got, want := valueAt(live, strings.Split(rest, ".")), any(nil)
			_ = json.Unmarshal([]byte(marshalled(value)), &want)
			return isAbove && reflect.DeepEqual(got, want)
		})
	})
}

func parsed(text string) (out map[string]any) {
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		panic(fmt.Sprintf("%v: %s", err, text))
	}
	return runtime.DeepCopyJSON(integers(out).(map[string]any))
}

// integers turns the numbers of a YAML text, which are floating point, into integers.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = integers(v[name])
		}
		return v
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		return int64(v)
	case nil:
		return map[string]any(nil)
	}
	return v
}

func marshalled(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestShowsLeaf gives the judge of TestHiding lines that show a field and lines that do not. It needs no server.
func TestShowsLeaf(t *testing.T) {
	line := func(path, live string) *driftReport {
		return reportOf(objectReport{Name: "a", Fields: []fieldReport{{Path: path, Live: json.RawMessage(live)}}})
	}
	for name, c := range map[string]struct {
		report *driftReport
		path   string
		value  any
		want   bool
	}{
		"the field":                       {line("spec.a", "1"), "spec.a", int64(1), true},
		"below it":                        {line("spec.a.b", "1"), "spec.a", nil, true},
		"an item below it":                {line("spec.a[0]", "1"), "spec.a", nil, true},
		"above it, with its value":        {line("spec", `{"a": {"b": 1}}`), "spec.a.b", int64(1), true},
		"above it, with another value":    {line("spec", `{"a": {"b": 2}}`), "spec.a.b", int64(1), false},
		"above it, and the field is gone": {line("spec", `{"c": 1}`), "spec.a.b", nil, true},
		"another field":                   {line("spec.ab", "1"), "spec.a", int64(1), false},
		"nothing":                         {reportOf(objectReport{Name: "a"}), "spec.a", int64(1), false},
	} {
		if got := showsLeaf(c.report, "x/a", c.path, c.value); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
