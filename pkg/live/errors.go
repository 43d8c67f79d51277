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

// The codes of errors and warnings about reading the cluster.
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

// maxDetail is the number of characters up to which a message of someone else is quoted.
const maxDetail = 300

// String names the object as the API does: configmaps "web" in namespace "prod".
func (t target) String() string {
	s := fmt.Sprintf("%s %q", t.plural(), t.ref.Name)
	// If discovery failed, the scope is unknown and the namespace of the manifest is shown.
	if t.ref.Namespace != "" && (t.namespaced || t.Resource == "") {
		s += fmt.Sprintf(" in namespace %q", t.ref.Namespace)
	}
	return s
}

// plural returns the resource with its group, or the kind with its group if discovery does not know the resource.
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

// objectError returns the error of one object: a sentence with the verb, the resource and the object. The server's
// message is added, except for Secrets: an API error may quote the object it is about.
func (t target) objectError(verb string, err error) *report.ObjectError {
	code, text := classify(err)
	message := "cannot " + verb + " " + t.String() + ": " + text
	if detail := detailOf(err); detail != "" && !t.isSecret() {
		message += ": " + detail
	}
	return &report.ObjectError{Code: code, Message: message}
}

// otherObjectError returns the error of an object for which the server answered with something else.
func (t target) otherObjectError(other *unstructured.Unstructured) *report.ObjectError {
	name := other.GetName()
	if other.GetNamespace() != "" {
		name = other.GetNamespace() + "/" + name
	}
	what := oneLine(strings.TrimSpace(other.GetAPIVersion() + " " + other.GetKind() + " " + name))
	return &report.ObjectError{Code: CodeOtherObject, Message: "cannot get " + t.String() + ": the server answered with " + what +
		", which is another object; check whether a proxy stands in front of the API server"}
}

// panicError returns the error of an object whose reading panicked. The value of the panic is left out for Secrets,
// because it may quote their content.
func (t target) panicError(value any) *report.ObjectError {
	message := "cannot read " + t.String() + ": internal error"
	if !t.isSecret() {
		message += ": " + oneLine(fmt.Sprint(value))
	}
	return &report.ObjectError{Code: CodeInternal, Message: message}
}

// classify returns the code of an error and a short description.
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

// ErrorCode returns the code of an error that a request of any client of a Cluster returned.
func ErrorCode(err error) string {
	code, _ := classify(err)
	return code
}

// detailOf returns what the error says beyond its class.
func detailOf(err error) string {
	var group *groupError
	if errors.As(err, &group) || errors.Is(err, context.Canceled) {
		return ""
	}
	detail := causeText(err)
	// The API server begins with the object's name, which our sentence has already (apimachinery v0.37.1
	// pkg/api/errors/errors.go NewForbidden).
	if _, reason, found := strings.Cut(detail, " is forbidden: "); found {
		return reason
	}
	return detail
}

// statusCode returns the HTTP status of an API error, or 0 if err is none.
func statusCode(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// isTimeout reports whether the deadline of the run, of the request or of the server has passed.
func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout() ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}

func isNetwork(err error) bool {
	var urlErr *url.Error
	var netErr net.Error
	return errors.As(err, &urlErr) || errors.As(err, &netErr) || isConnectionLost(err)
}

// isObjectNotFound reports whether the API server says that the object does not exist. A proxy, or an API server that
// no longer has the resource, also answers 404; client-go marks such an answer, which is no Status of the API
// (apierrors.NewGenericServerResponse).
func isObjectNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// oneLine returns a text of someone else as one line of at most maxDetail characters. It ends in "…" if it was cut.
func oneLine(s string) string {
	line, cut := shortLine(s)
	if cut {
		return line + "…"
	}
	return line
}

// shortLine returns the text as one line without control characters, and whether it was cut. It is cut between two words: the secrets in it
// are found later, and nobody would recognise the beginning of one.
func shortLine(s string) (line string, cut bool) {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxDetail {
		line = string(runes[:maxDetail])
		if end := strings.LastIndexByte(line, ' '); end > 0 && runes[maxDetail] != ' ' {
			line = line[:end]
		}
		return line, true
	}
	return s, false
}

// warning returns the message about something that could not be read although the comparison goes on; consequence
// says what that means for the report.
func warning(subject, verb, noun string, err error, consequence string) report.Message {
	code, text := classify(err)
	if detail := detailOf(err); detail != "" {
		text += ": " + detail
	}
	return report.Message{Code: code, Object: subject, Message: "cannot " + verb + " " + noun + ": " + text + "; " + consequence}
}
