package object

import "testing"

// TestPausesScaling checks the annotations of a ScaledObject as KEDA reads them.
func TestPausesScaling(t *testing.T) {
	const paused, replicas = "autoscaling.keda.sh/paused", "autoscaling.keda.sh/paused-replicas"
	for _, c := range []struct {
		annotations map[string]any
		want        bool
	}{
		{nil, false},
		{map[string]any{paused: "true"}, true},
		{map[string]any{paused: "yes"}, true},
		{map[string]any{paused: ""}, true},
		{map[string]any{paused: "false"}, false},
		{map[string]any{paused: "0"}, false},
		{map[string]any{replicas: "0"}, false},
		{map[string]any{paused: "true", replicas: "0"}, false},
	} {
		got := PausesScaling(map[string]any{"metadata": map[string]any{"annotations": c.annotations}})
		if got != c.want {
			t.Errorf("%v: %t", c.annotations, got)
		}
	}
}
