package drift_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestSavedAnswersGiveTheSameReport checks that saved answers can replace a cluster, with and without a chart, for all sorts of kinds.
func TestSavedAnswersGiveTheSameReport(t *testing.T) {
	chart := t.TempDir()
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.3.0\n", "templates/all.yaml": chartTemplate}
	for name, text := range files {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]drift.Target{
		"drift": {Namespace: "prod", Release: "web"},
		"chart": {Namespace: "prod", Release: "web", Chart: &drift.Chart{Ref: chart}},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := snapshot.NewRecorder(connect(t, helm4Record, liveObjects))
			want := reported(t, recorder.Connection(), target)
			saved := copied(t, recorder)
			if len(saved.Autoscalers) == 0 || len(saved.Definitions) == 0 || len(saved.Documents) == 0 {
				t.Errorf("the comparison did not ask for all that a connection can tell: %+v", saved)
			}
			if target.Chart != nil && (len(saved.Lookups) == 0 || len(want.Errors) > 0) {
				t.Errorf("the chart looked nothing up: %+v", want.Errors)
			}
			if diff := cmp.Diff(want, played(t, saved, target)); diff != "" || len(want.Objects) < 3 {
				t.Errorf("report of %d objects, -original +stand-in:\n%s", len(want.Objects), diff)
			}
		})
	}
}

// copied returns what was recorded, after it was written to a file and read again.
func copied(t *testing.T, r *snapshot.Recorder) *snapshot.Snapshot {
	t.Helper()
	saved, err := r.Snapshot(t.Context(), snapshot.Options{Namespace: "prod", Release: "web"})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := saved.Write(&file); err != nil {
		t.Fatal(err)
	}
	out, err := snapshot.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// played returns the report that a snapshot has.
func played(t *testing.T, s *snapshot.Snapshot, target drift.Target) report.Release {
	t.Helper()
	player := snapshot.NewPlayer(s)
	result, err := drift.New(player.Connection(), drift.Options{}).Compare(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report(threeway.Mask{})
}

func reported(t *testing.T, c drift.Connection, target drift.Target) report.Release {
	t.Helper()
	result, err := drift.New(c, drift.Options{}).Compare(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report(threeway.Mask{})
}

// helm4Record is a release that is applied server-side.
var helm4Record = map[string]any{
	"name": "web", "namespace": "prod", "version": 1, "apply_method": "ssa", "info": map[string]any{"status": "deployed"},
	"chart":    map[string]any{"metadata": map[string]any{"name": "web", "version": "1.2.0", "apiVersion": "v2"}},
	"manifest": manifest,
}

const manifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {mode: fast}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: web}
spec: {size: 1}
`

// chartTemplate changes what it looks up.
const chartTemplate = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {mode: '{{ (lookup "v1" "ConfigMap" .Release.Namespace "web").data.mode }}er'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: web}
spec: {size: 2}
`

const liveObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, labels: {app.kubernetes.io/managed-by: Helm}}
data: {mode: slow}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app.kubernetes.io/managed-by: Helm}}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: web}
spec: {size: 3}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.ex.com}
spec:
  group: ex.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`
