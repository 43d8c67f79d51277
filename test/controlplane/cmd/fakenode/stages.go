package main

import (
	_ "embed" // stages.yaml
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/yaml"
)

//go:embed stages.yaml
var podStages string

// loadStages returns our stages of pods, and those of KWOK for nodes and for the deletion of pods, by kind.
func loadStages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	out := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	theirs := []string{podfast.DefaultPodDelete, fast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease}
	for _, text := range append(strings.Split(podStages, "\n---\n"), theirs...) {
		var written v1alpha1.Stage
		if err := yaml.UnmarshalStrict([]byte(text), &written); err != nil {
			return nil, fmt.Errorf("read stage: %w", err)
		}
		stage, err := internalversion.ConvertToInternalStage(&written)
		if err != nil {
			return nil, fmt.Errorf("read stage %s: %w", written.Name, err)
		}
		if stage.Spec.ResourceRef.Kind == "Pod" {
			stage.Spec.Selector.MatchExpressions = append(stage.Spec.Selector.MatchExpressions, ofDefaultScheduler())
		}
		out[stage.Spec.ResourceRef] = append(out[stage.Spec.ResourceRef], stage)
	}
	return out, nil
}

// ofDefaultScheduler selects the pods that this program plays.
func ofDefaultScheduler() internalversion.MatchExpression {
	return internalversion.MatchExpression{JQ: &internalversion.SelectorJQ{
		Key: ".spec.schedulerName", Operator: internalversion.SelectorOpIn, Values: []string{"default-scheduler"},
	}}
}

// kubeletEvent returns the warning that a kubelet records about a pod's first container. KWOK's own events have no fields that depend on
// the pod, and another source. A repeated event replaces the one before and counts the restarts, as the kubelet does.
func kubeletEvent(pod map[string]any, reason, message string) (string, error) {
	metadata, _ := pod["metadata"].(map[string]any)
	spec, _ := pod["spec"].(map[string]any)
	name, uid := fmt.Sprint(metadata["name"]), fmt.Sprint(metadata["uid"])
	container, restarts := firstContainer(pod)
	now := time.Now().Format(time.RFC3339)
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "Event",
		"metadata":   map[string]any{"namespace": metadata["namespace"], "name": strings.ToLower(name + "." + uid + "." + reason)},
		"involvedObject": map[string]any{
			"apiVersion": "v1", "kind": "Pod", "namespace": metadata["namespace"], "name": name, "uid": uid,
			"fieldPath": "spec.containers{" + container + "}",
		},
		"type":           "Warning",
		"reason":         reason,
		"message":        message,
		"count":          restarts + 1,
		"firstTimestamp": now,
		"lastTimestamp":  now,
		"source":         map[string]any{"component": "kubelet", "host": spec["nodeName"]},
	})
	if err != nil {
		return "", fmt.Errorf("encode event: %w", err)
	}
	return string(text), nil
}

// firstContainer returns the name of a pod's first container and how often it was restarted.
func firstContainer(pod map[string]any) (name string, restarts int64) {
	status, _ := pod["status"].(map[string]any)
	statuses, _ := status["containerStatuses"].([]any)
	if len(statuses) > 0 {
		first, _ := statuses[0].(map[string]any)
		count, _ := first["restartCount"].(json.Number)
		restarts, _ = count.Int64()
	}
	spec, _ := pod["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	first, _ := containers[0].(map[string]any)
	name, _ = first["name"].(string)
	return name, restarts
}
