package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/kubeconfig"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// This file turns flags and the environment into a cluster and a namespace. internal/kubeconfig finds both, and pkg/live connects.

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

// choice returns what the flags and the environment say of the cluster.
func (c *connection) choice() kubeconfig.Choice {
	return kubeconfig.Choice{
		File: c.kubeconfig, Context: c.context, Namespace: c.namespace, Name: c.name, Token: c.token, Server: c.server, CAFile: c.caFile,
		TLSName: c.tlsName, AsUser: c.asUser, AsGroups: c.asGroups, Insecure: c.insecure, Timeout: c.timeout,
	}
}

// resolve finds the cluster and the namespace.
func (c *connection) resolve() (kubeconfig.Target, error) {
	if err := errors.Join(c.envErrors...); err != nil {
		return kubeconfig.Target{}, err
	}
	return c.choice().Resolve()
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
