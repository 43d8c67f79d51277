package kinds

import (
	_ "embed"
	"maps"
	"reflect"
	"sync"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/helmdrift/helmdrift/pkg/object"
)

//go:embed defaults.json
var defaultsJSON []byte

// defaultsTable returns the defaults that are the same wherever their Go type occurs, by type and JSON field name. The table is generated
// from Kubernetes' own defaulting functions (test/controlplane/cmd/gendefaults).
//
// Defaults that depend on a sibling or on the kind are rules. Shapes of native kinds have both (addDefaults).
var defaultsTable = sync.OnceValue(func() map[string]map[string]any {
	var table map[string]map[string]any
	utilruntime.Must(utiljson.Unmarshal(defaultsJSON, &table))
	return table
})

// FillDefaults sets the API's defaults in the normal form of a whole object, in place. It removes a status that is a subresource,
// because the server itself sets what is in it.
func FillDefaults(root map[string]any, s *Shape) {
	if root == nil {
		return
	}
	fillValue(root, s)
	if s == nil || !s.PlainStatus {
		delete(root, "status")
	}
}

// fillValue sets the API's defaults in a normal form, in place, as the server does when it decodes an object.
func fillValue(v any, s *Shape) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Form == FormStruct {
			fillStruct(v, s)
			return
		}
		if s.rule != nil {
			s.rule(v)
		}
		for _, child := range v {
			fillValue(child, s.Elem)
		}
	case []any:
		for _, child := range v {
			fillValue(child, s.Item())
		}
	}
}

// fillStruct sets the defaults of one struct: first by the rule for siblings, then from the table, then everything below. A struct
// that is a Go value and not a pointer exists even if the manifest leaves it out, so its defaults apply too.
func fillStruct(v map[string]any, s *Shape) {
	if s.rule != nil {
		s.rule(v)
	}
	for name, value := range s.defaults {
		SetDefault(v, name, value)
	}
	for name, child := range v {
		if f := s.Fields[name]; f != nil {
			fillValue(child, f.Shape)
		}
	}
	for _, name := range s.embedded {
		if object.Has(v, name) {
			continue
		}
		child := map[string]any{}
		fillStruct(child, s.Fields[name].Shape)
		if len(child) > 0 {
			v[name] = child
		}
	}
}

// SetDefault sets a field that is absent. It does nothing if v is nil: a rule gets nil if a manifest has something else in the place of a
// struct.
func SetDefault(v map[string]any, name string, value any) {
	if v != nil && !object.Has(v, name) {
		v[name] = object.Copy(value)
	}
}

// addDefaults adds to a native shape what the table and the rules have for a Go type: the shape's own type, or an embedded one.
func (s *Shape) addDefaults(t reflect.Type) {
	versioned, unversioned := typeNames(t)
	if s.defaults == nil {
		s.defaults = map[string]any{}
	}
	maps.Copy(s.defaults, defaultsTable()[versioned])
	for _, name := range []string{unversioned, versioned} { // the rule of a version takes precedence
		if rule := siblingRules()[name]; rule != nil {
			s.rule = rule
		}
	}
}

// siblingRules returns the defaults that copy or depend on a sibling or on the kind, by Go type. The name of the type lacks the version
// if all versions of the group agree. The comment of each rule begins with the function of k8s.io/kubernetes v1.36.3
// pkg/apis/GROUP/VERSION/defaults.go that it follows, with the feature gates of that version. A rule gets the normal form of one value
// before the table is applied and before anything below is filled, in the same order as in Kubernetes.
//
// A rule never fails: if a manifest has something else in the place of a struct, object.Child returns nil and SetDefault does nothing.
var siblingRules = sync.OnceValue(func() map[string]func(map[string]any) {
	return map[string]func(map[string]any){
		"core.ResourceList":             defaultResourceList,
		"core.Container":                defaultContainer,
		"core.EphemeralContainerCommon": defaultContainer,
		"core.Volume":                   defaultVolume,
		"core.ImageVolumeSource":        defaultImageVolume,
		"core.Pod":                      defaultPod,
		"core.Service":                  defaultService,
		"core.PersistentVolume":         defaultPersistentVolume,
		"core.LimitRangeItem":           defaultLimitRangeItem,
		"core.ReplicationController":    defaultReplicationController,

		"apps.DeploymentStrategy":                    defaultUpdateStrategy,
		"apps.DaemonSetUpdateStrategy":               defaultUpdateStrategy,
		"apps.StatefulSetUpdateStrategy":             defaultStatefulSetUpdateStrategy,
		"apps/v1beta1.StatefulSetUpdateStrategy":     defaultPartition,
		"apps.StatefulSetSpec":                       defaultClaimTemplates,
		"apps/v1beta1.Deployment":                    defaultLabelsAndSelector,
		"apps/v1beta1.StatefulSet":                   defaultLabelsAndSelector,
		"extensions/v1beta1.Deployment":              defaultLabelsAndSelector,
		"extensions/v1beta1.DaemonSet":               defaultLabelsAndSelector,
		"extensions/v1beta1.ReplicaSet":              defaultLabelsAndSelector,
		"extensions/v1beta1.DeploymentStrategy":      defaultUpdateStrategy,
		"extensions/v1beta1.DaemonSetUpdateStrategy": defaultOldDaemonSetStrategy,

		"batch.Job":                                          defaultJob,
		"networking.NetworkPolicySpec":                       defaultPolicyTypes,
		"extensions.NetworkPolicySpec":                       defaultPolicyTypes,
		"autoscaling.HorizontalPodAutoscalerBehavior":        defaultScalingRules,
		"rbac.Subject":                                       defaultSubject,
		"rbac/v1alpha1.Subject":                              defaultAlphaSubject,
		"resource.ExactDeviceRequest":                        defaultDeviceRequest,
		"resource.DeviceSubRequest":                          defaultDeviceRequest,
		"resource/v1beta1.DeviceRequest":                     defaultBetaDeviceRequest,
		"flowcontrol/v1beta3.PriorityLevelConfiguration":     defaultOldPriorityLevel,
		"apiextensions.CustomResourceDefinitionSpec":         defaultCustomResourceDefinition,
		"apiextensions/v1beta1.CustomResourceDefinitionSpec": defaultBetaCustomResourceDefinition,
	}
})

// ensureChild returns the map in a field of m. If the field is absent, it sets an empty map for a rule to fill.
func ensureChild(m map[string]any, name string) map[string]any {
	SetDefault(m, name, map[string]any{})
	return object.Child(m, name)
}

// CopyDefault sets a field that is absent to the value of another field, if that is there.
func CopyDefault(to map[string]any, name string, from map[string]any, source string) {
	if value, ok := from[source]; ok {
		SetDefault(to, name, value)
	}
}
