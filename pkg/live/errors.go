package live

import (
	"cmp"
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
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/helmdrift/helmdrift/internal/retry"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxDetail is the greatest number of characters that an error quotes from a message of the server
// or a webhook.
const maxDetail = 300

// classify returns the code of an error and a short description.
func classify(err error) (code, text string) {
	var group *groupError
	status := retry.Status(err)
	switch {
	case errors.As(err, &group):
		return cluster.CodeDiscovery, group.Error()
	case errors.Is(err, context.Canceled):
		return cluster.CodeCanceled, "stopped"
	case isTimeout(err):
		return cluster.CodeTimeout, "no answer in time"
	case apierrors.IsForbidden(err):
		return cluster.CodeForbidden, "forbidden"
	case apierrors.IsUnauthorized(err):
		return cluster.CodeUnauthorized, "the server does not accept the credentials"
	case apierrors.IsTooManyRequests(err):
		return cluster.CodeThrottled, "the server has too many requests"
	case status >= http.StatusInternalServerError:
		return cluster.CodeServerError, fmt.Sprintf("the server failed (%d)", status)
	case status == http.StatusNotFound:
		return cluster.CodeServerError, "the server does not know the resource although its discovery does"
	case status != 0:
		return cluster.CodeRefused, fmt.Sprintf("the server refused the request (%d)", status)
	case is[net.Error](err), isConnectionLost(err): // a *url.Error is a net.Error
		return cluster.CodeConnection, "no connection"
	}
	return cluster.CodeUnreadable, "the answer could not be read"
}

// ErrorCode returns the code of an error that a request of any client of a Cluster returned.
func ErrorCode(err error) string {
	code, _ := classify(err)
	return code
}

// ErrorReason returns why a request of any client of a Cluster failed, for the Subject of an error. The reason names no object and no
// address, so it is the same for all that have one cause. Like the error, it may quote a value.
func ErrorReason(err error) string {
	_, text := classify(err)
	if cause := causeWithoutNames(err); cause != "" {
		text += ": " + oneLine(cause)
	}
	return text
}

// causeWithoutNames returns what an error says beyond its class, from the fields of its types: the texts of the errors name objects, URLs
// and ports.
func causeWithoutNames(err error) string {
	var status apierrors.APIStatus
	var name *net.DNSError
	var network *net.OpError
	switch {
	case is[*groupError](err), errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &status):
		if details := status.Status().Details; details != nil {
			causes := make([]string, len(details.Causes))
			for i, cause := range details.Causes {
				causes[i] = cause.Message
			}
			return strings.Join(causes, ", ")
		}
		return ""
	case errors.As(err, &name):
		return name.Err
	case errors.As(err, &network):
		return network.Op + ": " + network.Err.Error()
	}
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(err) {
		err = cause
	}
	return err.Error()
}

// detailOf returns what the error says beyond its class.
func detailOf(err error) string {
	if is[*groupError](err) || errors.Is(err, context.Canceled) {
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

// isTimeout reports whether the deadline of the run, of the request or of the server has passed.
func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout() ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}

// is reports whether an error is, or wraps, one of a type.
func is[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}

// isObjectNotFound reports whether the API server says that the object does not exist. A proxy, or an API server that
// no longer has the resource, also answers 404; client-go marks such an answer, which is no Status of the API
// (apierrors.NewGenericServerResponse).
func isObjectNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// oneLine returns a text of the server or a webhook as one line without control characters. A text of more than maxDetail characters is
// cut between two words, and "…" stands for the rest: a later step finds the secrets in the text, and it would not recognise the beginning
// of a secret.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	runes := []rune(s)
	if len(runes) <= maxDetail {
		return s
	}
	line := string(runes[:maxDetail])
	if runes[maxDetail] != ' ' {
		line = line[:max(strings.LastIndexByte(line, ' '), 0)]
	}
	return line + "…"
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

// causeText returns the error without the method and URL that net/http puts in front: the message names the server
// already.
func causeText(err error) string {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	return oneLine(err.Error())
}

// groupError is the discovery failure of a group. Nobody knows then whether the server serves its
// kinds.
type groupError struct {
	group string
	err   error
}

func (e *groupError) Error() string {
	return "discovery of group " + cmp.Or(e.group, "core") + " failed: " + oneLine(e.err.Error())
}

// connectionLostError is a broken connection. It does not wrap its cause, because client-go would recognise the cause and repeat the
// request.
type connectionLostError struct{ attempts int }

// Error avoids the words that utilnet.IsProbableEOF looks for.
func (e *connectionLostError) Error() string {
	if e.attempts > 1 {
		return fmt.Sprintf("the server closed the connection, %d times in a row", e.attempts)
	}
	return "the server closed the connection"
}

func isConnectionLost(err error) bool {
	return is[*connectionLostError](err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// ReadError returns the error of a read that is not about an object of the release. It names the resource and the class of the error, and
// adds what else the server says.
func ReadError(resource string, err error) error {
	code, text := classify(err)
	if detail := detailOf(err); detail != "" && code != cluster.CodeForbidden {
		text += ": " + detail
	}
	return errors.New(resource + ": " + text)
}

// RecoverError turns a panic into an error. It is called by defer.
func RecoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error: %s", oneLine(fmt.Sprint(p)))
	}
}
