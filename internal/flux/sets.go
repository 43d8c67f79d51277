package flux

import (
	"context"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// setReader is a tree over the cluster. It notes which ResourceSets of Flux Operator made ConfigMaps, Secrets and sources that are read and
// that the tree does not make. Flux Operator labels what it makes (fluxcd/pkg/ssa v0.76.1 manager.go SetOwnerLabels).
type setReader struct {
	applied.Overlay
	sets map[string]bool
}

// Read implements deployer.Reader. Only the goroutine that makes a plan reads ConfigMaps, Secrets and sources.
func (r setReader) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	const label = "resourceset." + tree.OperatorGroup
	out := r.Overlay.Read(ctx, wanted)
	for ref, live := range out {
		isData := ref.Group == "" && (ref.Kind == "ConfigMap" || ref.Kind == "Secret")
		labels := object.Child(object.Child(live.Object, "metadata"), "labels")
		name, _ := labels[label+"/name"].(string)
		namespace, _ := labels[label+"/namespace"].(string)
		if name != "" && (isData || ref.Group == api.SourceGroup) && !r.Makes(ref) {
			r.sets[deployer.TitleOf("ResourceSet", namespace, name)] = true
		}
	}
	return out
}

// mayMake reports whether a ResourceSet may make a HelmRelease or what this uses. If the tree makes the HelmRelease, it makes another one.
func (r setReader) mayMake(helmRelease object.Ref, set string) bool {
	return !r.Makes(helmRelease) || r.sets[set]
}
