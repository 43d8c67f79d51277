package live

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// HelmSelector selects the label that Helm sets on every object it creates (helm v3.22.0 pkg/action/validate.go setMetadataVisitor). An
// object may have lost the label, so what a list with it lacks is read by name.
const HelmSelector = "app.kubernetes.io/managed-by=Helm"

const (
	// minPage is the smallest page size. A page has room for pageFactor times the wanted objects.
	minPage    = 50
	pageFactor = 4
)

// listJob returns the job that reads a group of objects of one kind and namespace, page by page.
func (c *Cluster) listJob(group []target) job {
	return job{group, func(ctx context.Context) (answers, []target) {
		found := answers{}
		if err := c.listPages(ctx, group, found); err != nil && !MayGetInstead(err) {
			for _, t := range unanswered(found, group) {
				found[t.ref] = cluster.Live{Err: t.objectError("list", err)}
			}
		}
		return found, unanswered(found, group)
	}}
}

// listPages adds the wanted objects to found. It stops at the first page that has less than half of the objects that
// were still wanted, because then most of the following pages belong to others.
func (c *Cluster) listPages(ctx context.Context, group []target, found answers) error {
	options := metav1.ListOptions{LabelSelector: HelmSelector, Limit: int64(max(minPage, pageFactor*len(group)))}
	for {
		wanted := unanswered(found, group)
		matched, next, err := c.listPage(ctx, wanted, options, found)
		if err != nil {
			return err
		}
		if next == "" || matched == len(wanted) || 2*matched < len(wanted) {
			return nil
		}
		options.Continue = next
	}
}

// listPage reads one page, adds its wanted objects to found and returns their number and the continue token.
func (c *Cluster) listPage(ctx context.Context, wanted []target, options metav1.ListOptions, found answers) (matched int, next string, err error) {
	page, err := c.client(wanted[0]).List(ctx, options)
	if err != nil {
		return 0, "", err
	}
	byName := make(map[string]object.Ref, len(wanted))
	for _, t := range wanted {
		byName[t.ref.Name] = t.ref
	}
	for _, item := range page.Items {
		if ref, ok := byName[item.GetName()]; ok && wanted[0].withRef(ref).matches(&item) {
			found[ref] = cluster.Live{Object: item.Object}
			delete(byName, ref.Name)
			matched++
		}
	}
	return matched, page.GetContinue(), nil
}

// unanswered returns the targets that have no answer in found, in their order.
func unanswered(found answers, group []target) []target {
	var out []target
	for _, t := range group {
		if _, ok := found[t.ref]; !ok {
			out = append(out, t)
		}
	}
	return out
}

// MayGetInstead reports whether objects may be readable by name after their list failed: the role may not allow
// lists, the continue token may have expired (410), or one broken object turns the whole list into an internal error.
// More requests do not help if the server is overloaded, and cannot succeed without credentials.
func MayGetInstead(err error) bool {
	switch code, _ := classify(err); code {
	case cluster.CodeThrottled, cluster.CodeTimeout, cluster.CodeCanceled, cluster.CodeUnauthorized, cluster.CodeConnection:
		return false
	}
	return true
}
