package threeway

import (
	"fmt"
	"testing"
)

// BenchmarkCompare compares one object per operation: a Deployment and a custom resource as charts have them, and a ConfigMap
// of 500 keys, untouched and edited.
func BenchmarkCompare(b *testing.B) {
	large := map[string]any{}
	for i := range 500 {
		large[fmt.Sprintf("key-%03d", i)] = fmt.Sprint("value ", i)
	}
	for name, content := range map[string]map[string]any{
		"ConfigMap500": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": large},
		"Custom":       benchObject(b, "design5-schema-of-custom-resource.txtar/old.yaml"),
		"Deployment":   benchObject(b, "noise-workload-zeros.txtar/live.yaml"),
	} {
		o := objectOf(b, content)
		s := sample{Object: o}
		b.Run(name+"/untouched", func(b *testing.B) { benchCompare(b, s, s.installed()) })
		b.Run(name+"/edited", func(b *testing.B) {
			live := s.installed()
			for _, field := range []string{"data", "spec"} {
				if m := child(live, field); m != nil {
					m["added"], m["replicas"] = "x", int64(7)
				}
			}
			benchCompare(b, s, live)
		})
	}
}

func benchCompare(b *testing.B, s sample, live map[string]any) {
	in := s.input(s.Object, live)
	b.ReportAllocs()
	for b.Loop() {
		Compare(in)
	}
}

func benchObject(b *testing.B, source string) map[string]any {
	for _, o := range samples(b) {
		if o.Source == source {
			return o.Content
		}
	}
	b.Fatalf("no object in %s", source)
	return nil
}
