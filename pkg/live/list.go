package live

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

const (
	// helmSelector is the label that Helm puts on all it creates (helm v3.22.0 pkg/action/validate.go
	// setMetadataVisitor). An object may have lost it: what the list lacks is got by name.
	helmSelector = "app.kubernetes.io/managed-by=Helm"
	// minPage is the smallest page; a page has room for pageFactor times what is wanted.
	minPage    = 50
	pageFactor = 4
)

// list makes the job that reads a group, all of one kind and namespace, page by page.
func (c *Cluster) list(group []target) job {
	return job{group, func(ctx context.Context) (answers, []target) {
		found := answers{}
		if err := c.listPages(ctx, group, found); err != nil && !getsMayHelp(err) {
			for _, t := range missingFrom(found, group) {
				found[t.ref] = threeway.Live{Err: t.fail("list", err)}
			}
		}
		return found, missingFrom(found, group)
	}}
}

// listPages adds to found what the pages bring. It stops at the first page that brings less than half of what was still
// wanted before it: then most of what follows belongs to others.
func (c *Cluster) listPages(ctx context.Context, group []target, found answers) error {
	options := metav1.ListOptions{LabelSelector: helmSelector, Limit: int64(max(minPage, pageFactor*len(group)))}
	for {
		wanted := missingFrom(found, group)
		brought, next, err := c.listPage(ctx, wanted, options, found)
		if err != nil {
			return err
		}
		if next == "" || brought == len(wanted) || 2*brought < len(wanted) {
			return nil
		}
		options.Continue = next
	}
}

// listPage reads one page and keeps what is wanted of it.
func (c *Cluster) listPage(ctx context.Context, wanted []target, options metav1.ListOptions, found answers) (brought int, next string, err error) {
	page, err := c.client(wanted[0]).List(ctx, options)
	if err != nil {
		return 0, "", err
	}
	byName := make(map[string]object.Ref, len(wanted))
	for _, t := range wanted {
		byName[t.ref.Name] = t.ref
	}
	for _, item := range page.Items {
		if ref, ok := byName[item.GetName()]; ok && wanted[0].with(ref).is(&item) {
			found[ref] = threeway.Live{Object: item.Object}
			delete(byName, ref.Name)
			brought++
		}
	}
	return brought, page.GetContinue(), nil
}

// with is the same way to ask for another object of the group.
func (t target) with(ref object.Ref) target {
	t.ref = ref
	return t
}

// missingFrom returns the targets that are not in found, in their order.
func missingFrom(found answers, group []target) []target {
	var out []target
	for _, t := range group {
		if _, ok := found[t.ref]; !ok {
			out = append(out, t)
		}
	}
	return out
}

// getsMayHelp tells whether objects may still be readable by name when their list is not: the role may allow no list, the
// continue token may have expired (410), one broken object makes the whole list an internal error. More requests are
// the wrong answer to a server that has no time, and useless without credentials.
func getsMayHelp(err error) bool {
	switch code, _ := classify(err); code {
	case CodeThrottled, CodeTimeout, CodeCanceled, CodeUnauthorized, CodeConnection:
		return false
	}
	return true
}
