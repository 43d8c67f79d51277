package forecast

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

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

// pods returns the pods of a namespace that run, or will, and are not being deleted. The second result says why there may be more.
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

// unread says that a list could not be read; empty if it could.
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

// generated is the end of the name of a Job that a CronJob made: the minute of its run.
var generated = regexp.MustCompile(`-\d+$`)

// ownerOf returns the key of the workload that keeps a pod, and of the pod itself if no controller does. A ReplicaSet of a Deployment has
// the name of the Deployment with the hash of the template, which its pods have as a label; a Job of a CronJob that of the CronJob with
// the minute of its run.
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

// find returns the object of the release with a key; nil if there is none.
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

// hasEnded reports whether the status of a pod says that its containers run no more.
func hasEnded(status map[string]any) bool {
	return status["phase"] == "Succeeded" || status["phase"] == "Failed"
}

// templateIn returns the template of the pods that an object runs, which for a Pod is the object itself; nil if it runs none.
func templateIn(key object.Key, m map[string]any) map[string]any {
	switch key.GroupKind() {
	case schema.GroupKind{Kind: "Pod"}:
		return m
	case schema.GroupKind{Kind: "ReplicationController"}, schema.GroupKind{Group: "apps", Kind: "Deployment"},
		schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, schema.GroupKind{Group: "apps", Kind: "DaemonSet"},
		schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, schema.GroupKind{Group: "batch", Kind: "Job"}:
		return template(m)
	case schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		return template(object.Child(object.Child(m, "spec"), "jobTemplate"))
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

// decoded returns an object, or a part of one, as its Go type. A value of a wrong type, which the API server refuses, is left out.
func decoded[T any](m map[string]any) T {
	var out T
	if hasHugeExponent(m) {
		return out
	}
	if text, err := json.Marshal(m); err == nil {
		_ = json.Unmarshal(text, &out)
	}
	return out
}
