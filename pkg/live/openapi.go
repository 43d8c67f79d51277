package live

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// OpenAPI reads the OpenAPI v3 documents of groups and versions, one get each. One that could not be read is a warning.
func (c *Cluster) OpenAPI(ctx context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []threeway.Message) {
	type result struct {
		text []byte
		err  error
	}
	results := inParallel(wanted, func(gv schema.GroupVersion) (r result) {
		defer recovered(&r.err)
		r.text, r.err = c.discover.RESTClient().Get().AbsPath("/openapi/v3/apis/"+gv.String()).
			SetHeader("Accept", "application/json").Do(ctx).Raw()
		return r
	})
	found := map[schema.GroupVersion][]byte{}
	var warnings []threeway.Message
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
