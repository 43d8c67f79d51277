package object

import "strconv"

// Autoscaler sets the replicas of an object. The zero value means that there is none.
type Autoscaler struct {
	// Name is its kind and its name: HorizontalPodAutoscaler web. It is in the namespace of what it scales.
	Name string
	// ToZero reports whether replicas of 0 may be its work. If they are not, somebody else has set them to 0.
	ToZero bool
	// FromZero reports whether it sets the replicas also while they are 0. If it does not, a write of 0 disables it. If ToZero is set, only
	// Kubernetes 1.36 and later do so.
	FromZero bool
	// Paused is set if it sets nothing until somebody resumes it.
	Paused bool
	// Leaves is set if the operation removes it from the object, or leaves it paused, so that nothing sets the replicas afterwards.
	Leaves bool
}

// PausesScaling reports whether a ScaledObject of KEDA is paused and sets nothing, not even a number to pause at. Any value but a false one
// pauses it (KEDA v2 apis/keda/v1alpha1/scaledobject_types.go NeedToBePausedByAnnotation, getBoolAnnotation).
func PausesScaling(scaledObject map[string]any) bool {
	annotations := Child(Child(scaledObject, "metadata"), "annotations")
	text, found := annotations["autoscaling.keda.sh/paused"].(string)
	paused, err := strconv.ParseBool(text)
	return found && (paused || err != nil) && !Has(annotations, "autoscaling.keda.sh/paused-replicas")
}
