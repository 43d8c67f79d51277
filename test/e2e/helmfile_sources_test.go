package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"helm.sh/helm/v3/pkg/provenance"
)

// chartSources is a helmfile whose charts come from a registry, from a repository, from an archive and from a folder, with and without
// signatures. The releases whose name begins with "refused" cannot be verified.
const chartSources = `
repositories:
- {name: registry, url: HOST/charts, oci: true, plainHttp: true}
- {name: shop, url: URL/repo}
- {name: signed, url: URL/repo, verify: true, keyring: keys/ring.gpg}
helmDefaults:
  keyring: keys/other.gpg
releases:
- {name: of-registry, namespace: NS-of-registry, chart: registry/web, version: 1.2.0, values: [values.yaml]}
- {name: of-range, namespace: NS-of-range, chart: registry/web, version: ^1.0.0, values: [values.yaml]}
- {name: of-url, namespace: NS-of-url, chart: "oci://HOST/charts/web", version: 1.2.0, plainHttp: true, values: [values.yaml]}
- {name: of-repository, namespace: NS-of-repository, chart: shop/web, version: ~1.2, values: [values.yaml]}
- {name: of-signed, namespace: NS-of-signed, chart: signed/web, values: [values.yaml]}
- {name: of-own-keyring, namespace: NS-of-own-keyring, chart: shop/web, verify: true, keyring: keys/ring.gpg, values: [values.yaml]}
- {name: of-archive, namespace: NS-of-archive, chart: ./web-1.2.0.tgz, verify: true, keyring: keys/ring.gpg, values: [values.yaml]}
- {name: unverified, namespace: NS-unverified, chart: signed/web, verify: false, values: [values.yaml]}
- {name: refused-other-key, namespace: NS-refused-other-key, chart: shop/web, verify: true, values: [values.yaml]}
- {name: refused-folder, namespace: NS-refused-folder, chart: ./web, verify: true, keyring: keys/ring.gpg, values: [values.yaml]}
`

// TestHelmfileSources predicts and syncs a helmfile with charts from everywhere. Helm refuses charts that it cannot verify, and so does
// diff.
func TestHelmfileSources(t *testing.T) {
	eachHelmfileHelm(t, func(t *testing.T, helm string, _ bool) {
		c := newCase(t, suite.cluster)
		s := startChartServer(t)
		r, err := newHelmfileRun(c, helm)
		must(t, err)
		archive := filepath.Join(s.dir, "web-1.2.0.tgz")
		must(t, os.Mkdir(filepath.Join(c.dir, "keys"), 0o755))
		must(t, signChart(archive, filepath.Join(c.dir, "keys", "ring.gpg"), filepath.Join(c.dir, "keys", "other.gpg")))
		for _, name := range []string{"web-1.2.0.tgz", "web-1.2.0.tgz.prov"} {
			text, err := os.ReadFile(filepath.Join(s.dir, name))
			must(t, errors.Join(err, os.WriteFile(filepath.Join(c.dir, name), text, 0o644)))
		}
		must(t, os.CopyFS(filepath.Join(c.dir, "web"), os.DirFS("testdata/charts/web")))
		r.file, r.oneByOne = "helmfile.yaml", true
		text := strings.NewReplacer("HOST", strings.TrimPrefix(s.URL, "http://"), "URL", s.URL, "NS-", c.ns+"-").Replace(chartSources)
		must(t, os.WriteFile(filepath.Join(c.dir, r.file), []byte(text), 0o644))
		for _, replicas := range []string{"1", "2"} {
			must(t, os.WriteFile(filepath.Join(c.dir, "values.yaml"), []byte("replicas: "+replicas+"\n"), 0o644))
			must(t, r.predict(t.Context()))
			for _, p := range r.predicted {
				if isRefused := strings.HasPrefix(p.release, "refused"); isRefused == p.isComplete() {
					t.Errorf("release %s has the errors %v", p.release, p.said.Errors)
				}
			}
			if len(r.predicted) != strings.Count(chartSources, "namespace: ") {
				t.Errorf("%d releases are predicted", len(r.predicted))
			}
			failed, err := r.sync(t.Context())
			must(t, err)
			if failed == nil {
				t.Error("helmfile sync does not fail")
			}
			if faults := r.judge(failed); len(faults) > 0 {
				t.Fatalf("%v\nhelmfile sync: %v\n%s", errors.Join(faults...), failed, strings.Join(r.last.report.lines(), "\n"))
			}
			upgraded := strings.Count(chartSources, "namespace: ") - strings.Count(chartSources, "{name: refused")
			if replicas == "1" && len(r.done) != upgraded { // then somebody scales, which is a conflict for Helm 4
				t.Errorf("%d releases are upgraded, not %d", len(r.done), upgraded)
			}
			must(t, r.scale("deployment/"+c.ns+"-of-registry=web", "3"))
		}
		if i := slices.IndexFunc(r.predicted, func(p *helmfilePrediction) bool { return p.release == "of-registry" }); i < 0 ||
			!r.predicted[i].said.Drifted {
			t.Error("the release that somebody scaled has no drift")
		}
	})
}

// signChart signs an archive with a new key. It writes the keyring with that key, and one with another key.
func signChart(archive, keyring, otherKeyring string) error {
	for _, name := range []string{otherKeyring, keyring} {
		key, err := openpgp.NewEntity("A Signer", "", "signer@charts.test", nil)
		if err != nil {
			return err
		}
		file, err := os.Create(name)
		if err == nil {
			err = errors.Join(key.Serialize(file), file.Close())
		}
		if err != nil {
			return err
		}
		text, err := (&provenance.Signatory{Entity: key}).ClearSign(archive)
		if err == nil {
			err = os.WriteFile(archive+".prov", []byte(text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
