package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"
	"helm.sh/helm/v3/pkg/helmpath"
	"k8s.io/client-go/util/homedir"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file holds the flags that say what the release is to become. Most of them are those of helm upgrade, with Helm's names and meaning,
// so that the flags of an upgrade can be copied. They are passed on as they are: the values to pkg/render, the source of the chart to
// pkg/fetch, and how Helm writes to pkg/drift.

// desiredOptions are the values of these flags. docs/desired.md describes what they do, and in what helmdrift differs from Helm.
type desiredOptions struct {
	// toRevision predicts a rollback and install a first installation; otherwise an upgrade is predicted.
	toRevision int
	install    bool
	// helm is the Helm that is predicted, dryRun asks the server as well, and serverSide says how Helm applies.
	helm       oneOf
	dryRun     dryRunWord
	serverSide oneOf
	// forceConflicts lets a server-side apply take over fields that others own.
	forceConflicts bool
	// forceReplace lets Helm replace objects instead of patching them; takeOwnership lets it adopt objects of somebody else.
	forceReplace, takeOwnership bool
	// noHooks predicts an operation without hooks. skipCRDs and createNamespace say how an installation begins.
	noHooks, skipCRDs, createNamespace bool

	// The fields below say where the chart comes from and what its templates see.
	values                          render.ValueOptions
	reset, reuse, resetThenReuse    bool
	source                          fetch.Options
	kubeVersion                     string
	apiVersions                     []string
	noLookup, enableDNS, skipSchema bool
	outsideLinks                    bool
	postRenderer                    string
	postRendererArgs                []string
	limits                          limits
	// streams has what "--values -" reads, and where the messages of plugins go. connection is the cluster that plugins are told about.
	streams    streams
	connection *connection
}

// newDesiredOptions returns the defaults. The files and directories are those that Helm uses.
func newDesiredOptions(s streams, c *connection) desiredOptions {
	return desiredOptions{
		helm: oneOf{words: []string{"3", "4"}}, dryRun: dryRunWord{oneOf{words: []string{"server"}}},
		serverSide: oneOf{words: []string{"auto", "true", "false"}, word: "auto"}, streams: s, connection: c,
		limits: newLimits(s),
		source: fetch.Options{
			RepositoryConfig: orDefault(s.env("HELM_REPOSITORY_CONFIG"), helmpath.ConfigPath("repositories.yaml")),
			RepositoryCache:  orDefault(s.env("HELM_REPOSITORY_CACHE"), helmpath.CachePath("repository")),
			RegistryConfig:   orDefault(s.env("HELM_REGISTRY_CONFIG"), helmpath.ConfigPath("registry/config.json")),
			Plugins:          fetch.Plugins{Dirs: orDefault(s.env("HELM_PLUGINS"), helmpath.DataPath("plugins"))},
			Keyring:          filepath.Join(orDefault(s.env("GNUPGHOME"), filepath.Join(homedir.HomeDir(), ".gnupg")), "pubring.gpg"),
		},
	}
}

// orDefault returns value, or another one if it is empty.
func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// addFlags adds the flags: what is predicted, how Helm writes, values, where the chart comes from, and how it is rendered. desiredGroups
// gives them their headings in the help.
func (o *desiredOptions) addFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.toRevision, "to-revision", 0, "show what helm rollback to revision `N` would do; -1 is the one before the last")
	fs.BoolVar(&o.install, "install", false, "if the release is not installed, show what helm upgrade --install would create")
	fs.Var(&o.helm, "helm-version", "predict Helm 3 or Helm 4 (default: the one that wrote the last revision)")
	fs.Var(&o.dryRun, "dry-run", "also let the API server try each write, as a dry run that stores nothing")

	fs.Var(&o.serverSide, "server-side", "whether Helm applies server-side; auto: as it did for the last revision")
	fs.BoolVar(&o.forceConflicts, "force-conflicts", false,
		"with server-side apply, overwrite fields of other field managers instead of failing")

	fs.BoolVar(&o.forceReplace, "force", false,
		"replace objects instead of patching them (Helm 4: --force-replace); not with server-side apply")
	fs.BoolVar(&o.forceReplace, "force-replace", false, "Helm 4's name for --force")
	hideFlags(fs, "force-replace")
	fs.BoolVar(&o.takeOwnership, "take-ownership", false, "adopt objects of CHART that already exist, whoever owns them")

	fs.BoolVar(&o.noHooks, "no-hooks", false, "predict an operation that runs no hooks")
	fs.BoolVar(&o.skipCRDs, "skip-crds", false, "with --install, predict that Helm does not create what the folder crds/ defines")
	fs.BoolVar(&o.createNamespace, "create-namespace", false, "with --install, predict that Helm creates the namespace of the release")

	fs.StringSliceVarP(&o.values.Files, "values", "f", nil, "values `file` or URL for CHART; - for standard input; may be repeated")
	fs.StringArrayVar(&o.values.Set, "set", nil, "set a `value` for CHART, such as a.b=c; may be repeated")
	fs.StringArrayVar(&o.values.SetString, "set-string", nil, "like --set, but the `value` is a string")
	fs.StringArrayVar(&o.values.JSON, "set-json", nil, "like --set, but the `value` is JSON: a.b={\"c\":1}")
	fs.StringArrayVar(&o.values.SetFile, "set-file", nil, "like --set, but the `value` is the content of a file: a.b=path")
	fs.StringArrayVar(&o.values.Literal, "set-literal", nil, "like --set, but the `value` is a string without escapes")
	fs.BoolVar(&o.reset, "reset-values", false, "start from the chart's values only")
	fs.BoolVar(&o.reuse, "reuse-values", false, "start from the release's values and the defaults of the chart it was installed with")
	fs.BoolVar(&o.resetThenReuse, "reset-then-reuse-values", false, "start from the chart's values, overridden by the release's values")

	fs.StringVar(&o.source.Version, "version", "", "chart `version` or a constraint such as ^2.0.0 (default: the latest)")
	fs.BoolVar(&o.source.Devel, "devel", false, "accept development versions too, as --version '>0.0.0-0' does")
	fs.StringVar(&o.source.RepoURL, "repo", "", "`URL` of the chart repository that has CHART")
	fs.StringVar(&o.source.Username, "username", "", "user `name` for the chart repository")
	fs.StringVar(&o.source.Password, "password", "", "`password` for the chart repository")
	fs.StringVar(&o.source.CertFile, "cert-file", "", "client certificate `file` for the chart repository")
	fs.StringVar(&o.source.KeyFile, "key-file", "", "key `file` of the client certificate")
	fs.StringVar(&o.source.CAFile, "ca-file", "", "certificate authority `file` for the chart repository")
	fs.BoolVar(&o.source.InsecureSkipTLSVerify, "insecure-skip-tls-verify", false, "do not verify the certificate of the chart repository")
	fs.BoolVar(&o.source.PlainHTTP, "plain-http", false, "use HTTP instead of HTTPS for the chart's registry")
	fs.BoolVar(&o.source.PassCredentials, "pass-credentials", false, "send the credentials of the repository to other hosts too")
	fs.BoolVar(&o.source.Verify, "verify", false, "verify the chart against its provenance file")
	fs.StringVar(&o.source.Keyring, "keyring", o.source.Keyring, "`file` with public keys for --verify (default: the keyring of GnuPG)")
	fs.StringVar(&o.source.RepositoryConfig, "repository-config", o.source.RepositoryConfig,
		"`file` with repository names and URLs (default: Helm's) [HELM_REPOSITORY_CONFIG]")
	fs.StringVar(&o.source.RepositoryCache, "repository-cache", o.source.RepositoryCache,
		"`directory` with repository indexes (default: Helm's) [HELM_REPOSITORY_CACHE]")
	fs.StringVar(&o.source.RegistryConfig, "registry-config", o.source.RegistryConfig,
		"`file` with registry logins (default: Helm's) [HELM_REGISTRY_CONFIG]")
	for _, name := range []string{"keyring", "repository-config", "repository-cache", "registry-config"} {
		hideDefault(fs.Lookup(name))
	}

	fs.BoolVar(&o.source.Plugins.Forbidden, "no-plugins", false,
		"run no downloader plugins of Helm for CHART and values files, such as secrets:// [HELM_PLUGINS]")

	fs.BoolVar(&o.noLookup, "no-lookup", false, "let lookup calls in templates find nothing instead of reading the cluster")
	fs.StringVar(&o.kubeVersion, "kube-version", "", "Kubernetes `version` that templates see (default: the cluster's)")
	fs.StringSliceVarP(&o.apiVersions, "api-versions", "a", nil,
		"API `version` that templates see in addition to the cluster's; may be repeated")
	fs.BoolVar(&o.enableDNS, "enable-dns", false, "let templates resolve host names")
	fs.BoolVar(&o.skipSchema, "skip-schema-validation", false, "do not validate values against the chart's schema")
	fs.BoolVar(&o.outsideLinks, "allow-outside-links", false,
		"follow symbolic links of CHART and of values files that lead out of the Git working tree that they are in")
	fs.StringVar(&o.postRenderer, "post-renderer", "", "`program` that changes the rendered manifest, as for helm upgrade")
	fs.StringArrayVar(&o.postRendererArgs, "post-renderer-args", nil, "`argument` for the post-renderer; may be repeated")
	o.limits.addFlags(fs)
}

// hideFlags removes flags from the help of a command. A command that refuses them can say why, which an unknown flag cannot.
func hideFlags(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = fs.MarkHidden(name)
	}
}

// chartFlags returns the flags that have no effect without a chart. --skip-crds is none of them because scripts of helm-drift give it
// without one.
func chartFlags() []string {
	return []string{
		"values", "set", "set-string", "set-json", "set-file", "set-literal", "reset-values", "reuse-values", "reset-then-reuse-values",
		"version", "devel", "repo", "username", "password", "cert-file", "key-file", "ca-file", "insecure-skip-tls-verify", "plain-http",
		"pass-credentials", "verify", "keyring", "no-plugins", "no-lookup", "kube-version", "api-versions", "enable-dns", "skip-schema-validation",
		"allow-outside-links",
		"post-renderer", "post-renderer-args", "install", "create-namespace", "take-ownership",
	}
}

// check refuses flags that contradict each other or would have no effect. A flag without effect is an error because whoever gave it expects
// one: --set without a chart would look like a preview and be none.
func (o *desiredOptions) check(flags *pflag.FlagSet, hasChart bool) error {
	switch {
	case o.toRevision != 0 && hasChart:
		return errors.New("--to-revision and CHART exclude each other: each of them is a desired state")
	case o.toRevision != 0 && flags.Changed("revision"):
		return hint.New(errors.New("--to-revision and --revision exclude each other"),
			"helm rollback always starts from the last revision")
	case flags.Changed("to-revision") && o.toRevision == 0:
		return errors.New("--to-revision 0: revisions begin at 1; -1 is the one before the last")
	}
	for _, name := range chartFlags() {
		if !hasChart && flags.Changed(name) {
			return hint.New(fmt.Errorf("--%s needs a CHART", name), "without CHART, diff compares with the stored manifest")
		}
	}
	if o.helm.word == "3" && (o.serverSide.word == "true" || o.forceConflicts) {
		return errors.New("--server-side=true and --force-conflicts need Helm 4, and --helm-version is 3")
	}
	if o.forceReplace && o.forceConflicts {
		return errors.New("--force and --force-conflicts exclude each other: replacing an object causes no conflicts")
	}
	if o.forceReplace && o.serverSide.word == "true" && !o.install {
		return errReplaceServerSide()
	}
	if o.install && flags.Changed("revision") {
		return errors.New("--install and --revision exclude each other")
	}
	return nil
}

// errReplaceServerSide returns the error of --force if Helm applies server-side (helm v4.3.1 pkg/kube/client.go Update).
func errReplaceServerSide() error {
	return hint.New(errors.New("--force cannot be used with server-side apply; Helm 4 refuses it too"),
		"--server-side=false shows what replacing would do; the similar flag for server-side apply is --force-conflicts")
}

// options returns the options of a comparison that these flags set.
func (o *desiredOptions) options() drift.Options {
	out := drift.Options{
		Helm: o.helm.word, ForceConflicts: o.forceConflicts, ForceReplace: o.forceReplace, TakeOwnership: o.takeOwnership,
		NoHooks: o.noHooks, DryRun: o.dryRun.word != "",
	}
	// A nil ServerSide means auto.
	if word := o.serverSide.word; word != "auto" {
		serverSide := word == "true"
		out.ServerSide = &serverSide
	}
	return out
}

// chart returns the chart that ref names, with what the flags say about its values and about what its templates see.
func (o *desiredOptions) chart(ref string) *drift.Chart {
	o.source.Plugins.Run = o.plugins().Run
	out := &drift.Chart{
		Ref: ref, Source: o.source, Values: o.valueOptions(), Install: o.install, SkipCRDs: o.skipCRDs,
		CreateNamespace: o.createNamespace, KubeVersion: o.kubeVersion, APIVersions: o.apiVersions, NoLookup: o.noLookup, EnableDNS: o.enableDNS,
		SkipSchemaValidation: o.skipSchema, AllowOutsideLinks: o.outsideLinks,
		ReadFile: func(ctx context.Context, name string) ([]byte, error) {
			return fetch.ReadFile(ctx, name, o.streams.in, o.source.Plugins)
		},
	}
	// The post-renderer and the values files are the user's own: they are read and run in this process, which has the terminal.
	if o.postRenderer != "" {
		out.PostRender = program.PostRenderer{Command: o.postRenderer, Args: o.postRendererArgs, MaxOutput: o.limits.jobs(false).MaxAnswer()}.Run
	}
	return out
}

// valueOptions returns the values with the policy for those of the release. If several policies are given, the order is Helm's (helm
// v3.22.0 pkg/action/upgrade.go reuseValues).
func (o *desiredOptions) valueOptions() render.ValueOptions {
	values := o.values
	switch {
	case o.reset:
		values.Reuse = render.ReuseReset
	case o.reuse:
		values.Reuse = render.ReuseValues
	case o.resetThenReuse:
		values.Reuse = render.ReuseAfterReset
	}
	return values
}
