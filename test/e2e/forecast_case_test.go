package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// forecastCase is a random release of workloads, and a random change of it.
type forecastCase struct {
	seed    uint64
	release string
	// old and new are the objects of the two charts by name. All but the ConfigMap are workloads.
	old, new map[string]map[string]any
	// edits are changes of live objects by hand, made before the upgrade or before the fix.
	edits []forecastEdit
	// fixes says that helmdrift fix follows the edits, and not an upgrade to the new chart.
	fixes bool
	// said describes the changes of the chart.
	said []string
}

// forecastEdit is a change of one workload.
type forecastEdit struct {
	object string
	change workloadChange
	// draw is the seed of the random choices of the change.
	draw uint64
}

func (e forecastEdit) apply(obj map[string]any) string {
	return e.object + ": " + e.change.name + e.change.apply(obj, rand.New(rand.NewPCG(e.draw, 0)))
}

// newForecastCase returns the case of a seed. All names begin with the name of the release.
func newForecastCase(seed uint64, release string) *forecastCase {
	r := rand.New(rand.NewPCG(seed, 16))
	c := &forecastCase{seed: seed, release: release, old: map[string]map[string]any{}, fixes: r.IntN(4) == 0}
	config := release + "-config"
	c.old[config] = map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": config}, "data": map[string]any{"k": "1"},
	}
	for i := range 1 + r.IntN(3) {
		name := fmt.Sprintf("%s-%c", release, 'a'+i)
		c.old[name] = newWorkload(r, name, release)
	}
	c.new = map[string]map[string]any{}
	for name, obj := range c.old {
		c.new[name] = runtime.DeepCopyJSON(obj)
	}
	c.changeConfig(r)
	for _, name := range c.workloads() {
		for range 1 + r.IntN(2) {
			edit := forecastEdit{object: name, change: pick(r, changesOf(c.old[name])), draw: r.Uint64()}
			if c.fixes || r.IntN(5) == 0 {
				c.edits = append(c.edits, edit)
			} else {
				c.said = append(c.said, edit.apply(c.new[name]))
			}
		}
	}
	return c
}

// changeConfig may change the ConfigMap, with or without a checksum in the templates of its users.
func (c *forecastCase) changeConfig(r *rand.Rand) {
	if c.fixes || r.IntN(3) > 0 {
		return
	}
	c.new[c.release+"-config"]["data"] = map[string]any{"k": "2"}
	c.said = append(c.said, "ConfigMap changes")
	for _, name := range c.workloads() {
		if r.IntN(3) == 0 {
			annotations(c.new[name])["checksum/config"] = "2"
			c.said = append(c.said, name+": its checksum changes")
		}
	}
}

// workloads returns the names of the workloads.
func (c *forecastCase) workloads() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.old)), func(name string) bool { return c.old[name]["kind"] == "ConfigMap" })
}

// chart returns the text of a chart with these objects.
func (c *forecastCase) chart(objects map[string]map[string]any) (string, error) {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		text, err := yaml.Marshal(objects[name])
		if err != nil {
			return "", err
		}
		out.WriteString("---\n" + string(text))
	}
	return out.String(), nil
}

// newWorkload returns a random workload.
func newWorkload(r *rand.Rand, name, release string) map[string]any {
	kind := pick(r, []string{"Deployment", "Deployment", "StatefulSet", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"})
	labels := map[string]any{workloadLabel: name, releaseLabel: release}
	container := map[string]any{
		"name": "c", "image": "web:1",
		"env":       []any{map[string]any{"name": "A", "value": "1"}},
		"resources": map[string]any{"requests": map[string]any{"cpu": "500m", "memory": "512Mi"}},
	}
	pod := map[string]any{"containers": []any{container}}
	useConfig(r, pod, container, release+"-config")
	metadata := map[string]any{"labels": labels, "annotations": map[string]any{readyAfter: pick(r, delays)}}
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": maps.Clone(labels)},
		"template": map[string]any{"metadata": metadata, "spec": pod},
	}
	obj := map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}
	switch kind {
	case "ReplicationController":
		obj["apiVersion"], spec["selector"] = "v1", maps.Clone(labels)
	case "StatefulSet":
		spec["serviceName"] = "none"
		if r.IntN(2) == 0 {
			spec["podManagementPolicy"] = "Parallel"
		}
	}
	if kind != "DaemonSet" {
		spec["replicas"] = r.Int64N(7)
	}
	if r.IntN(3) == 0 {
		spec["minReadySeconds"] = r.Int64N(4)
	}
	if r.IntN(3) > 0 {
		changeStrategy(obj, r)
	}
	return obj
}

// readyAfter is the annotation that makes the fake node delay the readiness of a pod.
const readyAfter = "node.helmdrift.io/ready-after"

var delays = []string{"500ms", "1s", "1500ms", "2s"}

// useConfig makes a pod use a ConfigMap in one of the possible ways, or not at all.
func useConfig(r *rand.Rand, pod, container map[string]any, name string) {
	ref := map[string]any{"name": name}
	switch r.IntN(4) {
	case 0:
		pod["volumes"] = []any{map[string]any{"name": "config", "configMap": ref}}
		container["volumeMounts"] = []any{map[string]any{"name": "config", "mountPath": "/config"}}
	case 1:
		container["envFrom"] = []any{map[string]any{"configMapRef": ref}}
	case 2:
		key := map[string]any{"name": name, "key": "k"}
		container["env"] = append(container["env"].([]any), map[string]any{"name": "K", "valueFrom": map[string]any{"configMapKeyRef": key}})
	}
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
