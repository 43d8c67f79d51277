package render

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// decode returns the objects of a document: none, one, or the items of a list. It may return both objects and an
// error.
func (d Document) decode() ([]*unstructured.Unstructured, error) {
	switch {
	case d.Fault != "":
		return nil, errors.New(d.Fault)
	case d.isEmpty():
		return nil, nil
	}
	root, _, err := unstructured.UnstructuredJSONScheme.Decode(d.JSON, nil, nil)
	if err != nil {
		return nil, decodeError(err)
	}
	if object, ok := root.(*unstructured.Unstructured); ok {
		return []*unstructured.Unstructured{object}, nil
	}
	return flatten(root)
}

// flatten returns the items of a list. Helm's visitor tries to flatten items that are lists too, but the extraction
// it uses accepts only lists that were decoded as such, so there a list within a list fails the whole document.
func flatten(list runtime.Object) (objects []*unstructured.Unstructured, err error) {
	if wrapper, ok := list.(*unstructured.UnstructuredList); ok {
		if err := checkMetadata(wrapper.Object); err != nil {
			return nil, err
		}
	}
	items, extractErr := meta.ExtractList(list)
	if extractErr != nil {
		return nil, errNotObject
	}
	for _, item := range items {
		object, ok := item.(*unstructured.Unstructured)
		switch {
		case !ok || object.IsList():
			return nil, errNested
		case object.GroupVersionKind().Kind == "":
			err = errNoKind
		default:
			objects = append(objects, object)
		}
	}
	return objects, err
}

// newObject describes a decoded object and sets its namespace.
func newObject(u *unstructured.Unstructured, source string, opts ParseOptions) object.Object {
	problem := problemIn(u)
	opts.setNamespace(u)
	gvk := u.GroupVersionKind()
	object := object.Object{
		Ref: object.Ref{
			Key:     object.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()},
			Version: gvk.Version,
		},
		Source:  source,
		Content: u.Object,
		Problem: problem,
	}
	if object.Name == "" {
		object.GenerateName = u.GetGenerateName()
	}
	return object
}

// setNamespace does what the builder's DefaultNamespace and its namespace filter do. Helm fails on a kind that is not
// served; here it counts as namespaced, as most kinds are, so that its objects have a key.
func (o ParseOptions) setNamespace(u *unstructured.Unstructured) {
	namespaced, known := true, false
	if o.Scope != nil {
		namespaced, known = o.Scope(u.GroupVersionKind())
	}
	switch {
	case known && !namespaced:
		u.SetNamespace("")
	case u.GetNamespace() == "" && o.Namespace != "":
		u.SetNamespace(o.Namespace)
	}
}

// problemIn returns why Helm refuses an object, or "" if it does not. The checks are in Helm's order: decode, map,
// get.
func problemIn(u *unstructured.Unstructured) string {
	if err := checkMetadata(u.Object); err != nil {
		return err.Error()
	}
	switch {
	case u.GetAPIVersion() == "":
		return "it has no apiVersion"
	case u.GetName() == "" && u.GetGenerateName() == "":
		return "it has no name"
	}
	return ""
}

// checkMetadata decodes metadata into the type that Kubernetes has for it. cli-runtime checks only documents and
// leaves the items of a list to the API server, which refuses them with the same message. Here both are checked, so
// that all labels are strings.
func checkMetadata(object map[string]any) error {
	if isPlainMetadata(object["metadata"]) {
		return nil
	}
	text, err := json.Marshal(map[string]any{"metadata": object["metadata"]})
	if err != nil {
		return metadataError(err)
	}
	var typed struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := utiljson.Unmarshal(text, &typed); err != nil {
		return metadataError(err)
	}
	return nil
}

// isPlainMetadata reports whether metadata has nothing but names, labels and annotations, and all of them are texts. That always decodes,
// and most metadata of charts is so.
func isPlainMetadata(metadata any) bool {
	fields, isMap := metadata.(map[string]any)
	for name, v := range fields {
		_, isText := v.(string)
		texts, areTexts := v.(map[string]any)
		for _, text := range texts {
			if _, ok := text.(string); !ok {
				return false
			}
		}
		switch name {
		case "name", "namespace":
			if !isText {
				return false
			}
		case "labels", "annotations":
			if !areTexts {
				return false
			}
		default:
			return false
		}
	}
	return isMap
}
