package forecast

import (
	"fmt"
	"strings"
	"testing"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decode decodes an object as the API's own decoder does. T1 and T2 stand for two pod templates.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	const pods = "{metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: %q}]}}"
	text = strings.NewReplacer("T1", fmt.Sprintf(pods, "a:1"), "T2", fmt.Sprintf(pods, "a:2")).Replace(text)
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// written returns an object before and after a write. The texts are specs; an empty one means that there is no object.
func written(t *testing.T, kind, live, after, status string) Object {
	t.Helper()
	ref := object.Ref{Key: object.Key{Group: "apps", Kind: kind, Namespace: "n", Name: "web"}, Version: "v1"}
	if kind == "ReplicationController" {
		ref.Group = ""
	}
	normal := func(spec string) (text, out map[string]any) {
		if spec == "" {
			return nil, nil
		}
		text = decode(t, "{kind: "+kind+", metadata: {name: web, generation: 1}, spec: "+spec+"}")
		return text, kinds.NewNormalizer(ref.Key, kinds.Native().Shape(ref.GVK()), nil).Stored(text).Object()
	}
	o := Object{Ref: ref, Action: report.ActionUpdate}
	o.Live, o.Before = normal(live)
	_, o.After = normal(after)
	switch {
	case live == "":
		o.Action = report.ActionCreate
	case after == "":
		o.Action = report.ActionDelete
	}
	if o.Live != nil && status != "" {
		o.Live["status"] = decode(t, status)
	}
	return o
}

// steady returns the status of a workload that has n pods, all of the live template and ready.
func steady(kind string, n int) string {
	if kind == "DaemonSet" {
		return fmt.Sprintf("{observedGeneration: 1, desiredNumberScheduled: %d, currentNumberScheduled: %[1]d, "+
			"updatedNumberScheduled: %[1]d, numberReady: %[1]d}", n)
	}
	return fmt.Sprintf("{observedGeneration: 1, replicas: %d, updatedReplicas: %[1]d, readyReplicas: %[1]d}", n)
}

// says returns an effect in one line: its text, the counts that its text does not have, and its notes.
func says(e *report.Effect) string {
	if e == nil {
		return "nothing"
	}
	out := e.Text + fmt.Sprintf(" -%d~%d+%d", e.Stops, e.Restarts, e.Starts)
	if e.LeastReady != nil {
		out += fmt.Sprintf(" least %d", *e.LeastReady)
	}
	if e.Downtime {
		out += " down"
	}
	for _, note := range e.Notes {
		out += "; note: " + note
	}
	if e.Inexact != "" {
		out += "; inexact: " + e.Inexact
	}
	return out
}

// TestWorkloads checks the forecast for each rule of the controllers. Live has as many ready pods as its spec wants, all with its
// template.
func TestWorkloads(t *testing.T) {
	for _, c := range []struct{ kind, live, after, want string }{
		// The template as the controller compares it.
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T1, minReadySeconds: 5, revisionHistoryLimit: 3}",
			"nothing"},
		{"Deployment", "{template: {spec: {containers: [{name: a, resources: {limits: {memory: 1Gi}}}]}}}",
			"{template: {spec: {containers: [{name: a, resources: {limits: {memory: '1073741824'}}}]}}}", "nothing"},
		{"DaemonSet", "{template: {spec: {containers: [{name: a, resources: {limits: {memory: 1Gi}}}]}}}",
			"{template: {spec: {containers: [{name: a, resources: {limits: {memory: '1073741824'}}}]}}}", "nothing"},
		{"StatefulSet", "{template: {spec: {containers: [{name: a, resources: {limits: {memory: 1Gi}}}]}}}",
			"{template: {spec: {containers: [{name: a, resources: {limits: {memory: '1073741824'}}}]}}}",
			"restarts 1 pod: none is ready meanwhile -0~1+0 least 0 down"},
		{"StatefulSet", "{template: {spec: {containers: [{name: a, resources: {limits: {memory: 1Gi, cpu: 500m}}}]}}}",
			"{template: {spec: {restartPolicy: Always, containers: [{name: a, resources: {limits: {memory: 1024Mi, cpu: 0.5}}}]}}}",
			"nothing"},
		{"Deployment", "{template: {metadata: {labels: {a: b, pod-template-hash: x}}}}", "{template: {metadata: {labels: {a: b}}}}",
			"nothing"},
		{"Deployment", "{template: {metadata: {labels: {pod-template-hash: x}}}}", "{template: {}}", "nothing"},
		{"Deployment", "{template: {spec: {containers: [{name: a, env: [{name: A, value: 1Gi}]}]}}}",
			"{template: {spec: {containers: [{name: a, env: [{name: A, value: '1073741824'}]}]}}}",
			"restarts 1 pod, 1 stays ready -0~1+0 least 1"},
		{"Deployment", "{template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: x}}}}", "{template: {}}",
			"restarts 1 pod, 1 stays ready -0~1+0 least 1"},
		{"Deployment", "{template: {spec: {containers: [{name: a, securityContext: {}}]}}}",
			"{template: {spec: {containers: [{name: a}]}}}",
			"restarts 1 pod, 1 stays ready -0~1+0 least 1"},

		// Deployment, RollingUpdate.
		{"Deployment", "{template: T1}", "{template: T2}", "restarts 1 pod, 1 stays ready -0~1+0 least 1"},
		{"Deployment", "{replicas: 4, template: T1}", "{replicas: 4, template: T2}",
			"restarts 4 pods up to 2 at a time, 3 stay ready -0~4+0 least 3"},
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T2}",
			"restarts 3 pods one at a time, 3 stay ready -0~3+0 least 3"},
		{"Deployment", "{replicas: 10, template: T1}",
			"{replicas: 10, template: T2, strategy: {rollingUpdate: {maxSurge: 15%, maxUnavailable: 15%}}}",
			"restarts 10 pods up to 3 at a time, 9 stay ready -0~10+0 least 9"},
		{"Deployment", "{replicas: 3, template: T1}",
			"{replicas: 3, template: T2, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1%}}}",
			"restarts 3 pods one at a time, 2 stay ready -0~3+0 least 2"},
		{"Deployment", "{replicas: 2, template: T1}",
			"{replicas: 2, template: T2, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 5}}}",
			"restarts 2 pods at once: none is ready meanwhile -0~2+0 least 0 down"},
		{"Deployment", "{replicas: 2, template: T1}", "{replicas: 2, template: T2, minReadySeconds: 30, progressDeadlineSeconds: 90}",
			"restarts 2 pods one at a time, 2 stay ready -0~2+0 least 2; " +
				"note: a new pod counts after it was ready for 30 s, so this takes at least 60 s; " +
				"note: after 90 s without progress the roll-out counts as failed"},

		// Deployment, replicas: the ReplicaSet of the old template is scaled first.
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 5, template: T1}", "starts 2 pods -0~0+2 least 3"},
		{"Deployment", "{replicas: 5, template: T1}", "{replicas: 3, template: T1}", "stops 2 pods -2~0+0 least 3"},
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 0, template: T2}", "stops 3 pods -3~0+0 least 0 down"},
		{"Deployment", "{replicas: 0, template: T1}", "{replicas: 3, template: T2}", "starts 3 pods -0~0+3 least 0"},
		{"Deployment", "{replicas: 4, template: T1}", "{replicas: 8, template: T2}",
			"restarts 4 pods at once, starts 4 pods, 4 stay ready -0~4+4 least 4"},
		{"Deployment", "{replicas: 8, template: T1}", "{replicas: 4, template: T2}",
			"restarts 4 pods up to 2 at a time, stops 4 pods, 3 stay ready -4~4+0 least 3"},

		// Deployment, Recreate and paused.
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T2, strategy: {type: Recreate}}",
			"restarts 3 pods: none is ready meanwhile (Recreate) -0~3+0 least 0 down"},
		{"Deployment", "{replicas: 3, template: T1, strategy: {type: Recreate}}", "{replicas: 4, template: T1, strategy: {type: Recreate}}",
			"starts 1 pod -0~0+1 least 3"},
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T2, paused: true}",
			"restarts nothing until the roll-out is resumed (paused) -0~0+0"},
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 4, template: T2, paused: true}",
			"starts 1 pod, restarts nothing until the roll-out is resumed (paused) -0~0+1 least 3"},
		{"Deployment", "{replicas: 3, template: T1, paused: true}", "{replicas: 3, template: T1}", "nothing"},
		{"Deployment", "", "{replicas: 3, template: T1, paused: true}", "starts nothing until the roll-out is resumed (paused) -0~0+0"},

		// StatefulSet.
		{"StatefulSet", "{replicas: 3, template: T1}", "{replicas: 3, template: T2}",
			"restarts 3 pods one at a time, 2 stay ready -0~3+0 least 2"},
		{"StatefulSet", "{replicas: 1, template: T1}", "{replicas: 1, template: T2}",
			"restarts 1 pod: none is ready meanwhile -0~1+0 least 0 down"},
		{"StatefulSet", "{replicas: 3, template: T1}", "{replicas: 3, template: T2, updateStrategy: {rollingUpdate: {partition: 2}}}",
			"restarts 1 of 3 pods (partition 2), 2 stay ready -0~1+0 least 2"},
		{"StatefulSet", "{replicas: 3, template: T1}", "{replicas: 3, template: T2, updateStrategy: {rollingUpdate: {partition: 3}}}",
			"restarts nothing (partition 3) -0~0+0"},
		{"StatefulSet", "{replicas: 3, template: T1}", "{replicas: 3, template: T2, updateStrategy: {type: OnDelete}}",
			"restarts nothing until somebody deletes the pods (OnDelete) -0~0+0"},
		{"StatefulSet", "{replicas: 3, template: T1}", "{replicas: 5, template: T2}",
			"restarts 3 pods one at a time, starts 2 pods, 3 stay ready -0~3+2 least 3"},
		{"StatefulSet", "{replicas: 5, template: T1}", "{replicas: 3, template: T2}",
			"restarts 3 pods one at a time, stops 2 pods, 2 stay ready -2~3+0 least 2"},
		{"StatefulSet", "{replicas: 4, template: T1, podManagementPolicy: Parallel}",
			"{replicas: 4, template: T2, podManagementPolicy: Parallel, updateStrategy: {rollingUpdate: {maxUnavailable: 2}}}",
			"restarts 4 pods one at a time, 3 stay ready -0~4+0 least 3"},
		{"StatefulSet", "{replicas: 5, template: T1, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}",
			"{replicas: 5, template: T2, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 50%}}}",
			"restarts 5 pods up to 2 at a time, 3 stay ready -0~5+0 least 3"},
		{"StatefulSet", "{replicas: 2, template: T1}", "{replicas: 2, template: T2, minReadySeconds: 10}",
			"restarts 2 pods one at a time, 1 stays ready -0~2+0 least 1; " +
				"note: a new pod counts after it was ready for 10 s, so this takes at least 20 s"},
		{"StatefulSet", "{replicas: 3, template: T1}", "{replicas: 3, template: T1, ordinals: {start: 1}}",
			"restarts 1 pod, 2 stay ready -0~1+0 least 2; inexact: the first ordinal changes"},

		// DaemonSet: live runs on 3 nodes.
		{"DaemonSet", "{template: T1}", "{template: T2}", "restarts 3 pods one at a time, 2 stay ready -0~3+0 least 2"},
		{"DaemonSet", "{template: T1}", "{template: T2, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 34%}}}",
			"restarts 3 pods up to 2 at a time, 1 stays ready -0~3+0 least 1"},
		{"DaemonSet", "{template: T1}",
			"{template: T2, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}}",
			"restarts 3 pods one at a time, 3 stay ready -0~3+0 least 3"},
		{"DaemonSet", "{template: T1}", "{template: T2, updateStrategy: {type: OnDelete}}",
			"restarts nothing until somebody deletes the pods (OnDelete) -0~0+0"},
		{"DaemonSet", "{template: {}}", "{template: {spec: {nodeSelector: {a: b}}}}",
			"restarts 3 pods one at a time, 2 stay ready -0~3+0 least 2; inexact: the nodes that match may change"},
		{"DaemonSet", "", "{template: T1}", "starts a pod on each node that matches -0~0+0"},
		{"DaemonSet", "{template: T1}", "", "stops 3 pods -3~0+0 least 0 down"},

		// ReplicaSet and ReplicationController.
		{"ReplicaSet", "{replicas: 2, template: T1}", "{replicas: 2, template: T2}",
			"restarts nothing until somebody deletes the pods (ReplicaSet) -0~0+0"},
		{"ReplicationController", "{replicas: 2, template: T1}", "{replicas: 3, template: T2}",
			"starts 1 pod, restarts nothing until somebody deletes the pods (ReplicationController) -0~0+1 least 2"},
		{"ReplicaSet", "{replicas: 0, template: T1}", "{replicas: 0, template: T2}", "nothing"},
		{"ReplicationController", "{replicas: 1, selector: {a: b}, template: T1}", "{replicas: 2, selector: {a: c}, template: T1}",
			"starts 1 pod -0~0+1 least 1; inexact: the selector changes, so it may leave pods behind"},

		// Created and deleted.
		{"Deployment", "", "{replicas: 3, template: T1}", "starts 3 pods -0~0+3 least 0"},
		{"StatefulSet", "{replicas: 3, template: T1}", "", "stops 3 pods -3~0+0 least 0 down"},
	} {
		live := 0
		if c.live != "" {
			live = replicas(decode(t, "{spec: "+c.live+"}"))
		}
		if c.kind == "DaemonSet" {
			live = 3
		}
		o := written(t, c.kind, c.live, c.after, steady(c.kind, live))
		if got := says(predict(Input{Objects: []Object{o}}).Objects[o.Key]); got != c.want {
			t.Errorf("%s\n  live  %s\n  after %s\n  got   %s\n  want  %s", c.kind, c.live, c.after, got, c.want)
		}
	}
}

// TestUnsteadyWorkloads checks the forecast for workloads whose pods are not as the spec wants them.
func TestUnsteadyWorkloads(t *testing.T) {
	for _, c := range []struct{ kind, live, after, status, want string }{
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T2}", "",
			"restarts 3 pods one at a time -0~3+0; inexact: the controller has not reported on its pods"},
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T2}",
			"{observedGeneration: 0, replicas: 3, updatedReplicas: 3, readyReplicas: 3}",
			"restarts 3 pods one at a time, 3 stay ready -0~3+0 least 3; inexact: the controller has not seen the live object yet"},
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T2}",
			"{observedGeneration: 1, replicas: 4, updatedReplicas: 1, readyReplicas: 3}",
			"restarts 3 pods one at a time, 3 stay ready -0~3+0 least 3; inexact: a roll-out is under way"},
		{"Deployment", "{replicas: 3, template: T1}", "{replicas: 3, template: T2}",
			"{observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 1}",
			"restarts 3 pods one at a time, 1 stays ready -0~3+0 least 1; inexact: 1 of 3 pods ready now"},
		{"StatefulSet", "{replicas: 3, template: T1}", "{replicas: 3, template: T2}",
			"{observedGeneration: 1, replicas: 1, updatedReplicas: 1}",
			"restarts 3 pods one at a time; none is ready now -0~3+0 least 0; note: the roll-out waits until every pod is ready; " +
				"inexact: it has 1 of 3 pods now"},
		// An earlier roll-out has left out some pods.
		{"Deployment", "{replicas: 3, template: T2, paused: true}", "{replicas: 3, template: T2}",
			"{observedGeneration: 1, replicas: 3, readyReplicas: 3}", "restarts 3 pods one at a time, 3 stay ready -0~3+0 least 3"},
		{"Deployment", "{replicas: 3, template: T2, paused: true}", "{replicas: 3, template: T1}",
			"{observedGeneration: 1, replicas: 3, readyReplicas: 3}",
			"restarts 3 pods one at a time, 3 stay ready -0~3+0 least 3; inexact: 3 pods of another template than the live one"},
		{"StatefulSet", "{replicas: 3, template: T2, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}}",
			"{replicas: 3, template: T2, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}",
			"{observedGeneration: 1, replicas: 3, updatedReplicas: 1, readyReplicas: 3}",
			"restarts 1 of 3 pods (partition 1), 2 stay ready -0~1+0 least 2"},
		{"DaemonSet", "{template: T2, updateStrategy: {type: OnDelete}}", "{template: T2, updateStrategy: {type: RollingUpdate}}",
			"{observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 1, numberReady: 3}",
			"restarts 2 pods one at a time, 2 stay ready -0~2+0 least 2"},
	} {
		o := written(t, c.kind, c.live, c.after, c.status)
		if got := says(predict(Input{Objects: []Object{o}}).Objects[o.Key]); got != c.want {
			t.Errorf("%s\n  live  %s\n  after %s\n  got   %s\n  want  %s", c.kind, c.live, c.after, got, c.want)
		}
	}
}

// TestTemplateReturns checks that a write that undoes an edit of the template restarts only the pods that the edit has reached.
func TestTemplateReturns(t *testing.T) {
	for _, c := range []struct{ kind, live, after, status, want string }{
		{"Deployment", "{replicas: 3, template: T2, paused: true}", "{replicas: 3, template: T1}",
			"{observedGeneration: 1, replicas: 3, readyReplicas: 3}", "nothing"},
		{"Deployment", "{replicas: 3, template: T2, paused: true}", "{replicas: 3, template: T1, paused: true}",
			"{observedGeneration: 1, replicas: 3, readyReplicas: 3}", "nothing"},
		{"Deployment", "{replicas: 3, template: T2}", "{replicas: 3, template: T1}",
			"{observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3}",
			"restarts 3 pods one at a time, 3 stay ready -0~3+0 least 3"},
		{"Deployment", "{replicas: 3, template: T2}", "{replicas: 3, template: T1}",
			"{observedGeneration: 1, replicas: 4, updatedReplicas: 2, readyReplicas: 3}",
			"restarts 2 pods one at a time, 3 stay ready -0~2+0 least 3; inexact: a roll-out is under way"},
		{"StatefulSet", "{replicas: 3, template: T2, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}}",
			"{replicas: 3, template: T1, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}}",
			"{observedGeneration: 1, replicas: 3, updatedReplicas: 1, readyReplicas: 3}", "restarts 1 pod, 2 stay ready -0~1+0 least 2"},
		{"StatefulSet", "{replicas: 3, template: T2, updateStrategy: {type: OnDelete}}", "{replicas: 3, template: T1}",
			"{observedGeneration: 1, replicas: 3, readyReplicas: 3}", "nothing"},
		{"DaemonSet", "{template: T2, updateStrategy: {type: OnDelete}}", "{template: T1, updateStrategy: {type: OnDelete}}",
			"{observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, numberReady: 3}", "nothing"},
	} {
		o := written(t, c.kind, c.live, c.after, c.status)
		o.Deployed = written(t, c.kind, c.live, strings.ReplaceAll(c.live, "T2", "T1"), "").After
		if got := says(predict(Input{Objects: []Object{o}}).Objects[o.Key]); got != c.want {
			t.Errorf("%s\n  live  %s\n  after %s\n  got   %s\n  want  %s", c.kind, c.live, c.after, got, c.want)
		}
	}
}

// TestAutoscaledWorkloads checks that an autoscaler sets back the count that a write changes, and that one that is off does not.
func TestAutoscaledWorkloads(t *testing.T) {
	const decides = "; inexact: the autoscaler decides how many pods there will be"
	hpa := object.Autoscaler{Name: "HorizontalPodAutoscaler web"}
	unused := object.Autoscaler{Name: "HorizontalPodAutoscaler web", ToZero: true}
	leaves := object.Autoscaler{Name: "HorizontalPodAutoscaler web", Leaves: true}
	keeps := object.Autoscaler{Name: "ScaledObject web", FromZero: true}
	sleeps := object.Autoscaler{Name: "ScaledObject web", FromZero: true, ToZero: true}
	paused := object.Autoscaler{Name: "ScaledObject web", FromZero: true, ToZero: true, Paused: true}
	for _, c := range []struct {
		by          object.Autoscaler
		live, after string
		want        string
	}{
		{hpa, "{replicas: 5, template: T1}", "{replicas: 2, template: T1}", "restarts 3 pods, 2 stay ready -0~3+0 least 2; " +
			"note: the write sets the count to 2, and HorizontalPodAutoscaler web sets it back" + decides},
		{leaves, "{replicas: 5, template: T1}", "{replicas: 2, template: T1}", "stops 3 pods -3~0+0 least 2"},
		{hpa, "{replicas: 5, template: T1}", "{replicas: 5, template: T2}", "restarts 5 pods up to 3 at a time, 4 stay ready -0~5+0 least 4"},
		{hpa, "{replicas: 0, template: T1}", "{replicas: 2, template: T1}", "starts 2 pods -0~0+2 least 0"},
		{hpa, "{replicas: 5, template: T1}", "{replicas: 0, template: T1}", "stops 5 pods -5~0+0 least 0 down"},
		{unused, "{replicas: 5, template: T1}", "{replicas: 0, template: T1}",
			"stops 5 pods -5~0+0 least 0 down; inexact: Kubernetes before 1.36 lets HorizontalPodAutoscaler web start them again"},
		{sleeps, "{replicas: 5, template: T1}", "{replicas: 0, template: T1}", "restarts 5 pods: none is ready meanwhile -0~5+0 least 0 down; " +
			"note: the write sets the count to 0, and ScaledObject web sets it back" + decides},
		{keeps, "{replicas: 5, template: T1}", "{replicas: 0, template: T1}", "restarts 5 pods: none is ready meanwhile -0~5+0 least 0 down; " +
			"note: the write sets the count to 0, and ScaledObject web sets it back" + decides},
		{keeps, "{replicas: 0, template: T1}", "{replicas: 2, template: T1}", "starts 2 pods -0~0+2 least 0"},
		{paused, "{replicas: 5, template: T1}", "{replicas: 2, template: T1}", "stops 3 pods -3~0+0 least 2"},
		{paused, "{replicas: 5, template: T1}", "{replicas: 0, template: T1}", "stops 5 pods -5~0+0 least 0 down"},
	} {
		o := written(t, "Deployment", c.live, c.after, steady("Deployment", replicas(decode(t, "{spec: "+c.live+"}"))))
		in := Input{Objects: []Object{o}, Autoscaled: map[object.Key]object.Autoscaler{o.Key: c.by}}
		if got := says(predict(in).Objects[o.Key]); got != c.want {
			t.Errorf("live %s, after %s:\ngot  %s\nwant %s", c.live, c.after, got, c.want)
		}
	}
}

// TestRestartedAt checks that RestartedAt is set for an edit of the live template only if the controller has rolled it out.
func TestRestartedAt(t *testing.T) {
	edited := time.Unix(1000, 0)
	for _, c := range []struct {
		kind, live, status string
		want               bool
	}{
		{"Deployment", "{replicas: 2, template: T1}", steady("Deployment", 2), true},
		{"Deployment", "{replicas: 2, template: T1, paused: true}", "{observedGeneration: 1, replicas: 2, readyReplicas: 2}", false},
		{"Deployment", "{replicas: 0, template: T1}", "{observedGeneration: 1}", false},
		{"StatefulSet", "{replicas: 2, template: T1}", steady("StatefulSet", 2), true},
		{"StatefulSet", "{replicas: 2, template: T1, updateStrategy: {type: OnDelete}}", steady("StatefulSet", 2), false},
		{"DaemonSet", "{template: T1, updateStrategy: {type: OnDelete}}", steady("DaemonSet", 2), false},
		{"DaemonSet", "{template: T1}", steady("DaemonSet", 2), true},
		{"ReplicaSet", "{replicas: 2, template: T1}", steady("ReplicaSet", 2), false},
	} {
		o := written(t, c.kind, c.live, c.live, c.status)
		o.Action, o.TemplateEdited = report.ActionNone, edited
		o.Deployed = written(t, c.kind, strings.ReplaceAll(c.live, "T1", "T2"), c.live, "").Before
		e := predict(Input{Objects: []Object{o}}).Objects[o.Key]
		if got := e != nil && e.RestartedAt != nil; got != c.want {
			t.Errorf("%s %s: restarted %t, want %t", c.kind, c.live, got, c.want)
		}
		if c.want && says(e) != "restarts nothing -0~0+0" {
			t.Errorf("%s %s: %s", c.kind, c.live, says(e))
		}
		o.Deployed = o.Before
		if e := predict(Input{Objects: []Object{o}}).Objects[o.Key]; e != nil {
			t.Errorf("%s %s: an edit of the spelling has the effect %s", c.kind, c.live, says(e))
		}
	}
}

// predict predicts in a cluster that has nothing else.
func predict(in Input) effect.Effects {
	in.Seen = Seen{}
	for _, want := range Wants(in) {
		in.Seen[want] = List{}
	}
	return Predict(in)
}

// TestSum checks the sum of a release.
func TestSum(t *testing.T) {
	named := func(o Object, name string) Object {
		o.Name = name
		return o
	}
	for want, objects := range map[string][]Object{
		"restarts 4 pods in 2 workloads, stops 2 pods; api is down while it restarts (Recreate); db is down while it restarts; " +
			"old has no pods afterwards": {
			named(written(t, "Deployment", "{replicas: 3, template: T1}",
				"{replicas: 3, template: T2, strategy: {type: Recreate}}", steady("Deployment", 3)), "api"),
			named(written(t, "StatefulSet", "{replicas: 1, template: T1}", "{replicas: 1, template: T2}", steady("StatefulSet", 1)), "db"),
			named(written(t, "Deployment", "{replicas: 2, template: T1}", "", steady("Deployment", 2)), "old"),
		},
		"": {written(t, "DaemonSet", "{template: T1}", "{template: T2, updateStrategy: {type: OnDelete}}", steady("DaemonSet", 2))},
	} {
		got := ""
		if sum := predict(Input{Objects: objects}).Release; sum != nil {
			got = sum.Text
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestWorkloadsBeingDeleted checks that nothing is rolled out of a workload that is being deleted, and that its pods stop with a write that
// removes it.
func TestWorkloadsBeingDeleted(t *testing.T) {
	for _, c := range []struct{ kind, after, finalizers, want string }{
		{"Deployment", "{replicas: 2, template: T2}", "[ex.com/hold]", "nothing"},
		{"StatefulSet", "{replicas: 5, template: T1}", "[ex.com/hold]", "nothing"},
		{"DaemonSet", "{template: T2}", "[ex.com/hold]", "nothing"},
		{"ReplicaSet", "{replicas: 0, template: T1}", "[ex.com/hold]", "nothing"},
		{"Deployment", "", "", "nothing"},
		{"Deployment", "{replicas: 2, template: T2}", "[]", "stops 3 pods -3~0+0 least 0 down"},
	} {
		o := written(t, c.kind, "{replicas: 3, template: T1}", c.after, steady(c.kind, 3))
		for path, metadata := range map[*map[string]any]string{
			&o.Live:  "{deletionTimestamp: '2026-11-20T10:00:00Z', deletionGracePeriodSeconds: 0, finalizers: [ex.com/hold]}",
			&o.After: "{finalizers: " + c.finalizers + "}",
		} {
			if *path != nil {
				(*path)["metadata"] = decode(t, metadata)
			}
		}
		if got := says(predict(Input{Objects: []Object{o}}).Objects[o.Key]); got != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.kind, c.after, c.finalizers, got, c.want)
		}
	}
}
