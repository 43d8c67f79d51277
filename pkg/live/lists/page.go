package lists

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/live"
)

// Page is one page of a list: objects, and the token of the next page, which is empty after the last one.
type Page struct {
	Items []any
	Next  string
}

// ReadPage reads a page of at most limit objects of a kind that a selector selects, in one namespace or, if it is empty, in all. Both the
// selector and the token of the first page may be empty.
//
// The objects are the same as those of client-go's dynamic client, which decodes a list three times (apimachinery v0.37.1
// pkg/apis/meta/v1/unstructured/helpers.go decodeToList). Most objects of a fleet are untouched, so decoding them is much of the work.
func ReadPage(
	ctx context.Context, c *live.Cluster, of schema.GroupVersionResource, namespace, selector string, limit int, token string,
) (Page, error) {
	path := []string{"apis", of.Group, of.Version}
	if of.Group == "" {
		path = []string{"api", of.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	request := c.Objects().Get().AbsPath(append(path, of.Resource)...).Param("limit", strconv.Itoa(limit))
	if selector != "" {
		request = request.Param("labelSelector", selector)
	}
	if token != "" {
		request = request.Param("continue", token)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return Page{}, err
	}
	text, _ := result.Raw() // its error is that of result
	var list struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`
		Items           []any `json:"items"`
	}
	if err := utiljson.Unmarshal(text, &list); err != nil {
		return Page{}, fmt.Errorf("decode the list of %s: %w", of.Resource, err)
	}
	if err := checkNext(token, list.Continue, len(list.Items)); err != nil {
		return Page{}, fmt.Errorf("list %s: %w", of.Resource, err)
	}
	kind := strings.TrimSuffix(list.Kind, "List")
	for _, item := range list.Items {
		// The items of built-in kinds have no type of their own.
		if o, _ := item.(map[string]any); o != nil && o["kind"] == nil && o["apiVersion"] == nil {
			o["apiVersion"], o["kind"] = list.APIVersion, kind
		}
	}
	return Page{Items: list.Items, Next: list.Continue}, nil
}

// MaxPages is how many pages of a list are read. At 250 objects each, it allows half a million objects, which no etcd could hold.
const MaxPages = 2000

// ErrEndless is about a list whose pages may have no end.
var ErrEndless = errors.New("the server sends pages without an end; a proxy in front of the API server may be broken or hostile")

// checkNext returns ErrEndless if a page leads to itself, or is empty and leads to another one. The objects after it are not known.
func checkNext(token, next string, items int) error {
	if next != "" && (next == token || items == 0) {
		return ErrEndless
	}
	return nil
}

// CompareNamespaces orders namespaces as the API server lists their objects. It sorts by the keys of etcd, which are namespace/name, so
// that a-b is before a.
func CompareNamespaces(a, b string) int { return cmp.Compare(a+"/", b+"/") }
