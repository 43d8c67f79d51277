package signing

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return key
}

// writePEM writes blocks of a kind to a file and returns its name.
func writePEM(t *testing.T, dir, name, kind string, blocks ...[]byte) string {
	t.Helper()
	var text []byte
	for _, block := range blocks {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block})...)
	}
	file := filepath.Join(dir, name+".pem")
	must(t, os.WriteFile(file, text, 0o600))
	return file
}

func writePublicKey(t *testing.T, dir, name string, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	must(t, err)
	return writePEM(t, dir, name, "PUBLIC KEY", der)
}

func writePrivateKey(t *testing.T, dir, name string, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	return writePEM(t, dir, name+"-private", "PRIVATE KEY", der)
}

// timestampChain returns a certificate for an authority for timestamps, which is for nothing else (RFC 3161, 2.3), and its root.
func timestampChain(t *testing.T, key *ecdsa.PrivateKey) (leaf, root *x509.Certificate) {
	t.Helper()
	rootKey := newKey(t)
	create := func(template, parent *x509.Certificate, public *ecdsa.PrivateKey) *x509.Certificate {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, public.Public(), rootKey)
		must(t, err)
		certificate, err := x509.ParseCertificate(der)
		must(t, err)
		return certificate
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root of the test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	root = create(authority, authority, rootKey)
	usage, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	must(t, err)
	return create(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "timestamps of the test"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: usage}},
	}, root, key), root
}
