package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Plugins are the downloader plugins of Helm. They fetch charts and values files from URLs whose scheme Helm itself does not know, such as
// secrets:// and s3://. The zero Plugins runs no plugin.
type Plugins struct {
	// Dirs are the directories of the installed plugins, separated as in PATH: HELM_PLUGINS.
	Dirs string
	// If Forbidden is set, no plugin runs, and errors say so.
	Forbidden bool
	// Run runs the command of a plugin and returns what it prints. This package starts no program itself.
	Run func(context.Context, PluginCommand) ([]byte, error)
}

// PluginCommand is a call of a plugin.
type PluginCommand struct {
	// Name is the name of the plugin, and Dir is its directory.
	Name, Dir string
	// Path is the program, which is in Dir. Args are its arguments; the last one is the URL.
	Path string
	Args []string
	// Env are the variables that the plugin gets in addition to those of this process, as NAME=value.
	Env []string
	// Secrets are the credentials among the values of Env.
	Secrets []string
	// Values is set if the output is a values file and not a chart.
	Values bool
}

// pluginFile is what this package reads from a plugin.yaml, in the format of Helm 3, which Helm 4 calls legacy, or in the
// format of Helm 4 (helm v3.22.0 pkg/plugin/plugin.go Metadata, v4.3.1 internal/plugin/metadata_v1.go MetadataV1).
type pluginFile struct {
	Name string `json:"name"`
	// Downloaders belongs to the format of Helm 3.
	Downloaders []struct {
		Protocols []string `json:"protocols"`
		Command   string   `json:"command"`
	} `json:"downloaders"`

	// APIVersion and the fields below belong to the format of Helm 4.
	APIVersion    string `json:"apiVersion"`
	Type          string `json:"type"`
	Runtime       string `json:"runtime"`
	RuntimeConfig struct {
		ProtocolCommands []struct {
			Protocols       []string          `json:"protocols"`
			PlatformCommand []platformCommand `json:"platformCommand"`
		} `json:"protocolCommands"`
	} `json:"runtimeConfig"`
	Config struct {
		Protocols []string `json:"protocols"`
	} `json:"config"`
}

// platformCommand is a command for one system, or for all if os is empty.
type platformCommand struct {
	OS      string   `json:"os"`
	Arch    string   `json:"arch"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// schemePlugin is a plugin that serves a scheme. The words are its command and arguments. If there are none, problem says why.
type schemePlugin struct {
	name, dir string
	words     []string
	problem   string
}

// isPlugin reports whether a plugin may serve URLs of a scheme. No plugin serves Helm's own schemes.
func isPlugin(scheme string) bool {
	return scheme != "" && !slices.Contains([]string{"http", "https", "oci", "file"}, scheme)
}

// IsPluginURL reports whether only a plugin can serve the URL of a chart or a values file.
func IsPluginURL(ref string) bool {
	scheme, _, found := strings.Cut(ref, "://")
	return found && isPlugin(scheme)
}

// find returns the first plugin that serves a scheme, in Helm's order, or nil. It skips a plugin.yaml that cannot be read.
func (p Plugins) find(scheme string) *schemePlugin {
	for _, dir := range filepath.SplitList(p.Dirs) {
		files, err := filepath.Glob(filepath.Join(dir, "*", "plugin.yaml"))
		if err != nil {
			continue
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			var file pluginFile
			if err != nil || yaml.Unmarshal(text, &file) != nil {
				continue
			}
			if d := file.downloader(scheme); d != nil {
				if d.dir, err = filepath.Abs(filepath.Dir(name)); err == nil {
					return d
				}
			}
		}
	}
	return nil
}

// downloader returns what a plugin runs for a scheme, or nil if it does not serve the scheme.
func (f pluginFile) downloader(scheme string) *schemePlugin {
	if f.APIVersion == "" {
		for _, d := range f.Downloaders {
			if slices.Contains(d.Protocols, scheme) {
				return &schemePlugin{name: f.Name, words: strings.Split(d.Command, " ")}
			}
		}
		return nil
	}
	if f.Type != "getter/v1" || !slices.Contains(f.Config.Protocols, scheme) {
		return nil
	}
	d := &schemePlugin{name: f.Name}
	if f.Runtime != "subprocess" {
		d.problem = "its runtime is " + f.Runtime + ", and only programs can be run"
		return d
	}
	for _, c := range f.RuntimeConfig.ProtocolCommands {
		if slices.Contains(c.Protocols, scheme) {
			if d.words = forThisSystem(c.PlatformCommand); d.words == nil {
				d.problem = "it has no command for " + runtime.GOOS + "/" + runtime.GOARCH
			}
			return d
		}
	}
	d.problem = "it has no command for " + scheme + "://"
	return d
}

// forThisSystem chooses the command of the most exact match: system and architecture, then the system, then neither (helm v4.3.1
// internal/plugin/subprocess_commands.go getPlatformCommand).
func forThisSystem(commands []platformCommand) []string {
	for _, wanted := range [][2]string{{runtime.GOOS, runtime.GOARCH}, {runtime.GOOS, ""}, {"", ""}} {
		for _, c := range commands {
			if strings.EqualFold(c.OS, wanted[0]) && strings.EqualFold(c.Arch, wanted[1]) && c.Command != "" {
				return append(strings.Split(c.Command, " "), c.Args...)
			}
		}
	}
	return nil
}

// download runs the plugin for the scheme of a URL, as Helm does (helm v3.22.0 pkg/getter/plugingetter.go Get; v4.3.1
// internal/plugin/runtime_subprocess_getter.go runGetter): the arguments are the files of the flags --cert-file, --key-file and --ca-file,
// which may be empty, and the URL.
func (p Plugins) download(ctx context.Context, scheme, href string, login access, values bool) ([]byte, error) {
	d := p.find(scheme)
	switch {
	case p.Run == nil:
		return nil, problem{message: "URLs of this kind are not supported", hint: hintPull}
	case p.Forbidden:
		return nil, problem{message: fmt.Sprintf("--no-plugins forbids the plugin that downloads from %s://", scheme), hint: hintPull}
	case d == nil:
		return nil, problem{message: fmt.Sprintf("no installed plugin downloads from %s://", scheme),
			hint: "helm plugin list shows those that are installed; they are in " + p.Dirs + " (HELM_PLUGINS)"}
	case d.problem != "" || d.words[0] == "":
		return nil, problem{message: fmt.Sprintf("the plugin %s cannot be run: %s", d.name, cmp.Or(d.problem, "it has no command"))}
	}
	return p.Run(ctx, PluginCommand{
		Name: d.name, Dir: d.dir, Path: filepath.Join(d.dir, d.words[0]),
		Args: append(slices.Clone(d.words[1:]), login.certFile, login.keyFile, login.caFile, href),
		Env: []string{
			"HELM_PLUGIN_NAME=" + d.name, "HELM_PLUGIN_DIR=" + d.dir, "HELM_PLUGIN_USERNAME=" + login.username,
			"HELM_PLUGIN_PASSWORD=" + login.password, "HELM_PLUGIN_PASS_CREDENTIALS_ALL=" + strconv.FormatBool(login.passAll),
		},
		Secrets: []string{login.username, login.password}, Values: values,
	})
}

// download fetches a file with a plugin. It withholds the credentials if the URL has another host than their repository.
func (s source) download(suffix string) ([]byte, error) {
	login := s.access
	if login.withholds(s.url) {
		login.username, login.password = "", ""
	}
	out, err := s.fetcher.Plugins.download(s.fetcher.ctx, s.url.Scheme, s.url.String()+suffix, login, false)
	if err == nil && int64(len(out)) > s.fetcher.maxAnswer() {
		err = tooLong(s.fetcher.maxAnswer())
	}
	return out, err
}

// checkListed refuses a URL in an index that would run a plugin, unless the repository itself has that scheme. Somebody else writes the
// index, and a plugin is a program with the user's rights: secrets:// in an index must not open a file of the user.
func checkListed(found *url.URL, repository string) error {
	if base, err := url.Parse(repository); isPlugin(found.Scheme) && (err != nil || base.Scheme != found.Scheme) {
		return problem{message: fmt.Sprintf("the index names a URL with %s://, and no plugin is run for it", found.Scheme),
			hint: "the repository is of another kind: if you trust the URL, give it as the chart"}
	}
	return nil
}
