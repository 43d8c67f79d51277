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
)

// connection holds the flags that say which cluster to ask and as whom: Helm's own, with Helm's environment as defaults
// (helm v3.22.0 pkg/cli/environment.go EnvSettings), and kubectl's --context and --request-timeout.
type connection struct {
	kubeconfig, context, namespace string
	token, server, caFile, tlsName string
	asUser                         string
	asGroups                       []string
	insecure, debug                bool
	qps                            float32
	burst                          int
	timeout                        time.Duration
	driver                         string
	envErrors                      []error
	// known is what this run knows to be secret.
	known *secret.Known
}

// newConnection reads the defaults from Helm's environment variables.
func newConnection(env func(string) string) *connection {
	c := &connection{
		context: env("HELM_KUBECONTEXT"), namespace: env("HELM_NAMESPACE"), token: env("HELM_KUBETOKEN"),
		server: env("HELM_KUBEAPISERVER"), caFile: env("HELM_KUBECAFILE"), tlsName: env("HELM_KUBETLS_SERVER_NAME"),
		asUser: env("HELM_KUBEASUSER"), driver: env("HELM_DRIVER"), timeout: 30 * time.Second,
	}
	if groups := env("HELM_KUBEASGROUPS"); groups != "" {
		c.asGroups = strings.Split(groups, ",")
	}
	c.insecure, _ = strconv.ParseBool(env("HELM_KUBEINSECURE_SKIP_TLS_VERIFY"))
	c.debug, _ = strconv.ParseBool(env("HELM_DEBUG"))
	if text := env("HELM_QPS"); text != "" {
		qps, err := strconv.ParseFloat(text, 32)
		c.qps, c.envErrors = float32(qps), append(c.envErrors, nameEnv("HELM_QPS", err))
	}
	if text := env("HELM_BURST_LIMIT"); text != "" {
		burst, err := strconv.Atoi(text)
		c.burst, c.envErrors = burst, append(c.envErrors, nameEnv("HELM_BURST_LIMIT", err))
	}
	return c
}

func nameEnv(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("environment variable %s is not a number: %w", name, err)
}

func (c *connection) addFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&c.namespace, "namespace", "n", c.namespace, "`namespace` of the release record [HELM_NAMESPACE]")
	fs.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file` [KUBECONFIG]")
	fs.StringVar(&c.context, "kube-context", c.context, "kubeconfig `context` to use [HELM_KUBECONTEXT]")
	fs.StringVar(&c.context, "context", c.context, "same as --kube-context")
	fs.StringVar(&c.token, "kube-token", c.token, "bearer `token` for authentication [HELM_KUBETOKEN]")
	fs.StringVar(&c.asUser, "kube-as-user", c.asUser, "`user` to impersonate [HELM_KUBEASUSER]")
	fs.StringArrayVar(&c.asGroups, "kube-as-group", c.asGroups, "`group` to impersonate; may be repeated [HELM_KUBEASGROUPS]")
	fs.StringVar(&c.server, "kube-apiserver", c.server, "`address` and port of the Kubernetes API server [HELM_KUBEAPISERVER]")
	fs.StringVar(&c.caFile, "kube-ca-file", c.caFile, "certificate authority `file` for the API server [HELM_KUBECAFILE]")
	fs.StringVar(&c.tlsName, "kube-tls-server-name", c.tlsName,
		"server `name` that the API server's certificate must have [HELM_KUBETLS_SERVER_NAME]")
	fs.BoolVar(&c.insecure, "kube-insecure-skip-tls-verify", c.insecure,
		"do not verify the API server's certificate [HELM_KUBEINSECURE_SKIP_TLS_VERIFY]")
	fs.DurationVar(&c.timeout, "request-timeout", c.timeout, "time limit for one request including its retries; 0 for none")
	fs.Float32Var(&c.qps, "qps", c.qps,
		"`requests` per second (default: the server's Priority and Fairness decides; 50 if it has none) [HELM_QPS]")
	fs.IntVar(&c.burst, "burst-limit", c.burst, "`requests` at once (default: 300 if --qps applies) [HELM_BURST_LIMIT]")
	fs.BoolVar(&c.debug, "debug", c.debug, "print Helm's log, and the stack of an internal error [HELM_DEBUG]")
	_ = fs.MarkHidden("context")
	fs.Lookup("kube-token").DefValue = "" // help must not print it
}

// target is a cluster and a namespace in it.
type target struct {
	config    *rest.Config
	namespace string
	// cluster is the name that the kubeconfig gives the cluster.
	cluster string
}

// resolve finds the cluster by the standard rules: --kubeconfig, KUBECONFIG with several files, ~/.kube/config, and the
// service account inside a pod.
func (c *connection) resolve() (target, error) {
	if err := errors.Join(c.envErrors...); err != nil {
		return target{}, err
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, c.overrides())
	if err := c.knowsContext(loader); err != nil {
		return target{}, err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return target{}, configError(err, rules)
	}
	config.Timeout = c.timeout
	namespace, _, err := loader.Namespace()
	if err != nil {
		return target{}, configError(err, rules)
	}
	return target{config: config, namespace: namespace, cluster: c.clusterName(loader)}, nil
}

func (c *connection) overrides() *clientcmd.ConfigOverrides {
	o := &clientcmd.ConfigOverrides{CurrentContext: c.context}
	o.Context.Namespace = c.namespace
	o.AuthInfo.Token = c.token
	o.AuthInfo.Impersonate = c.asUser
	// Helm hands --kube-as-group to plugins twice over.
	groups := slices.Clone(c.asGroups)
	slices.Sort(groups)
	o.AuthInfo.ImpersonateGroups = slices.Compact(groups)
	o.ClusterInfo = api.Cluster{Server: c.server, CertificateAuthority: c.caFile, TLSServerName: c.tlsName, InsecureSkipTLSVerify: c.insecure}
	return o
}

func (c *connection) clusterName(loader clientcmd.ClientConfig) string {
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
	return ""
}

// knowsContext refuses a context that no kubeconfig has, and names those there are.
func (c *connection) knowsContext(loader clientcmd.ClientConfig) error {
	raw, err := loader.RawConfig()
	if err != nil || c.context == "" || raw.Contexts[c.context] != nil {
		return nil // what is wrong with the file itself, ClientConfig says
	}
	hint := "the kubeconfig has no contexts"
	if len(raw.Contexts) > 0 {
		hint = "there are: " + strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", ")
	}
	return hinted{error: fmt.Errorf("kubeconfig: context %q does not exist", c.context), hint: hint}
}

// configError says where a kubeconfig was looked for, and what may be wrong with it.
func configError(err error, rules *clientcmd.ClientConfigLoadingRules) error {
	switch {
	case clientcmd.IsEmptyConfig(err):
		return hinted{error: errors.New("no cluster to ask: no kubeconfig was found, and this is not a pod"),
			hint: "set KUBECONFIG or --kubeconfig; looked at " + strings.Join(rules.GetLoadingPrecedence(), ", ")}
	case errors.Is(err, os.ErrNotExist):
		return hinted{error: fmt.Errorf("kubeconfig: %w", err), hint: "check --kubeconfig and KUBECONFIG"}
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

// options are what the flags say about speed and about who we are.
func (c *connection) options() live.Options {
	return live.Options{UserAgent: "helmdrift/" + version, QPS: c.qps, Burst: c.burst}
}
