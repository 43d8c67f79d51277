package apiserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// union is a place with several members. The API server accepts only one of them.
type union struct {
	at      object.Path
	members []string
	// needed is set if the place must have a member.
	needed bool
}

// set lists the members that an object has.
func (u union) set(obj map[string]any) []string {
	node, _ := u.at.Lookup(obj)
	return slices.DeleteFunc(slices.Clone(u.members), func(name string) bool { return !isSet(name, object.Field(node, name)) })
}

// isSet reports whether a member of a union counts: an empty text does not, nor does port number 0.
func isSet(name string, v any) bool {
	return v != nil && v != "" && (name != "number" || !object.IsZero(v))
}

// unionReasons names the unions with more than one member. Helm's patch removes the other member only if it knows that one is allowed
// ($retainKeys of volumes).
func unionReasons(key object.Key, obj map[string]any) []string {
	var out []string
	for _, u := range unionsOf(key, obj) {
		if set := u.set(obj); len(set) > 1 {
			out = append(out, fmt.Sprintf("%s cannot have both %s", u.at, strings.Join(set, " and ")))
		}
	}
	return out
}

// emptyUnionReasons names the unions that need a member and lose the last one. A server-side apply does that if it removes Helm's
// member and others own fields beside it.
func emptyUnionReasons(key object.Key, obj, live map[string]any) []string {
	var out []string
	for _, u := range unionsOf(key, obj) {
		_, exists := u.at.Lookup(obj)
		_, existed := u.at.Lookup(live)
		if u.needed && exists && len(u.set(obj)) == 0 && !(existed && len(u.set(live)) == 0) {
			out = append(out, fmt.Sprintf("%s must have one of %s", u.at, strings.Join(u.members, ", ")))
		}
	}
	return out
}

// dependent is a field that the API server accepts only together with one value of a type field.
type dependent struct {
	at              object.Path
	field, needType string
}

// stray returns the path of the field if an object has it together with another type, and that type.
func (d dependent) stray(obj map[string]any) (path object.Path, other any) {
	node, _ := d.at.Lookup(obj)
	other = object.Field(node, "type")
	if other == nil || other == d.needType || object.Field(node, d.field) == nil {
		return nil, nil
	}
	return d.at.Field(d.field), other
}

// dependentReasons names the fields that do not belong to the type that is set.
func dependentReasons(key object.Key, obj map[string]any) []string {
	var out []string
	for _, d := range dependentsOf(key, obj) {
		if path, other := d.stray(obj); path != nil {
			out = append(out, fmt.Sprintf("%s may not be set when type is %v", path, other))
		}
	}
	return out
}

// Superfluous lists what the API server refuses in an object because of what a manifest names in it: another member of the same union, or
// a field of the type that was set before. Named reports whether the manifest names a path; what it names is never superfluous.
func Superfluous(key object.Key, normal map[string]any, named func(object.Path) bool) []object.Path {
	var out []object.Path
	for _, u := range unionsOf(key, normal) {
		node, _ := u.at.Lookup(normal)
		present := object.Filter(u.members, func(name string) bool { return object.Has(node, name) })
		others := object.Filter(present, func(name string) bool { return !named(u.at.Field(name)) })
		if len(others) == len(present) {
			continue // the manifest names no member
		}
		for _, name := range others {
			out = append(out, u.at.Field(name))
		}
	}
	for _, d := range dependentsOf(key, normal) {
		if path, _ := d.stray(normal); path != nil && !named(path) {
			out = append(out, path)
		}
	}
	return out
}

// unionsOf lists the unions of an object that are known here: kubernetes v1.36.3 pkg/apis/policy/validation
// ValidatePodDisruptionBudgetSpec, networking/validation validateIngressBackend, admissionregistration/validation
// validateValidatingWebhook and validateMutatingWebhook, core/validation validateVolumeSource, validateHandler, ValidateEnv.
func unionsOf(key object.Key, obj map[string]any) []union {
	spec := object.Path{}.Field("spec")
	switch key.GroupKind().String() {
	case "PodDisruptionBudget.policy":
		return []union{{at: spec, members: []string{"minAvailable", "maxUnavailable"}}}
	case "Ingress.networking.k8s.io":
		backend := spec.Field("defaultBackend")
		return []union{
			{backend, []string{"service", "resource"}, true},
			{backend.Field("service").Field("port"), []string{"name", "number"}, true},
		}
	case "ValidatingWebhookConfiguration.admissionregistration.k8s.io", "MutatingWebhookConfiguration.admissionregistration.k8s.io":
		var out []union
		eachNamed(obj["webhooks"], object.Path{}.Field("webhooks"), func(_ map[string]any, at object.Path) {
			out = append(out, union{at.Field("clientConfig"), []string{"service", "url"}, true})
		})
		return out
	}
	return podUnions(podSpecOf(key), obj)
}

// podUnions returns the unions in the spec of a pod: probes and hooks have one handler, an env variable one value, a volume one source.
func podUnions(base object.Path, obj map[string]any) []union {
	if base == nil {
		return nil
	}
	var out []union
	eachContainer(base, obj, func(container map[string]any, at object.Path) {
		for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			out = append(out, union{at.Field(probe), []string{"exec", "httpGet", "tcpSocket", "grpc"}, true})
		}
		for _, hook := range []string{"postStart", "preStop"} {
			out = append(out, union{at.Field("lifecycle").Field(hook), []string{"exec", "httpGet", "tcpSocket", "sleep"}, true})
		}
		eachNamed(container["env"], at.Field("env"), func(env map[string]any, at object.Path) {
			out = append(out, union{at: at, members: []string{"value", "valueFrom"}})
			out = append(out, union{at: at.Field("valueFrom"), members: object.SortedKeys(object.Child(env, "valueFrom"))})
		})
	})
	spec, _ := base.Lookup(obj)
	eachNamed(object.Field(spec, "volumes"), base.Field("volumes"), func(volume map[string]any, at object.Path) {
		sources := slices.DeleteFunc(object.SortedKeys(volume), func(name string) bool { return name == "name" })
		out = append(out, union{at: at, members: sources})
	})
	return out
}

// dependentsOf lists the fields of an object that belong to a type, as far as they are known here: kubernetes v1.36.3
// pkg/apis/apps/validation ValidateDeploymentStrategy and ValidateStatefulSetSpec, core/validation validateSeccompProfileField and
// ValidateAppArmorProfileField.
func dependentsOf(key object.Key, obj map[string]any) []dependent {
	base := podSpecOf(key)
	if base == nil {
		return nil
	}
	var out []dependent
	spec := object.Path{}.Field("spec")
	switch key.GroupKind().String() {
	case "Deployment.apps":
		out = append(out, dependent{spec.Field("strategy"), "rollingUpdate", "RollingUpdate"})
	case "StatefulSet.apps":
		out = append(out, dependent{spec.Field("updateStrategy"), "rollingUpdate", "RollingUpdate"})
	}
	profiles := func(at object.Path) {
		for _, name := range []string{"seccompProfile", "appArmorProfile"} {
			out = append(out, dependent{at.Field("securityContext").Field(name), "localhostProfile", "Localhost"})
		}
	}
	profiles(base)
	eachContainer(base, obj, func(_ map[string]any, at object.Path) { profiles(at) })
	return out
}
