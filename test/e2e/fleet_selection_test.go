package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// testRandomFleet compares the report of a fleet with the reports of its releases. Some are generated, and a few have objects where the
// lists of a fleet could miss them.
func testRandomFleet(c *fleetCluster) {
	c.fill()
	// The API server sorts a-b before a. Each namespace has more than a page of ConfigMaps.
	for _, namespace := range []string{"a-b", "a", "a0"} {
		many := c.install(namespace, "many", "{{ range $i := until 260 }}"+configMap("m-{{ $i }}", "{{ $i }}")+"{{ end }}")
		must(c.t, many.patch("kubectl-edit", "configmap/m-99", "{data: {k: edited}}"))
		must(c.t, many.patch("kubectl-label", "configmap/m-7", "{metadata: {labels: {app.kubernetes.io/managed-by: null}}}"))
		must(c.t, c.on.delete(context.Background(), ref{"configmap", namespace, "m-250"}))
		must(c.t, c.on.create(context.Background(), configMap("stranger", "1"), namespace, "kubectl-create"))
	}
	// These objects are in namespaces before and after the namespace of the record, and in none.
	c.install("a", "spread", configMap("here", "1")+configMap("before, namespace: a-b", "1")+configMap("behind, namespace: shop-003", "1")+
		"{{ range $i := until 12 }}---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"+
		"metadata: {name: \"spread-{{ $i }}\"}\nrules: []\n{{ end }}")
	c.edit(ref{"configmap", "shop-003", "behind"}, "{data: {k: edited}}")
	c.edit(ref{"clusterrole", "", "spread-3"}, "{metadata: {labels: {app.kubernetes.io/name: x}}}")
	c.install("z-last", "elsewhere", configMap("first, namespace: a-b", "1")+configMap("nowhere-yet", "1"))
	must(c.t, c.install("a-b", "helm3", configMap("three", "1")).helm(false, "upgrade", "chart.yaml", "--set", "x=1"))
	must(c.t, c.release("a-b", "helm4").helm(true, "install", "web"))

	all := c.equalToReleases("-A")
	if len(all) != fleetReleases+7 {
		c.t.Errorf("%d releases, not %d", len(all), fleetReleases+7)
	}
	drifted := 0
	for id, release := range all {
		if state(release) == "drifted" {
			drifted++
		} else if state(release) != "clean" {
			c.t.Errorf("%s: %s", id, state(release))
		}
	}
	if want := fleetReleases/20 + 4; drifted != want {
		c.t.Errorf("%d releases are drifted, not %d", drifted, want)
	}
	for _, namespace := range []string{"a", "a-b", "shop-003"} {
		c.equalToReleases("-n", namespace)
	}
}

// testSelection selects releases in every way.
func testSelection(c *fleetCluster) {
	c.fill()
	c.edit(ref{"secret", "shop-001", c.lastRecord("shop-001")}, "{metadata: {labels: {team: web}}}")
	all, err := c.mustScan(c.t, 2, "-A").byID()
	must(c.t, err)
	checkShards(c, all)
	for _, test := range []struct {
		flags string
		holds func(releaseID) bool
	}{
		{"-A --filter ^c", func(id releaseID) bool { return strings.HasPrefix(id.name, "c") }},
		{"-A --exclude ^[a-m]", func(id releaseID) bool { return id.name[0] > 'm' }},
		{"-A --filter -00 --exclude ^c", func(id releaseID) bool {
			return strings.Contains(id.name, "-00") && !strings.HasPrefix(id.name, "c")
		}},
		{"-A -l team=web", func(id releaseID) bool {
			return strings.HasPrefix(c.lastRecord("shop-001"), "sh.helm.release.v1."+id.name+".")
		}},
		{"-A --status deployed", func(releaseID) bool { return true }},
		{"-n shop-002", func(id releaseID) bool { return id.namespace == "shop-002" }},
		{"-n shop-002 --filter 2", func(id releaseID) bool { return id.namespace == "shop-002" && strings.Contains(id.name, "2") }},
	} {
		got := c.scanAny(strings.Fields(test.flags)...)
		found, err := got.byID()
		must(c.t, err)
		for id, release := range all {
			switch {
			case (found[id] != nil) != test.holds(id):
				c.t.Errorf("%s: selects %s: %v", test.flags, id, found[id] != nil)
			case found[id] != nil && !equalJSON(found[id], release):
				c.t.Errorf("%s: %s is not as in the report of all", test.flags, id)
			}
		}
	}
	for flags, want := range map[string]string{
		"-A --filter ^nothing$":         "the flags select 0 of ",
		"-A -l team=nobody":             "the flags select 0 of ",
		"-A --status failed":            "the flags select 0 of ",
		"-n kube-system":                "there are no releases in namespace kube-system",
		"-A --filter (":                 "--filter",
		"-A --shard 3/3":                "there is no part 3 of 3",
		"-A --shard auto":               "the environment does not say which part this is",
		"-A --status deployed --qps -x": "must be a number",
	} {
		out, err := c.run(append([]string{"diff", "-o", "json"}, strings.Fields(flags)...)...)
		must(c.t, err)
		if out.exit != 1 || out.stdout != "" || !strings.Contains(out.stderr, want) {
			c.t.Errorf("%s: exit %d\n%s%s", flags, out.exit, out.stdout, out.stderr)
		}
	}
	// A name that no release has is an error beside the releases of the other names.
	some := strings.Split(c.lastRecord("shop-001"), ".")[4]
	got := c.mustScan(c.t, 1, some+",nobody", "-n", "shop-001")
	if len(got.Releases) != 1 || len(got.Errors) != 1 || got.Errors[0].Code != "not-found" {
		c.t.Errorf("%s", got.summary())
	}
}

// lastRecord returns the name of the last record of the first release of a namespace.
func (c *fleetCluster) lastRecord(namespace string) string {
	c.t.Helper()
	last := ""
	for _, record := range recordsIn(c.t, c.on, "secrets", namespace) {
		if name := record.GetName(); record.GetLabels()["status"] == "deployed" && (last == "" || name < last) {
			last = name
		}
	}
	return last
}

// checkShards checks that the parts of a selection are the whole, and that no release is in two of them.
func checkShards(c *fleetCluster, all map[releaseID]map[string]any) {
	c.t.Helper()
	shard := func(s *scanner, flag string, union map[releaseID]map[string]any) map[string]int {
		out, err := s.run("diff", "-A", "-o", "json", "--shard", flag)
		must(c.t, err)
		part, err := out.byID()
		must(c.t, err)
		for id, release := range part {
			if union[id] != nil {
				c.t.Errorf("%s is in two of the parts like %s", id, flag)
			}
			if union[id] = release; !equalJSON(release, all[id]) {
				c.t.Errorf("%s in part %s is not as in the report of all", id, flag)
			}
		}
		return out.Scan.Shard
	}
	for _, count := range []int{1, 3, 7} {
		union := map[releaseID]map[string]any{}
		for i := range count {
			if got := shard(c.scanner, fmt.Sprintf("%d/%d", i, count), union); got["index"] != i || got["count"] != count {
				c.t.Errorf("part %d of %d says that it is %v", i, count, got)
			}
		}
		if len(union) != len(all) {
			c.t.Errorf("%d parts have %d releases, not %d", count, len(union), len(all))
		}
	}
	for name, of := range map[string]func(i int) []string{
		"Kubernetes": func(i int) []string { return []string{fmt.Sprint("JOB_COMPLETION_INDEX=", i), "HELMDRIFT_SHARDS=2"} },
		"GitLab":     func(i int) []string { return []string{fmt.Sprint("CI_NODE_INDEX=", i+1), "CI_NODE_TOTAL=2"} },
	} {
		union := map[releaseID]map[string]any{}
		for i := range 2 {
			if got := shard(c.with(of(i)...), "auto", union); got["index"] != i || got["count"] != 2 {
				c.t.Errorf("%s: part %d of 2 says that it is %v", name, i, got)
			}
		}
		if len(union) != len(all) {
			c.t.Errorf("%s: the parts have %d releases, not %d", name, len(union), len(all))
		}
	}
}

// scanAny runs diff with a selection that finds something, whatever the exit code.
func (c *fleetCluster) scanAny(selection ...string) scanRun {
	c.t.Helper()
	out, err := c.run(append([]string{"diff", "-o", "json"}, selection...)...)
	must(c.t, err)
	if len(out.Releases) == 0 {
		c.t.Fatalf("%v: exit %d\n%s%s", selection, out.exit, out.stdout, out.stderr)
	}
	return out
}

// testThrottledScan scans through a server that refuses requests with 429. Each is sent again after the time that the server says, and the
// report is right. It then limits the rate itself.
func testThrottledScan(c *fleetCluster) {
	c.fill()
	want := c.mustScan(c.t, 2, "-A")
	p := startOutages(c.t, c.on)
	p.throttle(9)
	got, err := c.runFor(context.Background(), p.kubeconfig, "diff", "-A", "-o", "json")
	must(c.t, err)
	if got.exit != 2 || !equalJSON(got.Releases, want.Releases) {
		c.t.Errorf("exit %d\n%s%s", got.exit, got.summary(), got.stderr)
	}
	refused, early := p.repeated()
	if refused < 3 || len(early) > 0 {
		c.t.Errorf("%d requests were refused; repeated too early: %q", refused, early)
	}

	start := time.Now()
	slow, err := c.run("diff", "-A", "-o", "json", "--qps", "30", "--burst-limit", "1")
	must(c.t, err)
	took, least := time.Since(start), time.Duration(slow.Scan.Requests-10)*time.Second/30
	if slow.exit != 2 || took < least || !equalJSON(slow.Releases, want.Releases) {
		c.t.Errorf("exit %d; %d requests took %v, not %v", slow.exit, slow.Scan.Requests, took, least)
	}
}
