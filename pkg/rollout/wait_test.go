package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// namespace is a Cluster with the objects of one namespace.
type namespace struct {
	mu       sync.Mutex
	objects  []*unstructured.Unstructured
	log      string
	requests []string
	// refused has the resources that cannot be read.
	refused []string
	// gets counts the reads of objects, and before is called before each of them.
	gets   int
	before func(n int)
}

// newNamespace returns the namespace of a case.
func newNamespace(t *testing.T, name string) *namespace {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := &namespace{}
	for doc := range strings.SplitSeq(string(archive.Files[0].Data), "\n---\n") {
		n.add(objectOf(t, doc))
	}
	return n
}

func (n *namespace) add(u *unstructured.Unstructured) {
	u.SetNamespace("prod")
	n.objects = append(n.objects, u)
}

// ref returns the Ref of the object under test.
func (n *namespace) ref() object.Ref {
	u := n.objects[0]
	gvk := u.GroupVersionKind()
	return object.Ref{Key: object.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: "prod", Name: u.GetName()}, Version: gvk.Version}
}

func (n *namespace) Get(_ context.Context, ref object.Ref) (map[string]any, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gets++; n.before != nil {
		n.before(n.gets)
	}
	for _, u := range n.objects {
		if u.GetKind() == ref.Kind && u.GetName() == ref.Name {
			return u.DeepCopy().Object, nil
		}
	}
	return nil, nil
}

func (n *namespace) Select(_ context.Context, of schema.GroupVersionResource, in string, o metav1.ListOptions) ([]map[string]any, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests = append(n.requests, of.Resource)
	if slices.Contains(n.refused, of.Resource) {
		return nil, errors.New(of.Resource + ": forbidden")
	}
	selector, err := fields.ParseSelector(o.FieldSelector)
	if err != nil || in != "prod" {
		return nil, fmt.Errorf("%s in %s: %w", of.Resource, in, err)
	}
	matching, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, u := range n.objects {
		kind, _, _ := unstructured.NestedString(u.Object, "involvedObject", "kind")
		category, _, _ := unstructured.NestedString(u.Object, "type")
		if strings.ToLower(u.GetKind())+"s" == of.Resource && matching.Matches(labels.Set(u.GetLabels())) &&
			selector.Matches(fields.Set{"type": category, "involvedObject.kind": kind}) {
			out = append(out, u.DeepCopy().Object)
		}
	}
	return out, nil
}

func (n *namespace) Log(_ context.Context, in, pod, container string, previous bool, _ int) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests = append(n.requests, fmt.Sprintf("log of %s %s %s %t", in, pod, container, previous))
	if slices.Contains(n.refused, "pods/log") {
		return "", errors.New("pods/log: forbidden")
	}
	return n.log, nil
}

// selecting gives the Deployment of a case a selector, and its pods and ReplicaSets the label.
func selecting(n *namespace) *namespace {
	for _, u := range n.objects {
		switch u.GetKind() {
		case "Pod", "ReplicaSet":
			set := u.GetLabels()
			if set == nil {
				set = map[string]string{}
			}
			set["app"] = "web"
			u.SetLabels(set)
		case "Deployment", "StatefulSet", "DaemonSet", "Job":
			_ = unstructured.SetNestedStringMap(u.Object, map[string]string{"app": "web"}, "spec", "selector", "matchLabels")
		}
	}
	return n
}

// quick are options for tests.
func quick() Options {
	return Options{Timeout: 300 * time.Millisecond, Interval: 10 * time.Millisecond}
}

// waitFor waits for the object of a namespace, in a synctest bubble, and returns its last state.
func waitFor(t *testing.T, n *namespace, o Options) (last State) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { last = Wait(t.Context(), n, []object.Ref{n.ref()}, o)[0] })
	return last
}

// TestWaitUntilReady checks that the wait ends when the object is ready, and that its last state has no problem.
func TestWaitUntilReady(t *testing.T) {
	n := selecting(newNamespace(t, "crash-loop"))
	n.before = func(looks int) {
		if looks == 3 {
			status := map[string]any{"observedGeneration": int64(2), "replicas": int64(2), "updatedReplicas": int64(2), "readyReplicas": int64(2),
				"availableReplicas": int64(2), "conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
			n.objects[0].Object["status"] = status
		}
	}
	var shown [][]State
	o := quick()
	o.Timeout, o.Show = time.Minute, func(states []State) { shown = append(shown, states) }
	got := waitFor(t, n, o)
	if got.Status != report.RolloutReady || got.Ready != 2 || got.Reason != "" || len(got.Events) > 0 || len(shown) != 3 {
		t.Errorf("%d looks: %+v", len(shown), got)
	}
	if first := shown[0][0]; !first.News || first.Status != "" || !strings.HasPrefix(first.Reason, "CrashLoopBackOff: exit code 3") ||
		first.Updated != 1 || first.Wanted != 2 || shown[1][0].News {
		t.Errorf("first %+v\nsecond %+v", first, shown[1][0])
	}
}

// TestWaitTimesOut checks that the last state says how far the object is, and why.
func TestWaitTimesOut(t *testing.T) {
	n := selecting(newNamespace(t, "crash-loop"))
	n.log = strings.Repeat("before\n", 30) + "panic: no database\n\n"
	got := waitFor(t, n, quick())
	if got.Status != report.RolloutTimedOut || got.Pod != "web-new-1" || got.Container != "app" || *got.ExitCode != 3 ||
		len(got.Log) != 20 || got.Log[19] != "panic: no database" || len(got.Events) != 1 || got.Unavailable != 2 {
		t.Errorf("%+v", got)
	}
	logs := slices.DeleteFunc(slices.Clone(n.requests), func(r string) bool { return r != "log of prod web-new-1 app false" })
	if len(logs) != 2 { // when the problem was found, and at the end
		t.Errorf("requests %q", n.requests)
	}
}

// TestWaitIsInterrupted checks that an interrupt ends the wait at once, and that the state says how far the object is.
func TestWaitIsInterrupted(t *testing.T) {
	n := selecting(newNamespace(t, "image"))
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o := Options{Interval: time.Hour, Show: func([]State) { interrupt() }}
	start := time.Now()
	got := Wait(ctx, n, []object.Ref{n.ref()}, o)[0]
	if got.Status != report.RolloutInterrupted || got.Reason != `ImagePullBackOff: Back-off pulling image "nginx:1.99"` || got.Updated != 1 ||
		time.Since(start) > o.Interval/2 {
		t.Errorf("%+v", got)
	}
}

// TestWaitScrubs checks that each text is scrubbed before it is cut, so that no half of a secret is left, and that a private key is
// left out even if its first line was not read.
func TestWaitScrubs(t *testing.T) {
	const canary = "hunter2-canary"
	n := selecting(newNamespace(t, "crash-loop"))
	long := strings.Repeat("x", maxText-5) + canary
	n.log = "bGluZSBvZiBhIGtleQ==\n-----END PRIVATE KEY-----\n" + long + "\npassword: " + canary + "\n"
	for _, u := range n.objects {
		switch u.GetKind() {
		case "Event":
			u.Object["message"] = long
		case "Pod":
			statuses, _, _ := unstructured.NestedSlice(u.Object, "status", "containerStatuses")
			_ = unstructured.SetNestedField(statuses[0].(map[string]any), canary+"\n"+long, "lastState", "terminated", "message")
			_ = unstructured.SetNestedSlice(u.Object, statuses, "status", "containerStatuses")
		}
	}
	o := quick()
	o.Scrub = func(text string) string { return strings.ReplaceAll(text, canary, "***") }
	got := waitFor(t, n, o)
	text := fmt.Sprintf("%+v %+v %s", got, got.Events, strings.Join(got.Log, "\n"))
	for i := 4; i <= len(canary); i++ {
		if strings.Contains(text, canary[:i]) {
			t.Fatalf("%q is left in\n%s", canary[:i], text)
		}
	}
	if strings.Contains(text, "bGluZ") || !strings.Contains(text, "password: ***") || len(got.Log) != 3 {
		t.Errorf("%s", text)
	}
}

// TestWaitWithoutRights checks that what cannot be read is named, and that the rest still says something.
func TestWaitWithoutRights(t *testing.T) {
	n := selecting(newNamespace(t, "replica-failure"))
	n.refused = []string{"pods", "replicasets", "events"}
	got := waitFor(t, n, quick())
	if !slices.Equal(got.Unread, []string{"pods: forbidden", "replicasets: forbidden", "events: forbidden"}) ||
		!strings.HasPrefix(got.Reason, "FailedCreate: ") {
		t.Errorf("%+v", got)
	}
	n = selecting(newNamespace(t, "crash-loop"))
	n.refused = []string{"pods/log"}
	got = waitFor(t, n, quick())
	if !slices.Equal(got.Unread, []string{"pods/log: forbidden"}) || got.Log != nil {
		t.Errorf("%+v", got)
	}
}

// TestWaitBeforeTheControllerLooked checks that pods give no reason as long as the controller has not seen the object.
func TestWaitBeforeTheControllerLooked(t *testing.T) {
	n := selecting(newNamespace(t, "crash-loop"))
	n.objects[0].SetGeneration(3)
	got := waitFor(t, n, quick())
	if got.Reason != "" || got.Updated != 0 || !strings.Contains(got.Message, "generation") || len(n.requests) > 0 {
		t.Errorf("%+v, requests %q", got, n.requests)
	}
}

// TestWaitReadsOnce checks that objects of a namespace share the lists that do not depend on them.
func TestWaitReadsOnce(t *testing.T) {
	n := selecting(newNamespace(t, "claim-unbound"))
	other := n.objects[0].DeepCopy()
	other.SetName("other")
	n.add(other)
	refs := []object.Ref{n.ref(), {Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "other"}, Version: "v1"}}
	ctx, interrupt := context.WithCancel(t.Context())
	Wait(ctx, n, refs, Options{Interval: time.Hour, Show: func([]State) { interrupt() }})
	slices.Sort(n.requests)
	want := []string{"events", "events", "persistentvolumeclaims", "pods", "pods", "replicasets", "replicasets"}
	if !slices.Equal(n.requests, want) {
		t.Errorf("requests %q, want %q", n.requests, want)
	}
}

// TestJudge checks the cases that judge decides itself, and a few that kstatus decides.
func TestJudge(t *testing.T) {
	const daemonSet = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: x, generation: 1}, spec: {updateStrategy: {type: %s}}, " +
		"status: {observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 1, " +
		"numberReady: %d, numberAvailable: 2}}"
	const controller = "{apiVersion: v1, kind: ReplicationController, metadata: {name: x, generation: 2}, spec: {replicas: 2}, " +
		"status: {observedGeneration: %d, replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: %d}}"
	for name, c := range map[string]struct {
		object string
		want   judgement
	}{
		"config map": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", judgement{isReady: true, message: "Resource is always ready"}},
		"paused": {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {paused: true}}",
			judgement{isReady: true, message: "paused: nothing rolls out until it is resumed"}},
		"on delete": {fmt.Sprintf(daemonSet, "OnDelete", 2),
			judgement{isReady: true, message: "All replicas scheduled as expected. Replicas: 2"}},
		"on delete, but not ready": {fmt.Sprintf(daemonSet, "OnDelete", 1), judgement{message: "Ready: 1/2"}},
		"rolling":                  {fmt.Sprintf(daemonSet, "RollingUpdate", 2), judgement{message: "Updated: 1/2"}},
		"replication controller": {fmt.Sprintf(controller, 2, 2),
			judgement{isReady: true, message: "ReplicationController is available. Replicas: 2"}},
		"replication controller whose pods crash": {fmt.Sprintf(controller, 2, 0), judgement{message: "Available: 0/2"}},
		"replication controller, not observed yet": {fmt.Sprintf(controller, 1, 2),
			judgement{message: "ReplicationController generation is 2, but latest observed generation is 1"}},
		"failed pod": {"{apiVersion: v1, kind: Pod, metadata: {name: x}, status: {phase: Failed}}",
			judgement{hasEnded: true, message: "Pod has completed, but not successfully"}},
		"failed job": {`{apiVersion: batch/v1, kind: Job, metadata: {name: x}, status: {failed: 1, conditions: [{type: Failed, status: "True"}]}}`,
			judgement{hasEnded: true, message: "Job Failed. failed: 1/1"}},
		"hostile": {"{apiVersion: v1, kind: Pod, metadata: {name: x}, status: {phase: Running, containerStatuses: [text]}}",
			judgement{message: "its status cannot be read: interface conversion: interface {} is string, not map[string]interface {}"}},
	} {
		if got := judge(objectOf(t, c.object)); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestWaitReadsReadyObjectsAgain checks that an object that crashes after it was ready is not up unless it recovers, and that an object
// that stays ready is read only twice: when it becomes ready, and when all others are.
func TestWaitReadsReadyObjectsAgain(t *testing.T) {
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, generation: 1}, spec: {replicas: 1}, " +
		"status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: %[2]d, availableReplicas: %[2]d, " +
		`conditions: [{type: Available, status: "True"}]}}`
	first := objectOf(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: first}, status: {active: 1, startTime: '2026-11-22T10:00:00Z'}}")
	const never = time.Hour
	for name, c := range map[string]struct {
		crashes, recovers time.Duration // when the first Deployment does
		jobEnds           time.Duration // when the Job is gone
		want              string
		gets              int
	}{
		"ready": {crashes: never, jobEnds: never, want: "ready ready ready after 6s", gets: 2 + 4 + 2},
		"crashes": {crashes: 3 * time.Second, recovers: never, jobEnds: never,
			want: "timed-out ready ready after 19s", gets: 2 + 4 + 2 + 6},
		"recovers": {crashes: 3 * time.Second, recovers: 9 * time.Second, jobEnds: never,
			want: "ready ready ready after 10s", gets: 2 + 4 + 2 + 1 + 3},
		"the Job has gone": {crashes: never, jobEnds: 3 * time.Second, want: "ready ready ready after 6s", gets: 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, start := &namespace{}, time.Now()
				var refs []object.Ref
				n.before = func(int) {
					passed := time.Since(start)
					crashed := passed >= c.crashes && passed < c.recovers
					n.objects = nil
					n.add(objectOf(t, fmt.Sprintf(deployment, "a", map[bool]int{true: 0, false: 1}[crashed])))
					n.add(objectOf(t, fmt.Sprintf(deployment, "b", map[bool]int{true: 1, false: 0}[passed >= 5*time.Second])))
					if passed < c.jobEnds {
						n.add(first)
					}
				}
				n.before(0)
				for _, u := range []*unstructured.Unstructured{n.objects[0], n.objects[1], first} {
					gvk := u.GroupVersionKind()
					key := object.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: "prod", Name: u.GetName()}
					refs = append(refs, object.Ref{Key: key, Version: gvk.Version})
				}
				var got []string
				for _, s := range Wait(t.Context(), n, refs, Options{Timeout: 19 * time.Second}) {
					got = append(got, string(s.Status))
				}
				if said := fmt.Sprintf("%s after %s", strings.Join(got, " "), time.Since(start)); said != c.want || n.gets != c.gets {
					t.Errorf("got %s with %d reads of objects, want %s with %d", said, n.gets, c.want, c.gets)
				}
			})
		})
	}
}

// TestWaitForNothing checks objects that do not exist, and an empty wait.
func TestWaitForNothing(t *testing.T) {
	if got := Wait(t.Context(), &namespace{}, nil, Options{}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "prod", Name: "gone"}, Version: "v1"}
	got := Wait(t.Context(), &namespace{}, []object.Ref{ref}, quick())[0]
	if got.Status != report.RolloutTimedOut || got.Message != "it does not exist" {
		t.Errorf("%+v", got)
	}
}
