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

	"github.com/helmdrift/helmdrift/internal/secret"
)

const (
	hintPlugin    = "helmdrift runs no downloader plugins: fetch it yourself (helm pull) and give the path"
	hintLogin     = "give --username and --password; those of a known repository belong to helm repo add"
	hintRegistry  = "helm registry login %s, or give --username and --password"
	hintElsewhere = "the credentials are not sent to %s, because the repository is on another host: --pass-credentials sends them there too"
	hintDowngrade = "the credentials are not sent to %s without TLS, because the repository has TLS"
	hintTrust     = "--ca-file names the certificate authority to trust; --insecure-skip-tls-verify trusts anybody"
	hintClient    = "the server wants a client certificate: --cert-file and --key-file"
	hintPlain     = "it seems to speak no TLS: --plain-http"
	hintPlainURL  = "it seems to speak no TLS: write the URL with http://"
	hintReach     = "check the address, the network and the proxy"
	hintLater     = "try again later"
	hintURL       = "check the address"
)

// problem is something wrong with a chart reference, in our words.
type problem struct {
	what string
	// err is a cause in the words of others; it is cleaned before it is shown.
	err  error
	hint string
}

// Error is what is wrong.
func (p problem) Error() string { return p.what }

// Unwrap gives the cause.
func (p problem) Unwrap() error { return p.err }

// because is what went wrong on the way to something else, unless it is a problem of its own.
func because(err error, what, hint string) error {
	if own := (problem{}); errors.As(err, &own) {
		return err
	}
	return problem{what, err, hint}
}

// failed is an error of getting a file.
type failed struct {
	from source
	err  error
}

// Error is the cause as it is.
func (f failed) Error() string { return f.err.Error() }

// Unwrap gives the cause.
func (f failed) Unwrap() error { return f.err }

// failure is an error as callers see it. It does not unwrap, since its causes quote URLs with all that is in them.
type failure struct{ text, hint string }

// Error is one line without credentials.
func (f failure) Error() string { return f.text }

// Hint says what to try; it may be empty.
func (f failure) Hint() string { return f.hint }

// stopped is an error after ctx ended. It is both the error of the context and the cause that was given to it.
type stopped struct {
	subject    string
	cause, err error
}

// Error gives the cause.
func (s stopped) Error() string { return s.subject + ": " + s.cause.Error() }

// Unwrap gives the cause, then the error of the context.
func (s stopped) Unwrap() []error { return []error{s.cause, s.err} }

// fault puts an error into one line: what was being done, what is wrong, and apart from both what to try.
func (f fetcher) fault(subject string, err error) error {
	if f.ctx.Err() != nil {
		return stopped{subject, context.Cause(f.ctx), f.ctx.Err()}
	}
	var from source
	if inner := (failed{}); errors.As(err, &inner) {
		from = inner.from
	}
	var known secret.Known
	known.Add(f.Username, f.Password, from.access.username, from.access.password)
	text := subject
	cause, hint := err, ""
	if own := (problem{}); errors.As(err, &own) {
		text += ": " + own.what
		cause, hint = own.err, own.hint
	}
	if cause != nil {
		what, try := explain(from, cause)
		text += ": " + scrub(what, &known)
		if hint == "" {
			hint = scrub(try, &known)
		}
	}
	return failure{text, hint}
}

// explain sorts the failures of getting a file by what a user can do about them.
func explain(from source, err error) (what, hint string) {
	var dns *net.DNSError
	var network net.Error
	var lost *net.OpError
	host := hostOf(from, err)
	switch status := statusOf(err); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("%s does not let us in (%d %s)", host, status, http.StatusText(status)), from.hintLogin(host)
	case status == http.StatusNotFound:
		return notFound(from, err), hintURL
	case status != 0:
		return fmt.Sprintf("%s cannot serve it (%d %s)", host, status, http.StatusText(status)), hintLater
	case errors.Is(err, content.ErrMismatchedDigest):
		return "what " + host + " sends does not fit its digest", hintLater
	case errors.Is(err, http.ErrSchemeMismatch):
		if from.client != nil {
			return host + " answers without TLS", hintPlain
		}
		return host + " answers without TLS", hintPlainURL
	case isCertificateError(err):
		return "no trust in " + host + ": " + innermost(err), hintTrust
	case errors.As(err, &lost) && lost.Op == "remote error":
		return host + " refuses the connection: " + innermost(err), hintClient
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host: " + dns.Name, hintReach
	case errors.As(err, &network) && network.Timeout():
		return host + " does not answer in time", hintReach
	case errors.As(err, &lost):
		return "cannot reach " + host + ": " + innermost(err), hintReach
	}
	return innermost(err), ""
}

// statusOf is the status of the HTTP answer that is the error; 0 where there is none.
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

// hostOf is the server that the error is about, after redirects.
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

func notFound(from source, err error) string {
	var plain statusError
	if errors.As(err, &plain) {
		return "not found at " + shown(plain.url.String()) + " (404)"
	}
	if from.url == nil {
		return "not found"
	}
	return "not found at " + shown(from.url.String())
}

func (s source) hintLogin(host string) string {
	if s.url == nil || s.url.Scheme == registry.OCIScheme {
		return fmt.Sprintf(hintRegistry, host)
	}
	withheld := s.access.withheld(s.url) || s.fetcher.Password != "" && s.access.password == ""
	switch {
	case withheld && (s.access.everywhere || s.fetcher.PassCredentials):
		return fmt.Sprintf(hintDowngrade, s.url.Host)
	case withheld:
		return fmt.Sprintf(hintElsewhere, s.url.Host)
	}
	return hintLogin
}

func isCertificateError(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host)
}

// innermost is an error without the method and URL that net/http puts before it.
func innermost(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	return err.Error()
}

// urls matches URLs in the texts of others.
var urls = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)

// scrub takes out of a text what must not be shown, and line breaks.
func scrub(text string, known *secret.Known) string {
	const most = 300
	text = known.Scrub(urls.ReplaceAllStringFunc(text, shown))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// userinfo matches what stands before a host.
var userinfo = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*://)?[^/]*:.*@`)

// shown is a reference without the credentials that a URL may hold: user, password, and all of the query, where tokens are.
func shown(ref string) string {
	u, err := url.Parse(ref)
	if err != nil || u.Host == "" {
		return userinfo.ReplaceAllString(ref, "$1")
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
