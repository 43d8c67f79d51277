package helmfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file reads the arguments of helm diff upgrade and of helm upgrade as helmfile gives them.

// arguments are those that decide what the upgrade does.
type arguments struct {
	name, chart, namespace, context string
	values                          render.ValueOptions
	reset, reuse, resetThenReuse    bool
	source                          fetch.Options
	serverSide                      string
	force, forceConflicts           bool
	takeOwnership, noHooks          bool
	skipCRDs, createNamespace       bool
	enableDNS, skipSchema           bool
	postRenderer                    string
	postRendererArgs                []string
	dependencyUpdate                bool
	atomic                          bool
	recreatePods                    bool
}

// flags returns the flags. Those that decide nothing about an upgrade are known too, and every other flag is an error.
func (a *arguments) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("helm", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.StringVarP(&a.namespace, "namespace", "n", "", "")
	fs.StringVar(&a.context, "kube-context", "", "")

	fs.StringSliceVarP(&a.values.Files, "values", "f", nil, "")
	fs.StringArrayVar(&a.values.Set, "set", nil, "")
	fs.StringArrayVar(&a.values.SetString, "set-string", nil, "")
	fs.StringArrayVar(&a.values.JSON, "set-json", nil, "")
	fs.StringArrayVar(&a.values.SetFile, "set-file", nil, "")
	fs.StringArrayVar(&a.values.Literal, "set-literal", nil, "")
	fs.BoolVar(&a.reset, "reset-values", false, "")
	fs.BoolVar(&a.reuse, "reuse-values", false, "")
	fs.BoolVar(&a.resetThenReuse, "reset-then-reuse-values", false, "")

	fs.StringVar(&a.source.Version, "version", "", "")
	fs.BoolVar(&a.source.Devel, "devel", false, "")
	fs.StringVar(&a.source.RepoURL, "repo", "", "")
	fs.StringVar(&a.source.Username, "username", "", "")
	fs.StringVar(&a.source.Password, "password", "", "")
	fs.StringVar(&a.source.CertFile, "cert-file", "", "")
	fs.StringVar(&a.source.KeyFile, "key-file", "", "")
	fs.StringVar(&a.source.CAFile, "ca-file", "", "")
	fs.BoolVar(&a.source.InsecureSkipTLSVerify, "insecure-skip-tls-verify", false, "")
	fs.BoolVar(&a.source.PlainHTTP, "plain-http", false, "")
	fs.BoolVar(&a.source.PassCredentials, "pass-credentials", false, "")
	fs.BoolVar(&a.source.Verify, "verify", false, "")
	fs.StringVar(&a.source.Keyring, "keyring", "", "")
	fs.StringVar(&a.source.RegistryConfig, "registry-config", "", "")
	fs.StringVar(&a.source.RepositoryConfig, "repository-config", "", "")
	fs.StringVar(&a.source.RepositoryCache, "repository-cache", "", "")

	fs.StringVar(&a.serverSide, "server-side", "", "")
	fs.BoolVar(&a.force, "force", false, "")
	fs.BoolVar(&a.force, "force-replace", false, "")
	fs.BoolVar(&a.forceConflicts, "force-conflicts", false, "")
	fs.BoolVar(&a.takeOwnership, "take-ownership", false, "")
	fs.BoolVar(&a.noHooks, "no-hooks", false, "")
	fs.BoolVar(&a.skipCRDs, "skip-crds", false, "")
	fs.BoolVar(&a.createNamespace, "create-namespace", false, "")
	fs.BoolVar(&a.enableDNS, "enable-dns", false, "")
	fs.BoolVar(&a.skipSchema, "skip-schema-validation", false, "")
	fs.StringVar(&a.postRenderer, "post-renderer", "", "")
	fs.StringArrayVar(&a.postRendererArgs, "post-renderer-args", nil, "")
	fs.BoolVar(&a.dependencyUpdate, "dependency-update", false, "")
	fs.BoolVar(&a.atomic, "atomic", false, "")
	fs.BoolVar(&a.atomic, "rollback-on-failure", false, "")
	fs.BoolVar(&a.recreatePods, "recreate-pods", false, "")

	for _, name := range []string{
		// of helm-diff: how it prints, and what its own rendering sees
		"allow-unreleased", "detailed-exitcode", "color", "no-color", "show-secrets", "show-secrets-decoded", "suppress-secrets",
		"include-tests", "include-crds", "strip-trailing-cr", "normalize-manifests", "three-way-merge", "disable-validation",
		// of helmdrift in the place of helm-diff
		"quiet", "verbose", "show-ignored", "show-controllers",
		// of both
		"disable-openapi-validation", "debug",
		// of helm upgrade: when it ends, and what it says
		"install", "wait-for-jobs", "cleanup-on-fail", "hide-notes", "render-subchart-notes", "hide-secret",
	} {
		fs.Bool(name, false, "")
	}
	for _, name := range []string{"dry-run", "wait"} {
		fs.String(name, "", "")
		fs.Lookup(name).NoOptDefVal = "true"
	}
	for _, name := range []string{
		"output", "find-renames", "kube-version", "timeout", "history-max", "description", "labels", "burst-limit", "qps",
	} {
		fs.String(name, "", "")
	}
	fs.StringP("context", "C", "", "")
	fs.StringArrayP("api-versions", "a", nil, "")
	for _, name := range []string{"suppress", "fail-on", "ignore", "config", "only", "skip", "baseline", "report"} {
		fs.StringArray(name, nil, "")
	}
	fs.StringArray("suppress-output-line-regex", nil, "")
	return fs
}

// parse reads the arguments of a recorded call, and those that helmfile gives only to helm upgrade.
func parse(call Call, onlyUpgrade ...string) (*arguments, error) {
	a := &arguments{}
	fs := a.flags()
	if err := fs.Parse(call.Args); err != nil {
		return nil, flagError(err)
	}
	rest := fs.Args()
	if len(rest) != 4 || rest[0] != "diff" || rest[1] != "upgrade" || rest[2] == "" || rest[3] == "" {
		return nil, errors.New("helmfile calls helm diff upgrade with something else than a release and a chart")
	}
	a.name, a.chart = rest[2], rest[3]
	// helm upgrade does not get these from here: they are of diffArgs, for helm-diff or for helmdrift in its place.
	a.noHooks, a.force, a.forceConflicts, a.skipCRDs, a.createNamespace, a.atomic = false, false, false, false, false, false
	own := a.values
	if err := fs.Parse(onlyUpgrade); err != nil {
		return nil, flagError(err)
	}
	if len(fs.Args()) > 0 {
		return nil, errors.New("syncArgs of the helmfile has a word that is no flag")
	}
	// helm upgrade gets the values of syncArgs before those of the release (helmfile v1.8.0 pkg/state/state.go flagsForUpgrade).
	for i, list := range valueLists(&a.values) {
		before := *valueLists(&own)[i]
		*list = slices.Concat((*list)[len(before):], before)
	}
	return a, nil
}

// valueLists returns the lists of values of each kind.
func valueLists(v *render.ValueOptions) []*[]string {
	return []*[]string{&v.Files, &v.Set, &v.SetString, &v.JSON, &v.SetFile, &v.Literal}
}

// flagError returns the error of a flag. Errors about values quote them, and they may be secret.
func flagError(err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("helmfile gives helm the flag %s%s, and helmdrift does not know what an upgrade does with it",
			map[bool]string{true: "-", false: "--"}[unknown.GetSpecifiedShortnames() != ""], unknown.GetSpecifiedName())
	case errors.As(err, &invalid):
		return fmt.Errorf("helmfile gives the flag --%s of helm a value that it does not take", invalid.GetFlag().Name)
	}
	return errors.New("helmfile gives helm flags that cannot be read")
}

// files returns the names of the files that the arguments give values from.
func (a *arguments) files() []string {
	out := append([]string(nil), a.values.Files...)
	for _, set := range a.values.SetFile {
		if _, name, found := strings.Cut(set, "="); found {
			out = append(out, name)
		}
	}
	return out
}
