package main

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// edit changes an object of testdata/charts/demo, installed as release web, without Helm.
type edit struct {
	name, apiVersion, kind, object string
	// patch is empty if the object is deleted.
	patch     string
	patchType types.PatchType
	// marks are the texts that show the edited field in a line of difference: its key, its new value or its old value.
	marks []string
}

func (e *edit) label() string { return label(e.kind, groupOf(e.apiVersion), e.object) }

// marked reports whether a line of difference has all marks.
func (e *edit) marked(line string) bool {
	return !slices.ContainsFunc(e.marks, func(mark string) bool { return !strings.Contains(line, mark) })
}

func deployment(name, patch string, marks ...string) edit {
	return edit{name, "apps/v1", "Deployment", "web", patch, types.StrategicMergePatchType, marks}
}

// container edits the container of the Deployment.
func container(name, patch string, marks ...string) edit {
	return deployment(name, `{"spec":{"template":{"spec":{"containers":[{"name":"web",`+patch+`}]}}}}`, marks...)
}

func configMap(name, patch string, marks ...string) edit {
	return edit{name, "v1", "ConfigMap", "web-settings", patch, types.MergePatchType, marks}
}

func secret(name, patch string, marks ...string) edit {
	return edit{name, "v1", "Secret", "web-login", patch, types.MergePatchType, marks}
}

func service(name, patch string, marks ...string) edit {
	return edit{name, "v1", "Service", "web", patch, types.JSONPatchType, marks}
}

func budget(name, patch string, marks ...string) edit {
	return edit{name, "shop.example.com/v1", "Budget", "web", patch, types.MergePatchType, marks}
}

// edits returns what people do to releases by hand: fields of the manifest are changed or removed, others are added, objects are deleted.
func edits() []edit {
	return []edit{
		deployment("scaled", `{"spec":{"replicas":7}}`, "replicas", "7"),
		container("image changed", `"image":"nginx:9.9-edited"`, "nginx:9.9-edited"),
		container("limit changed", `"resources":{"limits":{"memory":"3Gi"}}`, "memory", "3Gi"),
		container("variable changed", `"env":[{"name":"LOG_LEVEL","value":"noisy"}]`, "noisy"),
		container("variable removed", `"env":[{"$patch":"delete","name":"LOG_LEVEL"}]`, "LOG_LEVEL"),
		container("variable added", `"env":[{"name":"EDITED","value":"1"}]`, "EDITED"),
		deployment("container added", `{"spec":{"template":{"spec":{"containers":[{"name":"edited","image":"busybox"}]}}}}`, "edited"),
		deployment("node selector added", `{"spec":{"template":{"spec":{"nodeSelector":{"edited":"disk"}}}}}`, "edited"),
		deployment("annotation added", `{"metadata":{"annotations":{"example.com/edited":"1"}}}`, "example.com/edited"),
		configMap("label added", `{"metadata":{"labels":{"edited":"yes"}}}`, "edited"),
		configMap("key of a ConfigMap changed", `{"data":{"log.level":"noisy"}}`, "log.level", "noisy"),
		configMap("key of a ConfigMap removed", `{"data":{"greeting":null}}`, "greeting"),
		configMap("key of a ConfigMap added", `{"data":{"edited":"1"}}`, "edited"),
		secret("key of a Secret changed", `{"data":{"password":"ZWRpdGVk"}}`, "password"),
		secret("key of a Secret added", `{"data":{"edited":"ZWRpdGVk"}}`, "edited"),
		service("port changed", `[{"op":"replace","path":"/spec/ports/0/port","value":8081}]`, "8081"),
		service("port added", `[{"op":"add","path":"/spec/ports/-","value":{"name":"edited","port":8443}}]`, "8443"),
		service("selector changed", `[{"op":"replace","path":"/spec/selector/app","value":"edited"}]`, "edited"),
		service("type changed", `[{"op":"replace","path":"/spec/type","value":"NodePort"}]`, "NodePort"),
		budget("field of a custom resource changed", `{"spec":{"limit":30}}`, "limit", "30"),
		budget("field of a custom resource removed", `{"spec":{"currency":null}}`, "currency"),
		budget("defaulted field of a custom resource changed", `{"spec":{"period":"edited"}}`, "period", "edited"),
		{name: "Service deleted", apiVersion: "v1", kind: "Service", object: "web"},
		{name: "ConfigMap deleted", apiVersion: "v1", kind: "ConfigMap", object: "web-settings"},
		{name: "custom resource deleted", apiVersion: "shop.example.com/v1", kind: "Budget", object: "web"},
	}
}
