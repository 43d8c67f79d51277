package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// This file says what a downloader plugin of Helm is run with.

// plugins returns what runs plugins. Without a limit on the memory, that on their output is that of an answer of the network.
func (o *desiredOptions) plugins() program.Plugins {
	return program.Plugins{Env: o.pluginEnv(), Time: o.limits.time, MaxOutput: cmp.Or(o.limits.jobs(false).MaxAnswer(), fetch.LargestAnswer),
		Known: o.streams.known, Show: o.streams.print}
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
