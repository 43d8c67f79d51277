package threeway

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// WarnDeployer is the code of the warning that the field manager of a release cannot be told.
const WarnDeployer = "deployer-unknown"

// deployerOf finds the field manager under which Helm writes the release.
func deployerOf(in Input) owners.Deployer {
	var live []map[string]any
	for _, ref := range releaseRefs(in) {
		live = append(live, in.Live[ref].Object)
	}
	return owners.FindDeployer(live, in.Managers, in.Name, in.Operation == report.OperationInstall)
}

// releaseRefs are the objects of old and desired, in an order of their own.
func releaseRefs(in Input) []object.Ref {
	var out []object.Ref
	for _, o := range slices.Concat(in.OldObjects, in.DesiredObjects) {
		out = append(out, o.Ref)
	}
	slices.SortFunc(out, func(a, b object.Ref) int { return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Version, b.Version)) })
	return slices.Compact(out)
}

// warnOfDeployer says that predictions of server-side applies may be made under the wrong name.
func (c *Comparison) warnOfDeployer() {
	if !c.Input.serverSide() {
		return
	}
	if d := c.Deployer(); !d.Known && len(d.Others) > 0 {
		c.warn(report.Message{Code: WarnDeployer,
			Message: fmt.Sprintf("%s; what the upgrade does is predicted for %s", d.Doubt(), d.Manager)})
	}
}
