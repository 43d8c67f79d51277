package object

// Null is the value of a finding's side that holds a null. A side that lacks the field has no value at all.
type Null struct{}

// MarshalJSON encodes the null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// NullKey is the value, in a normal form, of a map entry that a manifest of a native kind sets to null. The server stores the element's
// zero value at install, and Helm's next upgrade deletes the key: neither is drift.
type NullKey struct{ Zero any }

// CustomNull is a null, in the normal form of a manifest, that the schema of a custom resource lets the server store. An apply and a
// creation store it; a client-side patch with this null removes the field. So its meaning depends on live (internal/verdict, nulls.go).
// A null that the server returns is a plain nil.
type CustomNull struct{}
