package object

// Null is the value of a finding's side that holds a null. A side without the field has no value at all.
type Null struct{}

// MarshalJSON writes the null.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// NullKey stands in a normal form for a map entry that a manifest of a native kind sets to null. The server stores the
// element's zero value at install, and Helm's next upgrade deletes the key: neither is drift.
type NullKey struct{ Zero any }

// CustomNull stands in the normal form of a manifest for a null that the schema of a custom resource lets the server store. An apply
// and a creation store it; a client-side patch that brings it takes the field away. What it means in the end depends on live
// (pkg/threeway, nulls.go). What the server returns has the null itself.
type CustomNull struct{}
