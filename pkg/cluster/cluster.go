package cluster

import (
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Live is the result of reading one Ref: an object, or the reason why there is none. The zero value means that it does not exist.
type Live struct {
	// Object is the live object, or nil if there is none.
	Object map[string]any
	// Absence says why Object is nil. With AbsentKind, Object may be set anyway: the requested version is not served,
	// and Object was read at another one.
	Absence Absence
	// PlainStatus is set if the server has no status subresource for the kind. The status is then a field like any other. This matters
	// for custom kinds whose definition could not be read.
	PlainStatus bool
	// Err is set if the object could not be read. That does not mean that it is absent.
	Err *report.ObjectError
}

// Absence says why there is no live object.
type Absence string

// These are the absences: the object, its namespace, or its kind at this version does not exist.
const (
	AbsentObject    Absence = "object"
	AbsentNamespace Absence = "namespace"
	AbsentKind      Absence = "kind"
)

// Method is the kind of a write.
type Method string

// Helm writes objects with these methods.
const (
	MethodCreate  Method = "create"
	MethodPatch   Method = "patch"
	MethodReplace Method = "replace"
)

// Request is the write that Helm would send for one object. Its body is in clear.
type Request struct {
	Ref    object.Ref
	Method Method
	// PatchType is the content type of a patch, such as application/apply-patch+yaml. It is empty for other methods.
	PatchType string
	// Force lets a server-side apply take over fields that other managers own.
	Force bool
	// Strict makes the server reject a replacement with unknown fields. It always rejects an apply with such fields.
	Strict bool
	// Body is JSON: a patch, or the whole object.
	Body []byte
}

// Answer is the API server's answer to a dry run of a Request (dryRun=All). Exactly one of its fields is set.
type Answer struct {
	// Object is what the server would have stored.
	Object map[string]any
	// Rejected says why the server would not store the object. The real upgrade fails with the same message.
	Rejected string
	// Refused says why the server made no dry run: a missing permission, or a webhook that is down or has side effects. It proves
	// nothing about the upgrade.
	Refused string
}

// These are the codes of errors and warnings about reading the cluster.
const (
	CodeForbidden    = "forbidden"    // the role does not allow it
	CodeUnauthorized = "unauthorized" // the credentials are not, or no longer, accepted
	CodeThrottled    = "throttled"    // 429, even after retries
	CodeTimeout      = "timeout"      // no answer in time
	CodeCanceled     = "canceled"     // the user stopped the run
	CodeServerError  = "server-error" // the server failed, even after retries
	CodeConnection   = "connection"   // the server could not be reached, or the connection broke
	CodeDiscovery    = "discovery"    // the object's API group could not be discovered
	CodeInvalid      = "invalid"      // the object cannot be asked for
	CodeRefused      = "refused"      // the server does not accept the request
	CodeUnreadable   = "unreadable"   // the answer could not be decoded
	CodeOtherObject  = "other-object" // the answer is not the object that was asked for
	CodeInternal     = "internal"     // a fault of this program
)
