package threeway

import "github.com/helmdrift/helmdrift/pkg/object"

// Method is the kind of a write.
type Method string

// The methods by which Helm writes objects.
const (
	MethodCreate  Method = "create"
	MethodPatch   Method = "patch"
	MethodReplace Method = "replace"
)

// Request is the write that Helm would send for one object. Its body is in clear.
type Request struct {
	Ref    object.Ref
	Method Method
	// PatchType is the content type of a patch.
	PatchType string
	// Force lets a server-side apply take over what other managers own.
	Force bool
	// Strict lets the server refuse a replacement that has fields it does not know; it refuses an apply that has such in any case.
	Strict bool
	Body   []byte
}

// Answer is what the API server said to a Request that it was only to try (dryRun=All). Exactly one of its fields is set.
type Answer struct {
	// Object is what the server would have stored.
	Object map[string]any
	// Rejected is why the server would not store it: the real upgrade fails with the same words.
	Rejected string
	// Refused is why the server could not be asked: no permission, a webhook that is down or knows no dry run. It proves nothing.
	Refused string
}
