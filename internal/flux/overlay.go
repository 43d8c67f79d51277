package flux

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// overlay is a cluster with some objects that are already known. It asks the cluster for all others.
type overlay struct {
	drift.Cluster
	objects map[object.Ref]cluster.Live
	// tree has those that a working tree made.
	tree map[object.Ref]bool
	// deletes says why the tree deletes an object of the cluster, or returns "". It may be nil.
	deletes func(ctx context.Context, ref object.Ref, item map[string]any) string
}

// Read implements drift.Cluster. What the tree deletes is not there, but a HelmRelease is: what Flux does with it is the question.
func (o overlay) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
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
		if item := out[ref].Object; item != nil && o.deletes != nil && ref.GVK() != Kind() && o.deletes(ctx, ref, item) != "" {
			out[ref] = cluster.Live{}
		}
	}
	return out
}

// add adds the objects of a list. What is known already stays.
func (o overlay) add(kind schema.GroupVersionKind, items []map[string]any) {
	for _, item := range items {
		if ref := refOf(kind, item); o.objects[ref].Object == nil {
			o.objects[ref] = cluster.Live{Object: item}
		}
	}
}

// refOf names an object of a kind.
func refOf(kind schema.GroupVersionKind, o map[string]any) object.Ref {
	metadata, _ := o["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	return object.Ref{Key: object.Key{Group: kind.Group, Kind: kind.Kind, Namespace: namespace, Name: name}, Version: kind.Version}
}
