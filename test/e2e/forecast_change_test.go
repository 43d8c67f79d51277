package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// workloadChange is one way to change a workload. It returns a description of the change.
type workloadChange struct {
	name  string
	apply func(obj map[string]any, r *rand.Rand) string
}

// changesOf returns the ways to change a workload.
func changesOf(obj map[string]any) []workloadChange {
	out := []workloadChange{
		{"image", changeImage}, {"image", changeImage}, {"env", changeEnv}, {"restartedAt", changeRestartedAt}, {"ready-after", changeDelay},
		{"own label", changeOwnLabel}, {"spelling", changeSpelling}, {"explicit default", writeDefault},
	}
	kind := obj["kind"]
	if kind != "DaemonSet" {
		out = append(out, workloadChange{"replicas", changeReplicas}, workloadChange{"replicas", changeReplicas},
			workloadChange{"minReadySeconds", changeMinReady})
	}
	if kind == "Deployment" || kind == "StatefulSet" || kind == "DaemonSet" {
		out = append(out, workloadChange{"strategy", changeStrategy})
	}
	if kind == "Deployment" {
		out = append(out, workloadChange{"paused", changePaused})
	}
	return out
}

// podOf returns the pod spec of a workload's template.
func podOf(obj map[string]any) map[string]any {
	return child(child(child(obj, "spec"), "template"), "spec")
}

func containerOf(obj map[string]any) map[string]any {
	return podOf(obj)["containers"].([]any)[0].(map[string]any)
}

// annotations returns the annotations of a workload's template, and adds a map if there is none.
func annotations(obj map[string]any) map[string]any {
	metadata := child(child(child(obj, "spec"), "template"), "metadata")
	if child(metadata, "annotations") == nil {
		metadata["annotations"] = map[string]any{}
	}
	return child(metadata, "annotations")
}

func changeImage(obj map[string]any, r *rand.Rand) string {
	containerOf(obj)["image"] = fmt.Sprintf("web:%d", 2+r.IntN(7))
	return " " + containerOf(obj)["image"].(string)
}

func changeEnv(obj map[string]any, r *rand.Rand) string {
	value := fmt.Sprint(2 + r.IntN(7))
	containerOf(obj)["env"].([]any)[0].(map[string]any)["value"] = value
	return " " + value
}

func changeRestartedAt(obj map[string]any, r *rand.Rand) string {
	value := fmt.Sprintf("2026-11-%02dT10:00:00Z", 1+r.IntN(28))
	annotations(obj)["kubectl.kubernetes.io/restartedAt"] = value
	return " " + value
}

func changeDelay(obj map[string]any, r *rand.Rand) string {
	annotations(obj)[readyAfter] = pick(r, delays)
	return " " + annotations(obj)[readyAfter].(string)
}

// changeOwnLabel changes a label of the workload alone.
func changeOwnLabel(obj map[string]any, r *rand.Rand) string {
	metadata := child(obj, "metadata")
	if child(metadata, "labels") == nil {
		metadata["labels"] = map[string]any{}
	}
	child(metadata, "labels")["team"] = fmt.Sprintf("t%d", r.IntN(9))
	return ""
}

// changeSpelling writes equal quantities.
func changeSpelling(obj map[string]any, r *rand.Rand) string {
	requests := child(child(containerOf(obj), "resources"), "requests")
	requests["cpu"], requests["memory"] = pick(r, []string{"0.5", "500m"}), pick(r, []string{"0.5Gi", "524288Ki"})
	return ""
}

// writeDefault writes a value that the API server would fill in.
func writeDefault(obj map[string]any, r *rand.Rand) string {
	switch pod := podOf(obj); r.IntN(4) {
	case 0:
		pod["dnsPolicy"] = "ClusterFirst"
	case 1:
		pod["terminationGracePeriodSeconds"] = int64(30)
	case 2:
		containerOf(obj)["imagePullPolicy"] = "IfNotPresent"
	default:
		pod["securityContext"] = map[string]any{}
	}
	return ""
}

func changeReplicas(obj map[string]any, r *rand.Rand) string {
	child(obj, "spec")["replicas"] = r.Int64N(7)
	return fmt.Sprintf(" %d", child(obj, "spec")["replicas"])
}

func changeMinReady(obj map[string]any, r *rand.Rand) string {
	child(obj, "spec")["minReadySeconds"] = r.Int64N(4)
	return fmt.Sprintf(" %d", child(obj, "spec")["minReadySeconds"])
}

func changePaused(obj map[string]any, _ *rand.Rand) string {
	child(obj, "spec")["paused"] = true
	return ""
}

// changeStrategy chooses at random how the controller replaces the pods.
func changeStrategy(obj map[string]any, r *rand.Rand) string {
	var name string
	var strategy map[string]any
	switch obj["kind"] {
	case "Deployment":
		name, strategy = "strategy", deploymentStrategy(r)
	case "StatefulSet":
		name, strategy = "updateStrategy", statefulSetStrategy(r)
	case "DaemonSet":
		name, strategy = "updateStrategy", daemonSetStrategy(r, number(child(obj, "spec"), "minReadySeconds", 0) == 0)
	default:
		return ""
	}
	child(obj, "spec")[name] = strategy
	text, _ := json.Marshal(strategy)
	return " " + string(text)
}

// rolling returns a rolling update with bounds.
func rolling(bounds map[string]any) map[string]any {
	return map[string]any{"type": "RollingUpdate", "rollingUpdate": bounds}
}

// notRolling returns another strategy. The null removes what a chart or the API server has set before.
func notRolling(kind string) map[string]any {
	return map[string]any{"type": kind, "rollingUpdate": nil}
}

func deploymentStrategy(r *rand.Rand) map[string]any {
	bounds := []any{int64(1), int64(2), int64(3), "1%", "25%", "50%", "100%"}
	switch r.IntN(5) {
	case 0:
		return notRolling("Recreate")
	case 1:
		return rolling(map[string]any{"maxSurge": int64(0), "maxUnavailable": pick(r, bounds)})
	case 2:
		return rolling(map[string]any{"maxSurge": pick(r, bounds), "maxUnavailable": int64(0)})
	}
	return rolling(map[string]any{"maxSurge": pick(r, bounds), "maxUnavailable": pick(r, bounds)})
}

func statefulSetStrategy(r *rand.Rand) map[string]any {
	switch r.IntN(4) {
	case 0:
		return notRolling("OnDelete")
	case 1:
		return rolling(map[string]any{"partition": r.Int64N(5)})
	case 2:
		return rolling(map[string]any{"partition": r.Int64N(3), "maxUnavailable": pick(r, []any{int64(1), int64(2), "50%"})})
	}
	return rolling(map[string]any{"partition": int64(0)})
}

// daemonSetStrategy returns a strategy that may surge only without minReadySeconds. Otherwise the roll-out of Kubernetes 1.36.3 can stop
// until something else happens: the controller comes back after minReadySeconds for the first pod that becomes ready, but not again for a
// pod that becomes ready shortly after it (enqueueDaemonSetAfter in pkg/controller/daemon; a queue keeps the earlier time of a key).
func daemonSetStrategy(r *rand.Rand, maySurge bool) map[string]any {
	bounds := []any{int64(1), int64(2), "34%", "50%", "100%"}
	switch n := r.IntN(4); {
	case n == 0:
		return notRolling("OnDelete")
	case n == 1 && maySurge:
		return rolling(map[string]any{"maxSurge": pick(r, bounds), "maxUnavailable": int64(0)})
	}
	return rolling(map[string]any{"maxSurge": int64(0), "maxUnavailable": pick(r, bounds)})
}
