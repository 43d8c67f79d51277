package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// readyPods counts the ready pods of each workload.
func (r *forecastRun) readyPods(ctx context.Context) (map[string]int, error) {
	list, err := r.client.CoreV1().Pods(r.story.ns).List(ctx, metav1.ListOptions{LabelSelector: releaseLabel + "=" + r.story.release})
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for i := range list.Items {
		if isReady(&list.Items[i]) {
			out[list.Items[i].Labels[workloadLabel]]++
		}
	}
	return out, nil
}

// compare compares the prediction for each workload with what happened to its pods.
func (r *forecastRun) compare(predicted map[string]*effectReport, before map[string]int, seen map[string]podObservation) {
	for _, name := range r.testCase.workloads() {
		effect, got := predicted[name], seen[name]
		if got.Gone > 0 || got.Created > 0 {
			r.changed++
		}
		if effect == nil {
			effect = &effectReport{}
		}
		if effect.Inexact != "" {
			r.inexact++
			continue
		}
		if wrong := effect.contradiction(before[name], got); wrong != "" {
			text, _ := json.Marshal(predicted[name])
			r.mispredictions = append(r.mispredictions, fmt.Sprintf("%s %s: %s\n  forecast %s\n  observed %+v, %d pods ready before",
				r.testCase.old[name]["kind"], name, wrong, text, got, before[name]))
		}
	}
}

// contradiction returns what an effect predicts but was not observed. A pod that restarts counts as one pod gone and another created.
func (e *effectReport) contradiction(before int, seen podObservation) string {
	least := before
	if e.LeastReady != nil {
		least = *e.LeastReady
	}
	switch {
	case seen.Gone != e.Restarts+e.Stops:
		return fmt.Sprintf("%d pods are gone, %d restart or stop", seen.Gone, e.Restarts+e.Stops)
	case seen.Created != e.Restarts+e.Starts:
		return fmt.Sprintf("%d pods are new, %d restart or start", seen.Created, e.Restarts+e.Starts)
	case seen.LeastReady != least:
		return fmt.Sprintf("at least %d were ready, the forecast is %d", seen.LeastReady, least)
	case e.Downtime != (before > 0 && seen.LeastReady == 0):
		return fmt.Sprintf("downtime is %t", e.Downtime)
	}
	return ""
}

// script returns what was done, with the charts.
func (r *forecastRun) script() string {
	out := strings.Join(r.done, "\n") + "\n"
	for _, name := range []string{"old.yaml", "new.yaml"} {
		text, _ := os.ReadFile(filepath.Join(r.story.dir, name))
		if name == "old.yaml" || !r.testCase.fixes {
			out += "-- " + name + " --\n" + string(text)
		}
	}
	return out
}

// clean deletes the objects and the records without waiting.
func (r *forecastRun) clean(ctx context.Context) {
	for name := range r.testCase.old {
		_ = r.story.cluster.delete(ctx, r.ref(name))
	}
	secrets := r.story.cluster.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(r.story.ns)
	_ = secrets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "owner=helm,name=" + r.story.release})
}

func isConflict(err error) bool { return apierrors.IsConflict(err) }

// refusal describes the error of an edit; it is empty if there is none.
func refusal(err error) string {
	if err == nil {
		return ""
	}
	return " (refused: " + err.Error() + ")"
}
