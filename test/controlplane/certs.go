package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs the certificates of one plane. It is not stored.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// keyPair is a certificate and its key in PEM.
type keyPair struct {
	cert, key []byte
}

// credentials are all keys and users of one plane. The front proxy has an authority of its
// own, because whoever has a certificate of that authority may impersonate anybody.
type credentials struct {
	ca, proxyCA                  keyPair
	server, proxy                keyPair
	accounts                     keyPair // signs service account tokens; only the key is used
	admin, controller, scheduler user
}

// newCredentials creates the authorities and every key that they sign.
func newCredentials() (credentials, error) {
	c := credentials{
		admin:      newUser("helmdrift-admin", "system:masters"),
		controller: newUser("system:kube-controller-manager", ""),
		scheduler:  newUser("system:kube-scheduler", ""),
	}
	ca, err := newAuthority("helmdrift-test", &c.ca)
	if err != nil {
		return c, err
	}
	proxyCA, err := newAuthority("helmdrift-test-front-proxy", &c.proxyCA)
	if err != nil {
		return c, err
	}
	for _, leaf := range []struct {
		into    *keyPair
		by      authority
		subject pkix.Name
		hosts   []string
	}{
		{&c.server, ca, pkix.Name{CommonName: "kube-apiserver"}, []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "127.0.0.1", "::1", firstServiceIP}},
		{&c.proxy, proxyCA, pkix.Name{CommonName: frontProxy}, nil},
		{&c.accounts, ca, pkix.Name{CommonName: "service-accounts"}, nil},
	} {
		if *leaf.into, err = leaf.by.issue(leaf.subject, leaf.hosts); err != nil {
			return c, err
		}
	}
	return c, nil
}

// newAuthority creates an authority with a self-signed certificate.
func newAuthority(name string, into *keyPair) (authority, error) {
	template := newTemplate(pkix.Name{CommonName: name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	self := authority{cert: template}
	pair, key, err := self.sign(template)
	if err != nil {
		return authority{}, err
	}
	*into = pair
	return authority{cert: template, key: key}, nil
}

// issue creates a key and its certificate: for a server if there are hosts, and for a client otherwise.
func (a authority) issue(subject pkix.Name, hosts []string) (keyPair, error) {
	template := newTemplate(subject)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(hosts) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	pair, _, err := a.sign(template)
	return pair, err
}

// newTemplate returns a certificate that is valid for 30 days.
func newTemplate(subject pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		// A number that is unique in this process is enough, because nobody revokes these certificates.
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(30 * 24 * time.Hour),
	}
}

// sign creates a key for template and signs the certificate. An authority without a key signs itself.
func (a authority) sign(template *x509.Certificate) (keyPair, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, nil, fmt.Errorf("generate key: %w", err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, signer)
	if err != nil {
		return keyPair{}, nil, fmt.Errorf("sign certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return keyPair{}, nil, fmt.Errorf("encode key: %w", err)
	}
	return keyPair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}, key, nil
}

// write stores the files that the servers read, readable only by the owner of the plane.
func (c credentials) write(dir string) error {
	for name, pair := range map[string]keyPair{
		"ca": c.ca, "proxy-ca": c.proxyCA, "server": c.server, "proxy": c.proxy, "accounts": c.accounts,
	} {
		for suffix, text := range map[string][]byte{".crt": pair.cert, ".key": pair.key} {
			if err := os.WriteFile(filepath.Join(dir, name+suffix), text, 0o600); err != nil {
				return fmt.Errorf("write certificates: %w", err)
			}
		}
	}
	return writeUsers(filepath.Join(dir, usersFile), c.admin, c.controller, c.scheduler)
}
