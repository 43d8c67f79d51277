// Package fluxtest has clusters for the tests of the packages about Flux.
package fluxtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Served is a cluster that serves some versions of kinds and has objects of any kind.
type Served struct {
	drift.Cluster
	Versions []string
	Objects  map[object.Ref]map[string]any
}

// Read implements drift.Cluster.
func (s Served) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = cluster.Live{Absence: cluster.AbsentKind}
		if slices.Contains(s.Versions, ref.Group+"/"+ref.Version) {
			out[ref] = cluster.Live{Object: s.Objects[ref]}
		}
	}
	return out
}

// Scope implements drift.Cluster. All kinds have namespaces.
func (s Served) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	return true, slices.Contains(s.Versions, kind.Group+"/"+kind.Version)
}

// OpenAPI implements drift.Cluster.
func (s Served) OpenAPI(context.Context, []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return nil, nil
}

// Decoded returns an object as the cluster has it.
func Decoded(t *testing.T, format string, args ...any) (object.Ref, map[string]any) {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal(fmt.Appendf(nil, format, args...), &out); err != nil {
		t.Fatal(err)
	}
	return object.RefOf(out), out
}

// Objects answers reads from objects in memory, by kind and name.
type Objects map[string]map[string]any

// Read implements deployer.Reader.
func (o Objects) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = cluster.Live{Object: o[ref.Kind+"/"+ref.Name]}
	}
	return out
}
