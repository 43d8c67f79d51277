package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// The codes of errors and warnings that come from reading the cluster.
const (
	CodeForbidden    = "forbidden"    // the role does not allow it
	CodeUnauthorized = "unauthorized" // the credentials are not, or no longer, accepted
	CodeThrottled    = "throttled"    // 429, also after repetitions
	CodeTimeout      = "timeout"      // no answer in time
	CodeCanceled     = "canceled"     // the user stopped the run
	CodeServerError  = "server-error" // the server failed, also after repetitions
	CodeConnection   = "connection"   // the server could not be reached, or broke off
	CodeDiscovery    = "discovery"    // the object's API group could not be discovered
	CodeInvalid      = "invalid"      // the object cannot be asked for
	CodeRefused      = "refused"      // the server does not accept the request
	CodeUnreadable   = "unreadable"   // the answer could not be decoded
	CodeOtherObject  = "other-object" // the answer is not the object that was asked for
	CodeInternal     = "internal"     // a fault of this program
)

// maxDetail bounds, in characters, what is quoted of a message that others wrote.
const maxDetail = 300

// String names the object as the API does: configmaps "web" in namespace "prod".
func (t target) String() string {
	s := fmt.Sprintf("%s %q", t.plural(), t.ref.Name)
	// Where discovery failed the scope is not known; then the manifest's word is the best there is.
	if t.ref.Namespace != "" && (t.namespaced || t.Resource == "") {
		s += fmt.Sprintf(" in namespace %q", t.ref.Namespace)
	}
	return s
}

// plural is the resource with its group; the kind, where discovery does not know the resource.
func (t target) plural() string {
	if t.Resource != "" {
		return t.GroupResource().String()
	}
	if t.ref.Group != "" {
		return t.ref.Kind + "." + t.ref.Group
	}
	return t.ref.Kind
}

func (t target) isSecret() bool { return secret.Kind(t.ref.Group, t.ref.Kind) }

// fail makes the error of one object: a sentence that names the verb, the resource and the object. What the server wrote
// is added, except for Secrets: an API error may quote the object it is about.
func (t target) fail(verb string, err error) *report.ObjectError {
	code, text := classify(err)
	message := "cannot " + verb + " " + t.String() + ": " + text
	if detail := detailOf(err); detail != "" && !t.isSecret() {
		message += ": " + detail
	}
	return &report.ObjectError{Code: code, Message: message}
}

// answeredWith makes the error of an object in whose place something else came.
func (t target) answeredWith(other *unstructured.Unstructured) *report.ObjectError {
	name := other.GetName()
	if other.GetNamespace() != "" {
		name = other.GetNamespace() + "/" + name
	}
	what := oneLine(strings.TrimSpace(other.GetAPIVersion() + " " + other.GetKind() + " " + name))
	return &report.ObjectError{Code: CodeOtherObject, Message: "cannot get " + t.String() + ": the server answered with " + what +
		", which is not what was asked for; is there a proxy before the API server?"}
}

// panicked makes the error of an object whose reading panicked. The value stays out for Secrets: it may quote content.
func (t target) panicked(value any) *report.ObjectError {
	message := "cannot read " + t.String() + ": internal error"
	if !t.isSecret() {
		message += ": " + oneLine(fmt.Sprint(value))
	}
	return &report.ObjectError{Code: CodeInternal, Message: message}
}

// classify sorts an error and says it in a few words of our own.
func classify(err error) (code, text string) {
	var group *groupError
	status := statusCode(err)
	switch {
	case errors.As(err, &group):
		return CodeDiscovery, group.Error()
	case errors.Is(err, context.Canceled):
		return CodeCanceled, "stopped"
	case isTimeout(err):
		return CodeTimeout, "no answer in time"
	case apierrors.IsForbidden(err):
		return CodeForbidden, "forbidden"
	case apierrors.IsUnauthorized(err):
		return CodeUnauthorized, "the server does not accept the credentials"
	case apierrors.IsTooManyRequests(err):
		return CodeThrottled, "the server has too many requests"
	case status >= http.StatusInternalServerError:
		return CodeServerError, fmt.Sprintf("the server failed (%d)", status)
	case status == http.StatusNotFound:
		return CodeServerError, "the server does not know the resource although its discovery does"
	case status != 0:
		return CodeRefused, fmt.Sprintf("the server refused the request (%d)", status)
	case isNetwork(err):
		return CodeConnection, "no connection"
	}
	return CodeUnreadable, "the answer could not be read"
}

// detailOf is what the error says beyond its class.
func detailOf(err error) string {
	var group *groupError
	if errors.As(err, &group) || errors.Is(err, context.Canceled) {
		return ""
	}
	detail := causeText(err)
	// The API server begins with what was asked for, which our sentence has said.
	if _, reason, found := strings.Cut(detail, " is forbidden: "); found {
		return reason
	}
	return detail
}

func statusCode(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// isTimeout covers the run's deadline, the request's, and the server's own.
func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout() ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}

func isNetwork(err error) bool {
	var urlErr *url.Error
	var netErr net.Error
	return errors.As(err, &urlErr) || errors.As(err, &netErr) || isLost(err)
}

// isObjectNotFound tells a server that says "this object does not exist" from anything else that answers 404: a proxy, or
// an API server that no longer has the resource. client-go marks an answer that is no Status of the API
// (apierrors.NewGenericServerResponse).
func isObjectNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// oneLine makes one short line of a text that others wrote.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxDetail {
		return string(runes[:maxDetail]) + "…"
	}
	return s
}

// warning makes a message of something that could not be read and without which the comparison goes on.
func warning(subject, verb, noun string, err error, consequence string) report.Message {
	code, text := classify(err)
	if detail := detailOf(err); detail != "" {
		text += ": " + detail
	}
	return report.Message{Code: code, Object: subject, Message: "cannot " + verb + " " + noun + ": " + text + "; " + consequence}
}
