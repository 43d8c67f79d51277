package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// This file runs the downloader plugins of Helm that pkg/fetch finds. A plugin is a program that the user has installed, with the user's
// rights, environment and files; it is bounded in what it may print and in how long it may run, because its output is read into memory.

// pluginRunner runs plugins within the limits of --render-timeout and --render-memory.
type pluginRunner struct {
	streams streams
	limits  limits
	// env are the variables that Helm sets for every plugin.
	env []string
}

// maxPluginLog is how many bytes of the standard error of a plugin are shown.
const maxPluginLog = 64 << 10

// runner returns the runner of plugins.
func (o *desiredOptions) runner() pluginRunner {
	return pluginRunner{streams: o.streams, limits: o.limits, env: o.pluginEnv()}
}

// pluginEnv returns the variables that Helm sets for plugins and that the environment need not have, because flags chose them (helm v3.22.0
// pkg/cli/environment.go EnvVars). HELM_BIN is left as it is: plugins run it, and helmdrift is not helm.
func (o *desiredOptions) pluginEnv() (out []string) {
	vars := map[string]string{
		"HELM_PLUGINS": o.source.Plugins.Dirs, "HELM_REGISTRY_CONFIG": o.source.RegistryConfig,
		"HELM_REPOSITORY_CONFIG": o.source.RepositoryConfig, "HELM_REPOSITORY_CACHE": o.source.RepositoryCache,
	}
	if c := o.connection; c != nil {
		vars["HELM_DEBUG"] = strconv.FormatBool(c.debug)
		vars["HELM_NAMESPACE"], vars["HELM_KUBECONTEXT"], vars["KUBECONFIG"] = c.namespace, c.context, c.kubeconfig
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if vars[name] != "" {
			out = append(out, name+"="+vars[name])
		}
	}
	return out
}

// run runs a plugin and returns what it prints to its standard output. What it prints to its standard error is shown when it has ended,
// without what is known to be secret by then, which includes the values that it returned.
func (p pluginRunner) run(ctx context.Context, c fetch.PluginCommand) ([]byte, error) {
	if p.limits.time > 0 {
		late := fmt.Errorf("the plugin %s takes longer than %s; --render-timeout allows more", c.Name, p.limits.time)
		limited, cancel := context.WithTimeoutCause(ctx, p.limits.time, late)
		defer cancel()
		ctx = limited
	}
	// A plugin that prints without end is not waited for.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out, complaint := &head{limit: p.maxOutput()}, &head{limit: maxPluginLog}
	out.full = func() {
		stop(fmt.Errorf("the plugin %s prints more than %d MiB; --render-memory allows more", c.Name, p.maxOutput()>>20))
	}
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env = slices.Concat(os.Environ(), p.env, c.Env)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, complaint, outputDelay
	err := cmd.Run()
	p.streams.known.Add(c.Secrets...)
	if c.Values {
		p.streams.known.AddGiven(valuesOfLines(out.text.Bytes()))
	}
	p.show(c.Name, complaint)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("the plugin %s ended with exit code %d", c.Name, exit.ExitCode())
	case err != nil:
		return nil, fmt.Errorf("the plugin %s cannot be run: %w", c.Name, err)
	}
	return out.text.Bytes(), nil
}

// maxOutput returns how many bytes a plugin may print. Without a limit on the memory, it is that of an answer of the network.
func (p pluginRunner) maxOutput() int64 {
	if most := p.limits.maxAnswer(); most > 0 {
		return most
	}
	return fetch.LargestAnswer
}

// show prints the messages of a plugin, each line with its name.
func (p pluginRunner) show(name string, messages *head) {
	text := strings.TrimSpace(messages.text.String())
	if text == "" {
		return
	}
	if messages.truncated {
		text += "\n…"
	}
	for line := range strings.Lines(p.streams.known.Scrub(text)) {
		p.streams.print(name+": ", strings.TrimRight(line, "\r\n"))
	}
}

// valuesOfLines returns what stands on the lines of a values file, without parsing it: only a child reads the text of a plugin as YAML.
func valuesOfLines(text []byte) (out []any) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, value, found := strings.Cut(line, ": "); found {
			line = value
		}
		out = append(out, strings.Trim(line, `"'- []{},`))
	}
	return out
}
