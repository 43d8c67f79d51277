package argocd

import (
	"testing"

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
			b.ReportAllocs()
			for b.Loop() {
				if _, err := predict(Options{Learn: func(object.Key, Outcome) {}}, desired, live); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
