package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file makes the chart of a comparison from the flags: how it is fetched, with which values it is rendered, and which programs of the
// user change it.

// Chart returns the chart that ref names, with what the flags say about its values and what its templates see.
func (o *CompareOptions) Chart(ref string) *drift.Chart {
	o.Source.Plugins.Run = o.plugins().Run
	out := &drift.Chart{
		Ref: ref, Values: o.valueOptions(), Install: o.Install, SkipCRDs: o.skipCRDs,
		CreateNamespace: o.createNamespace, KubeVersion: o.kubeVersion, APIVersions: o.apiVersions, NoLookup: o.noLookup, EnableDNS: o.enableDNS,
		SkipSchemaValidation: o.skipSchema, AllowOutsideLinks: o.outsideLinks,
		ReadFile: func(ctx context.Context, name string) ([]byte, error) {
			return fetch.ReadFile(ctx, name, o.streams.In, o.Source.Plugins)
		},
		Fetch: func(ctx context.Context) (path string, done func(), err error) {
			return o.Jobs().FetchChart(ctx, ref, o.Source)
		},
	}
	if o.Source.RepoURL != "" && fetch.IsLocal(ref) {
		out.Warnings = append(out.Warnings, report.Message{Code: "local-chart",
			Message: "a local chart has this name and is used instead of the one in the repository, as helm does"})
	}
	// The user chose the post-renderer and the values files, so this process, which has the terminal, reads and runs them.
	if o.postRenderer != "" {
		out.PostRender = program.PostRenderer{Command: o.postRenderer, Args: o.postRendererArgs, MaxOutput: o.Jobs().MaxAnswer()}.Run
	}
	return out
}

// CheckFiles returns the error of a chart, a values file or a file of --set-file that is certainly not there, as far as this machine knows.
// A command calls it before it asks a cluster: a typing error has nothing to do with one. It opens no file, because some can be read only
// once.
func (o *CompareOptions) CheckFiles(ctx context.Context, chart string) error {
	ofSetFile, err := o.Values.SetFileNames()
	if err != nil {
		return err
	}
	for _, name := range o.Values.Files {
		if isMissing(name) {
			return hint.New(fmt.Errorf("values file %s: no such file", name), "--values takes a path or a URL, or - for standard input")
		}
	}
	for _, name := range ofSetFile {
		if isMissing(name) {
			return hint.New(fmt.Errorf("--set-file: %s: no such file", name), "--set-file takes key=path, and the value is the content of that file")
		}
	}
	switch info, err := os.Stat(strings.TrimSpace(chart)); {
	case err == nil && info.IsDir() && !o.TakesFolders:
		if _, err := os.Stat(filepath.Join(strings.TrimSpace(chart), "Chart.yaml")); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is not a chart: the folder has no Chart.yaml", chart)
		}
		return nil
	case err == nil || o.Source.RepoURL != "" || strings.Contains(chart, "://"):
		return nil
	}
	// What is left is a path that does not exist, or REPO/CHART. The search ends where it would read the index of a known repository.
	isKnown, source := false, o.Source
	source.ReadIndex = func(context.Context, fetch.IndexQuery) (fetch.IndexAnswer, error) {
		isKnown = true
		return fetch.IndexAnswer{}, errors.New("the chart may be there")
	}
	_, done, err := fetch.Chart(ctx, chart, source)
	done()
	if isKnown {
		return nil
	}
	return err
}

// isMissing reports whether the name of a values file is a path of this machine and nothing is there.
func isMissing(name string) bool {
	if strings.TrimSpace(name) == "-" || strings.Contains(name, "://") {
		return false
	}
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// plugins returns the runner of plugins. Without a memory limit, the limit for an answer of the network bounds their output.
func (o *CompareOptions) plugins() program.Plugins {
	return program.Plugins{Env: o.pluginEnv(), Time: o.Limits.time, MaxOutput: cmp.Or(o.Jobs().MaxAnswer(), fetch.LargestAnswer),
		Known: o.streams.Known, Show: o.streams.Print}
}

// pluginEnv returns the variables that Helm sets for plugins. The environment may lack them, because flags chose their values (helm
// v3.22.0 pkg/cli/environment.go EnvVars). It does not set HELM_BIN: plugins run it, and helmdrift is not helm.
func (o *CompareOptions) pluginEnv() (out []string) {
	c := o.connection
	vars := map[string]string{
		"HELM_DEBUG": strconv.FormatBool(c.Debug), "HELM_NAMESPACE": c.Namespace, "HELM_KUBECONTEXT": c.Context, "KUBECONFIG": c.File,
		"HELM_PLUGINS": o.Source.Plugins.Dirs, "HELM_REGISTRY_CONFIG": o.Source.RegistryConfig,
		"HELM_REPOSITORY_CONFIG": o.Source.RepositoryConfig, "HELM_REPOSITORY_CACHE": o.Source.RepositoryCache,
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if vars[name] != "" {
			out = append(out, name+"="+vars[name])
		}
	}
	return out
}
