package drift_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
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

// TestForecast checks what a comparison passes to a forecast about a Deployment, in a client-side release, and what it does with the
// answer.
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
		// want is the action, whether the write changes the template, and whether somebody has edited it.
		want string
	}{
		"untouched":          {live: deployed, want: "none same"},
		"image edited":       {live: deployment("web:9", "", "", imageField), want: "update changed edited"},
		"image and writer":   {live: deployment("web:9", "", "", ""), want: "update changed"},
		"label edited":       {live: deployment("web:1", ", team: x", "", ""), want: "none same"},
		"rollout restart":    {live: deployment("web:1", "", annotation, restarted), want: "none same"},
		"annotation edited":  {live: deployment("web:1", "", `, annotations: {x: "y"}`, annotated), want: "none same edited"},
		"missing":            {live: other, want: "create changed"},
		"dropped":            {live: deployed, chart: other, want: "delete changed"},
		"chart":              {live: deployed, chart: deployment("web:2", "", "", ""), want: "update changed"},
		"label of the chart": {live: deployed, chart: deployment("web:1", ", team: x", "", ""), want: "update same"},
		"spelling":           {live: deployed, chart: deployment("web:1", "", ", creationTimestamp: null, annotations: {}", ""), want: "none same"},
	} {
		t.Run(name, func(t *testing.T) {
			record := map[string]any{"name": "web", "namespace": "prod", "version": 1, "info": map[string]any{"status": "deployed"}, "manifest": deployed}
			target := drift.Target{Namespace: "prod", Release: "web"}
			if c.chart != "" {
				target.Chart = &drift.Chart{Ref: chartOf(t, c.chart)}
			}
			got := ""
			answer := func(_ context.Context, from effect.Reader, o effect.Operation) effect.Effects {
				out := effect.Effects{Objects: map[object.Key]*report.Effect{}, Release: &report.ReleaseEffect{}, Unread: []string{"nobody asked"}}
				if from == nil || o.Now.IsZero() {
					t.Errorf("the forecast can read from %v at %s", from, o.Now)
				}
				for _, w := range o.Objects {
					if w.Kind == "Deployment" {
						got = described(w)
						out.Objects[w.Key] = &report.Effect{Text: "answered"}
					}
				}
				return out
			}
			result, err := drift.New(connect(t, record, namespace+"---\n"+c.live), drift.Options{Forecast: answer}).Compare(t.Context(), target)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			checkAnswered(t, result.Report(threeway.Mask{}))
		})
	}
}

// TestForecastOfUncertainFailure checks that a forecast is incomplete if nobody knows whether the operation fails on an object: the live
// objects name two deployers, and an apply by the one fails where that of the other restarts pods.
func TestForecastOfUncertainFailure(t *testing.T) {
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n  namespace: prod\ndata: {a: b}\n"
	applied := func(text, manager, fields string) string {
		return strings.Replace(text, "metadata:\n", "metadata:\n  managedFields: [{manager: "+manager+", operation: Apply, apiVersion: "+
			strings.TrimPrefix(strings.SplitN(strings.TrimSpace(text), "\n", 2)[0], "apiVersion: ")+", fieldsType: FieldsV1, fieldsV1: "+
			`{"f:metadata": {"f:labels": {"f:app.kubernetes.io/managed-by": {}}, "f:annotations": {"f:meta.helm.sh/release-name": {}, `+
			`"f:meta.helm.sh/release-namespace": {}}}, `+fields+"}}]\n", 1)
	}
	owned := "  labels: {app.kubernetes.io/managed-by: Helm}\n  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: prod}\n"
	live := applied(deployment("web:1", "", "", ""), "mytool",
		`"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"web"}': {".": {}, "f:name": {}, "f:image": {}}}}}}`) +
		"---\n" + applied(strings.Replace(other, "data: {", owned+"data: {", 1), "helm", `"f:data": {"f:a": {}}`) +
		"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n"
	record := map[string]any{"name": "web", "namespace": "prod", "version": 1, "info": map[string]any{"status": "deployed"},
		"apply_method": "ssa", "manifest": deployment("web:1", "", "", "") + "---\n" + other}
	answer := func(context.Context, effect.Reader, effect.Operation) effect.Effects { return effect.Effects{} }
	for chart, want := range map[string]bool{
		deployment("web:2", "", "", "") + "---\n" + other: true, deployment("web:1", "", "", "") + "---\n" + other: false,
	} {
		target := drift.Target{Namespace: "prod", Release: "web", Chart: &drift.Chart{Ref: chartOf(t, chart)}}
		result, err := drift.New(connect(t, record, live), drift.Options{Forecast: answer}).Compare(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report(threeway.Mask{})
		got := slices.ContainsFunc(r.Warnings, func(m report.Message) bool { return m.Code == report.CodeEffects })
		if got != want {
			t.Errorf("the forecast is incomplete: %v, want %v: %+v", got, want, r)
		}
	}
}

// described returns the action of a write, whether it changes the pod template, and whether somebody has edited that.
func described(w effect.Write) string {
	out := string(w.Action)
	if path := (object.Path{{Name: "spec"}, {Name: "template"}}); object.Equal(valueAt(w.Before, path), valueAt(w.After, path)) {
		out += " same"
	} else {
		out += " changed"
	}
	if at := w.TemplateEdited; at.Equal(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)) {
		out += " edited"
	} else if !at.IsZero() {
		out += " edited at " + at.String()
	}
	return out
}

func valueAt(o map[string]any, path object.Path) any {
	v, _ := path.Lookup(o)
	return v
}

// checkAnswered checks that a report has the answer of the forecast.
func checkAnswered(t *testing.T, r report.Release) {
	t.Helper()
	for _, o := range r.Objects {
		if o.Kind == "Deployment" && (o.Effect == nil || o.Effect.Text != "answered") {
			t.Errorf("the effect on the Deployment is %+v", o.Effect)
		}
	}
	if r.Effect == nil {
		t.Error("the release has no effect")
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Code != report.CodeEffects || !strings.HasPrefix(r.Warnings[0].Message, "nobody asked;") {
		t.Errorf("the warnings are %v", r.Warnings)
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
