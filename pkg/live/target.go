package live

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// resource is a kind as discovery describes it: the path to ask at, the scope, the verbs that reading needs, and whether it has a status
// subresource.
type resource struct {
	schema.GroupVersionResource
	namespaced, get, list, status bool
}

// target is one wanted object together with its resource.
type target struct {
	ref object.Ref
	resource
}

// invalidReason returns why no request can be sent for the target, or "". A name with a slash would change the URL,
// and a missing namespace would name another resource; the server would answer both with "not found".
func (t target) invalidReason() string {
	switch {
	case t.ref.Name == "" || len(rest.IsValidPathSegmentName(t.ref.Name)) > 0:
		return "its name is not valid"
	case t.namespaced && (t.ref.Namespace == "" || len(rest.IsValidPathSegmentName(t.ref.Namespace)) > 0):
		return "its namespace is not valid"
	case !t.get:
		return "the server does not support get for this kind"
	}
	return ""
}

// isListed reports whether the kind is ever listed. A release has few definitions, but a page of them holds megabytes of definitions of
// other releases.
func (t target) isListed() bool { return t.list && t.Resource != "customresourcedefinitions" }

// matches reports whether an answer is the object that was asked for. A proxy or an aggregated API server may answer
// with a list or another object, and all of that would look like drift.
func (t target) matches(object *unstructured.Unstructured) bool {
	return object.GetName() == t.ref.Name && object.GetNamespace() == t.namespace() &&
		object.GetKind() == t.ref.Kind && object.GetAPIVersion() == t.ref.APIVersion()
}

// namespace returns the namespace of the object, or "" for a cluster-scoped one, whatever the manifest says.
func (t target) namespace() string {
	if t.namespaced {
		return t.ref.Namespace
	}
	return ""
}

// String names the object as the API does: configmaps "web" in namespace "prod".
func (t target) String() string {
	s := fmt.Sprintf("%s %q", t.plural(), t.ref.Name)
	if namespace := t.shownNamespace(); namespace != "" {
		s += fmt.Sprintf(" in namespace %q", namespace)
	}
	return s
}

// shownNamespace returns the namespace in messages. If discovery failed, the scope is unknown and it is the namespace of the manifest.
func (t target) shownNamespace() string {
	if t.namespaced || t.Resource == "" {
		return t.ref.Namespace
	}
	return ""
}

// plural returns the resource with its group, or the kind with its group if discovery does not know the resource.
func (t target) plural() string {
	if t.Resource != "" {
		return t.GroupResource().String()
	}
	return t.ref.GroupKind().String()
}

func (t target) isSecret() bool { return secret.Kind(t.ref.Group, t.ref.Kind) }

// failure returns the error of one object: a sentence with the verb, the resource, the object and a text. The subject of the error has the
// reason instead of the text.
func (t target) failure(code, verb, text, reason string) *report.ObjectError {
	return &report.ObjectError{
		Code: code, Message: "cannot " + verb + " " + t.String() + ": " + text,
		Subject: &report.Subject{Verb: verb, Resource: t.plural(), Namespace: t.shownNamespace(), Name: t.ref.Name, Reason: reason},
	}
}

// objectError returns the error of a request for one object. The server's message is added, except for Secrets: an API error may quote the
// object it is about.
func (t target) objectError(verb string, err error) *report.ObjectError {
	code, text := classify(err)
	reason := text
	if !t.isSecret() {
		reason = ErrorReason(err)
		if detail := detailOf(err); detail != "" {
			text += ": " + detail
		}
	}
	return t.failure(code, verb, text, reason)
}

// otherObjectError returns the error of an object if the server answered with another one.
func (t target) otherObjectError(other *unstructured.Unstructured) *report.ObjectError {
	name := other.GetName()
	if other.GetNamespace() != "" {
		name = other.GetNamespace() + "/" + name
	}
	kind := other.GetAPIVersion() + " " + other.GetKind()
	what := oneLine(strings.TrimSpace(kind + " " + name))
	return t.failure(cluster.CodeOtherObject, "get",
		"the server answered with "+what+", which is another object; check whether a proxy stands in front of the API server",
		oneLine("the server answered with another object, of kind "+kind))
}

// panicError returns the error of an object whose reading panicked. The value of the panic is left out for Secrets,
// because it may quote their content.
func (t target) panicError(value any) *report.ObjectError {
	reason := "internal error"
	if !t.isSecret() {
		reason += ": " + oneLine(fmt.Sprint(value))
	}
	return t.failure(cluster.CodeInternal, "read", reason, reason)
}
