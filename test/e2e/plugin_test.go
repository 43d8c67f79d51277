package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestPlugin runs "helm drift" with the helm of both majors, which hand over their flags in the environment. The reports equal the
// binary's. The plugin is installed from a folder, and from an archive that a server has.
func TestPlugin(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	must(t, c.scale("deployment/web", "5"))
	plugin := pluginFolder(t)
	archive := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archived(t, plugin)) }))
	t.Cleanup(archive.Close)
	for _, helm := range []struct {
		major string
		// unverified is the flag that makes that Helm install an archive without a signature.
		unverified []string
	}{{"v3", nil}, {"v4", []string{"--verify=false"}}} {
		t.Run(helm.major, func(t *testing.T) {
			p := pluginRun{c: c, t: t, helm: helmProgram(t, helm.major)}
			for _, source := range [][]string{{plugin}, append([]string{archive.URL + "/helm-drift.tar.gz"}, helm.unverified...)} {
				p.data = t.TempDir()
				p.mustRun(0, append([]string{"plugin", "install"}, source...)...)
				p.sameReports()
			}
			p.completes()
			p.mustRun(0, "plugin", "uninstall", "drift")
			if out := p.mustRun(1, "drift", "version"); !strings.Contains(out, "unknown command") {
				t.Errorf("the plugin is not gone: %s", out)
			}
		})
	}
}

// toolBuilds guards the helm commands and kubectl, which several tests run.
var toolBuilds sync.Mutex

// helmProgram returns the path of the helm command of a major, "v3" or "v4", which is built once.
func helmProgram(t *testing.T, major string) string {
	t.Helper()
	return builtTool(t, "helm-"+major, "helm.sh/helm/"+major+"/cmd/helm")
}

// builtTool returns the path of the program of a package, which is built once, under that name.
func builtTool(t *testing.T, name, pkg string) string {
	t.Helper()
	toolBuilds.Lock()
	defer toolBuilds.Unlock()
	path := filepath.Join(suite.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return path
}

// pluginRun runs helm with a folder of plugins of its own.
type pluginRun struct {
	c          *Case
	t          *testing.T
	helm, data string
	// path is put before PATH; it ends with a colon.
	path string
}

// run runs a program and returns its exit code, its stdout and its stderr.
func (p pluginRun) run(program string, args ...string) (int, string, string) {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.c.dir, &stdout, &stderr
	cmd.Env = []string{"HOME=" + p.c.dir, "PATH=" + p.path + os.Getenv("PATH"), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), "HELM_DATA_HOME=" + p.data,
		"HELM_CACHE_HOME=" + filepath.Join(p.data, "cache")}
	err := cmd.Run()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// mustRun runs helm, demands an exit code, and returns what helm prints.
func (p pluginRun) mustRun(code int, args ...string) string {
	p.t.Helper()
	exit, stdout, stderr := p.run(p.helm, args...)
	if exit != code {
		p.t.Fatalf("helm %s: exit %d, want %d\n%s%s", strings.Join(args, " "), exit, code, stdout, stderr)
	}
	return stdout + stderr
}

// timeOfReport is the time of a report, the only value that differs between two reports of the same cluster.
var timeOfReport = regexp.MustCompile(`(?m)^  "time": ".*",$`)

// snapshotFormats are the formats for reports of a snapshot: all but diff, which needs the text of the manifest.
var snapshotFormats = []string{"text", "json", "yaml", "markdown", "junit", "sarif", "gitlab", "github", "html", "ignore", "prometheus"}

// sameReports compares reports of the plugin with those of the binary, byte for byte: every format on a snapshot, whose report has the time
// of the snapshot, and JSON and diff on the cluster, where only the time of the report may differ. Helm takes the flags that it knows out
// of the arguments, and hands each group to impersonate over twice.
func (p pluginRun) sameReports() {
	p.t.Helper()
	snapshot, err := filepath.Abs("../../testdata/snapshots/web.json.gz")
	must(p.t, err)
	inCluster := []string{"-n", p.c.storage, "--kubeconfig", p.c.proxy.kubeconfig}
	impersonated := []string{"--kube-as-user", "admin", "--kube-as-group", "system:masters", "--kube-as-group", "system:authenticated"}
	for _, format := range snapshotFormats {
		args := []string{"diff", "--snapshot", snapshot, "-o", format}
		wantCode, want, _ := p.run(suite.binary, args...)
		code, got, messages := p.run(p.helm, append([]string{"drift"}, args...)...)
		if code != wantCode || got != want || want == "" {
			p.t.Errorf("helm drift %s: exit %d, want %d\n%s\nwant\n%s\n%s", strings.Join(args, " "), code, wantCode, got, want, messages)
		}
	}
	for _, args := range [][]string{
		{"diff", "--snapshot", snapshot},
		slices.Concat([]string{"diff", p.c.release, "-o", "json"}, inCluster),
		slices.Concat([]string{"diff", p.c.release, "-o", "diff"}, inCluster),
		{"diff", p.c.release, "-o", "json", "--fail-on", "none", "--namespace=" + p.c.storage, "--kubeconfig=" + p.c.proxy.kubeconfig},
		slices.Concat([]string{"diff", p.c.release, "-o", "json"}, inCluster, impersonated),
		append([]string{"diff", "no-such-release"}, inCluster...),
		{"diff", "-o", "jsn"},
	} {
		p.c.proxy.reset(permitReads)
		wantCode, want, _ := p.run(suite.binary, args...)
		p.c.proxy.reset(permitReads)
		code, got, messages := p.run(p.helm, append([]string{"drift"}, args...)...)
		if code != wantCode || timeOfReport.ReplaceAllString(got, "") != timeOfReport.ReplaceAllString(want, "") {
			p.t.Errorf("helm drift %s: exit %d, want %d\n%s\nwant\n%s\n%s", strings.Join(args, " "), code, wantCode, got, want, messages)
		}
	}
}

// completes checks that the shell completes subcommands, and the releases of the namespace that a flag names.
func (p pluginRun) completes() {
	p.t.Helper()
	p.c.proxy.reset(permitReads)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"drift", "sn"}, "snapshot"},
		{[]string{"drift", "diff", "--kubeconfig", p.c.proxy.kubeconfig, "-n", p.c.storage, ""}, p.c.release},
	} {
		if _, out, _ := p.run(p.helm, append([]string{"__complete"}, c.args...)...); !strings.HasPrefix(out, c.want+"\t") {
			p.t.Errorf("%q completes to\n%s", c.args, out)
		}
	}
}

// pluginFolder returns a folder with the plugin, as make plugin fills it.
func pluginFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "helm-drift")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.Symlink(suite.binary, filepath.Join(dir, "helmdrift")))
	for _, name := range []string{"plugin.yaml", "plugin.complete"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "plugin", name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o755))
	}
	return dir
}

// archived returns the files of a folder as a compressed archive.
func archived(t *testing.T, dir string) []byte {
	var out bytes.Buffer
	compressed, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	archive := tar.NewWriter(compressed)
	files, err := os.ReadDir(dir)
	for _, file := range files {
		text, readErr := os.ReadFile(filepath.Join(dir, file.Name()))
		err = errors.Join(err, readErr, archive.WriteHeader(&tar.Header{Name: file.Name(), Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, writeErr := archive.Write(text)
		err = errors.Join(err, writeErr)
	}
	if err = errors.Join(err, archive.Close(), compressed.Close()); err != nil {
		t.Error(err)
	}
	return out.Bytes()
}
