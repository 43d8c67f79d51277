package argocd

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Owned returns what a manager last wrote of a live object, as far as managedFields show it. A field that the manager still owns has live's
// value. Somebody has overwritten the other fields of desired since, so they have desired's value. Owned returns desired itself if the
// object cannot be read as its kind.
func Owned(ref object.Ref, desired, live map[string]any, manager string) map[string]any {
	fields := &fieldpath.Set{}
	for _, entry := range owners.Entries(live, nil) {
		if entry.Manager == manager && entry.Subresource == "" && entry.Version == ref.GVK().GroupVersion().String() {
			fields = fields.Union(entry.Fields)
		}
	}
	types := managedfields.NewDeducedTypeConverter()
	if native := kinds.NativeApply(); native.Scheme.Recognizes(ref.GVK()) {
		types = native.Types
	}
	is, errIs := types.ObjectToTyped(&unstructured.Unstructured{Object: engine.WithoutManagedFields(live)}, typed.AllowDuplicates)
	wanted, errWanted := types.ObjectToTyped(&unstructured.Unstructured{Object: desired})
	if errors.Join(errIs, errWanted) != nil {
		return desired
	}
	merged, err := wanted.Merge(is.ExtractItems(fields.Leaves(), typed.WithAppendKeyFields()))
	if err != nil {
		return desired
	}
	out, isMap := merged.AsValue().Unstructured().(map[string]any)
	if !isMap {
		return desired
	}
	return out
}
