package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// probe is a client of the API server with the administrator's certificate.
type probe struct {
	server string
	client *http.Client
}

func newProbe(server string, keys credentials) (probe, error) {
	client, err := tls.X509KeyPair(keys.admin.cert, keys.admin.key)
	if err != nil {
		return probe{}, fmt.Errorf("load certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(keys.ca.cert) {
		return probe{}, errors.New("load certificate: no authority")
	}
	return probe{server: server, client: &http.Client{
		Timeout: 5 * time.Second,
		// Without Proxy, a proxy of the environment gets no loopback requests.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{client}}},
	}}, nil
}

// get returns nil if the server answers 200.
func (p probe) get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.server+path, nil)
	if err != nil {
		return err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	// The connection is only used again if the answer was read to its end.
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, response.Status)
	}
	return nil
}
