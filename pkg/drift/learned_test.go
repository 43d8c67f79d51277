package drift_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/effect"
)

// TestLearned checks that a comparison masks the secrets that it is given, with and without a chart, and when it is made again. Somebody
// has written the secret at another version, so the comparison names the field for the forecast, before anybody asks for a report.
func TestLearned(t *testing.T) {
	const (
		canary = "hunter2-hunter2"
		scaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: prod}
spec: {minReplicas: 1, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}
`
		written = `metadata:
  managedFields:
  - {manager: helm, operation: Apply, apiVersion: autoscaling/v2, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:maxReplicas": {}}}}
  - manager: kubectl-edit
    operation: Update
    apiVersion: autoscaling/v1
    fieldsType: FieldsV1
    fieldsV1: {"f:spec": {"f:scaleTargetRef": {}}}
`
	)
	record := map[string]any{"name": "web", "namespace": "prod", "version": 1, "apply_method": "ssa",
		"info": map[string]any{"status": "deployed"}, "config": map[string]any{}, "manifest": scaler}
	live := strings.NewReplacer("metadata:\n", written, "name: none", "name: "+canary).Replace(scaler)
	connection := connect(t, record, "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n---\n"+live)
	chart := &drift.Chart{Ref: chartOf(t, strings.ReplaceAll(scaler, "maxReplicas: 5", "maxReplicas: 6"))}
	known := &secret.Known{}
	known.AddMembers(map[string]any{"stringData": map[string]any{"token": canary}})
	for name, c := range map[string]struct {
		learned *secret.Known
		chart   *drift.Chart
	}{"nothing is learned": {}, "record": {known, nil}, "chart": {known, chart}} {
		doubts := 0
		forecast := func(_ context.Context, _ effect.Reader, o effect.Operation) effect.Effects {
			for _, w := range o.Objects {
				doubts += len(w.Doubt)
			}
			return effect.Effects{}
		}
		doing, did := "", 0
		say := func(what string) {
			if doing = what; what != "" {
				did++
			}
		}
		options := drift.Options{Learned: (*drift.Secrets)(c.learned), Forecast: forecast, Doing: say}
		target := drift.Target{Namespace: "prod", Release: "web", Chart: c.chart}
		result, err := drift.New(connection, options).Compare(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if doing != "" || did == 0 {
			t.Errorf("%s: after %d steps, the comparison is still %s", name, did, doing)
		}
		target.Chart = chart
		withChart, err := result.WithChart(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if doing != "" {
			t.Errorf("%s: with the chart, the comparison is still %s", name, doing)
		}
		again, err := result.WithDesired(t.Context(), result.Comparison.Input.OldObjects)
		if err != nil {
			t.Fatal(err)
		}
		if doubts == 0 {
			t.Errorf("%s: nothing is in doubt", name)
		}
		for step, shown := range map[string]any{
			"report": result.Masked(), "with the chart": withChart.Masked(), "again": again.Scrub("it says " + canary),
		} {
			text, err := json.Marshal(shown)
			if err != nil {
				t.Fatal(err)
			}
			if shows := strings.Contains(string(text), canary); shows != (c.learned == nil) {
				t.Errorf("%s, %s: it shows the secret: %v\n%s", name, step, shows, text)
			}
		}
	}
}
