package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// fleetCluster is a cluster where only its own test deploys. Nothing changes by itself, because no controllers run, so a report stays
// right as long as the test does nothing.
type fleetCluster struct {
	t     *testing.T
	plane *harness.Plane
	on    *cluster
	*scanner
	// generate writes the generated releases, once.
	generate func() error
}

// TestFleet needs a cluster of its own: it counts all releases, breaks discovery, and takes the API server away. Its parts run one after
// the other.
func TestFleet(t *testing.T) {
	if os.Getenv(kubeconfigEnv) != "" {
		t.Skip("would break the cluster that " + kubeconfigEnv + " names")
	}
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p, err := startPlane(ctx)
	must(t, err)
	t.Cleanup(p.Stop)
	on, err := newCluster(p.Kubeconfig)
	must(t, err)
	must(t, on.installCRDs(ctx))
	generate := sync.OnceValue(func() error {
		generated, err := fleet.New(fleetOptions())
		if err != nil {
			return err
		}
		return generated.Fill(ctx, on.Config, 0, fleetReleases)
	})
	for _, part := range []struct {
		name string
		run  func(c *fleetCluster)
	}{
		{"Random", testRandomFleet},
		{"Selection", testSelection},
		{"Soak", testSoak},
		{"ChangedMeanwhile", testChangedMeanwhile},
		{"Leak", testLeak},
		{"Outage", testOutage},
		{"Killed", testKilledServer},
		{"Throttled", testThrottledScan},
		{"Contexts", testContexts},
		{"Roles", testRoles},
		{"Rights", testRightsOfScan},
		{"OrphanRights", testOrphanRights},
		{"Errors", testEntriesWithErrors},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.run(&fleetCluster{t: t, plane: p, on: on, scanner: newScanner(t, on), generate: generate})
		})
	}
}

// fleetOptions and fleetReleases are the options and the number of the generated releases of TestFleet. Every 20th is drifted.
const fleetReleases = 40

func fleetOptions() fleet.Options { return fleet.Options{Objects: 9, Seed: 7} }

// fill writes the generated releases, unless a part before has done so.
func (c *fleetCluster) fill() {
	c.t.Helper()
	must(c.t, c.generate())
}

// release returns a release in a namespace, which is created if it does not exist.
func (c *fleetCluster) release(namespace, name string) *Case {
	c.t.Helper()
	c.namespace(namespace)
	return &Case{cluster: c.on, ns: namespace, storage: namespace, release: name, dir: c.t.TempDir(), env: map[string]string{}, proxy: c.proxy}
}

func (c *fleetCluster) namespace(name string) {
	c.t.Helper()
	err := c.on.create(context.Background(), "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}", "", "kubectl-create")
	if !apierrors.IsAlreadyExists(err) {
		must(c.t, err)
	}
}

// install installs a release whose chart is one template.
func (c *fleetCluster) install(namespace, name, template string, flags ...string) *Case {
	c.t.Helper()
	out := c.release(namespace, name)
	must(c.t, os.WriteFile(filepath.Join(out.dir, "chart.yaml"), []byte(template), 0o600))
	must(c.t, out.helm(false, append(append([]string{"install"}, flags...), "chart.yaml")...))
	return out
}

// edit edits an object as a person does.
func (c *fleetCluster) edit(r ref, body string) {
	c.t.Helper()
	must(c.t, c.on.patch(context.Background(), r, "kubectl-edit", body))
}

// configMap is the template of a ConfigMap with one key.
func configMap(name, value string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {k: %q}\n", name, value)
}

// equalToReleases compares the report of a selection with the reports of its releases.
func (c *fleetCluster) equalToReleases(selection ...string) map[releaseID]map[string]any {
	c.t.Helper()
	found, problems, err := c.differences(selection...)
	must(c.t, err)
	for _, problem := range problems {
		c.t.Errorf("%v: %s", selection, problem)
	}
	return found
}

// wantStates compares the states of some releases with the expected ones: "namespace/name state" in each line.
func wantStates(t *testing.T, got scanRun, want string) {
	t.Helper()
	if text := got.summary(); text != want {
		t.Errorf("%v:\n%swant\n%s%s", got.args, text, want, got.stderr)
	}
}
