package drift_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// deploymentText is a Deployment of two pods. IMAGE, META, TEMPLATE and FIELDS are places to edit.
const deploymentText = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  generation: 1
  labels: {app.kubernetes.io/managed-by: HelmMETA}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: prod}
FIELDS
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}TEMPLATE}, spec: {containers: [{name: web, image: "IMAGE"}]}}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
`

// deployment returns deploymentText with edits. If edited is not empty, it is the set of fields that kubectl-edit wrote on 2025-01-01.
func deployment(image, labels, annotations, edited string) string {
	fields := ""
	if edited != "" {
		fields = `  managedFields: [{manager: kubectl-edit, operation: Update, apiVersion: apps/v1, fieldsType: FieldsV1, ` +
			`time: "2025-01-01T00:00:00Z", fieldsV1: ` + edited + `}]`
	}
	return strings.NewReplacer("IMAGE", image, "META", labels, "TEMPLATE", annotations, "FIELDS", fields).Replace(deploymentText)
}

// TestForecast checks the forecast of whole comparisons of a client-side release: against the release itself, and against a chart.
func TestForecast(t *testing.T) {
	const (
		imageField = `{"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"web"}': {"f:image": {}}}}}}}`
		annotated  = `{"f:spec": {"f:template": {"f:metadata": {"f:annotations": {"f:x": {}}}}}}`
		restarted  = `{"f:spec": {"f:template": {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/restartedAt": {}}}}}}`
	)
	deployed := deployment("web:1", "", "", "")
	annotation := `, annotations: {kubectl.kubernetes.io/restartedAt: "now"}`
	other := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n"
	for name, c := range map[string]struct {
		live, chart string
		want        string
		restartedAt bool
	}{
		"untouched":          {live: deployed},
		"image edited":       {live: deployment("web:9", "", "", imageField), want: "restarts 2 pods one at a time, 2 stay ready", restartedAt: true},
		"image and writer":   {live: deployment("web:9", "", "", ""), want: "restarts 2 pods one at a time, 2 stay ready"},
		"label edited":       {live: deployment("web:1", ", team: x", "", "")},
		"rollout restart":    {live: deployment("web:1", "", annotation, restarted)},
		"annotation edited":  {live: deployment("web:1", "", `, annotations: {x: "y"}`, annotated), want: "restarts nothing", restartedAt: true},
		"missing":            {live: other, want: "starts 2 pods"},
		"dropped":            {live: deployed, chart: other, want: "stops 2 pods"},
		"chart":              {live: deployed, chart: deployment("web:2", "", "", ""), want: "restarts 2 pods one at a time, 2 stay ready"},
		"label of the chart": {live: deployed, chart: deployment("web:1", ", team: x", "", "")},
		"spelling":           {live: deployed, chart: deployment("web:1", "", ", creationTimestamp: null, annotations: {}", "")},
	} {
		t.Run(name, func(t *testing.T) {
			record := map[string]any{"name": "web", "namespace": "prod", "version": 1, "info": map[string]any{"status": "deployed"}, "manifest": deployed}
			target := drift.Target{Namespace: "prod", Release: "web"}
			if c.chart != "" {
				target.Chart = &drift.Chart{Ref: chartOf(t, c.chart)}
			}
			got := reported(t, connect(t, record, namespace+"---\n"+c.live), target)
			var e *report.Effect
			for _, o := range got.Objects {
				if o.Kind == "Deployment" {
					e = o.Effect
				}
			}
			if e == nil {
				e = &report.Effect{}
			}
			if e.Text != c.want || (e.RestartedAt != nil) != c.restartedAt {
				t.Errorf("got %+v, want %q, restarted %t; errors %v", e, c.want, c.restartedAt, got.Errors)
			}
			if at := e.RestartedAt; at != nil && !at.Equal(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("restarted at %s", at)
			}
			if (got.Effect != nil) != (e.Restarts+e.Starts+e.Stops > 0) {
				t.Errorf("the release has the effect %+v", got.Effect)
			}
		})
	}
}

// chartOf returns a chart with one template.
func chartOf(t *testing.T, template string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "templates"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.3.0\n", "templates/all.yaml": template} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
