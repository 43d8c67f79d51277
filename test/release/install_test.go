package release

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// sum returns the SHA-256 sum of a file.
func sum(t *testing.T, file string) string {
	t.Helper()
	return fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, file))))
}

// savedReport returns the arguments that report the snapshot of the README in a format.
func savedReport(t *testing.T, format string) []string {
	t.Helper()
	return []string{"diff", "--snapshot", filepath.Join(repository(t), "testdata/snapshots/web.json.gz"), "--fail-on", "none", "-o", format}
}

// TestPlugin installs the archive of Helm's plugin with both majors of helm, which download it, and removes it. Its reports equal those
// of the program from the other archive.
func TestPlugin(t *testing.T) {
	dist := distOf(t)
	archives := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(archives.Close)
	platform := runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	unpacked := t.TempDir()
	run(t, unpacked, nil, "tar", "-xzf", glob(t, 1, dist, "helmdrift_*_"+platform)[0])
	archive := filepath.Base(glob(t, 1, dist, "helm-drift_*_"+platform)[0])
	for major, unverified := range map[string][]string{"v3": nil, "v4": {"--verify=false"}} {
		helm, data := filepath.Join(t.TempDir(), "helm"), t.TempDir()
		run(t, "../e2e", nil, "go", "build", "-o", helm, "helm.sh/helm/"+major+"/cmd/helm")
		env := []string{"HELM_DATA_HOME=" + data, "HELM_CACHE_HOME=" + filepath.Join(data, "cache"), "HELM_CONFIG_HOME=" + data}
		run(t, data, env, helm, append([]string{"plugin", "install", archives.URL + "/" + archive}, unverified...)...)
		if out := run(t, data, env, helm, "drift", "version"); !strings.HasPrefix(out, "helmdrift v") {
			t.Errorf("helm %s: drift version: %s", major, out)
		}
		for _, format := range []string{"text", "json", "html", "markdown", "sarif"} {
			want := run(t, data, nil, filepath.Join(unpacked, "helmdrift"), savedReport(t, format)...)
			if got := run(t, data, env, helm, append([]string{"drift"}, savedReport(t, format)...)...); got != want || want == "" {
				t.Errorf("helm %s: the report of the plugin is\n%s\nand that of the program\n%s", major, got, want)
			}
		}
		if out := run(t, data, env, helm, "drift", "--help"); !strings.Contains(out, "Usage:\n  helm drift COMMAND") {
			t.Errorf("helm %s: drift --help: %s", major, out)
		}
		if out := run(t, data, env, helm, "plugin", "list"); !strings.Contains(out, "drift") || !strings.Contains(out, "-snapshot") {
			t.Errorf("helm %s: plugin list: %s", major, out)
		}
		run(t, data, env, helm, "plugin", "uninstall", "drift")
		if out := run(t, data, env, helm, "plugin", "list"); strings.Contains(out, "drift") {
			t.Errorf("helm %s: the plugin is not gone: %s", major, out)
		}
	}
}
