package live

import (
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/internal/livetest"
)

// connect connects to a fake API server, and forgets the requests of that.
func connect(f *livetest.Server, opts Options) *Cluster {
	f.T.Helper()
	c, err := Connect(f.T.Context(), &rest.Config{Host: f.URL}, opts)
	if err != nil {
		f.T.Fatal(err)
	}
	f.Reset()
	return c
}
