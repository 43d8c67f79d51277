package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"helm.sh/helm/v3/pkg/registry"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
)

// These hints say what users can try against each problem. The %s stands for a host.
const (
	hintPull      = "fetch the chart with helm pull, and give its path"
	hintLogin     = "give --username and --password; for a known repository, give them to helm repo add"
	hintRegistry  = "helm registry login %s, or give --username and --password"
	hintElsewhere = "the credentials are not sent to %s, because the repository is on another host: --pass-credentials sends them there too"
	hintDowngrade = "the credentials are not sent to %s without TLS, because the repository has TLS"
	hintTrust     = "--ca-file names the certificate authority to trust; --insecure-skip-tls-verify skips the check"
	hintClient    = "the server requires a client certificate: --cert-file and --key-file"
	hintPlain     = "if the registry has no TLS, use --plain-http"
	hintPlainURL  = "if the server has no TLS, write the URL with http://"
	hintReach     = "check the address, the network and the proxy"
	hintLater     = "try again later"
	hintURL       = "check the address"
)

// problem is an error in our own words.
type problem struct {
	message string
	// err is a cause in the words of other code. It is scrubbed before it is shown.
	err  error
	hint string
}

// Error returns the message without the cause.
func (p problem) Error() string { return p.message }

// Unwrap returns the cause.
func (p problem) Unwrap() error { return p.err }

// wrapProblem returns the problem with err as its cause, unless err is a problem already.
func wrapProblem(err error, what, hint string) error {
	if own := (problem{}); errors.As(err, &own) {
		return err
	}
	return problem{what, err, hint}
}

// fetchError is the error of fetching a file from a source.
type fetchError struct {
	from source
	error
}

// Unwrap returns the cause.
func (f fetchError) Unwrap() error { return f.error }

// stoppedError is the error after ctx ended. It unwraps to both the error of the context and the cause given to it.
type stoppedError struct {
	subject    string
	cause, err error
}

// Error returns what was being done, and the cause.
func (s stoppedError) Error() string { return s.subject + ": " + s.cause.Error() }

// Unwrap returns the cause and the error of the context.
func (s stoppedError) Unwrap() []error { return []error{s.cause, s.err} }

// asError turns an error into one line that says what was being done and what is wrong, with a hint that says what to try. The line does
// not unwrap to err, whose causes quote URLs with their credentials.
func (f fetcher) asError(subject string, err error) error {
	if f.ctx.Err() != nil {
		return stoppedError{subject, context.Cause(f.ctx), f.ctx.Err()}
	}
	var from source
	if inner := (fetchError{}); errors.As(err, &inner) {
		from = inner.from
	}
	var known secret.Known
	known.Add(f.Username, f.Password, from.access.username, from.access.password)
	text := subject
	cause, advice := err, ""
	if own := (problem{}); errors.As(err, &own) {
		text += ": " + own.message
		cause, advice = own.err, own.hint
	}
	if cause != nil {
		what, try := describe(from, cause)
		text += ": " + scrub(what, &known)
		if advice == "" {
			advice = scrub(try, &known)
		}
	}
	return hint.New(errors.New(text), advice)
}

// describe classifies an error of fetching a file by what the user can do about it.
func describe(from source, err error) (what, advice string) {
	var dns *net.DNSError
	var network net.Error
	var lost *net.OpError
	host := hostOf(from, err)
	switch status := statusOf(err); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("%s refuses access (%d %s)", host, status, http.StatusText(status)), from.hintLogin(host)
	case status == http.StatusNotFound:
		return notFound(from, err), hintURL
	case status != 0:
		return fmt.Sprintf("%s cannot serve the file (%d %s)", host, status, http.StatusText(status)), hintLater
	case errors.Is(err, content.ErrMismatchedDigest):
		return "the file from " + host + " does not match its digest", hintLater
	case errors.Is(err, http.ErrSchemeMismatch):
		if from.client != nil {
			return host + " answers without TLS", hintPlain
		}
		return host + " answers without TLS", hintPlainURL
	case isCertificateError(err):
		return "cannot trust " + host + ": " + innermost(err), hintTrust
	case errors.As(err, &lost) && lost.Op == "remote error":
		return host + " refuses the connection: " + innermost(err), hintClient
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host: " + dns.Name, hintReach
	case errors.As(err, &network) && network.Timeout():
		return host + " does not answer in time", hintReach
	case errors.As(err, &lost):
		return "cannot reach " + host + ": " + innermost(err), hintReach
	}
	return innermost(err), hint.Of(err)
}

// statusOf returns the HTTP status of a refusal, or 0 if err is not one.
func statusOf(err error) int {
	var plain statusError
	var response *errcode.ErrorResponse
	switch {
	case errors.As(err, &plain):
		return plain.status
	case errors.As(err, &response):
		return response.StatusCode
	case errors.Is(err, errdef.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return http.StatusUnauthorized
	}
	return 0
}

// hostOf returns the server that the error comes from, after redirects.
func hostOf(from source, err error) string {
	var plain statusError
	if errors.As(err, &plain) {
		return plain.url.Host
	}
	if from.url == nil {
		return "the server"
	}
	return from.url.Host
}

// notFound names the missing file, after redirects.
func notFound(from source, err error) string {
	var plain statusError
	if errors.As(err, &plain) {
		return "not found at " + WithoutLogin(plain.url.String()) + " (404)"
	}
	if from.url == nil {
		return "not found"
	}
	return "not found at " + WithoutLogin(from.url.String())
}

// hintLogin says how to log in, or why the credentials were not sent.
func (s source) hintLogin(host string) string {
	if s.url == nil || s.url.Scheme == registry.OCIScheme {
		return fmt.Sprintf(hintRegistry, host)
	}
	withheld := s.access.withholds(s.url) || s.fetcher.Password != "" && s.access.password == ""
	switch {
	case withheld && (s.access.passAll || s.fetcher.PassCredentials):
		return fmt.Sprintf(hintDowngrade, s.url.Host)
	case withheld:
		return fmt.Sprintf(hintElsewhere, s.url.Host)
	}
	return hintLogin
}

// isCertificateError reports whether the server's certificate was not accepted.
func isCertificateError(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host)
}

// innermost returns the error without the method and URL that net/http puts in front.
func innermost(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	return err.Error()
}

// urls matches URLs in texts that this package did not write.
var urls = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)

// scrub removes secrets, credentials in URLs and line breaks from a text, and cuts it.
func scrub(text string, known *secret.Known) string {
	const most = 300
	text = known.Scrub(urls.ReplaceAllStringFunc(text, WithoutLogin))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// userinfo matches the user and the password of a reference without a scheme, and scheme the beginning of a URL.
var (
	userinfo = regexp.MustCompile(`(?s)^[^/]*:.*@`)
	scheme   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)
)

// WithoutLogin returns a reference without the credentials that a URL may contain: the user, the password, and the whole query and
// fragment, which may contain tokens. It returns only the scheme of a URL that is not valid, because nobody knows where its password ends.
func WithoutLogin(ref string) string {
	u, err := url.Parse(ref)
	switch {
	case err == nil && u.Host != "":
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return u.String()
	case !strings.Contains(ref, "://"):
		return userinfo.ReplaceAllString(ref, "")
	case err != nil || strings.Contains(ref, "@"):
		return scheme.FindString(ref) + "…"
	}
	return ref[:strings.IndexAny(ref+"?", "?#")]
}
