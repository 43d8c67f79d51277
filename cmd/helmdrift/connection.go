package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // credential plugins of kubeconfigs
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// This file turns flags and the environment into a cluster and a namespace. It reads kubeconfigs and sends no requests: pkg/live connects.
// Errors name the files and contexts that exist, because most of them are a wrong name.

// connection holds the flags that say which cluster to ask and as whom. They are Helm's own flags, with Helm's environment variables as
// defaults (helm v3.22.0 pkg/cli/environment.go EnvSettings), and kubectl's --context and --request-timeout. A command line that works
// with helm must reach the same cluster with helmdrift.
type connection struct {
	// An empty kubeconfig means the standard places; an empty context or namespace means the one that the kubeconfig says.
	kubeconfig, context, namespace string
	// name is the name of the cluster in reports; empty means the one that the kubeconfig gives it.
	name                           string
	token, server, caFile, tlsName string
	asUser                         string
	asGroups                       []string
	insecure, debug                bool
	// qps and burst limit the requests; if both are 0, the server's first answer decides (pkg/live).
	qps     float32
	burst   int
	timeout time.Duration
	// driver is where release records are stored. Helm has no flags for it.
	driver release.Driver
	// envErrors are the errors of environment variables. resolve returns them, so that help and version work in spite of them.
	envErrors []error
	// known is what this run knows to be secret.
	known *secret.Known
}

// newConnection returns a connection with the defaults of Helm's environment variables.
func newConnection(env func(string) string) *connection {
	c := &connection{
		context: env("HELM_KUBECONTEXT"), namespace: env("HELM_NAMESPACE"), name: env("HELMDRIFT_CLUSTER_NAME"), token: env("HELM_KUBETOKEN"),
		server: env("HELM_KUBEAPISERVER"), caFile: env("HELM_KUBECAFILE"), tlsName: env("HELM_KUBETLS_SERVER_NAME"),
		asUser: env("HELM_KUBEASUSER"), timeout: 30 * time.Second,
		driver: release.Driver{Name: env("HELM_DRIVER"), Connection: env("HELM_DRIVER_SQL_CONNECTION_STRING")},
	}
	if groups := env("HELM_KUBEASGROUPS"); groups != "" {
		// Helm hands each group to a plugin twice.
		c.asGroups = slices.Compact(slices.Sorted(slices.Values(strings.Split(groups, ","))))
	}
	// Helm ignores values that are no booleans, so they are ignored here.
	c.insecure, _ = strconv.ParseBool(env("HELM_KUBEINSECURE_SKIP_TLS_VERIFY"))
	c.debug, _ = strconv.ParseBool(env("HELM_DEBUG"))
	if text := env("HELM_QPS"); text != "" {
		qps, err := strconv.ParseFloat(text, 32)
		c.qps, c.envErrors = float32(qps), append(c.envErrors, numberError("HELM_QPS", text, err))
	}
	if text := env("HELM_BURST_LIMIT"); text != "" {
		burst, err := strconv.Atoi(text)
		c.burst, c.envErrors = burst, append(c.envErrors, numberError("HELM_BURST_LIMIT", text, err))
	}
	if c.driver.Name == "sql" && env("PQGO_DEBUG") == "1" {
		c.envErrors = append(c.envErrors, errors.New("PQGO_DEBUG=1 lets the driver of PostgreSQL print the password: unset it"))
	}
	return c
}

// numberError returns the error of an environment variable that should be a number; nil if err is nil.
func numberError(name, text string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("environment variable %s is %q, which is not a number", name, text)
}

// addFlags adds the flags to the root command. --context is hidden: kubectl calls --kube-context so, and people type both.
// helm-diff has a flag of this name too (see contextFlag).
func (c *connection) addFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&c.namespace, "namespace", "n", c.namespace, "`namespace` of the release record [HELM_NAMESPACE]")
	fs.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file` [KUBECONFIG]")
	fs.StringVar(&c.context, "kube-context", c.context, "kubeconfig `context` to use [HELM_KUBECONTEXT]")
	fs.Var(&contextFlag{context: &c.context}, "context", "same as --kube-context")
	fs.StringVar(&c.name, "cluster-name", c.name, "`name` of the cluster in reports (default: that of the kubeconfig) [HELMDRIFT_CLUSTER_NAME]")
	fs.StringVar(&c.token, "kube-token", c.token, "bearer `token` for authentication [HELM_KUBETOKEN]")
	fs.StringVar(&c.asUser, "kube-as-user", c.asUser, "`user` to impersonate [HELM_KUBEASUSER]")
	fs.StringArrayVar(&c.asGroups, "kube-as-group", c.asGroups, "`group` to impersonate; may be repeated [HELM_KUBEASGROUPS]")
	fs.StringVar(&c.server, "kube-apiserver", c.server, "`address` and port of the Kubernetes API server [HELM_KUBEAPISERVER]")
	fs.StringVar(&c.caFile, "kube-ca-file", c.caFile, "certificate authority `file` for the API server [HELM_KUBECAFILE]")
	fs.StringVar(&c.tlsName, "kube-tls-server-name", c.tlsName,
		"`name` that the certificate of the API server must have [HELM_KUBETLS_SERVER_NAME]")
	fs.BoolVar(&c.insecure, "kube-insecure-skip-tls-verify", c.insecure,
		"do not verify the API server's certificate [HELM_KUBEINSECURE_SKIP_TLS_VERIFY]")
	fs.DurationVar(&c.timeout, "request-timeout", c.timeout, "time limit for one request including its retries; 0 for none")
	fs.Float32Var(&c.qps, "qps", c.qps,
		"limit of `requests` per second (default: none if the server has Priority and Fairness, else 50) [HELM_QPS]")
	fs.IntVar(&c.burst, "burst-limit", c.burst,
		"`requests` that may exceed --qps for a moment (default: 300 if requests are limited) [HELM_BURST_LIMIT]")
	fs.BoolVar(&c.debug, "debug", c.debug, "print Helm's log, and the stack trace of an internal error [HELM_DEBUG]")
	_ = fs.MarkHidden("context")
	fs.VisitAll(hideDefault)
}

// target is a cluster and a namespace in it, as resolve finds them.
type target struct {
	config    *rest.Config
	namespace string
	// cluster is the name of the cluster in reports.
	cluster string
}

// resolve finds the cluster by the standard rules of client-go: --kubeconfig, KUBECONFIG with several files, ~/.kube/config, and the
// service account inside a pod.
func (c *connection) resolve() (target, error) {
	if err := errors.Join(c.envErrors...); err != nil {
		return target{}, err
	}
	loader, rules := c.loader()
	if err := c.checkContext(loader); err != nil {
		return target{}, err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return target{}, kubeconfigError(err, rules)
	}
	config.Timeout = c.timeout
	namespace, _, err := loader.Namespace()
	if err != nil {
		return target{}, kubeconfigError(err, rules)
	}
	return target{config: config, namespace: namespace, cluster: c.clusterName(loader)}, nil
}

// loader returns the kubeconfig and the rules by which its files are found.
func (c *connection) loader() (clientcmd.ClientConfig, *clientcmd.ClientConfigLoadingRules) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, c.overrides()), rules
}

// rawConfig returns the kubeconfig as it is written.
func (c *connection) rawConfig() (api.Config, error) {
	loader, rules := c.loader()
	raw, err := loader.RawConfig()
	if err != nil {
		return raw, kubeconfigError(err, rules)
	}
	return raw, nil
}

// overrides returns what the flags replace in the kubeconfig.
func (c *connection) overrides() *clientcmd.ConfigOverrides {
	o := &clientcmd.ConfigOverrides{CurrentContext: c.context}
	o.Context.Namespace = c.namespace
	o.AuthInfo.Token = c.token
	o.AuthInfo.Impersonate = c.asUser
	// Helm passes each --kube-as-group to its plugins twice.
	groups := slices.Clone(c.asGroups)
	slices.Sort(groups)
	o.AuthInfo.ImpersonateGroups = slices.Compact(groups)
	o.ClusterInfo = api.Cluster{Server: c.server, CertificateAuthority: c.caFile, TLSServerName: c.tlsName, InsecureSkipTLSVerify: c.insecure}
	return o
}

// inCluster is the name of the cluster that a pod runs in, unless somebody gives it another one. A pod does not know the name.
const inCluster = "in-cluster"

// clusterName returns the name of the cluster that the loader connects to: the one that the user gives it, or that of the kubeconfig. It is
// empty if there is only an address.
func (c *connection) clusterName(loader clientcmd.ClientConfig) string {
	if c.name != "" {
		return c.name
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return ""
	}
	name := c.context
	if name == "" {
		name = raw.CurrentContext
	}
	if context, ok := raw.Contexts[name]; ok {
		return context.Cluster
	}
	if c.server == "" { // without a context and an address, the loader finds the account of the pod
		return inCluster
	}
	return ""
}

// checkContext returns an error that lists the contexts of the kubeconfig if the one that the user named does not exist.
func (c *connection) checkContext(loader clientcmd.ClientConfig) error {
	raw, err := loader.RawConfig()
	if err != nil || c.context == "" || raw.Contexts[c.context] != nil {
		return nil // ClientConfig reports what is wrong with the file itself
	}
	hint := "the kubeconfig has no contexts"
	if len(raw.Contexts) > 0 {
		hint = "the kubeconfig has these contexts: " + strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", ")
	}
	return hinted{error: fmt.Errorf("kubeconfig: context %q does not exist", c.context), hint: hint}
}

// kubeconfigError returns the error of loading a kubeconfig with the files that were tried.
func kubeconfigError(err error, rules *clientcmd.ClientConfigLoadingRules) error {
	switch {
	case clientcmd.IsEmptyConfig(err):
		return hinted{error: errors.New("no cluster to connect to: there is no kubeconfig, and helmdrift does not run in a pod"),
			hint: "set KUBECONFIG or --kubeconfig; these files were tried: " + strings.Join(rules.GetLoadingPrecedence(), ", ")}
	case errors.Is(err, os.ErrNotExist):
		return hinted{error: fmt.Errorf("kubeconfig: %w", err), hint: "check --kubeconfig and KUBECONFIG"}
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

// options returns the limits on requests, and the name under which the API server logs them.
func (c *connection) options() live.Options {
	return live.Options{UserAgent: "helmdrift/" + version, QPS: c.qps, Burst: c.burst}
}

// records returns the storage of the release records. It sends no request.
func (c *connection) records(cluster *live.Cluster) (*release.Storage, error) {
	driver := c.driver
	driver.Timeout = c.timeout
	c.known.Add(driver.Secrets()...)
	return release.Open(driver, cluster.Metadata(), cluster.Dynamic())
}
