// Package kubeconfig finds the cluster and the namespace that the user has chosen, by the standard rules of client-go. It reads files and
// sends no request: pkg/live connects.
//
//	Choice: flags, environment ─┐
//	                            ├─► Resolve ─► Target: how to reach the API server, the namespace, the name of the cluster in reports
//	kubeconfig, account of a pod┘
//	                             ─► Raw ─► the kubeconfig as it is written: its contexts
//
// A command line that works with helm must reach the same cluster with helmdrift, so the same flags and variables as in Helm override the
// files (helm v3.22.0 pkg/cli/environment.go EnvSettings). Errors name the files and contexts that exist, because the cause is mostly a
// wrong name.
package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // credential plugins of kubeconfigs
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// Choice is what the user says about the cluster. Each field that is not empty overrides the kubeconfig.
type Choice struct {
	// File is the kubeconfig; empty means the standard places.
	File               string
	Context, Namespace string
	// Name is the name of the cluster in reports; empty means its name in the kubeconfig.
	Name                           string
	Token, Server, CAFile, TLSName string
	AsUser                         string
	AsGroups                       []string
	Insecure                       bool
	// Timeout is the limit for one request; 0 means none.
	Timeout time.Duration
}

// Target is a cluster and a namespace in it.
type Target struct {
	Config    *rest.Config
	Namespace string
	// Cluster is the name of the cluster in reports.
	Cluster string
}

// Resolve finds the cluster by the standard rules of client-go: --kubeconfig, KUBECONFIG with several files, ~/.kube/config, and the
// service account inside a pod.
func (c Choice) Resolve() (Target, error) {
	loader, rules := c.loader()
	if err := c.checkContext(loader); err != nil {
		return Target{}, err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return Target{}, loadError(err, rules)
	}
	config.Timeout = c.Timeout
	namespace, _, err := loader.Namespace()
	if err != nil {
		return Target{}, loadError(err, rules)
	}
	return Target{Config: config, Namespace: namespace, Cluster: c.clusterName(loader)}, nil
}

// loader returns the kubeconfig and the rules that find its files.
func (c Choice) loader() (clientcmd.ClientConfig, *clientcmd.ClientConfigLoadingRules) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.File
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, c.overrides()), rules
}

// Raw returns the kubeconfig as it is written.
func (c Choice) Raw() (api.Config, error) {
	loader, rules := c.loader()
	raw, err := loader.RawConfig()
	if err != nil {
		return raw, loadError(err, rules)
	}
	return raw, nil
}

// overrides returns what the flags replace in the kubeconfig.
func (c Choice) overrides() *clientcmd.ConfigOverrides {
	o := &clientcmd.ConfigOverrides{CurrentContext: c.Context}
	o.Context.Namespace = c.Namespace
	o.AuthInfo.Token = c.Token
	o.AuthInfo.Impersonate = c.AsUser
	// Helm passes each --kube-as-group to its plugins twice.
	o.AuthInfo.ImpersonateGroups = slices.Compact(slices.Sorted(slices.Values(c.AsGroups)))
	o.ClusterInfo = api.Cluster{Server: c.Server, CertificateAuthority: c.CAFile, TLSServerName: c.TLSName, InsecureSkipTLSVerify: c.Insecure}
	return o
}

// inCluster is the name of the cluster that a pod runs in, unless the user names it. A pod does not know the name.
const inCluster = "in-cluster"

// clusterName returns the name of the cluster that the loader connects to: the user's name for it, or the kubeconfig's. It is empty if
// there is only an address.
func (c Choice) clusterName(loader clientcmd.ClientConfig) string {
	if c.Name != "" {
		return c.Name
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return ""
	}
	if context, ok := raw.Contexts[cmp.Or(c.Context, raw.CurrentContext)]; ok {
		return context.Cluster
	}
	if c.Server == "" { // without a context and an address, the loader finds the account of the pod
		return inCluster
	}
	return ""
}

// checkContext returns an error if the context that the user named does not exist. The error lists the contexts of the kubeconfig.
func (c Choice) checkContext(loader clientcmd.ClientConfig) error {
	raw, err := loader.RawConfig()
	if err != nil || c.Context == "" || raw.Contexts[c.Context] != nil {
		return nil // ClientConfig reports problems of the file itself
	}
	advice := "the kubeconfig has no contexts"
	if len(raw.Contexts) > 0 {
		advice = "the kubeconfig has these contexts: " + strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", ")
	}
	return hint.New(fmt.Errorf("kubeconfig: context %q does not exist", c.Context), advice)
}

// loadError returns the error of loading a kubeconfig with the files that were tried.
func loadError(err error, rules *clientcmd.ClientConfigLoadingRules) error {
	switch {
	case clientcmd.IsEmptyConfig(err):
		return hint.New(errors.New("no cluster to connect to: there is no kubeconfig, and helmdrift does not run in a pod"),
			"set KUBECONFIG or --kubeconfig; these files were tried: "+strings.Join(rules.GetLoadingPrecedence(), ", "))
	case errors.Is(err, os.ErrNotExist):
		return hint.New(fmt.Errorf("kubeconfig: %w", err), "check --kubeconfig and KUBECONFIG")
	}
	return fmt.Errorf("kubeconfig: %w", err)
}
