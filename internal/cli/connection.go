package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/kubeconfig"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/release/postgres"
)

// This file turns flags and the environment into a cluster and a namespace. internal/kubeconfig finds both, and pkg/live connects.

// Connection holds the flags that say which cluster to ask and as whom. They are Helm's own flags, with Helm's environment variables as
// defaults (helm v3.22.0 pkg/cli/environment.go EnvSettings), and kubectl's --context and --request-timeout. A command line that works
// with helm must reach the same cluster with helmdrift.
type Connection struct {
	kubeconfig.Choice
	Debug bool
	// qps and burst limit the requests; if both are 0, the server's first answer decides (pkg/live).
	qps   float32
	burst int
	// driver is where release records are stored, and database the connection string of the driver sql. Helm has no flags for them.
	driver, database string
	// envErrors are the errors of environment variables. Resolve returns them, so that they do not affect help and version.
	envErrors []error
	// known has the secrets that this run knows.
	known *secret.Known
	// version is the version of helmdrift, which the API server is told.
	version string
}

// driverSQL is the value of HELM_DRIVER for records in a database.
const driverSQL = "sql"

// NewConnection returns a connection with the defaults of Helm's environment variables.
func NewConnection(s Streams, version string) *Connection {
	env := s.Env
	c := &Connection{
		Choice: kubeconfig.Choice{
			Context: env("HELM_KUBECONTEXT"), Namespace: env("HELM_NAMESPACE"), Name: env("HELMDRIFT_CLUSTER_NAME"), Token: env("HELM_KUBETOKEN"),
			Server: env("HELM_KUBEAPISERVER"), CAFile: env("HELM_KUBECAFILE"), TLSName: env("HELM_KUBETLS_SERVER_NAME"),
			AsUser: env("HELM_KUBEASUSER"), Timeout: 30 * time.Second,
		},
		driver: env("HELM_DRIVER"), database: env("HELM_DRIVER_SQL_CONNECTION_STRING"), version: version, known: s.Known,
	}
	if groups := env("HELM_KUBEASGROUPS"); groups != "" {
		// Helm passes each group to a plugin twice.
		c.AsGroups = slices.Compact(slices.Sorted(slices.Values(strings.Split(groups, ","))))
	}
	// Helm ignores values that are not booleans, and so does this code.
	c.Insecure, _ = strconv.ParseBool(env("HELM_KUBEINSECURE_SKIP_TLS_VERIFY"))
	c.Debug, _ = strconv.ParseBool(env("HELM_DEBUG"))
	if text := env("HELM_QPS"); text != "" {
		qps, err := strconv.ParseFloat(text, 32)
		c.qps, c.envErrors = float32(qps), append(c.envErrors, numberError("HELM_QPS", text, err))
	}
	if text := env("HELM_BURST_LIMIT"); text != "" {
		burst, err := strconv.Atoi(text)
		c.burst, c.envErrors = burst, append(c.envErrors, numberError("HELM_BURST_LIMIT", text, err))
	}
	if c.driver == driverSQL && env("PQGO_DEBUG") == "1" {
		c.envErrors = append(c.envErrors, errors.New("PQGO_DEBUG=1 lets the driver of PostgreSQL print the password: unset it"))
	}
	return c
}

// numberError returns the error of an environment variable that should be a number, or nil if err is nil.
func numberError(name, text string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("environment variable %s is %q, which is not a number", name, text)
}

// AddFlags adds the flags to the root command. It hides --context, which is kubectl's name for --kube-context; people type
// both. helm-diff has a flag of this name too (see contextFlag).
func (c *Connection) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&c.Namespace, "namespace", "n", c.Namespace,
		"`namespace` of the release record; diff and list take several, with commas [HELM_NAMESPACE]")
	fs.StringVar(&c.File, "kubeconfig", "", "kubeconfig `file` [KUBECONFIG]")
	fs.StringVar(&c.Context, "kube-context", c.Context, "kubeconfig `context` to use [HELM_KUBECONTEXT]")
	fs.Var(&contextFlag{context: &c.Context}, "context", "same as --kube-context")
	fs.StringVar(&c.Name, "cluster-name", c.Name,
		"`name` of the cluster in reports (default: that of the kubeconfig) [HELMDRIFT_CLUSTER_NAME]")
	fs.StringVar(&c.Token, "kube-token", c.Token, "bearer `token` for authentication [HELM_KUBETOKEN]")
	fs.StringVar(&c.AsUser, "kube-as-user", c.AsUser, "`user` to impersonate [HELM_KUBEASUSER]")
	fs.StringArrayVar(&c.AsGroups, "kube-as-group", c.AsGroups, "`group` to impersonate; may be repeated [HELM_KUBEASGROUPS]")
	fs.StringVar(&c.Server, "kube-apiserver", c.Server, "`address` and port of the Kubernetes API server [HELM_KUBEAPISERVER]")
	fs.StringVar(&c.CAFile, "kube-ca-file", c.CAFile, "certificate authority `file` for the API server [HELM_KUBECAFILE]")
	fs.StringVar(&c.TLSName, "kube-tls-server-name", c.TLSName,
		"`name` that the certificate of the API server must have [HELM_KUBETLS_SERVER_NAME]")
	fs.BoolVar(&c.Insecure, "kube-insecure-skip-tls-verify", c.Insecure,
		"do not verify the API server's certificate [HELM_KUBEINSECURE_SKIP_TLS_VERIFY]")
	fs.Var((*timeLimit)(&c.Timeout), "request-timeout", "time limit for one request including its retries; 0 for none")
	fs.Float32Var(&c.qps, "qps", c.qps,
		"limit of `requests` per second (default: none if the server has Priority and Fairness, else 50) [HELM_QPS]")
	fs.IntVar(&c.burst, "burst-limit", c.burst,
		"`requests` that may exceed --qps for a moment (default: 300 if requests are limited) [HELM_BURST_LIMIT]")
	fs.BoolVar(&c.Debug, "debug", c.Debug, "print Helm's log, and the stack trace of an internal error [HELM_DEBUG]")
	_ = fs.MarkHidden("context")
	fs.VisitAll(hideDefault)
}

// Resolve finds the cluster and the namespace.
func (c *Connection) Resolve() (kubeconfig.Target, error) {
	switch {
	case strings.Trim(c.Namespace, ", ") == "" && c.Namespace != "":
		return kubeconfig.Target{}, fmt.Errorf("--namespace %q names no namespace", c.Namespace)
	case strings.Contains(c.Namespace, ","):
		return kubeconfig.Target{}, fmt.Errorf("--namespace %s: only diff of stored releases and list take several namespaces", c.Namespace)
	}
	if err := errors.Join(c.envErrors...); err != nil {
		return kubeconfig.Target{}, err
	}
	return c.Choice.Resolve()
}

// Connect connects to a cluster and opens its release records.
func (c *Connection) Connect(ctx context.Context, to kubeconfig.Target) (*live.Cluster, *release.Storage, error) {
	cluster, err := live.Connect(ctx, to.Config, c.options())
	if err != nil {
		return nil, nil, err
	}
	storage, err := c.records(cluster)
	return cluster, storage, err
}

// options returns the limits on requests, and the name that the API server logs for them.
func (c *Connection) options() live.Options {
	return live.Options{UserAgent: "helmdrift/" + c.version, QPS: c.qps, Burst: c.burst}
}

// records returns the storage of the release records. It sends no request.
func (c *Connection) records(cluster *live.Cluster) (*release.Storage, error) {
	if c.driver == driverSQL {
		c.known.Add(postgres.Secrets(c.database)...)
		return postgres.Open(c.database, c.Timeout)
	}
	return release.Open(c.driver, cluster.Metadata(), cluster.Core())
}

// Contexts returns the names of all contexts of the kubeconfig.
func (c *Connection) Contexts() ([]string, error) {
	raw, err := c.Raw()
	return slices.Sorted(maps.Keys(raw.Contexts)), err
}

// ContextName returns the name of the context that is used: that of --kube-context, or the current one of the kubeconfig.
func (c *Connection) ContextName() (string, error) {
	if c.Context != "" {
		return c.Context, nil
	}
	raw, err := c.Raw()
	return raw.CurrentContext, err
}

// ForNamespaces returns a connection for each of the namespaces of -n, which are written with commas.
func (c *Connection) ForNamespaces() (out []*Connection) {
	if !strings.Contains(c.Namespace, ",") {
		return []*Connection{c}
	}
	for name := range strings.SplitSeq(c.Namespace, ",") {
		name = strings.TrimSpace(name)
		if isNamed := func(one *Connection) bool { return one.Namespace == name }; name != "" && !slices.ContainsFunc(out, isNamed) {
			one := *c
			one.Namespace = name
			out = append(out, &one)
		}
	}
	if len(out) == 0 {
		return []*Connection{c} // Resolve refuses it
	}
	return out
}

// ForContexts returns a connection for each of some contexts of the kubeconfig.
func (c *Connection) ForContexts(contexts []string) ([]*Connection, error) {
	switch {
	case c.Name != "" && len(contexts) > 1:
		return nil, hint.New(fmt.Errorf("several contexts cannot all be called %s", c.Name),
			"--cluster-name and HELMDRIFT_CLUSTER_NAME are for one cluster; otherwise names come from the kubeconfig")
	case c.Server != "" && len(contexts) > 1:
		return nil, hint.New(fmt.Errorf("several contexts cannot all have the API server %s", c.Server),
			"--kube-apiserver and HELM_KUBEAPISERVER are for one cluster; otherwise addresses come from the kubeconfig")
	case c.driver == driverSQL:
		return nil, hint.New(errors.New("several contexts need records that are stored in the clusters, and HELM_DRIVER is sql"),
			"run helmdrift once for each context, with the database of its cluster")
	}
	var out []*Connection
	for _, name := range contexts {
		one := *c
		one.Context = name
		out = append(out, &one)
	}
	return out, nil
}
