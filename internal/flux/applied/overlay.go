package applied

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Overlay is a cluster with some objects that are already known. It asks the cluster for all others.
type Overlay struct {
	drift.Cluster
	objects map[object.Ref]cluster.Live
	// tree has those that a working tree made.
	tree map[object.Ref]bool
	// deletes says why the tree deletes an object of the cluster, or returns "". It may be nil.
	deletes func(ctx context.Context, ref object.Ref, item map[string]any) string
}

// NewOverlay returns an overlay without objects.
func NewOverlay(of drift.Cluster) Overlay {
	return Overlay{Cluster: of, objects: map[object.Ref]cluster.Live{}, tree: map[object.Ref]bool{}}
}

// Makes reports whether the working tree made an object.
func (o Overlay) Makes(ref object.Ref) bool { return o.tree[ref] }

// Made returns an object that the working tree made, or nil.
func (o Overlay) Made(ref object.Ref) map[string]any {
	if !o.tree[ref] {
		return nil
	}
	return o.objects[ref].Object
}

// Read implements drift.Cluster. What the tree deletes is not there, but a HelmRelease is: what Flux does with it is the question.
func (o Overlay) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	var others []object.Ref
	for _, ref := range wanted {
		if found, known := o.objects[ref]; known {
			out[ref] = found
		} else {
			others = append(others, ref)
		}
	}
	if len(others) > 0 {
		maps.Copy(out, o.Cluster.Read(ctx, others))
	}
	for _, ref := range others {
		if item := out[ref].Object; item != nil && o.deletes != nil && ref.GVK() != api.Kind() && o.deletes(ctx, ref, item) != "" {
			out[ref] = cluster.Live{}
		}
	}
	return out
}

// Add adds the objects of a list. What is known already stays.
func (o Overlay) Add(kind schema.GroupVersionKind, items []map[string]any) {
	for _, item := range items {
		if ref := api.RefOf(kind, item); o.objects[ref].Object == nil {
			o.objects[ref] = cluster.Live{Object: item}
		}
	}
}
