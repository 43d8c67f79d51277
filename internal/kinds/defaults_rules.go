package kinds

import (
	"sync"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// siblingRules returns the defaults that copy or depend on a sibling or on the kind, by Go type; the name of the type is without the
// version if all versions of the group agree. The comment of each rule begins with the function of k8s.io/kubernetes v1.36.3
// pkg/apis/GROUP/VERSION/defaults.go that it follows, with the feature gates of that version. A rule sees the normal form of one value of
// its type before the table does and before anything below is filled, which is the order of Kubernetes too.
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

// ensureChild returns the map in a field of m, which it sets if it is absent: a rule is about to fill it.
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
