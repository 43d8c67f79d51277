package apiserver

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// choice is a place, a union, of which the API server takes one member only, and perhaps not none.
type choice struct {
	at      object.Path
	members []string
	needed  bool
}

// set lists the members that an object has.
func (u choice) set(obj map[string]any) []string {
	node, _ := u.at.Lookup(obj)
	return slices.DeleteFunc(slices.Clone(u.members), func(name string) bool { return !isSet(name, object.Field(node, name)) })
}

// dependent is a field that the API server takes only where a field beside it has one value.
type dependent struct {
	at               object.Path
	field, by, value string
}

// Superfluous lists what the API server refuses in an object because of what a manifest names in it: another member of the same union, or
// a field of the type that was left. Named reports whether the manifest names a place; what it names is never superfluous.
func Superfluous(key object.Key, normal map[string]any, named func(object.Path) bool) []object.Path {
	var out []object.Path
	for _, u := range unionsOf(key, normal) {
		ours, others := u.split(normal, named)
		if len(ours) > 0 {
			out = append(out, others...)
		}
	}
	for _, d := range dependentsOf(key, normal) {
		node, _ := d.at.Lookup(normal)
		if by := object.Field(node, d.by); by != nil && by != d.value && object.Has(node, d.field) && !named(d.at.Field(d.field)) {
			out = append(out, d.at.Field(d.field))
		}
	}
	return append(out, secondKeys(key, normal, named)...)
}

// split returns the members that an object has: those that the manifest names, and the others.
func (u choice) split(normal map[string]any, named func(object.Path) bool) (ours, others []object.Path) {
	node, _ := u.at.Lookup(normal)
	for _, name := range u.members {
		path := u.at.Field(name)
		switch {
		case !object.Has(node, name):
		case named(path):
			ours = append(ours, path)
		default:
			others = append(others, path)
		}
	}
	return ours, others
}

// secondKeys are the keys of a ConfigMap's binaryData that the manifest has in data, and the other way round (kubernetes v1.36.3
// pkg/apis/core/validation ValidateConfigMap).
func secondKeys(key object.Key, normal map[string]any, named func(object.Path) bool) []object.Path {
	if key.GroupKind().String() != "ConfigMap" {
		return nil
	}
	var out []object.Path
	for _, fields := range [][2]string{{"data", "binaryData"}, {"binaryData", "data"}} {
		for _, name := range object.SortedKeys(object.Child(normal, fields[0])) {
			other := object.Path{}.Field(fields[1]).Field(name)
			if object.Has(normal[fields[1]], name) && named(object.Path{}.Field(fields[0]).Field(name)) && !named(other) {
				out = append(out, other)
			}
		}
	}
	return out
}

// unionsOf lists the unions of an object, as far as they are told here: kubernetes v1.36.3 pkg/apis/policy/validation
// ValidatePodDisruptionBudgetSpec, networking/validation validateIngressBackend, admissionregistration/validation
// validateValidatingWebhook and validateMutatingWebhook, core/validation validateVolumeSource, validateHandler, ValidateEnv.
func unionsOf(key object.Key, obj map[string]any) []choice {
	spec := object.Path{}.Field("spec")
	switch key.GroupKind().String() {
	case "PodDisruptionBudget.policy":
		return []choice{{at: spec, members: []string{"minAvailable", "maxUnavailable"}}}
	case "Ingress.networking.k8s.io":
		backend := spec.Field("defaultBackend")
		return []choice{
			{backend, []string{"service", "resource"}, true},
			{backend.Field("service").Field("port"), []string{"name", "number"}, true},
		}
	case "ValidatingWebhookConfiguration.admissionregistration.k8s.io", "MutatingWebhookConfiguration.admissionregistration.k8s.io":
		var out []choice
		eachNamed(obj["webhooks"], object.Path{}.Field("webhooks"), func(_ map[string]any, at object.Path) {
			out = append(out, choice{at.Field("clientConfig"), []string{"service", "url"}, true})
		})
		return out
	}
	return podUnions(podSpecOf(key), obj)
}

func podUnions(base object.Path, obj map[string]any) []choice {
	if base == nil {
		return nil
	}
	var out []choice
	eachContainer(base, obj, func(container map[string]any, at object.Path) {
		for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			out = append(out, choice{at.Field(probe), []string{"exec", "httpGet", "tcpSocket", "grpc"}, true})
		}
		for _, hook := range []string{"postStart", "preStop"} {
			out = append(out, choice{at.Field("lifecycle").Field(hook), []string{"exec", "httpGet", "tcpSocket", "sleep"}, true})
		}
		eachNamed(container["env"], at.Field("env"), func(env map[string]any, at object.Path) {
			out = append(out, choice{at: at, members: []string{"value", "valueFrom"}})
			out = append(out, choice{at: at.Field("valueFrom"), members: object.SortedKeys(object.Child(env, "valueFrom"))})
		})
	})
	spec, _ := base.Lookup(obj)
	eachNamed(object.Field(spec, "volumes"), base.Field("volumes"), func(volume map[string]any, at object.Path) {
		sources := slices.DeleteFunc(object.SortedKeys(volume), func(name string) bool { return name == "name" })
		out = append(out, choice{at: at, members: sources})
	})
	return out
}

func eachContainer(base object.Path, obj map[string]any, visit func(container map[string]any, at object.Path)) {
	spec, _ := base.Lookup(obj)
	for _, list := range []string{"initContainers", "containers"} {
		eachNamed(object.Field(spec, list), base.Field(list), visit)
	}
}

// dependentsOf lists the fields of an object that go with a type, as far as they are told here: kubernetes v1.36.3
// pkg/apis/apps/validation ValidateDeploymentStrategy and ValidateStatefulSetSpec, core/validation validateSeccompProfileField and
// ValidateAppArmorProfileField, and apiextensions-apiserver pkg/apis/apiextensions/validation
// validateCustomResourceConversion.
func dependentsOf(key object.Key, obj map[string]any) []dependent {
	var out []dependent
	spec := object.Path{}.Field("spec")
	switch key.GroupKind().String() {
	case "Deployment.apps":
		out = append(out, dependent{spec.Field("strategy"), "rollingUpdate", "type", "RollingUpdate"})
	case "StatefulSet.apps":
		out = append(out, dependent{spec.Field("updateStrategy"), "rollingUpdate", "type", "RollingUpdate"})
	case "CustomResourceDefinition.apiextensions.k8s.io":
		out = append(out, dependent{spec.Field("conversion"), "webhook", "strategy", "Webhook"})
	}
	base := podSpecOf(key)
	if base == nil {
		return out
	}
	profiles := func(context object.Path) {
		for _, name := range []string{"seccompProfile", "appArmorProfile"} {
			out = append(out, dependent{context.Field(name), "localhostProfile", "type", "Localhost"})
		}
	}
	profiles(base.Field("securityContext"))
	eachContainer(base, obj, func(_ map[string]any, at object.Path) { profiles(at.Field("securityContext")) })
	return out
}
