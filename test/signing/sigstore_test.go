package signing

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
	ct "github.com/google/certificate-transparency-go"
	"github.com/google/certificate-transparency-go/client"
	"github.com/google/certificate-transparency-go/jsonclient"
	"github.com/google/certificate-transparency-go/tls"
	ctx509 "github.com/google/certificate-transparency-go/x509"
	"github.com/sigstore/fulcio/pkg/ca/ephemeralca"
	"github.com/sigstore/fulcio/pkg/config"
	"github.com/sigstore/fulcio/pkg/generated/protobuf"
	"github.com/sigstore/fulcio/pkg/server"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
)

// start is before everything that the Sigstore signs.
var start = time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)

// startSigstore starts all services and returns the environment that makes cosign use them instead of the public ones.
func startSigstore(t *testing.T, cosign, rekor, issuer string) []string {
	t.Helper()
	dir := t.TempDir()
	logKey, timeKey, entryKey := newKey(t), newKey(t), newKey(t)
	certificates := serve(t, certificateLog(logKey))
	authority, err := ephemeralca.NewEphemeralCA()
	must(t, err)
	fulcio := serve(t, certificateAuthority(t, authority, certificates, issuer))
	root, _ := authority.GetSignerWithChain()
	timeLeaf, timeRoot := timestampChain(t, timeKey)
	timestamps := serve(t, timestampAuthority(timeLeaf, timeKey))
	entries := startRekor(t, rekor, entryKey)

	trusted, signing := filepath.Join(dir, "trusted_root.json"), filepath.Join(dir, "signing_config.json")
	run(t, dir, nil, cosign, "trusted-root", "create", "--out", trusted,
		"--fulcio", "url="+fulcio+",certificate-chain="+writePEM(t, dir, "fulcio", "CERTIFICATE", root[0].Raw),
		"--ctfe", "url="+certificates+",public-key="+writePublicKey(t, dir, "ctfe", logKey)+",start-time="+start,
		"--tsa", "url="+timestamps+",certificate-chain="+writePEM(t, dir, "tsa", "CERTIFICATE", timeLeaf.Raw, timeRoot.Raw),
		"--rekor", "url="+entries+",public-key="+writePublicKey(t, dir, "rekor", entryKey)+",start-time="+start+",origin="+rekorName)
	service := func(url string, version int) string {
		return fmt.Sprintf("url=%s,api-version=%d,start-time=%s,operator=test", url, version, start)
	}
	run(t, dir, nil, cosign, "signing-config", "create", "--out", signing,
		"--fulcio", service(fulcio, 1), "--oidc-provider", service(issuer, 1),
		"--rekor", service(entries, 2), "--rekor-config", "ANY", "--tsa", service(timestamps, 1), "--tsa-config", "ANY")
	return []string{"COSIGN_TRUSTED_ROOT=" + trusted, "COSIGN_SIGNING_CONFIG=" + signing, "TUF_ROOT=" + filepath.Join(dir, "no-tuf")}
}

// certificateAuthority answers requests for certificates with Fulcio's own code.
func certificateAuthority(t *testing.T, authority *ephemeralca.EphemeralCA, certificateLog, issuer string) http.Handler {
	t.Helper()
	settings, err := config.Read(fmt.Appendf(nil,
		"oidc-issuers: {%q: {issuer-url: %q, client-id: sigstore, type: github-workflow}}", issuer, issuer))
	must(t, err)
	allowed := []protocommon.PublicKeyDetails{protocommon.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256}
	algorithms, err := signature.NewAlgorithmRegistryConfig(allowed)
	must(t, err)
	submit, err := client.New(certificateLog, http.DefaultClient, jsonclient.Options{})
	must(t, err)
	fulcio := server.NewGRPCCAServer(submit, authority, algorithms, server.NewIssuerPool(settings))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v2/signingCert", func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		ctx := metadata.NewIncomingContext(config.With(r.Context(), settings), metadata.Pairs(server.MetadataOIDCTokenKey, token))
		body, _ := io.ReadAll(r.Body)
		var request protobuf.CreateSigningCertificateRequest
		answer, err := (*protobuf.SigningCertificate)(nil), protojson.Unmarshal(body, &request)
		if err == nil {
			answer, err = fulcio.CreateSigningCertificate(ctx, &request)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, _ := protojson.Marshal(answer)
		_, _ = w.Write(text)
	})
	return mux
}

// certificateLog promises to log certificates (RFC 6962), and logs none.
func certificateLog(key *ecdsa.PrivateKey) http.Handler {
	public, _ := x509.MarshalPKIXPublicKey(key.Public())
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ct/v1/add-pre-chain", func(w http.ResponseWriter, r *http.Request) {
		var request ct.AddChainRequest
		err := json.NewDecoder(r.Body).Decode(&request)
		var chain []*ctx509.Certificate
		for _, raw := range request.Chain {
			certificate, parseErr := ctx509.ParseCertificate(raw)
			if ctx509.IsFatal(parseErr) {
				err = parseErr
			}
			chain = append(chain, certificate)
		}
		promise := ct.SignedCertificateTimestamp{SCTVersion: ct.V1, Timestamp: uint64(time.Now().UnixMilli())}
		promise.LogID.KeyID = sha256.Sum256(public)
		var signed []byte
		if err == nil {
			signed, err = sign(key, promise, chain)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(ct.AddChainResponse{ID: promise.LogID.KeyID[:], Timestamp: promise.Timestamp, Signature: signed})
	})
	return mux
}

// sign returns the signature of a promise to log a chain.
func sign(key *ecdsa.PrivateKey, promise ct.SignedCertificateTimestamp, chain []*ctx509.Certificate) ([]byte, error) {
	leaf, err := ct.MerkleTreeLeafFromChain(chain, ct.PrecertLogEntryType, promise.Timestamp)
	if err != nil {
		return nil, err
	}
	input, err := ct.SerializeSCTSignatureInput(promise, ct.LogEntry{Leaf: *leaf})
	if err != nil {
		return nil, err
	}
	signed, err := tls.CreateSignature(*key, tls.SHA256, input)
	if err != nil {
		return nil, err
	}
	return tls.Marshal(signed)
}

// timestampAuthority answers requests for timestamps (RFC 3161).
func timestampAuthority(certificate *x509.Certificate, key crypto.Signer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request, err := timestamp.ParseRequest(body)
		var answer []byte
		if err == nil {
			stamp := timestamp.Timestamp{
				HashAlgorithm: request.HashAlgorithm, HashedMessage: request.HashedMessage, Nonce: request.Nonce,
				Time: time.Now(), Policy: []int{1, 3, 6, 1, 4, 1, 57264, 2}, AddTSACertificate: request.Certificates,
			}
			answer, err = stamp.CreateResponseWithOpts(certificate, key, crypto.SHA256)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = w.Write(answer)
	})
}
