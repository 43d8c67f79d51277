package live

import (
	"context"
	"net/http"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Options is what a user may say about the connection beyond the kubeconfig.
type Options struct {
	// UserAgent is sent with every request, so that administrators can tell the tool's requests from others.
	UserAgent string
	// QPS and Burst are --qps and --burst-limit. Where one is given, it holds and the other takes its default
	// (50 and 300); a negative QPS means no limit. Where both are zero, the server's first answer decides.
	QPS   float32
	Burst int
}

// Cluster is a connection to one API server. Its methods may be called at the same time.
type Cluster struct {
	server   string
	discover *discovery.DiscoveryClient
	dynamic  dynamic.Interface
	metadata metadata.Interface
	served   *catalog
	// config and options are those that it was made with.
	config  *rest.Config
	options Options
}

// New prepares a connection and sends nothing. That is enough for Dynamic and Metadata (a shell that completes release
// names wants no discovery); everything else needs Connect. The config is copied. Its Timeout holds for each request
// with its repetitions; zero means that only the server's own limit ends a request.
func New(cfg *rest.Config, opts Options) (*Cluster, error) {
	c := &Cluster{server: serverName(cfg), config: rest.CopyConfig(cfg), options: opts}
	cfg = rest.CopyConfig(cfg)
	limits := newLimits(opts.QPS, opts.Burst)
	cfg.UserAgent = opts.UserAgent
	cfg.RateLimiter = limits
	// Deprecation warnings would reach stderr once per request; what is deprecated shows in discovery.
	cfg.WarningHandler, cfg.WarningHandlerWithContext = rest.NoWarnings{}, nil
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, limits: limits} })

	if err := c.makeClients(cfg); err != nil {
		return nil, connectError(c.server, err)
	}
	return c, nil
}

// makeClients makes the three clients over one HTTP client, so that they share connections.
func (c *Cluster) makeClients(cfg *rest.Config) error {
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	if c.discover, err = discovery.NewDiscoveryClientForConfigAndClient(cfg, httpClient); err != nil {
		return err
	}
	objects := dynamic.ConfigFor(cfg)
	objects.GroupVersion, objects.APIPath = nil, "/" // the dynamic client writes whole paths
	client, err := rest.UnversionedRESTClientForConfigAndClient(objects, httpClient)
	if err != nil {
		return err
	}
	c.dynamic = dynamic.New(once{client})
	c.metadata, err = metadata.NewForConfigAndClient(cfg, httpClient)
	return err
}

// Connect prepares a connection and discovers what the server serves. Its error is a *ConnectError, which names the
// server and has a hint. That some API groups could not be discovered is no error here: Undiscovered and Read report it.
func Connect(ctx context.Context, cfg *rest.Config, opts Options) (*Cluster, error) {
	c, err := New(cfg, opts)
	if err != nil {
		return nil, err
	}
	if c.served, err = discoverCatalog(ctx, c.discover); err != nil {
		return nil, connectError(c.server, err)
	}
	return c, nil
}

// Server is the address of the API server as messages name it, without credentials.
func (c *Cluster) Server() string { return c.server }

// Dynamic is a client for objects of any kind. It shares transport and limit with all other reading.
func (c *Cluster) Dynamic() dynamic.Interface { return c.dynamic }

// Metadata is a client that fetches nothing but metadata. It shares transport and limit with all other reading.
func (c *Cluster) Metadata() metadata.Interface { return c.metadata }

// serverName is the server's address without the user and password that a URL may carry.
func serverName(cfg *rest.Config) string {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return "of the kubeconfig"
	}
	base.User = nil
	return base.String()
}
