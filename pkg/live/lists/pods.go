package lists

import (
	"context"
	"errors"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/live"
)

// Pods is a cluster with what pkg/rollout reads while it waits: pods, events and logs.
type Pods struct{ *live.Cluster }

const (
	// selectPage is the size of a page of Select, and selectPages is the greatest number of pages. A namespace may hold more events than
	// anybody reads.
	selectPage  = 500
	selectPages = 10
	// logLimit bounds the bytes of a log.
	logLimit = 1 << 20
)

// Select returns the objects of a resource in a namespace that the selectors of the options match, at most 5000 of them. The
// API server does not answer from its cache, as it may for live.Cluster.List.
func (c Pods) Select(ctx context.Context, of schema.GroupVersionResource, namespace string, options metav1.ListOptions) (
	items []map[string]any, err error) {
	defer live.RecoverError(&err)
	options.Limit = selectPage
	for range selectPages {
		page, err := c.Dynamic().Resource(of).Namespace(namespace).List(ctx, options)
		if err != nil {
			return items, live.ReadError(of.Resource, err)
		}
		for _, item := range page.Items {
			items = append(items, item.Object)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	return items, nil
}

// Log returns the last lines of a container's log. If previous is set, it is the log of the instance that ran before
// the current one.
func (c Pods) Log(ctx context.Context, namespace, pod, container string, previous bool, lines int) (text string, err error) {
	defer live.RecoverError(&err)
	if len(rest.IsValidPathSegmentName(pod)) > 0 {
		return "", errors.New("pods/log: the name of the pod is not valid")
	}
	request := c.Objects().Get().AbsPath("api", "v1", "namespaces", namespace, "pods", pod, "log").
		Param("container", container).Param("previous", strconv.FormatBool(previous)).
		Param("tailLines", strconv.Itoa(lines)).Param("limitBytes", strconv.Itoa(logLimit))
	body, err := request.Do(ctx).Raw()
	if err != nil {
		return "", live.ReadError("pods/log", err)
	}
	return string(body[:min(len(body), logLimit)]), nil
}
