package fetch

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"helm.sh/helm/v3/pkg/provenance"
)

// signer returns a new key, and a keyring that contains only this key.
func signer(t *testing.T) (key *openpgp.Entity, keyring string) {
	t.Helper()
	key, err := openpgp.NewEntity("A Signer", "", "signer@charts.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	keyring = filepath.Join(t.TempDir(), "pubring.gpg")
	file, err := os.Create(keyring)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := key.Serialize(file); err != nil {
		t.Fatal(err)
	}
	return key, keyring
}

// sign does what helm package --sign does.
func sign(t *testing.T, archive string, key *openpgp.Entity) {
	t.Helper()
	text, err := (&provenance.Signatory{Entity: key}).ClearSign(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archive+".prov", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestVerify(t *testing.T) {
	silent(t)
	dir := t.TempDir()
	key, ring := signer(t)
	_, foreign := signer(t)
	signed, unsigned, changed := packaged(t, dir, "signed", "1.0.0"), packaged(t, dir, "unsigned", "1.0.0"), packaged(t, dir, "changed", "1.0.0")
	sign(t, signed, key)
	sign(t, changed, key)
	text, err := os.ReadFile(unsigned)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, false, http.FileServer(http.Dir(dir)))
	r := registryOf(t, false, false, without(t, dir, "changed"))
	index(t, dir, s.URL, nil)

	unpacked := t.TempDir()
	tests := map[string]struct {
		ref, keyring string
		want         string
	}{
		"archive":                   {signed, ring, ""},
		"archive, other key":        {signed, foreign, `.*: it cannot be verified: openpgp: signature made by unknown entity`},
		"archive, not signed":       {unsigned, ring, `.*: it cannot be verified: could not load provenance file .*unsigned-1.0.0.tgz.prov.*`},
		"archive, changed":          {changed, ring, `.*: it cannot be verified: sha256 sum does not match for changed-1.0.0.tgz: .*`},
		"no keyring":                {signed, filepath.Join(dir, "no keys"), `.*: it cannot be verified: failed to load keyring: .*`},
		"directory":                 {unpacked, ring, `.*: it cannot be verified: unpacked charts cannot be verified`},
		"URL":                       {s.URL + "/signed-1.0.0.tgz", ring, ""},
		"URL, other key":            {s.URL + "/signed-1.0.0.tgz", foreign, `.*: it cannot be verified: openpgp: signature made by unknown entity`},
		"URL, not signed":           {s.URL + "/unsigned-1.0.0.tgz", ring, `.*its provenance file cannot be fetched: not found at .*/unsigned-1.0.0.tgz.prov \(404\)`},
		"URL, changed":              {s.URL + "/changed-1.0.0.tgz", ring, `.*: it cannot be verified: sha256 sum does not match .*`},
		"registry":                  {"oci://" + r.host() + "/charts/signed", ring, ""},
		"registry, other key":       {"oci://" + r.host() + "/charts/signed", foreign, `.*: it cannot be verified: openpgp: .*`},
		"registry, not signed":      {"oci://" + r.host() + "/charts/unsigned", ring, `.*its provenance file cannot be fetched: .*does not contain a layer.*`},
		"registry, without asking":  {"oci://" + r.host() + "/charts/unsigned", "", ""},
		"directory, without asking": {unpacked, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := settings(t)
			o.Verify, o.Keyring, o.PlainHTTP = tt.keyring != "", tt.keyring, true
			_, done, err := Chart(context.Background(), tt.ref, o)
			done()
			switch {
			case tt.want == "":
				if err != nil {
					t.Error(err)
				}
			case strings.Contains(tt.want, "cannot be fetched"):
				check(t, err, tt.want, "helm package --sign")
			default:
				check(t, err, tt.want, "--keyring")
			}
		})
	}
}

// without returns a copy of a directory without the archives of one chart.
func without(t *testing.T, dir, chart string) string {
	t.Helper()
	smaller := t.TempDir()
	if err := os.CopyFS(smaller, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(smaller, chart+"-1.0.0.tgz")); err != nil {
		t.Fatal(err)
	}
	return smaller
}
