package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/helmdrift/helmdrift/internal/retry"
)

// ConnectError is returned if the API server cannot be used at all, so that no comparison is possible.
type ConnectError struct {
	// Server is the address of the API server.
	Server string
	// Err is the cause.
	Err error

	problem, hint string
}

// Error returns the problem, the server and the cause.
func (e *ConnectError) Error() string {
	return e.problem + " the API server " + e.Server + ": " + causeText(e.Err)
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// Hint returns what the user can try. It is empty if there is no advice, as after an interrupt.
func (e *ConnectError) Hint() string { return e.hint }

// These hints say what users can try against each problem.
const (
	hintReach  = "check that the cluster runs and that the context is right: kubectl cluster-info, --kube-context, --kubeconfig"
	hintTLS    = "check the certificate authority of the kubeconfig: --kube-ca-file, --kube-tls-server-name"
	hintLogin  = "log in again, or check the credentials of the kubeconfig: kubectl auth whoami"
	hintRole   = "ask for the cluster role system:discovery, which every authenticated user normally has"
	hintPlugin = "run the credential plugin of the kubeconfig by hand to see whether it is installed and prints credentials"
	hintServer = "check the server's address in the kubeconfig: --kubeconfig, --kube-apiserver"
	hintLater  = "the server answers but cannot serve requests now: try again later, or look at its health with kubectl get --raw /readyz"
	hintConfig = "check the certificates, keys and addresses that the kubeconfig names"
)

// connectError classifies a failed connection by what the user can do about it.
func connectError(server string, err error) *ConnectError {
	e := &ConnectError{Server: server, Err: err, problem: "cannot use", hint: hintConfig}
	switch {
	case is[*fs.PathError](err):
		// The check for network errors below would also match the system's error number in this
		// error.
	case errors.Is(err, context.Canceled):
		e.problem, e.hint = "interrupted while connecting to", ""
	case strings.Contains(err.Error(), "getting credentials"):
		// client-go v0.37.1 has no type for this error: plugin/pkg/client/auth/exec/exec.go,
		// roundTripper.RoundTrip.
		e.problem, e.hint = "no credentials for", hintPlugin
	case apierrors.IsUnauthorized(err):
		e.problem, e.hint = "credentials refused by", hintLogin
	case apierrors.IsForbidden(err):
		e.problem, e.hint = "discovery forbidden by", hintRole
	case isCertificateError(err):
		e.problem, e.hint = "cannot trust", hintTLS
	case errors.Is(err, errNotKubernetes), apierrors.IsNotFound(err), is[*json.SyntaxError](err):
		e.hint = hintServer
	case retry.Status(err) >= 429:
		e.problem, e.hint = "discovery failed on", hintLater
	case is[net.Error](err), isConnectionLost(err), isTimeout(err):
		e.problem, e.hint = "cannot reach", hintReach
	}
	return e
}

func isCertificateError(err error) bool {
	return is[*tls.CertificateVerificationError](err) || is[x509.UnknownAuthorityError](err) || is[x509.HostnameError](err) ||
		is[tls.RecordHeaderError](err)
}
