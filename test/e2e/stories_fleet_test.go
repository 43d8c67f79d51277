package e2e

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestStoriesAsFleet compares the report of a fleet with the reports of its releases one by one. The fleet is everything that the tests
// before this one have left in the cluster: the releases of all stories, of the random tests and of the tests of charts. Tests run in the
// order of their files, and tests with t.Parallel run after all others, so nobody deploys meanwhile.
func TestStoriesAsFleet(t *testing.T) {
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web")) // so that there is a release if this test runs by itself
	must(t, c.scale("deployment/web", "5"))
	deployRandom(t, c)
	s := newScanner(t, suite.cluster)
	for driver, resource := range map[string]string{"secret": "secrets", "configmap": "configmaps"} {
		want := releasesStoredIn(t, suite.cluster, resource)
		if len(want) == 0 {
			continue
		}
		s := s.with("HELM_DRIVER=" + driver)
		found, problems, err := s.differences("-A")
		must(t, err)
		t.Logf("%s: %d releases", driver, len(found))
		for _, problem := range problems {
			t.Errorf("-A: %s", problem)
		}
		for id := range want {
			if found[id] == nil {
				t.Errorf("-A does not find %s", id)
			}
		}
		checkNarrow(t, s, found)
		checkOrphansOfStories(t, s)
	}
}

// leavesOrphans has the stories and the tests that make orphans, besides those that are called after them.
func leavesOrphans() map[string]string {
	return map[string]string{
		"adopt-and-fail":    "somebody creates an object with the annotations of the release",
		"order-of-failures": "a failed revision creates an object, and the next one does not have it",
		"record-unlabelled": "Helm installs a release of the same name with another driver, and its record loses the label",
		"record-elsewhere":  "the namespace of the records is deleted",

		"flux-storage-namespace": "the namespace of the records is deleted",

		// These are tests of their own.
		"testcopiedrecord-helm4-false": "the record of the objects is that of another namespace",
		"testcopiedrecord-helm4-true":  "the same",
		"testrecordsinsql-helm4-false": "the records are in a database, which a scan of those in the cluster cannot see (docs/fleet.md)",
		"testrecordsinsql-helm4-true":  "the same",
	}
}

// checkOrphansOfStories fails if a scan reports an orphan that no story has made. Helm was asked to keep some.
func checkOrphansOfStories(t *testing.T, s *scanner) {
	t.Helper()
	out, err := s.run("diff", "-A", "-o", "json", "--fail-on", "orphan")
	must(t, err)
	if out.Scan == nil || !out.Scan.OrphansSought {
		t.Fatalf("orphans were not sought\n%s", out.stderr)
	}
	for _, o := range out.Scan.Orphans {
		story := strings.TrimPrefix(o.ReleaseNamespace, "e2e-")
		story = story[:max(0, strings.LastIndex(story, "-"))]
		if leavesOrphans()[story] == "" && !strings.HasPrefix(story, "orphans") && !o.Kept {
			t.Errorf("-A: %s", o)
		}
	}
	t.Logf("%d orphans", len(out.Scan.Orphans))
}

// deployRandom leaves releases with random charts and random edits in the namespace of a case.
func deployRandom(t *testing.T, c *Case) {
	t.Helper()
	pool, err := loadPool()
	must(t, err)
	for seed := range randomReleases {
		run := newOracleRun(newExtendedCase(pool, 1000+seed), c, seed%2 == 1)
		t.Cleanup(run.clean)
		if err := run.deployAndEdit(); err != nil {
			t.Logf("seed %d: %v", seed, err) // a random chart need not be valid
		}
	}
}

// randomReleases is the number of random releases.
const randomReleases = uint64(10)

// checkNarrow compares the releases of a few namespaces, beginning with the namespaces that have the most.
func checkNarrow(t *testing.T, s *scanner, found map[releaseID]map[string]any) {
	t.Helper()
	count := map[string]int{}
	for id := range found {
		count[id.namespace]++
	}
	var names []string
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names[:min(len(names), 3)] {
		narrow, problems, err := s.differences("-n", name)
		must(t, err)
		if len(narrow) != count[name] {
			t.Errorf("-n %s finds %d releases, -A %d", name, len(narrow), count[name])
		}
		for _, problem := range problems {
			t.Errorf("-n %s: %s", name, problem)
		}
	}
}

// releasesStoredIn returns the releases with records in Secrets or ConfigMaps, without those that were uninstalled.
func releasesStoredIn(t *testing.T, on *cluster, resource string) map[releaseID]bool {
	t.Helper()
	out, last := map[releaseID]bool{}, map[releaseID]int{}
	for _, record := range recordsIn(t, on, resource, "") {
		labels := record.GetLabels()
		id := releaseID{record.GetNamespace(), labels["name"]}
		if revision, _ := strconv.Atoi(labels["version"]); revision >= last[id] {
			last[id], out[id] = revision, labels["status"] != "uninstalled"
		}
	}
	maps.DeleteFunc(out, func(_ releaseID, installed bool) bool { return !installed })
	return out
}

// recordsIn returns the records of a namespace, or of all namespaces if it is empty.
func recordsIn(t *testing.T, on *cluster, resource, namespace string) []unstructured.Unstructured {
	t.Helper()
	list, err := on.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}).Namespace(namespace).
		List(context.Background(), metav1.ListOptions{LabelSelector: "owner=helm,name"})
	must(t, err)
	return list.Items
}
