package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

// TestGeneratedFleet writes generated releases into a control plane without controllers. Helm reads their records, and helmdrift finds
// drift in exactly one object of those releases that the generator edited, and none in the others.
func TestGeneratedFleet(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	on := quietCluster(t).on
	f, err := fleet.New(fleet.Options{Objects: 15, Seed: 1})
	must(t, err)
	c := newCase(t, on)
	for number := range 80 {
		release := f.Release(number)
		if number%20 != 0 && release.Drift == fleet.NoDrift {
			continue
		}
		must(t, f.Fill(ctx, on.Config, number, number+1))
		c.release, c.ns, c.storage = release.Name, release.Namespace, release.Namespace
		checkGenerated(t, c, release)
	}
}

func checkGenerated(t *testing.T, c *Case, release fleet.Release) {
	t.Helper()
	written, err := release.Manifest()
	must(t, err)
	read, err := c.manifest()
	must(t, err)
	if read != written {
		t.Errorf("helm reads another manifest of %s:\n%s", release.Name, read)
	}
	out, err := c.diff()
	must(t, err)
	exit, drifted := 0, 0
	if release.Drift != fleet.NoDrift {
		exit, drifted = 2, 1
	}
	lines := strings.Join(out.report.lines(), "\n")
	summary := out.report.Summary
	if out.exit != exit || fmt.Sprint(summary["driftedObjects"]) != fmt.Sprint(drifted) || fmt.Sprint(summary["objects"]) != "15" {
		t.Errorf("%s (%s): exit %d\n%s", release.Name, release.Drift, out.exit, lines)
	}
}
