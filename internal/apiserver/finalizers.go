package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// FinalizersOf lists the finalizers that keep an object from being removed.
func FinalizersOf(obj map[string]any) []string {
	list, _ := object.Child(obj, "metadata")["finalizers"].([]any)
	var out []string
	for _, v := range list {
		if name, ok := v.(string); ok {
			out = append(out, name)
		}
	}
	return out
}

// finalizersReason returns the reason why the API server refuses the finalizers of an object that is being deleted: none may be added
// (apimachinery v0.37 pkg/api/validation/objectmeta.go ValidateObjectMetaAccessorUpdate).
func finalizersReason(u Update) string {
	if object.Child(u.Text, "metadata")["deletionTimestamp"] == nil {
		return ""
	}
	refused := validation.ValidateNoNewFinalizers(FinalizersOf(u.Result), FinalizersOf(u.Text), field.NewPath("metadata", "finalizers"))
	if len(refused) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %q is invalid: %v", u.Ref.GroupKind(), u.Ref.Name, refused[0])
}
