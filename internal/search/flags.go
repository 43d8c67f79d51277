package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/fleet"
)

// This file holds the flags that select releases. The names are as in helm list and kubectl. Without any of them, and without the name of
// a release, the releases of the namespace are selected.

// Flags are the values of these flags.
type Flags struct {
	allNamespaces bool
	labels        []string
	names         cli.NameFilter
	statuses      []string
	shard         string
	contexts      []string
	allContexts   bool
	// Concurrency is how many releases of a cluster are read at the same time.
	Concurrency int
}

// AddFlags adds the flags.
func (o *Flags) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "releases of all namespaces")
	fs.StringArrayVarP(&o.labels, "selector", "l", nil, "releases whose last record has these `labels`, such as team=web")
	o.names.AddFlags(fs)
	fs.StringSliceVar(&o.statuses, "status", nil, "releases whose last revision has one of these `statuses` (default: all but uninstalled)")
	fs.StringSliceVar(&o.contexts, "contexts", nil, "the clusters of these kubeconfig `contexts`")
	fs.BoolVar(&o.allContexts, "all-contexts", false, "the clusters of all contexts of the kubeconfig")
	fs.StringVar(&o.shard, "shard", "", "only part `i/n` of the releases, where i counts from 0; auto: as the environment of the job says")
	fs.IntVar(&o.Concurrency, "concurrency", fleet.DefaultConcurrency, "how many releases of a cluster are read at the same time")
}

// FlagNames returns the names of the flags of AddFlags.
func FlagNames() []string { return cli.NamesOf((&Flags{}).AddFlags) }

// IsSet reports whether a flag asks for a selection.
func (o *Flags) IsSet(flags *pflag.FlagSet) bool {
	return slices.ContainsFunc(FlagNames(), func(name string) bool { return name != "concurrency" && flags.Changed(name) })
}

// statusWords returns the statuses that Helm gives a revision (helm v3.22.0 pkg/release/status.go).
func statusWords() []string {
	return []string{
		"deployed", "failed", "pending-install", "pending-upgrade", "pending-rollback", "superseded", "uninstalling", "uninstalled",
		"unknown",
	}
}

// Check refuses values that make no sense.
func (o *Flags) Check(flags *pflag.FlagSet) error {
	switch {
	case o.Concurrency < 1:
		return fmt.Errorf("--concurrency %d: at least one release must be compared at a time", o.Concurrency)
	case slices.ContainsFunc(o.statuses, func(word string) bool { return !slices.Contains(statusWords(), word) }):
		return fmt.Errorf("--status %s: Helm's statuses are %s", strings.Join(o.statuses, ","), strings.Join(statusWords(), ", "))
	case o.allContexts && len(o.contexts) > 0:
		return errors.New("--contexts and --all-contexts exclude each other")
	}
	for _, name := range []string{"kube-context", "context"} {
		if (o.allContexts || len(o.contexts) > 0) && flags.Changed(name) {
			return fmt.Errorf("--%s cannot be used with several contexts", name)
		}
	}
	return nil
}

// selection returns what the flags and the names select. The namespace is the one to search unless all are searched.
func (o *Flags) selection(names []string, namespace string, env func(string) string) (out fleet.Selection, err error) {
	out = fleet.Selection{Namespace: namespace, Fallback: namespace, Names: names, Statuses: o.statuses}
	if slices.Contains(names, "") {
		return out, cli.EmptyNameError()
	}
	if o.allNamespaces {
		out.Namespace = ""
	}
	switch len(o.labels) {
	case 0:
	case 1:
		if out.Labels, err = labels.Parse(o.labels[0]); err != nil {
			return out, hint.New(fmt.Errorf("--selector %q: %w", o.labels[0], err), "a selector looks like team=web,tier!=test")
		}
	default:
		return out, hint.New(errors.New("--selector is given more than once"), "--selector team=web,tier!=test: both must be true")
	}
	if out.Filter, out.Exclude, err = o.names.Compile(); err != nil {
		return out, err
	}
	if out.Shard, err = fleet.ParseShard(o.shard, env); err != nil {
		err = fmt.Errorf("--shard %s: %w", o.shard, err)
	}
	return out, err
}
