package e2e

import (
	"fmt"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestJudgeOfEdits checks which differences between two states of an object a report may omit. It needs no server.
func TestJudgeOfEdits(t *testing.T) {
	job := func(uid, copied string) string {
		return fmt.Sprintf(`
kind: Job
metadata: {name: a, uid: %s}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: %[2]s}}
  template: {metadata: {labels: {batch.kubernetes.io/controller-uid: %[2]s, controller-uid: %[2]s}}}
`, uid, copied)
	}
	deployment := func(strategy string) string { return "{kind: Deployment, spec: {strategy: " + strategy + "}}" }
	recreate := deployment("{type: Recreate}")
	typeChanged := []fieldReport{{Path: "spec.strategy.type", Live: []byte(`"RollingUpdate"`)}}
	for name, c := range map[string]struct {
		was, is  string
		reported []fieldReport
		want     func(*testing.T, *oracleRun)
	}{
		"a Job created again":             {job("first", "first"), job("second", "second"), nil, wantNoMispredictions},
		"a Job with the uid of another":   {job("first", "first"), job("second", "first"), nil, wantMispredictions},
		"a Job that was not created anew": {job("first", "first"), job("first", "second"), nil, wantMispredictions},
		"defaults of a reported strategy": {
			recreate, deployment("{type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}"), typeChanged, wantNoMispredictions,
		},
		"no defaults of a reported strategy": {
			recreate, deployment("{type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}"), typeChanged, wantMispredictions,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var was, is map[string]any
			must(t, yaml.Unmarshal([]byte(c.was), &was))
			must(t, yaml.Unmarshal([]byte(c.is), &is))
			run := runOfConfigMaps("a")
			run.judgeEdited(run.testCase.objects[0], objectReport{Name: "a", Fields: c.reported}, was, is)
			c.want(t, run)
		})
	}
}
