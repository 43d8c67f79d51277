package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file has the rules about numbers of pods that are integers or percentages.

// deploymentReasons: apps/validation ValidateRollingUpdateDeployment.
func deploymentReasons(spec map[string]any) []string {
	const at = "spec.strategy.rollingUpdate"
	rolling := object.Child(object.Child(spec, "strategy"), "rollingUpdate")
	out := percentReasons(rolling, at, "maxUnavailable", "maxSurge")
	if rolling["maxUnavailable"] != nil && isNone(rolling["maxUnavailable"]) && isNone(rolling["maxSurge"]) {
		out = append(out, at+" cannot have 0 for both maxUnavailable and maxSurge")
	}
	return out
}

// daemonSetReasons: apps/validation ValidateRollingUpdateDaemonSet. Without maxUnavailable, one pod may be unavailable. An upgrade leads to
// both numbers if somebody chose the one that the chart has not.
func daemonSetReasons(spec map[string]any) []string {
	const at = "spec.updateStrategy.rollingUpdate"
	strategy := object.Child(spec, "updateStrategy")
	rolling := object.Child(strategy, "rollingUpdate")
	if rolling == nil || strategy["type"] == "OnDelete" {
		return nil
	}
	out := percentReasons(rolling, at, "maxUnavailable", "maxSurge")
	hasUnavailable := rolling["maxUnavailable"] == nil || !isNone(rolling["maxUnavailable"])
	switch hasSurge := !isNone(rolling["maxSurge"]); {
	case hasUnavailable && hasSurge:
		out = append(out, at+".maxSurge may not be set while maxUnavailable is not 0")
	case !hasUnavailable && !hasSurge:
		out = append(out, at+".maxUnavailable may not be 0 while maxSurge is 0")
	}
	return out
}

// isNone reports whether a number of pods is 0 (apps/validation getIntOrPercentValue).
func isNone(v any) bool { return object.IsZero(v) || v == "0%" || v == "0" }

// percentReasons returns the server's errors for numbers of pods that are texts and no percentages, such as an integer in quotes
// (apps/validation ValidatePositiveIntOrPercent).
func percentReasons(parent map[string]any, at string, fields ...string) []string {
	var out []string
	for _, field := range fields {
		text, isText := parent[field].(string)
		if !isText {
			continue
		}
		for _, fault := range validation.IsValidPercent(text) {
			out = append(out, fmt.Sprintf("%s.%s: Invalid value: %q: %s", at, field, text, fault))
		}
	}
	return out
}
