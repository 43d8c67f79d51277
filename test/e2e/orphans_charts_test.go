package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var orphanCharts = flag.String("orphans.charts", "", "folder of packaged charts for TestOrphansOfCharts; it is skipped without one")

// TestOrphansOfCharts installs each chart of a folder with its hooks, by Helm 3 or 4 in turns, upgrades it so that it drops and adds
// objects, rolls it back, and uninstalls every third; the upgrade by a post-renderer fails. After each step, a scan of everything finds no
// orphan that Helm was not asked to keep: Helm itself has deleted what a revision dropped.
func TestOrphansOfCharts(t *testing.T) {
	if *orphanCharts == "" {
		t.Skip("-orphans.charts names no folder")
	}
	archives, err := filepath.Glob(filepath.Join(*orphanCharts, "*.tgz"))
	must(t, err)
	s := newScanner(t, suite.cluster)
	breaking := filepath.Join(t.TempDir(), "breaking")
	must(t, os.WriteFile(breaking, []byte("#!/bin/sh\ncat\nprintf '\\n---\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: Bad_Name}\\n---\\n"+
		"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: from-failed}\\n'\n"), 0o700))
	counts := map[string]int{}
	var cases []*Case
	for i, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tgz")
		c, err := openCase(suite.cluster, t.TempDir(), "oc-"+name)
		must(t, err)
		c.release = strings.Trim(name[:min(len(name), 30)], "-")
		call := helmCall{by4: i%2 == 1, chart: archive, serverSide: "auto", revision: 1}
		do := func(verb string, set ...string) bool {
			call.verb, call.values.Values = verb, set
			_, err := c.run(call)
			if err != nil && !call.noHooks { // a hook may need what a cluster without kubelets does not have
				t.Logf("%s: %s: %.200v", name, verb, err)
				call.noHooks = true
				_, err = c.run(call)
			}
			if err != nil {
				t.Logf("%s: %s: %.200v", name, verb, err)
				return false
			}
			counts[verb]++
			return true
		}
		if !do("install") {
			continue
		}
		cases = append(cases, c)
		// Some of these values drop objects and others add some. A chart that does not know them ignores them.
		few := []string{"serviceAccount.create=false", "rbac.create=false", "networkPolicy.enabled=false", "metrics.enabled=true", "pdb.create=false"}
		more := append([]string{"ingress.enabled=true", "podDisruptionBudget.enabled=true", "fullnameOverride=other"}, few...)
		if do("upgrade", more...) || do("upgrade", few...) || do("upgrade") {
			checkOrphans(t, s, name+" upgraded", 0, "-n", c.ns)
		}
		if !call.by4 {
			if _, err := c.run(helmCall{verb: "upgrade", chart: archive, postRenderer: breaking, noHooks: true}); err != nil {
				counts["failed upgrade"]++
			} else {
				t.Errorf("%s: an upgrade with an object that is not valid succeeded", name)
			}
			checkOrphans(t, s, name+" failed", 0, "-n", c.ns)
		}
		do("rollback")
		checkOrphans(t, s, name+" rolled back", 0, "-n", c.ns)
		if call.noHooks {
			counts["without hooks"]++
		}
	}
	checkOrphans(t, s, "all", 0, "-A")
	for _, c := range cases {
		must(t, c.cluster.create(context.Background(), fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: left, labels: {app.kubernetes.io/managed-by: Helm},
annotations: {meta.helm.sh/release-name: %s, meta.helm.sh/release-namespace: %s}}}`, c.release, c.ns), c.ns, "helm"))
	}
	checkOrphans(t, s, "all with one each", len(cases), "-A")
	for i, c := range cases {
		if i%3 == 0 {
			if _, err := c.run(helmCall{verb: "uninstall"}); err != nil {
				t.Logf("%s: %.200v", c.release, err)
			}
		}
	}
	checkOrphans(t, s, "some uninstalled", len(cases), "-A")
	t.Log(counts)
}

// checkOrphans fails if a scan does not report as many orphans as are wanted, all called left. It does not count what Helm was asked to
// keep, nor what a failed upgrade created and the next one, which starts from the last deployed revision, left behind.
func checkOrphans(t *testing.T, s *scanner, state string, want int, selection ...string) {
	t.Helper()
	out, err := s.run(append([]string{"diff", "-o", "json", "--fail-on", "orphan"}, selection...)...)
	must(t, err)
	if out.exit == 1 && out.Scan == nil && strings.Contains(out.stderr, "releases") {
		return // the only release was uninstalled
	}
	found := 0
	for _, o := range out.Scan.Orphans {
		switch {
		case o.Kept, o.Revision != nil && o.Revision.Status == "failed":
			t.Logf("%s: %s", state, o)
		case want > 0 && o.Name == "left" && o.Kind == "ConfigMap":
			found++
		default:
			t.Errorf("%s: %s", state, o)
		}
	}
	if found != want {
		t.Errorf("%s: %d orphans, want %d", state, found, want)
	}
	if !out.Scan.OrphansSought {
		t.Errorf("%s: orphans were not sought: %s", state, out.stderr)
	}
	for _, e := range out.Errors {
		t.Errorf("%s: %s", state, e.Message)
	}
}
