package fetch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/getter"
	cli4 "helm.sh/helm/v4/pkg/cli"
	getter4 "helm.sh/helm/v4/pkg/getter"
)

// These are the plugins of the tests, in the formats of Helm 3 and Helm 4. The script prints its arguments and what Helm tells a plugin.
const (
	legacyPlugin = `
name: box
version: 0.1.0
downloaders:
- command: bin/get.sh --from box
  protocols: [box, trunk]
`
	newPlugin = `
apiVersion: v1
type: getter/v1
name: vault
version: 0.1.0
runtime: subprocess
config: {protocols: [vault]}
runtimeConfig:
  protocolCommands:
  - protocols: [vault]
    platformCommand:
    - {os: plan9, command: nothing.sh}
    - {command: bin/get.sh, args: [--from, vault]}
    - {os: linux, command: bin/get.sh, args: [--from, vault on linux]}
`
	pluginScript = `#!/bin/sh
for last; do :; done
case "$last" in
*.tgz) cat "/${last#*://*/}"; exit;;
*.prov | */missing*) echo "no such file" >&2; exit 3;;
esac
for arg; do echo "arg: '$arg'"; done
env | grep '^HELM_PLUGIN_' | sort
`
)

// installed writes plugins into a directory and returns it. The map has the text of each plugin.yaml by the name of
// its folder.
func installed(t *testing.T, plugins map[string]string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a shell script")
	}
	dir := t.TempDir()
	for name, text := range plugins {
		if err := os.MkdirAll(filepath.Join(dir, name, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"plugin.yaml": text, "bin/get.sh": pluginScript} {
			if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// runPlugin runs a plugin as internal/program does, without its limits.
func runPlugin(ctx context.Context, c PluginCommand) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env = slices.Concat(os.Environ(), c.Env)
	return cmd.Output()
}

// TestPluginsAsHelm fetches the same files with the getters of both major versions of Helm, and checks that plugins get the same
// arguments and variables from us.
func TestPluginsAsHelm(t *testing.T) {
	dir := installed(t, map[string]string{"box": legacyPlugin, "broken": "name: ["})
	plugins := Plugins{Dirs: dir, Run: runPlugin}
	for _, url := range []string{"box://a/values.yaml", "trunk:///etc/../values.yaml?x=1 2#y", "box:values"} {
		got, err := ReadFile(t.Context(), url, nil, plugins)
		if err != nil {
			t.Fatal(err)
		}
		scheme, _, _ := strings.Cut(url, ":")
		// Helm 3 uses no plugin at all if one of them cannot be read.
		three, err := getter.All(helm3Settings(t, installed(t, map[string]string{"box": legacyPlugin}))).ByScheme(scheme)
		if err != nil {
			t.Fatal(err)
		}
		want3, err := three.Get(url, getter.WithURL(url))
		if err != nil {
			t.Fatal(err)
		}
		four, err := getter4.All(helm4Settings(dir)).ByScheme(scheme)
		if err != nil {
			t.Fatal(err)
		}
		want4, err := four.Get(url, getter4.WithURL(url))
		if err != nil {
			t.Fatal(err)
		}
		if withoutDir(string(got)) != withoutDir(want3.String()) || string(got) != want4.String() {
			t.Errorf("%s:\n%s\nHelm 3:\n%s\nHelm 4:\n%s", url, got, want3, want4)
		}
	}
	// The format of Helm 4.
	dir = installed(t, map[string]string{"vault": newPlugin})
	got, err := ReadFile(t.Context(), "vault://x", nil, Plugins{Dirs: dir, Run: runPlugin})
	if err != nil {
		t.Fatal(err)
	}
	four, err := getter4.All(helm4Settings(dir)).ByScheme("vault")
	if err != nil {
		t.Fatal(err)
	}
	want, err := four.Get("vault://x")
	if err != nil || string(got) != want.String() {
		t.Errorf("got\n%s\nHelm 4: %v\n%s", got, err, want)
	}
}

// helm3Settings returns Helm's settings with a directory of plugins. Helm 3 sets the variables of a plugin in its own process. Setting
// them here first restores them after the test.
func helm3Settings(t *testing.T, dir string) *cli.EnvSettings {
	t.Helper()
	settings := cli.New()
	settings.PluginsDirectory = dir
	for name, value := range settings.EnvVars() {
		t.Setenv(name, value)
	}
	t.Setenv("HELM_PLUGIN_NAME", "")
	t.Setenv("HELM_PLUGIN_DIR", "")
	return settings
}

func helm4Settings(dir string) *cli4.EnvSettings {
	settings := cli4.New()
	settings.PluginsDirectory = dir
	return settings
}

// withoutDir removes the folder of a plugin, which has another name in each test.
func withoutDir(text string) string {
	before, after, _ := strings.Cut(text, "HELM_PLUGIN_DIR=")
	_, after, _ = strings.Cut(after, "\n")
	return before + after
}

// TestPluginFetchesCharts fetches a chart with a plugin, and checks what a plugin must not fetch.
func TestPluginFetchesCharts(t *testing.T) {
	silent(t)
	archive := packaged(t, t.TempDir(), "web", "1.0.0")
	plugins := Plugins{Dirs: installed(t, map[string]string{"box": legacyPlugin}), Run: runPlugin}
	path, done, err := Chart(t.Context(), "box://store"+archive, Options{Plugins: plugins})
	defer done()
	if err != nil {
		t.Fatal(err)
	}
	if chart, err := loader.Load(path); err != nil || chart.Name() != "web" {
		t.Errorf("%v, %v", chart, err)
	}
	for name, test := range map[string]struct {
		ref       string
		change    func(*Options)
		err, hint string
	}{
		"fails":      {"box://store/missing", nil, "exit status 3", ""},
		"no plugin":  {"sack://store/web.tgz", nil, "no installed plugin downloads from sack://", "helm plugin list"},
		"forbidden":  {"box://store/web.tgz", func(o *Options) { o.Plugins.Forbidden = true }, "--no-plugins forbids the plugin", "helm pull"},
		"none":       {"box://store/web.tgz", func(o *Options) { o.Plugins = Plugins{} }, "not supported", "helm pull"},
		"too long":   {"box://store" + archive, func(o *Options) { o.MaxAnswer = 10 }, "the answer is longer than", ""},
		"unsigned":   {"box://store" + archive, func(o *Options) { o.Verify = true }, "file cannot be fetched: exit status 3", "--sign"},
		"credential": {"box://canary:canary@store/missing?token=canary", nil, "box://store/missing: exit status 3", ""},
	} {
		o := Options{Plugins: plugins}
		if test.change != nil {
			test.change(&o)
		}
		_, _, err := Chart(t.Context(), test.ref, o)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		check(t, err, "(?s).*"+test.err+".*", test.hint)
	}
}

// TestPluginProblems checks plugins that cannot be run.
func TestPluginProblems(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(newPlugin, "subprocess", "extism/v1", 1):                                 "its runtime is extism/v1, and only",
		strings.Replace(newPlugin, "- protocols: [vault]", "- protocols: [other]", 1):            "it has no command for vault://",
		strings.Replace(newPlugin, "getter/v1", "cli/v1", 1):                                     "no installed plugin",
		strings.NewReplacer("bin/get.sh --from box", `""`, "box", "vault").Replace(legacyPlugin): "it has no command",
	} {
		_, err := ReadFile(t.Context(), "vault://x", nil, Plugins{Dirs: installed(t, map[string]string{"p": text}), Run: runPlugin})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestPluginLogin checks that a plugin gets the credentials of the flags, but not for a host other than their repository's.
func TestPluginLogin(t *testing.T) {
	dir := installed(t, map[string]string{"box": legacyPlugin})
	var calls []PluginCommand
	o := Options{Username: username, Password: password, CAFile: "ca.pem", Plugins: Plugins{Dirs: dir,
		Run: func(_ context.Context, c PluginCommand) ([]byte, error) {
			calls = append(calls, c)
			if strings.HasSuffix(c.Args[len(c.Args)-1], "index.yaml") {
				return []byte("apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.0.0, urls: [box://other/web.tgz]}\n"), nil
			}
			return nil, errors.New("it is only asked")
		},
	}}
	for ref, repository := range map[string]string{"box://store/web.tgz": "", "web": "box://store"} {
		o.RepoURL = repository
		_, _, err := Chart(t.Context(), ref, o)
		check(t, err, ".*: it is only asked", "")
	}
	for _, c := range calls {
		url := c.Args[len(c.Args)-1]
		if given := slices.Contains(c.Env, "HELM_PLUGIN_PASSWORD="+password); given == strings.HasPrefix(url, "box://other") {
			t.Errorf("%s: the password was given: %t", url, given)
		}
		if c.Args[4] != "ca.pem" || c.Values {
			t.Errorf("%+v", c)
		}
	}
	if len(calls) != 3 {
		t.Errorf("%d calls", len(calls))
	}
}
