package object

// Autoscaler is what sets the replicas of an object. The zero value is none.
type Autoscaler struct {
	// Name is its kind and its name, as notes show them.
	Name string
	// ToZero reports whether it may set the replicas to 0. One that may not is disabled while they are 0, so somebody else set them.
	ToZero bool
	// Leaves is set if the operation takes it away from the object, so that nothing sets the replicas afterwards.
	Leaves bool
}
