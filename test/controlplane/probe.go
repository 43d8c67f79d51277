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

// probe is a client of the API server with the administrator's token.
type probe struct {
	server string
	token  string
	client *http.Client
}

func newProbe(server string, keys credentials) (probe, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(keys.ca.cert) {
		return probe{}, errors.New("load certificate: no authority")
	}
	return probe{server: server, token: keys.admin.token, client: &http.Client{
		Timeout: 5 * time.Second,
		// Without Proxy, a proxy of the environment gets no loopback requests.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}}, nil
}

// get returns nil if the server answers 200.
func (p probe) get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.server+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
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
