package e2e

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// TestJudgeOfHooks checks the judgement of an object that becomes a hook. It needs no server.
func TestJudgeOfHooks(t *testing.T) {
	was := liveObject("a", "data: {x: '1'}")
	created := runtime.DeepCopyJSON(was)
	fieldPath{{field: "metadata"}, {field: "uid"}}.put(created, "another")
	conflict := errors.New(`cannot patch "b" with kind ConfigMap: ConfigMap "b" is invalid: metadata.labels: Invalid value: "?": a label`)
	for name, c := range map[string]struct {
		hook, action string
		is           map[string]any
		failed       error
		want         func(*testing.T, *oracleRun)
	}{
		"replaced before a failure":             {"pre-upgrade", "delete", created, conflict, wantNoMispredictions},
		"replaced although it is to be skipped": {"pre-upgrade", "skip", created, conflict, wantMispredictions},
		"not replaced before a failure":         {"pre-upgrade", "delete", was, conflict, wantMispredictions},
		"not reached after a failure":           {"post-upgrade", "skip", was, conflict, wantNoMispredictions},
		"not reached, to be deleted":            {"post-upgrade", "delete", was, conflict, wantMispredictions},
		"gone with a hook that fails":           {"pre-upgrade", "delete", nil, errors.New("pre-upgrade hooks failed: no"), wantNoMispredictions},
		"gone with a hook, to be skipped":       {"pre-upgrade", "skip", nil, errors.New("pre-upgrade hooks failed: no"), wantMispredictions},
		"held although its hook runs":           {"pre-upgrade", "delete", was, errors.New("pre-upgrade hooks failed: no"), wantMispredictions},
	} {
		t.Run(name, func(t *testing.T) {
			run := runOfConfigMaps("a", "b")
			run.testCase.objects[0].new = runtime.DeepCopyJSON(run.testCase.objects[0].new)
			fieldPath{{field: "metadata"}, {field: "annotations"}, {field: hookAnnotation}}.put(run.testCase.objects[0].new, c.hook)
			before, after := states(was, liveObject("b", "")), states(liveObject("b", ""))
			if c.is != nil {
				after["a"] = c.is
			}
			reported := objectReport{Kind: "ConfigMap", Name: "a", Action: c.action}
			run.judge(reportOf(reported, failing("b", "metadata.labels has no valid value")), before, after, c.failed)
			c.want(t, run)
		})
	}
}
