package forecast

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Object is an object of the release, before and after the write.
type Object effect.Write

// Input is everything that the prediction for one operation needs.
type Input struct {
	// Objects, Autoscaled, AutoscalersUnseen and Now come from the operation.
	Objects           []Object
	Autoscaled        map[object.Key]object.Autoscaler
	AutoscalersUnseen bool
	Now               time.Time
	// Seen holds what was read from the lists of Wants.
	Seen Seen
}

// Want is something that would make the forecast better: the objects of a kind in a namespace, or in the cluster, or one of them.
type Want struct {
	Kind      schema.GroupVersionKind
	Namespace string
	// Name is the name of the object. It is empty for all objects.
	Name string
}

// String returns what a Want lists, such as "pods in namespace n".
func (w Want) String() string {
	out := w.Kind.Kind + " objects"
	if name, known := map[string]string{
		"Pod": "pods", "PersistentVolume": "volumes", "StorageClass": "storage classes",
	}[w.Kind.Kind]; known {
		out = name
	}
	if w.Namespace != "" {
		out += " in namespace " + w.Namespace
	}
	return out
}

// List is what was read for a Want. Err is set if it could not be read. That does not mean that it is empty.
type List struct {
	Items []map[string]any
	Err   error
}

// Seen holds the lists that were read.
type Seen map[Want]List

// errNotRead is the error of a wanted list that was not read.
var errNotRead = errors.New("the list was not read")

// hasPods reports whether something was in a namespace before the operation, so that there may be pods.
func (in Input) hasPods(namespace string) bool {
	return slices.ContainsFunc(in.Objects, func(o Object) bool { return o.Namespace == namespace && o.Before != nil })
}

// pod is a pod as it was read.
type pod struct {
	owner object.Key
	// ready is 1 if the pod is ready, else 0.
	ready  int
	object map[string]any
}

// podsIn is the list of the pods of a namespace.
func podsIn(namespace string) Want {
	return Want{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespace: namespace}
}

// pods returns the pods of a namespace that run, or will run, and are not being deleted. The second result says why there may be more.
func (in Input) pods(namespace string) ([]pod, string) {
	list, read := in.Seen[podsIn(namespace)]
	if !read {
		list.Err = errNotRead
	}
	var out []pod
	for _, item := range list.Items {
		meta, status := object.Child(item, "metadata"), object.Child(item, "status")
		if meta["deletionTimestamp"] != nil || hasEnded(status) {
			continue
		}
		out = append(out, pod{owner: in.ownerOf(meta, namespace), ready: readyPods(status), object: item})
	}
	return out, unread(list, "pods")
}

// unread says that a list could not be read. It is empty if it could.
func unread(list List, what string) string {
	switch {
	case list.Err == nil:
		return ""
	case errors.Is(list.Err, errNotRead):
		return what + " were not listed"
	case apierrors.IsForbidden(list.Err):
		return what + " may not be listed"
	}
	return what + " could not be listed"
}

// generated matches the end of the name of a Job of a CronJob: the minute of its run.
var generated = regexp.MustCompile(`-\d+$`)

// ownerOf returns the key of the workload that keeps a pod, and of the pod itself if no controller does. The name of a Deployment's
// ReplicaSet is the Deployment's name with the hash of the template, and the pods have that hash as a label. The name of a CronJob's Job
// is the CronJob's name with the minute of its run.
func (in Input) ownerOf(meta map[string]any, namespace string) object.Key {
	name, _ := meta["name"].(string)
	key := object.Key{Kind: "Pod", Namespace: namespace, Name: name}
	for _, ref := range object.Items(meta, "ownerReferences") {
		if ref["controller"] != true {
			continue
		}
		version, _ := ref["apiVersion"].(string)
		gv, _ := schema.ParseGroupVersion(version)
		key.Group = gv.Group
		key.Kind, _ = ref["kind"].(string)
		key.Name, _ = ref["name"].(string)
	}
	hash, _ := object.Child(meta, "labels")["pod-template-hash"].(string)
	cron := object.Key{Group: "batch", Kind: "CronJob", Namespace: namespace, Name: generated.ReplaceAllString(key.Name, "")}
	switch {
	case key.Kind == "ReplicaSet" && hash != "" && strings.HasSuffix(key.Name, "-"+hash):
		key.Kind, key.Name = "Deployment", strings.TrimSuffix(key.Name, "-"+hash)
	case key.Kind == "Job" && in.find(key) == nil && in.find(cron) != nil:
		key = cron
	}
	return key
}

// find returns the object of the release with a key, or nil if there is none.
func (in Input) find(key object.Key) *Object {
	i := slices.IndexFunc(in.Objects, func(o Object) bool { return o.Key == key })
	if i < 0 {
		return nil
	}
	return &in.Objects[i]
}

// isReady reports whether the status of a pod says that it is ready.
func isReady(status map[string]any) bool {
	return slices.ContainsFunc(object.Items(status, "conditions"), func(c map[string]any) bool {
		return c["type"] == "Ready" && c["status"] == "True"
	})
}

// hasEnded reports whether the status of a pod says that its containers no longer run.
func hasEnded(status map[string]any) bool {
	return status["phase"] == "Succeeded" || status["phase"] == "Failed"
}

// templateIn returns the template of the pods that an object runs, or nil if it runs none. For a Pod it is the object itself.
func templateIn(key object.Key, m map[string]any) map[string]any {
	switch key.GroupKind().String() {
	case "Pod":
		return m
	case "CronJob.batch":
		return template(object.Child(object.Child(m, "spec"), "jobTemplate"))
	}
	if isWorkload(key.GroupKind()) || key.GroupKind() == (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		return template(m)
	}
	return nil
}

// runsPods reports whether an object runs pods.
func (o *Object) runsPods() bool {
	return templateIn(o.Key, o.Before) != nil || templateIn(o.Key, o.After) != nil
}

// podSpec returns the spec of a pod or of a template.
func podSpec(template map[string]any) corev1.PodSpec {
	return decoded[corev1.PodSpec](object.Child(template, "spec"))
}

// longRunning returns the containers in the spec of a pod that run as long as the pod does: its containers and its sidecars.
func longRunning(spec map[string]any) []map[string]any {
	sidecars := object.Filter(object.Items(spec, "initContainers"), func(c map[string]any) bool { return c["restartPolicy"] == "Always" })
	return slices.Concat(object.Items(spec, "containers"), sidecars)
}

// labelsOf returns the labels of an object or of a template.
func labelsOf(m map[string]any) map[string]string {
	return texts(object.Child(m, "metadata")["labels"])
}

// texts returns the texts among the values of a map.
func texts(v any) map[string]string {
	m, _ := v.(map[string]any)
	out := make(map[string]string, len(m))
	for name, value := range m {
		if text, ok := value.(string); ok {
			out[name] = text
		}
	}
	return out
}

// decoded returns an object, or a part of one, as its Go type. It leaves out values of a wrong type, which the API server refuses.
func decoded[T any](m map[string]any) T {
	out, _ := typed[T](m)
	return out
}

// typed is decoded, and returns false if some values were left out. It decodes nothing if that would take too long.
func typed[T any](m map[string]any) (out T, ok bool) {
	if hasHugeExponent(m) {
		return out, false
	}
	text, err := json.Marshal(m)
	ok = err == nil && json.Unmarshal(text, &out) == nil
	return out, ok
}

// template returns the pod template of a normal form.
func template(m map[string]any) map[string]any {
	return object.Child(object.Child(m, "spec"), "template")
}

// replicas returns how many pods a normal form wants, or 0 if there is no object.
func replicas(m map[string]any) int {
	if m == nil {
		return 0
	}
	return count(object.Child(m, "spec"), "replicas", 1)
}

// count is number for a field of the API that has 32 bits and is not negative. An API server may answer with any number.
func count(m map[string]any, name string, otherwise int) int {
	return max(0, min(number(m, name, otherwise), math.MaxInt32))
}

// number returns an integer field, or a default if it is absent.
func number(m map[string]any, name string, otherwise int) int {
	switch n := m[name].(type) {
	case int64:
		return int(n)
	case float64:
		return int(max(math.MinInt32, min(n, math.MaxInt32))) // a whole number that int64 holds is no float64
	}
	return otherwise
}

// hasHugeExponent reports whether a value holds a text that takes forever to decode as a quantity.
func hasHugeExponent(v any) bool {
	switch v := v.(type) {
	case string:
		return kinds.HasHugeExponent(v)
	case []any:
		return slices.ContainsFunc(v, hasHugeExponent)
	case map[string]any:
		for _, below := range v {
			if hasHugeExponent(below) {
				return true
			}
		}
	}
	return false
}

// scales reports whether objects of a kind have a number of replicas.
func scales(key object.Key) bool {
	switch key.Kind {
	case "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController":
		return true
	}
	return false
}

// named returns the kind and the name of an object for texts.
func named(key object.Key) string { return key.Kind + " " + key.Name }

func isTrue(b *bool) bool { return b != nil && *b }

// verb returns the form of a verb for a number of subjects.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// firstNames returns up to three names, and how many more there are.
func firstNames(names []string) string { return firstOf(names, len(names)) }

// firstOf returns what firstNames returns for count names, given only the first of them.
func firstOf(names []string, count int) string {
	if count > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), count-3)
	}
	return strings.Join(names, ", ")
}

// withClauses adds clauses to an effect. The first becomes its text if it has none.
func withClauses(e *report.Effect, clauses []string) *report.Effect {
	if e.Text == "" && len(clauses) > 0 {
		e.Text, clauses = clauses[0], clauses[1:]
	}
	e.Notes = append(e.Notes, clauses...)
	if e.Text == "" {
		return nil
	}
	return e
}
