package cli

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file holds the flags about what a controller deploys, such as Flux: where its objects and its charts come from.

// ControllerOptions are these flags.
type ControllerOptions struct {
	// WithCredentials uses the credentials of the sources in the cluster.
	WithCredentials bool
	// Next asks about all objects that a controller deploys releases from.
	Next bool
	// From is the folder of a working tree, or "-", and Sources are folders with the content of sources.
	From    string
	Sources []string
	// Sops decrypts with the user's sops, RemoteBases fetches bases that the tree names, and SecretLookups lets its charts look up Secrets.
	Sops, RemoteBases, SecretLookups bool
	// Changed is the commit before a change. If it is set, only what differs from it is compared.
	Changed string
}

// AddFlags adds the flags of diff.
func (o *ControllerOptions) AddFlags(fs *pflag.FlagSet) {
	o.addSourceFlags(fs, "with hr/NAME or --next",
		"compare what Flux and Argo CD do once this `folder` of a working tree of Git is merged; - for the output of kustomize build")
	fs.BoolVar(&o.Next, "next", false,
		"compare what Flux and Argo CD do next with all HelmReleases and Applications of the namespace, or with -A of the cluster; "+
			"--helmfile and --plan add what they have")
	fs.BoolVar(&o.SecretLookups, "allow-secret-lookups", false, "with --from, let charts look up Secrets of the cluster")
	fs.StringVar(&o.Changed, "only-changed", "",
		"with --from, compare only the HelmReleases whose inputs differ from those of this `commit`, such as origin/main")
}

// AddKeepFlags adds the flags of absorb.
func (o *ControllerOptions) AddKeepFlags(fs *pflag.FlagSet) {
	o.addSourceFlags(fs, "with hr/NAME",
		"with hr/NAME or app/NAME, change the values in this `folder` of a working tree of Git, which Flux or Argo CD deploys")
}

// addSourceFlags adds the flags that say where charts and objects come from.
func (o *ControllerOptions) addSourceFlags(fs *pflag.FlagSet, with, from string) {
	fs.BoolVar(&o.WithCredentials, "with-source-credentials", false,
		with+", fetch charts with the Secrets that their sources in the cluster name")
	fs.StringVar(&o.From, "from", "", from)
	fs.StringArrayVar(&o.Sources, "local-source", nil,
		"with --from, the folder that has the content of a source, as `KIND/NAMESPACE/NAME=FOLDER`; may be repeated")
	fs.BoolVar(&o.Sops, "sops", false, "with --from, decrypt with your sops what the tree has encrypted; the text stays in memory")
	fs.BoolVar(&o.RemoteBases, "allow-remote-bases", false,
		"fetch the bases of kustomize that a tree or the source of an Application names on other servers")
}

// CheckAll refuses flags that contradict each other if they ask about all objects, and returns the flag that asks for that. It is empty if
// none does.
func (o *ControllerOptions) CheckAll(flags *pflag.FlagSet) (flag string, err error) {
	switch {
	case o.From != "" && o.Next:
		return "", hint.New(errors.New("--from and --next exclude each other"), "--from is about a working tree, --next about the cluster")
	case o.From != "":
		return "--from", nil
	case o.Next:
		ofTree := *o
		ofTree.RemoteBases = false // the Applications of a cluster name some, too
		if err := ofTree.CheckTree(flags); err != nil {
			return "", err
		}
		return "--next", nil
	}
	return "", o.CheckTree(flags)
}

// CheckTree refuses flags about a working tree without one.
func (o *ControllerOptions) CheckTree(flags *pflag.FlagSet) error {
	if o.From == "" && flags.Changed("from") { // such as an empty variable of a pipeline
		return hint.New(errors.New("--from names no folder"), "it is a folder of a working tree of Git")
	}
	if o.From == "" && (len(o.Sources) > 0 || o.Changed != "" || o.Sops || o.RemoteBases || o.SecretLookups) {
		return errors.New("--local-source, --only-changed, --sops, --allow-remote-bases and --allow-secret-lookups need --from")
	}
	return nil
}
