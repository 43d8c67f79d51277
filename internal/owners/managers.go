package owners

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Managers is a table of field managers by group. A name may begin or end in *.
type Managers map[report.ManagerGroup][]string

//go:embed managers.yaml
var managersText []byte

// builtInManagers returns the table of managers.yaml.
var builtInManagers = sync.OnceValue(func() Managers {
	var out Managers
	if err := yaml.UnmarshalStrict(managersText, &out); err != nil {
		panic(err) // the table is part of the program
	}
	return out
})

// BuiltInManagers returns the table of the managers that are known to everybody. It must not be changed.
func BuiltInManagers() Managers { return builtInManagers() }

// ManagerGroups returns the groups in the order of lookup: the first group that has a name wins.
func ManagerGroups() []report.ManagerGroup {
	return []report.ManagerGroup{report.ManagerDeployer, report.ManagerPerson, report.ManagerController}
}

// groupOf returns the group of a manager. A program that is known to deploy or to run in the cluster keeps its group. For all others,
// the given table comes before the built-in one.
func (m Managers) groupOf(manager string) report.ManagerGroup {
	known := builtInManagers().Find(manager)
	if known == report.ManagerDeployer || known == report.ManagerController {
		return known
	}
	return cmp.Or(m.Find(manager), known)
}

// Find returns the group of a manager in one table.
func (m Managers) Find(manager string) report.ManagerGroup {
	name := strings.ToLower(manager)
	for _, group := range ManagerGroups() {
		if slices.ContainsFunc(m[group], func(want string) bool { return MatchManager(strings.ToLower(want), name) }) {
			return group
		}
	}
	return report.ManagerUnknown
}

// MatchManager reports whether the name of a manager matches a name of a table or a rule, which may begin or end in *.
func MatchManager(want, name string) bool {
	if suffix, open := strings.CutPrefix(want, "*"); open {
		return strings.HasSuffix(name, suffix)
	}
	return object.MatchName(want, name)
}

// IsForgotten reports whether a manager name stands for writers that the API server has forgotten: those beyond ten managers of an
// object (apimachinery v0.36.3 pkg/util/managedfields/internal/capmanagers.go), and those before the first apply of an object without
// managers (skipnonapplied.go beside it). Any client may use these names as well.
func IsForgotten(manager string) bool {
	return manager == "ancient-changes" || manager == "before-first-apply"
}

// AreForgotten reports whether a value has owners, and all of them are forgotten writers.
func AreForgotten(owners []report.Owner) bool {
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o report.Owner) bool { return !IsForgotten(o.Manager) })
}

// AreControllers reports whether a controller owns a value, and nobody else does, except other controllers and the release itself.
func AreControllers(owners []report.Owner) bool {
	isController := func(o report.Owner) bool { return o.Group == report.ManagerController }
	return slices.ContainsFunc(owners, isController) && !slices.ContainsFunc(owners, func(o report.Owner) bool {
		return !isController(o) && o.Group != report.ManagerDeployer
	})
}

// AutoscalerMove is a field of an autoscaler that versions 1 and 2 of its API have at different places.
type AutoscalerMove struct{ V2, V1 object.Path }

// AutoscalerMoves returns the fields that the conversion between the versions moves (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go).
func AutoscalerMoves() []AutoscalerMove {
	spec := object.Path{}.Field("spec")
	annotations := object.Path{}.Field("metadata").Field("annotations")
	return []AutoscalerMove{
		{spec.Field("metrics"), spec.Field("targetCPUUtilizationPercentage")},
		{spec.Field("metrics"), annotations.Field("autoscaling.alpha.kubernetes.io/metrics")},
		{spec.Field("behavior"), annotations.Field("autoscaling.alpha.kubernetes.io/behavior")},
	}
}

// followMoves makes managers that wrote an autoscaler at its other version own their fields at the places where live has them.
func (o *Ownership) followMoves(live map[string]any) {
	version, _ := live["apiVersion"].(string)
	if live["kind"] != "HorizontalPodAutoscaler" || !strings.HasPrefix(version, "autoscaling/") {
		return
	}
	for i := range o.entries {
		e := &o.entries[i]
		for _, move := range AutoscalerMoves() {
			from, to := move.V2, move.V1
			if version != "autoscaling/v1" {
				from, to = to, from
			}
			if e.Version != version && OwnsWithin(e.Fields, from) {
				e.Fields = e.Fields.Union(fieldpath.NewSet(FieldPath(to)))
			}
		}
	}
}
