package live

import (
	"context"
	"errors"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// This file has the reads of a rollout that is waited for: pods, events and logs beside the objects of a release.

const (
	// selectPage is the size of a page of Select, and selectPages the number of pages after which it ends. A namespace may hold more events
	// than anybody reads.
	selectPage  = 500
	selectPages = 10
	// logLimit bounds the bytes of a log.
	logLimit = 1 << 20
)

// Select returns the objects of a resource in a namespace that the selectors of the options match, at most 5000 of them. The
// API server does not answer from its cache, as it may for List.
func (c *Cluster) Select(ctx context.Context, of schema.GroupVersionResource, namespace string, options metav1.ListOptions) (
	items []map[string]any, err error) {
	defer recoverError(&err)
	options.Limit = selectPage
	for range selectPages {
		page, err := c.dynamic.Resource(of).Namespace(namespace).List(ctx, options)
		if err != nil {
			return items, listError(of.Resource, err)
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

// Log returns the last lines of the log of a container, or of the instance of it that ended before the one that runs.
func (c *Cluster) Log(ctx context.Context, namespace, pod, container string, previous bool, lines int) (text string, err error) {
	defer recoverError(&err)
	if len(rest.IsValidPathSegmentName(pod)) > 0 {
		return "", errors.New("pods/log: the name of the pod is not valid")
	}
	request := c.objects.Get().AbsPath("api", "v1", "namespaces", namespace, "pods", pod, "log").
		Param("container", container).Param("previous", strconv.FormatBool(previous)).
		Param("tailLines", strconv.Itoa(lines)).Param("limitBytes", strconv.Itoa(logLimit))
	body, err := request.Do(ctx).Raw()
	if err != nil {
		return "", listError("pods/log", err)
	}
	return string(body[:min(len(body), logLimit)]), nil
}

// listError returns the error of a read that is about no object of the release: the resource, the class of the error, and what the server
// says beyond it.
func listError(resource string, err error) error {
	code, text := classify(err)
	if detail := detailOf(err); detail != "" && code != CodeForbidden {
		text += ": " + detail
	}
	return errors.New(resource + ": " + text)
}
