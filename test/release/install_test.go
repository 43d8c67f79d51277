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

// TestPlugin installs the archive of Helm's plugin with both majors of helm, which download it, and removes it.
func TestPlugin(t *testing.T) {
	dist := distOf(t)
	archives := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(archives.Close)
	archive := filepath.Base(glob(t, 1, dist, "helm-drift_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")[0])
	for major, unverified := range map[string][]string{"v3": nil, "v4": {"--verify=false"}} {
		helm, data := filepath.Join(t.TempDir(), "helm"), t.TempDir()
		run(t, "../e2e", nil, "go", "build", "-o", helm, "helm.sh/helm/"+major+"/cmd/helm")
		env := []string{"HELM_DATA_HOME=" + data, "HELM_CACHE_HOME=" + filepath.Join(data, "cache"), "HELM_CONFIG_HOME=" + data}
		run(t, data, env, helm, append([]string{"plugin", "install", archives.URL + "/" + archive}, unverified...)...)
		if out := run(t, data, env, helm, "drift", "version"); !strings.HasPrefix(out, "helmdrift v") {
			t.Errorf("helm %s: drift version: %s", major, out)
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
