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
}

// Read implements drift.Cluster.
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
