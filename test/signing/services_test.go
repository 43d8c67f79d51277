package signing

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-containerregistry/pkg/registry"
)

// serve starts a server on the loopback interface and returns its address.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// rekorName is the name of the log in its own checkpoints. It must be the host of its address.
const rekorName = "127.0.0.1"

// startRekor starts Rekor and returns its address.
func startRekor(t *testing.T, program string, key *ecdsa.PrivateKey) string {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	args := []string{"serve", "--hostname", rekorName, "--storage-dir", filepath.Join(dir, "log.d"), "--checkpoint-interval", "1s",
		"--signer-filepath", writePrivateKey(t, dir, "rekor", key)}
	ports := freePorts(t, 3)
	for i, flag := range []string{"--http-port", "--grpc-port", "--http-metrics-port"} {
		args = append(args, flag, fmt.Sprint(ports[i]))
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out.Close()
		if t.Failed() {
			t.Logf("Rekor says:\n%s", read(t, out.Name()))
		}
	})
	address := fmt.Sprintf("http://%s:%d", rekorName, ports[0])
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if response, err := http.Get(address + "/healthz"); err == nil {
			response.Body.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatal("Rekor does not answer")
		}
	}
}

// freePorts returns ports that are free now.
func freePorts(t *testing.T, count int) (out []int) {
	t.Helper()
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer listener.Close()
		out = append(out, listener.Addr().(*net.TCPAddr).Port)
	}
	return out
}

// startIssuer starts an issuer of tokens like GitHub's, for this tag of the workflow. It returns its address and the environment that
// gives a token to a step with the permission id-token.
func startIssuer(t *testing.T, tag string) (address string, env []string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	must(t, err)
	mux := http.NewServeMux()
	address = serve(t, mux)
	answer := func(value any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(value) }
	}
	mux.HandleFunc("/.well-known/openid-configuration", answer(map[string]any{
		"issuer": address, "jwks_uri": address + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
	}))
	public := jose.JSONWebKey{Key: key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}
	mux.HandleFunc("/keys", answer(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}}))
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "bearer request-token" {
			http.Error(w, "who asks?", http.StatusUnauthorized)
			return
		}
		text, err := jwt.Signed(signer).Claims(claims(address, r.URL.Query().Get("audience"), tag)).Serialize()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(map[string]string{"value": text})(w, r)
	})
	url := address + "/token?api-version=2.0"
	return address, []string{"ACTIONS_ID_TOKEN_REQUEST_URL=" + url, "ACTIONS_ID_TOKEN_REQUEST_TOKEN=request-token"}
}

// claims are the claims of a token for a job of release.yaml ("OpenID Connect reference" in GitHub's documentation).
func claims(issuer, audience, tag string) map[string]any {
	ref := "refs/tags/" + tag
	workflow := "helmdrift/helmdrift/.github/workflows/release.yaml@" + ref
	commit := strings.Repeat("0", 40)
	return map[string]any{
		"iss": issuer, "aud": audience, "sub": "repo:helmdrift/helmdrift:environment:release", "ref": ref, "event_name": "push",
		"repository": "helmdrift/helmdrift", "repository_owner": "helmdrift", "repository_id": "1", "repository_owner_id": "2",
		"repository_visibility": "public", "workflow": "release", "sha": commit, "workflow_sha": commit, "job_workflow_sha": commit,
		"workflow_ref": workflow, "job_workflow_ref": workflow, "runner_environment": "github-hosted", "run_id": "3", "run_attempt": "1",
		"iat": time.Now().Unix(), "nbf": time.Now().Add(-time.Minute).Unix(), "exp": time.Now().Add(5 * time.Minute).Unix(),
	}
}

// The login that the registry wants before it takes anything. Everybody may read.
const registryUser, registryPassword = "workflow", "registry-token"

// startRegistry starts a registry of container images and returns its host.
func startRegistry(t *testing.T) string {
	t.Helper()
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if (user != registryUser || password != registryPassword) && (!reads || r.URL.Path == "/v2/") {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, `{"errors": [{"code": "UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
	return strings.TrimPrefix(address, "http://")
}
