package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDownloaderPlugin deploys a chart with values of a downloader plugin, by the helm command of both majors. helmdrift predicts with the
// same flags that the next upgrade changes nothing, and what a change of the values changes.
func TestDownloaderPlugin(t *testing.T) {
	t.Parallel()
	for major, plugin := range map[string]string{
		"v3": "name: enc\nversion: 0.1.0\ndownloaders:\n- {command: get.sh, protocols: [enc, pack]}\n",
		"v4": "apiVersion: v1\ntype: getter/v1\nname: enc\nversion: 0.1.0\nruntime: subprocess\n" +
			"config: {protocols: [enc, pack]}\nruntimeConfig:\n  protocolCommands:\n" +
			"  - {protocols: [enc, pack], platformCommand: [{command: get.sh}]}\n",
	} {
		t.Run(major, func(t *testing.T) {
			c := newCase(t, suite.cluster)
			p := pluginRun{c: c, t: t, helm: helmProgram(t, major), data: t.TempDir()}
			folder := filepath.Join(p.data, "plugins", "enc")
			must(t, os.MkdirAll(folder, 0o755))
			for name, text := range map[string]string{
				filepath.Join(folder, "plugin.yaml"): plugin,
				// The last argument is the URL. Values are in base64.
				filepath.Join(folder, "get.sh"): "#!/bin/sh\nfor url; do :; done\npath=/${url#*://*/}\n" +
					"case $url in pack:*) exec cat \"$path\";; esac\nexec base64 -d \"$path\"\n",
				filepath.Join(c.dir, "values.enc"): "cmVwbGljYXM6IDMK\n", // replicas: 3
				filepath.Join(c.dir, "more.enc"):   "cmVwbGljYXM6IDQK\n", // replicas: 4
			} {
				must(t, os.WriteFile(name, []byte(text), 0o755))
			}
			chart, err := filepath.Abs(filepath.Join("testdata", "charts", "web"))
			must(t, err)
			must(t, exec.Command("tar", "czf", filepath.Join(c.dir, "web.tgz"), "-C", filepath.Dir(chart), "web").Run())
			args := []string{c.release, "pack://box" + c.dir + "/web.tgz", "-f", "enc://box" + c.dir + "/values.enc"}
			p.mustRun(0, slices.Concat([]string{"upgrade", "--install"}, args, []string{"-n", c.ns, "--kubeconfig", c.cluster.kubeconfig})...)

			c.env["HELM_DATA_HOME"] = p.data
			out, err := c.diff(append(args, "--fail-on", "drift,change,conflict,fail")...)
			must(t, err)
			want(t, out, 0, "")
			out, err = c.diff(append(args[:3:3], "enc://box"+c.dir+"/more.enc", "--fail-on", "change")...)
			must(t, err)
			if out.exit != 2 || !strings.Contains(strings.Join(out.report.lines(), "\n"), "spec.replicas old=3 desired=4 live=3") {
				t.Errorf("exit %d\n%s", out.exit, strings.Join(out.report.lines(), "\n"))
			}
			out, err = c.diff(append(args, "--no-plugins")...)
			must(t, err)
			if out.exit != 1 || !strings.Contains(out.stdout, "--no-plugins forbids") {
				t.Errorf("exit %d\n%s", out.exit, out.stdout)
			}
		})
	}
}
