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
	// PatchType is the content type of a patch, such as application/apply-patch+yaml; empty for other methods.
	PatchType string
	// Force lets a server-side apply take over what other managers own.
	Force bool
	// Strict lets the server reject a replacement with unknown fields; it rejects an apply with such fields in any case.
	Strict bool
	// Body is JSON: a patch, or the whole object.
	Body []byte
}

// Answer is the API server's answer to a dry run of a Request (dryRun=All). Exactly one of its fields is set.
type Answer struct {
	// Object is what the server would have stored.
	Object map[string]any
	// Rejected is why the server would not store it: the real upgrade fails with the same message.
	Rejected string
	// Refused is why the server made no dry run: a missing permission, or a webhook that is down or has side effects. It proves nothing.
	Refused string
}
