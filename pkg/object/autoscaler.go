package object

// Autoscaler sets the replicas of an object. The zero value means that there is none.
type Autoscaler struct {
	// Name is its kind and its name: HorizontalPodAutoscaler web. It is in the namespace of what it scales.
	Name string
	// ToZero reports whether it may set the replicas to 0. If it may not, it is disabled while they are 0, so somebody else set them to 0.
	ToZero bool
	// FromZero reports whether it sets the replicas also while they are 0. If it does not, a write of 0 disables it.
	FromZero bool
	// Leaves is set if the operation removes it from the object, so that nothing sets the replicas afterwards.
	Leaves bool
}
