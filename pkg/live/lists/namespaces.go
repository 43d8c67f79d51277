package lists

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/pkg/live"
)

// Namespaces lists all namespaces. The value of each reports whether it is being deleted.
func Namespaces(ctx context.Context, c *live.Cluster) (map[string]bool, error) {
	of, out := corev1.SchemeGroupVersion.WithResource("namespaces"), map[string]bool{}
	options := metav1.ListOptions{Limit: namespacePage}
	for range MaxPages {
		page, err := c.Metadata().Resource(of).List(ctx, options)
		if err == nil {
			err = checkNext(options.Continue, page.Continue, len(page.Items))
		}
		if err != nil {
			return nil, fmt.Errorf("list namespaces: %w", err)
		}
		for _, n := range page.Items {
			out[n.Name] = n.DeletionTimestamp != nil
		}
		if page.Continue == "" {
			return out, nil
		}
		options.Continue = page.Continue
	}
	return nil, fmt.Errorf("list namespaces: %w", ErrEndless)
}

// namespacePage is the number of namespaces of a page. Only their metadata is read.
const namespacePage = 500
