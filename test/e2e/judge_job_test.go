package e2e

import (
	"fmt"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestJudgeOfJobs checks the judgement of a Job that was deleted and created again: the copies of its new uid are no edit, a uid that is not
// its own is one. It needs no server.
func TestJudgeOfJobs(t *testing.T) {
	const text = `
apiVersion: batch/v1
kind: Job
metadata: {name: a, uid: %s}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: %[2]s}}
  template: {metadata: {labels: {batch.kubernetes.io/controller-uid: %[2]s, controller-uid: %[2]s}}}
`
	job := func(uid, copied string) map[string]any {
		var out map[string]any
		if err := yaml.Unmarshal(fmt.Appendf(nil, text, uid, copied), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, c := range map[string]struct {
		is   map[string]any
		want func(*testing.T, *oracleRun)
	}{
		"created again":             {job("second", "second"), wantNoMispredictions},
		"with the uid of another":   {job("second", "first"), wantMispredictions},
		"edited, not created again": {job("first", "second"), wantMispredictions},
	} {
		t.Run(name, func(t *testing.T) {
			run := runOfConfigMaps("a")
			run.judgeEdited(run.testCase.objects[0], objectReport{Kind: "Job", Name: "a"}, job("first", "first"), c.is)
			c.want(t, run)
		})
	}
}
