package live

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestErrorReason: the reasons of errors with one cause are equal, whatever objects and addresses the errors name.
func TestErrorReason(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	forbidden := func(name, namespace string) error {
		return apierrors.NewForbidden(secrets, name, fmt.Errorf("User \"ci\" cannot get resource in the namespace %q", namespace))
	}
	proxy := func(name string) error {
		return apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", secrets, name, "upstream is down", 0, true)
	}
	dial := func(address string, cause error) error {
		return &url.Error{Op: "Get", URL: "https://" + address, Err: &net.OpError{Op: "dial", Net: "tcp", Err: cause}}
	}
	for _, c := range []struct {
		name, want string
		errs       []error
	}{
		{"forbidden", "forbidden", []error{forbidden("a", "x"), forbidden("b", "y")}},
		{"wrapped", "forbidden", []error{fmt.Errorf("get Secret x/a: %w", forbidden("a", "x"))}},
		{"a proxy", "the server failed (502): upstream is down", []error{proxy("a"), proxy("b")}},
		{"an internal error", "the server failed (500): etcd is down", []error{apierrors.NewInternalError(errors.New("etcd is down"))}},
		{"no connection", "no connection: dial: connection refused",
			[]error{dial("a:6443", errors.New("connection refused")), dial("b:6443", errors.New("connection refused"))}},
		{"no such host", "no connection: no such host", []error{dial("a", &net.DNSError{Err: "no such host", Name: "a", IsNotFound: true})}},
		{"discovery", "discovery of group ex.com failed: no", []error{&groupError{"ex.com", errors.New("no")}}},
		{"another", "the answer could not be read: unexpected end", []error{fmt.Errorf("decode a: %w", errors.New("unexpected end"))}},
	} {
		for _, err := range c.errs {
			if got := ErrorReason(err); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	}
}
