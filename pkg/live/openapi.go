package live

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/retry"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// OpenAPI reads the OpenAPI v3 documents of group versions, with one get each. A document that cannot be read causes
// a warning.
func (c *Cluster) OpenAPI(ctx context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	type result struct {
		text []byte
		err  error
	}
	results := inParallel(wanted, func(gv schema.GroupVersion) (r result) {
		defer recoverError(&r.err)
		r.text, r.err = c.openAPIDocument(ctx, gv)
		return r
	})
	found := map[schema.GroupVersion][]byte{}
	var warnings []report.Message
	for i, r := range results {
		if r.err != nil {
			noun := fmt.Sprintf("the OpenAPI document of %s", wanted[i])
			warnings = append(warnings, warning("", "get", noun, r.err, "verdicts on its objects are not certain"))
			continue
		}
		found[wanted[i]] = r.text
	}
	return found, warnings
}

// openAPIDocument reads one document. The server publishes it shortly after it has begun to serve a new kind, so a
// missing document is asked for again before it counts as missing.
func (c *Cluster) openAPIDocument(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	path := "/openapi/v3/apis/" + gv.String()
	if gv.Group == "" {
		path = "/openapi/v3/api/" + gv.Version
	}
	for attempt := 0; ; attempt++ {
		text, err := c.discover.RESTClient().Get().AbsPath(path).
			SetHeader("Accept", "application/json").Do(ctx).Raw()
		if !apierrors.IsNotFound(err) || attempt == 3 || retry.Sleep(ctx, firstPause<<attempt) != nil {
			return text, err
		}
	}
}
