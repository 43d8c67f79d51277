package live

import (
	"context"
	"net/http"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Options are the settings of a connection that do not come from the kubeconfig.
type Options struct {
	// UserAgent is sent with every request, so that administrators can recognise the requests of this tool. If it is empty, client-go
	// sends its own.
	UserAgent string
	// QPS and Burst are --qps and --burst-limit. QPS is the number of requests per second, and Burst is how many may be sent at once
	// before the limit applies. If only one is set, the other has its default (50 and 300). If both are zero, the server's first answer
	// decides. A negative QPS means no limit.
	QPS   float32
	Burst int
}

// Cluster is a connection to one API server. It is safe for concurrent use.
type Cluster struct {
	server   string
	discover *discovery.DiscoveryClient
	dynamic  dynamic.Interface
	metadata metadata.Interface
	core     rest.Interface
	served   *catalog
	// objects is the REST client under dynamic.
	objects rest.Interface
	// sent counts the requests.
	sent atomic.Int64
	// config and options are the arguments of New.
	config  *rest.Config
	options Options
}

// New prepares a connection and sends no request. That is enough for Dynamic and Metadata, for example to complete
// the names of releases in a shell; every other method needs Connect. The config is copied. Its Timeout bounds each
// request together with its retries; if it is zero, only the server's own limit ends a request.
func New(cfg *rest.Config, opts Options) (*Cluster, error) {
	c := &Cluster{server: serverName(cfg), served: &catalog{}, config: rest.CopyConfig(cfg), options: opts}
	cfg = rest.CopyConfig(cfg)
	rateLimit := newRateLimit(opts.QPS, opts.Burst)
	cfg.UserAgent = opts.UserAgent
	cfg.RateLimiter = rateLimit
	// Warnings about deprecated versions would be printed to stderr once per request.
	cfg.WarningHandler, cfg.WarningHandlerWithContext = rest.NoWarnings{}, nil
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &retryTransport{next: next, rateLimit: rateLimit, plain: cfg.DisableCompression, sent: &c.sent}
	})

	if err := c.makeClients(cfg); err != nil {
		return nil, connectError(c.server, err)
	}
	return c, nil
}

// makeClients creates the clients over one HTTP client, so that they share connections.
func (c *Cluster) makeClients(cfg *rest.Config) error {
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	if c.discover, err = discovery.NewDiscoveryClientForConfigAndClient(cfg, httpClient); err != nil {
		return err
	}
	objects := dynamic.ConfigFor(cfg)
	objects.GroupVersion, objects.APIPath = nil, "/" // the dynamic client sends whole paths
	client, err := rest.UnversionedRESTClientForConfigAndClient(objects, httpClient)
	if err != nil {
		return err
	}
	c.objects = client
	c.dynamic = dynamic.New(noRetries{client})
	if c.metadata, err = metadata.NewForConfigAndClient(cfg, httpClient); err != nil {
		return err
	}
	c.core, err = rest.RESTClientForConfigAndClient(coreConfig(cfg), httpClient)
	return err
}

// coreConfig returns the settings of the client that [Cluster.Core] returns. The clientset of client-go has such a client too, but every
// kind that it knows would be linked.
func coreConfig(cfg *rest.Config) *rest.Config {
	known := runtime.NewScheme()
	known.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.ConfigMap{})
	metav1.AddToGroupVersion(known, corev1.SchemeGroupVersion)
	cfg = rest.CopyConfig(cfg)
	cfg.APIPath, cfg.GroupVersion = "/api", &corev1.SchemeGroupVersion
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	cfg.ContentType = runtime.ContentTypeProtobuf
	cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return cfg
}

// Connect prepares a connection and discovers what the server serves. Its error is a *ConnectError, which names the
// server and has a hint. Connect succeeds even if some API groups cannot be discovered: Undiscovered and Read
// report them.
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

// Dynamic returns a client for objects of any kind. It shares transport and rate limit with the other clients.
func (c *Cluster) Dynamic() dynamic.Interface { return c.dynamic }

// Objects returns the REST client under Dynamic, for answers that the caller decodes. Its requests have whole paths. It is for reading: a
// write of Dynamic is sent once, and a write of this client may be repeated.
func (c *Cluster) Objects() rest.Interface { return c.objects }

// client returns a client for objects of the kind and the namespace of a target.
func (c *Cluster) client(t target) dynamic.ResourceInterface {
	return c.dynamic.Resource(t.GroupVersionResource).Namespace(t.namespace())
}

// Requests returns the number of requests that were sent, with all repetitions.
func (c *Cluster) Requests() int { return int(c.sent.Load()) }

// Metadata returns a client that reads only the metadata of objects. It shares transport and rate limit with the
// other clients.
func (c *Cluster) Metadata() metadata.Interface { return c.metadata }

// Core returns a client that reads Secrets and ConfigMaps as protobuf. A record of Helm is one long text, and JSON would wrap it in base64
// once more and be decoded letter by letter. The client shares transport and rate limit with the other clients.
func (c *Cluster) Core() rest.Interface { return c.core }

// serverName returns the server's address without the user and password that a URL may contain.
func serverName(cfg *rest.Config) string {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return "of the kubeconfig"
	}
	base.User = nil
	return base.String()
}
