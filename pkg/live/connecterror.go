package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ConnectError says that no comparison is possible because the API server could not be asked at all.
type ConnectError struct {
	// Server is the address that was tried.
	Server string
	// Err is the cause.
	Err error

	what, hint string
}

// Error names the server and the cause.
func (e *ConnectError) Error() string {
	return e.what + " the API server " + e.Server + ": " + causeText(e.Err)
}

// Unwrap gives the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// Hint says what to try. It is empty where there is nothing to advise, as after an interrupt.
func (e *ConnectError) Hint() string { return e.hint }

// errNotKubernetes is for a server that answers politely and serves nothing. Without it, every kind of the release
// would be reported as unknown to the cluster.
var errNotKubernetes = errors.New("it answers, but it serves no Kubernetes API")

const (
	hintReach  = "check that the cluster runs and that the context is right: kubectl cluster-info, --kube-context, --kubeconfig"
	hintTLS    = "check the certificate authority of the kubeconfig: --kube-ca-file, --kube-tls-server-name"
	hintLogin  = "log in again, or check the credentials of the kubeconfig: kubectl auth whoami"
	hintRole   = "ask for the cluster role system:discovery, which every logged-in user normally has"
	hintPlugin = "run the credential plugin of the kubeconfig by hand: is it installed, does it print credentials?"
	hintServer = "check the server's address in the kubeconfig: --kubeconfig, --kube-apiserver"
	hintLater  = "the server is there but does not serve now: try again later, or look at its health with kubectl get --raw /readyz"
	hintConfig = "check the certificates, keys and addresses that the kubeconfig names"
)

// connectError sorts the ways in which a connection fails by what a user can do about them.
func connectError(server string, err error) *ConnectError {
	e := &ConnectError{Server: server, Err: err, what: "cannot use", hint: hintConfig}
	var netErr net.Error
	var syntax *json.SyntaxError
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		// The system's error number in it would pass for one of the network.
	case errors.Is(err, context.Canceled):
		e.what, e.hint = "stopped while asking", ""
	case strings.Contains(err.Error(), "getting credentials"):
		// client-go has no type for it: plugin/pkg/client/auth/exec, roundTripper.RoundTrip.
		e.what, e.hint = "no credentials for", hintPlugin
	case apierrors.IsUnauthorized(err):
		e.what, e.hint = "credentials refused by", hintLogin
	case apierrors.IsForbidden(err):
		e.what, e.hint = "discovery forbidden by", hintRole
	case isCertificateError(err):
		e.what, e.hint = "no trust in", hintTLS
	case errors.Is(err, errNotKubernetes), apierrors.IsNotFound(err), errors.As(err, &syntax):
		e.hint = hintServer
	case statusCode(err) >= 429:
		e.what, e.hint = "no discovery from", hintLater
	case errors.As(err, &netErr), isLost(err), isTimeout(err):
		e.what, e.hint = "cannot reach", hintReach
	}
	return e
}

func isCertificateError(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var record tls.RecordHeaderError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &record)
}

// causeText is the error without the method and URL that net/http puts before it: the reader knows the server by then.
func causeText(err error) string {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	return oneLine(err.Error())
}
