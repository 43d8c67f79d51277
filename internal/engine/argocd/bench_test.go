package argocd

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// BenchmarkWrite predicts the sync of an object that nobody touched, and compares it as Argo CD does.
func BenchmarkWrite(b *testing.B) {
	bases := baseObjects(b)
	for _, desired := range bases {
		live := stored(desired)
		meta := object.Child(live, "metadata")
		meta["annotations"] = map[string]any{LastApplied: asText(desired)}
		b.Run(object.RefOf(desired).Kind, func(b *testing.B) {
			sync := Options{Compared: func(object.Key, Comparison) {}}.Deployment().Sync
			w := engine.Writer{Helm4: true, Deployer: func() owners.Deployer { return owners.Deployer{Manager: Manager, Known: true} }}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sync.Write(w, object.RefOf(desired), desired, live); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
