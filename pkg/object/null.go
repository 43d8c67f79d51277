package object

// Null is the value of a finding's side that holds a null. A side without the field has no value at all.
type Null struct{}

// MarshalJSON encodes the null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// NullKey is, in a normal form, the value of a map entry that a manifest of a native kind sets to null. The server stores the element's
// zero value at install, and Helm's next upgrade deletes the key: neither is drift.
type NullKey struct{ Zero any }

// CustomNull is, in the normal form of a manifest, a null that the schema of a custom resource lets the server store. An apply and a
// creation store it; a client-side patch that has it removes the field. What it stands for in the end depends on live (pkg/threeway,
// nulls.go). A null that the server returns is a plain nil.
type CustomNull struct{}
