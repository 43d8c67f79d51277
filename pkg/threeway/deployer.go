package threeway

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// deployerOf finds the field manager under which Helm writes the release.
func deployerOf(in Input) owners.Deployer {
	var live []map[string]any
	for _, ref := range releaseRefs(in) {
		live = append(live, in.Live[ref].Object)
	}
	return owners.FindDeployer(live, in.Managers, in.Name, in.Operation == report.OperationInstall)
}

// releaseRefs returns the objects of old and desired, sorted.
func releaseRefs(in Input) []object.Ref {
	var out []object.Ref
	for _, o := range slices.Concat(in.OldObjects, in.DesiredObjects) {
		out = append(out, o.Ref)
	}
	slices.SortFunc(out, func(a, b object.Ref) int { return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Version, b.Version)) })
	return slices.Compact(out)
}
