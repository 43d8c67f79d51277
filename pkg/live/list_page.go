package live

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// listPage is one page of a list: objects, and the token of the next page, which is empty after the last one.
type listPage struct {
	items []any
	next  string
}

// readPage reads a page of the objects that Helm labelled, in one namespace or in all if it is empty.
//
// The objects are the same as those of client-go's dynamic client, which decodes a list three times (apimachinery v0.37.1
// pkg/apis/meta/v1/unstructured/helpers.go decodeToList). Most of the objects of a fleet are untouched, so decoding them is much of the work.
func (c *Cluster) readPage(ctx context.Context, of schema.GroupVersionResource, namespace, token string) (listPage, error) {
	path := []string{"apis", of.Group, of.Version}
	if of.Group == "" {
		path = []string{"api", of.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	request := c.objects.Get().AbsPath(append(path, of.Resource)...).
		Param("labelSelector", helmSelector).Param("limit", strconv.Itoa(sweepPage))
	if token != "" {
		request = request.Param("continue", token)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return listPage{}, err
	}
	text, err := result.Raw()
	if err != nil {
		return listPage{}, err
	}
	var list struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`
		Items           []any `json:"items"`
	}
	if err := utiljson.Unmarshal(text, &list); err != nil {
		return listPage{}, fmt.Errorf("decode the list of %s: %w", of.Resource, err)
	}
	kind := strings.TrimSuffix(list.Kind, "List")
	for _, item := range list.Items {
		// The items of built-in kinds have no type of their own.
		if o, _ := item.(map[string]any); o != nil && o["kind"] == nil && o["apiVersion"] == nil {
			o["apiVersion"], o["kind"] = list.APIVersion, kind
		}
	}
	return listPage{items: list.Items, next: list.Continue}, nil
}
