package fleet

import (
	"fmt"
	"math/rand/v2"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// These are the proportions of a fleet.
const (
	// MinObjects is the least number of objects of a release: those that every release has.
	MinObjects = 5
	// perNamespace is how many releases are in one namespace.
	perNamespace = 10
	// perDrifted is how many releases there are for each drifted one.
	perDrifted = 20
	// maxRevisions is how many records Helm keeps of a release.
	maxRevisions = 10
)

// Options describe a fleet.
type Options struct {
	// Objects is the number of objects of each release, at least MinObjects.
	Objects int
	// Seed selects one of many fleets of the same shape.
	Seed uint64
	// Dependency gives each chart a library chart, which Helm does not keep in the record.
	Dependency bool
	// PostRender changes the objects of the manifests before they are written. It may be nil.
	PostRender func(r Release, object *unstructured.Unstructured)
}

// Fleet makes releases. It may be used by several goroutines.
type Fleet struct {
	options Options
	charts  []*chart.Chart
}

// New returns the fleet of the options.
func New(options Options) (*Fleet, error) {
	if options.Objects < MinObjects {
		return nil, fmt.Errorf("a release has at least %d objects, not %d", MinObjects, options.Objects)
	}
	charts, err := loadCharts(options.Seed, options.Dependency)
	if err != nil {
		return nil, err
	}
	return &Fleet{options: options, charts: charts}, nil
}

// Release is one release of a fleet.
type Release struct {
	Name, Namespace string
	// Revisions is how many records the release has. The last one is deployed.
	Revisions int
	// Drift is what somebody changed after the last revision.
	Drift Drift

	number int
	chart  *chart.Chart
	// values has the values of all revisions, without the image tag.
	values map[string]any
	// build is the part of the image tag that does not change between revisions.
	build string
}

// Release returns the release with a number, counted from 0.
func (f *Fleet) Release(number int) Release {
	random := rand.New(rand.NewPCG(f.options.Seed, uint64(number)))
	chart := f.charts[random.IntN(len(f.charts))]
	return Release{
		Name:      fmt.Sprintf("%s-%04d", chart.Name(), number),
		Namespace: namespaceOf(number),
		Revisions: 1 + random.IntN(maxRevisions),
		Drift:     driftOf(number),
		number:    number,
		chart:     chart,
		values:    chooseValues(random, f.options.Objects),
		build:     fmt.Sprintf("%08x", random.Uint32()),
	}
}

func namespaceOf(number int) string { return fmt.Sprintf("shop-%03d", number/perNamespace) }

// tag returns the image tag of a revision.
func (r Release) tag(revision int) string { return fmt.Sprintf("3.%d.0-%s", revision, r.build) }

// component is a list in the chart's values: the chart makes one object for each name in it.
type component struct {
	list, name string
	weight     int
}

// components returns all lists. Every release has one object of each of the first MinObjects lists; a weight is how often the others occur.
func components() []component {
	return []component{
		{"deployments", "web", 3}, {"configs", "main", 5}, {"services", "web", 3}, {"secrets", "main", 3}, {"serviceAccounts", "main", 1},
		{"statefulSets", "db", 1}, {"cronJobs", "report", 2}, {"roles", "main", 2}, {"roleBindings", "main", 2}, {"clusterRoles", "nodes", 1},
		{"clusterRoleBindings", "view", 1}, {"ingresses", "web", 2}, {"autoscalers", "web-2", 1}, {"budgets", "web", 2},
		{"networkPolicies", "web", 2}, {"claims", "cache", 1}, {"monitors", "web", 2}, {"certificates", "web", 1},
	}
}

// chooseValues chooses the objects of a release and their contents.
func chooseValues(random *rand.Rand, objects int) map[string]any {
	all := components()
	values, count := map[string]any{}, map[string]int{}
	for n := range objects {
		chosen := all[n%len(all)]
		if n >= MinObjects {
			chosen = pick(random, all)
		}
		if chosen.list == "autoscalers" && (count["autoscalers"] > 0 || count["deployments"] < 2) {
			chosen = all[0] // because an autoscaler scales the second Deployment
		}
		count[chosen.list]++
		name := chosen.name
		if count[chosen.list] > 1 {
			name = fmt.Sprintf("%s-%d", chosen.name, count[chosen.list])
		}
		add(random, values, chosen.list, name)
	}
	values["replicas"] = 1 + random.IntN(5)
	values["env"] = environment(random)
	return values
}

// pick chooses a list by weight.
func pick(random *rand.Rand, all []component) component {
	total := 0
	for _, c := range all {
		total += c.weight
	}
	left := random.IntN(total)
	for _, c := range all {
		if left < c.weight {
			return c
		}
		left -= c.weight
	}
	panic("fleet: the weights have changed")
}

// add adds a name to a list of the values. ConfigMaps and Secrets also need a content.
func add(random *rand.Rand, values map[string]any, list, name string) {
	switch list {
	case "configs", "secrets":
		entries, _ := values[list].(map[string]any)
		if entries == nil {
			entries = map[string]any{}
			values[list] = entries
		}
		if entries[name] = secretEntries(random); list == "configs" {
			entries[name] = configFiles(random)
		}
	default:
		names, _ := values[list].([]any)
		values[list] = append(names, name)
	}
}
