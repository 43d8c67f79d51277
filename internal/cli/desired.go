package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"
	"helm.sh/helm/v3/pkg/helmpath"
	"k8s.io/client-go/util/homedir"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file holds the flags that say what the release should become. Most of them are flags of helm upgrade, with Helm's names and
// meaning, so that users can copy the flags of an upgrade. This package passes them on unchanged: the values to pkg/render, the source of
// the chart to pkg/fetch, and how Helm writes to pkg/drift.

// DesiredOptions are the values of these flags. docs/desired.md describes what they do, and how helmdrift differs from Helm.
type DesiredOptions struct {
	// ToRevision predicts a rollback, and Install a first installation. Otherwise diff predicts an upgrade.
	ToRevision int
	Install    bool
	// helm is the version of Helm to predict, DryRun also asks the server, and serverSide says how Helm applies.
	helm       OneOf
	DryRun     dryRunWord
	serverSide OneOf
	// forceConflicts lets a server-side apply take over fields that others own.
	forceConflicts bool
	// forceReplace makes Helm replace objects instead of patching them. takeOwnership lets it adopt objects of somebody else.
	forceReplace, takeOwnership bool
	// noHooks predicts an operation without hooks. skipCRDs and createNamespace say how an installation begins.
	noHooks, skipCRDs, createNamespace bool

	// The fields below say where the chart comes from and what its templates see.
	Values                          render.ValueOptions
	reset, reuse, resetThenReuse    bool
	Source                          fetch.Options
	kubeVersion                     string
	apiVersions                     []string
	noLookup, enableDNS, skipSchema bool
	outsideLinks                    bool
	postRenderer                    string
	postRendererArgs                []string
	Limits                          Limits
}

// newDesiredOptions returns the defaults. The files and directories are those that Helm uses.
func newDesiredOptions(env func(string) string) DesiredOptions {
	return DesiredOptions{
		helm: OneOf{Words: []string{"3", "4"}}, DryRun: dryRunWord{OneOf{Words: []string{"server"}}},
		serverSide: OneOf{Words: []string{"auto", "true", "false"}, Word: "auto"}, Limits: newLimits(env),
		Source: fetch.Options{
			RepositoryConfig: cmp.Or(env("HELM_REPOSITORY_CONFIG"), helmpath.ConfigPath("repositories.yaml")),
			RepositoryCache:  cmp.Or(env("HELM_REPOSITORY_CACHE"), helmpath.CachePath("repository")),
			RegistryConfig:   cmp.Or(env("HELM_REGISTRY_CONFIG"), helmpath.ConfigPath("registry/config.json")),
			Plugins:          fetch.Plugins{Dirs: cmp.Or(env("HELM_PLUGINS"), helmpath.DataPath("plugins"))},
			Keyring:          filepath.Join(cmp.Or(env("GNUPGHOME"), filepath.Join(homedir.HomeDir(), ".gnupg")), "pubring.gpg"),
		},
	}
}

// dryRunWord is the value of --dry-run. helm-diff has other words for it, and one of them means the same.
type dryRunWord struct{ OneOf }

// Set takes "server". It accepts the words for no dry run, and refuses those for a dry run without a cluster.
func (d *dryRunWord) Set(word string) error {
	switch {
	case slices.Contains([]string{"none", "false"}, word):
		d.Word = ""
		return nil
	case slices.Contains([]string{"client", "true"}, word):
		return errors.New("must be server; without a cluster, --snapshot FILE compares a chart with a saved one")
	}
	return d.OneOf.Set(word)
}

// AddFlags adds the flags: what to predict, how Helm writes, values, where the chart comes from, and how it is rendered. DesiredGroups
// gives them their headings in the help.
func (o *DesiredOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.ToRevision, "to-revision", 0, "show what helm rollback to revision `N` would do; -1 is the one before the last")
	fs.BoolVar(&o.Install, "install", false, "if the release is not installed, show what helm upgrade --install would create")
	fs.Var(&o.helm, "helm-version", "predict Helm 3 or Helm 4 (default: the one that wrote the last revision)")
	fs.Var(&o.DryRun, "dry-run", "also let the API server try each write, as a dry run that stores nothing")

	fs.Var(&o.serverSide, "server-side", "whether Helm applies server-side; auto: as it did for the last revision")
	fs.BoolVar(&o.forceConflicts, "force-conflicts", false,
		"with server-side apply, overwrite fields of other field managers instead of failing")

	fs.BoolVar(&o.forceReplace, "force", false,
		"replace objects instead of patching them (Helm 4: --force-replace); not with server-side apply")
	fs.BoolVar(&o.forceReplace, "force-replace", false, "Helm 4's name for --force")
	HideFlags(fs, "force-replace")
	fs.BoolVar(&o.takeOwnership, "take-ownership", false, "adopt objects of CHART that already exist, whoever owns them")

	fs.BoolVar(&o.noHooks, "no-hooks", false, "predict an operation that runs no hooks")
	fs.BoolVar(&o.skipCRDs, "skip-crds", false, "with --install, predict that Helm does not create what the folder crds/ defines")
	fs.BoolVar(&o.createNamespace, "create-namespace", false, "with --install, predict that Helm creates the namespace of the release")

	fs.StringSliceVarP(&o.Values.Files, "values", "f", nil, "values `file` or URL for CHART; - for standard input; may be repeated")
	fs.StringArrayVar(&o.Values.Set, "set", nil, "set a `value` for CHART, such as a.b=c; may be repeated")
	fs.StringArrayVar(&o.Values.SetString, "set-string", nil, "like --set, but the `value` is a string")
	fs.StringArrayVar(&o.Values.JSON, "set-json", nil, "like --set, but the `value` is JSON: a.b={\"c\":1}")
	fs.StringArrayVar(&o.Values.SetFile, "set-file", nil, "like --set, but the `value` is the content of a file: a.b=path")
	fs.StringArrayVar(&o.Values.Literal, "set-literal", nil, "like --set, but the `value` is a string without escapes")
	fs.BoolVar(&o.reset, "reset-values", false, "start from the chart's values only")
	fs.BoolVar(&o.reuse, "reuse-values", false, "start from the release's values and the defaults of the chart it was installed with")
	fs.BoolVar(&o.resetThenReuse, "reset-then-reuse-values", false, "start from the chart's values, overridden by the release's values")

	fs.StringVar(&o.Source.Version, "version", "", "chart `version` or a constraint such as ^2.0.0 (default: the latest)")
	fs.BoolVar(&o.Source.Devel, "devel", false, "accept development versions too, as --version '>0.0.0-0' does")
	fs.StringVar(&o.Source.RepoURL, "repo", "", "`URL` of the chart repository that has CHART")
	fs.StringVar(&o.Source.Username, "username", "", "user `name` for the chart repository")
	fs.StringVar(&o.Source.Password, "password", "", "`password` for the chart repository")
	fs.StringVar(&o.Source.CertFile, "cert-file", "", "client certificate `file` for the chart repository")
	fs.StringVar(&o.Source.KeyFile, "key-file", "", "key `file` of the client certificate")
	fs.StringVar(&o.Source.CAFile, "ca-file", "", "certificate authority `file` for the chart repository")
	fs.BoolVar(&o.Source.InsecureSkipTLSVerify, "insecure-skip-tls-verify", false, "do not verify the certificate of the chart repository")
	fs.BoolVar(&o.Source.PlainHTTP, "plain-http", false, "use HTTP instead of HTTPS for the chart's registry")
	fs.BoolVar(&o.Source.PassCredentials, "pass-credentials", false, "send the credentials of the repository to other hosts too")
	fs.BoolVar(&o.Source.Verify, "verify", false, "verify the chart against its provenance file")
	fs.StringVar(&o.Source.Keyring, "keyring", o.Source.Keyring, "`file` with public keys for --verify (default: the keyring of GnuPG)")
	fs.StringVar(&o.Source.RepositoryConfig, "repository-config", o.Source.RepositoryConfig,
		"`file` with repository names and URLs (default: Helm's) [HELM_REPOSITORY_CONFIG]")
	fs.StringVar(&o.Source.RepositoryCache, "repository-cache", o.Source.RepositoryCache,
		"`directory` with repository indexes (default: Helm's) [HELM_REPOSITORY_CACHE]")
	fs.StringVar(&o.Source.RegistryConfig, "registry-config", o.Source.RegistryConfig,
		"`file` with registry logins (default: Helm's) [HELM_REGISTRY_CONFIG]")
	for _, name := range []string{"keyring", "repository-config", "repository-cache", "registry-config"} {
		hideDefault(fs.Lookup(name))
	}

	fs.BoolVar(&o.Source.Plugins.Forbidden, "no-plugins", false,
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
	o.Limits.AddFlags(fs)
}

// HideFlags hides flags in the help of a command. The command can refuse a hidden flag with a reason; the error for an
// unknown flag has none.
func HideFlags(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = fs.MarkHidden(name)
	}
}

// ChartFlags returns the flags that have no effect without a chart. --skip-crds is not among them, because scripts of helm-drift use
// it without a chart.
func ChartFlags() []string {
	return []string{
		"values", "set", "set-string", "set-json", "set-file", "set-literal", "reset-values", "reuse-values", "reset-then-reuse-values",
		"version", "devel", "repo", "username", "password", "cert-file", "key-file", "ca-file", "insecure-skip-tls-verify", "plain-http",
		"pass-credentials", "verify", "keyring", "no-plugins", "no-lookup", "kube-version", "api-versions", "enable-dns",
		"skip-schema-validation", "allow-outside-links", "post-renderer", "post-renderer-args", "install", "create-namespace", "take-ownership",
	}
}

// Check refuses flags that contradict each other or would have no effect. A flag without effect is an error because the user expects one:
// --set without a chart would look like a preview, but is not.
func (o *DesiredOptions) Check(flags *pflag.FlagSet, hasChart bool) error {
	switch {
	case o.ToRevision != 0 && hasChart:
		return errors.New("--to-revision and CHART exclude each other: each of them is a desired state")
	case o.ToRevision != 0 && flags.Changed("revision"):
		return hint.New(errors.New("--to-revision and --revision exclude each other"),
			"helm rollback always starts from the last revision")
	case flags.Changed("to-revision") && o.ToRevision == 0:
		return errors.New("--to-revision 0: revisions begin at 1; -1 is the one before the last")
	}
	for _, name := range ChartFlags() {
		if !hasChart && flags.Changed(name) {
			return hint.New(fmt.Errorf("--%s needs a CHART", name), "without CHART, diff compares with the stored manifest")
		}
	}
	if o.helm.Word == "3" && (o.serverSide.Word == "true" || o.forceConflicts) {
		return errors.New("--server-side=true and --force-conflicts need Helm 4, and --helm-version is 3")
	}
	if o.forceReplace && o.forceConflicts {
		return errors.New("--force and --force-conflicts exclude each other: replacing an object causes no conflicts")
	}
	if o.forceReplace && o.serverSide.Word == "true" && !o.Install {
		return errReplaceServerSide()
	}
	if o.Install && flags.Changed("revision") {
		return errors.New("--install and --revision exclude each other")
	}
	return nil
}

// errReplaceServerSide returns the error of --force if Helm applies server-side (helm v4.3.1 pkg/kube/client.go Update).
func errReplaceServerSide() error {
	return hint.New(errors.New("--force cannot be used with server-side apply; Helm 4 refuses it too"),
		"--server-side=false shows what replacing would do; the similar flag for server-side apply is --force-conflicts")
}

// valueOptions returns the values, and the policy for reusing those of the release. If several policies are given, the order is
// Helm's (helm v3.22.0 pkg/action/upgrade.go reuseValues).
func (o *DesiredOptions) valueOptions() render.ValueOptions {
	values := o.Values
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
