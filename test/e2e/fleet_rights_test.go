package e2e

import (
	"strings"
)

// testRightsOfScan takes away each right of a scan with -A, as TestRights does with diffs of one release.
func testRightsOfScan(c *fleetCluster) {
	for _, namespace := range []string{"rights-a", "rights-b"} {
		release := c.install(namespace, "rights", configMap("one", "1")+configMap("two", "2")+configMap("three", "3")+`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "nginx:1.25"}]}}
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: demo}
spec: {max: 10, min: 1}
`)
		if namespace == "rights-b" {
			must(c.t, release.scale("deployment/web", "5"))
			must(c.t, release.patch("kubectl-edit", "things.ex.com/demo", "{spec: {max: 30}}"))
			must(c.t, release.patch("kubectl-edit", "configmap/two", "{data: {k: edited}}"))
		}
	}
	r := rightsRun{proxy: c.proxy, sum: &rightsTally{}, diff: func() (binaryRun, error) {
		c.proxy.reset(permitReads)
		out, err := c.run("diff", "rights", "-A", "-o", "json")
		if err != nil {
			return binaryRun{}, err
		}
		done := binaryRun{args: out.args, exit: out.exit, stdout: out.stdout, stderr: out.stderr, traffic: c.proxy.recorded()}
		if out.stdout != "" {
			done.report, err = decodeReport(out.stdout)
		}
		return done, err
	}}
	var err error
	r.full, err = r.diff()
	must(c.t, err)
	if r.full.exit != 2 || len(r.full.report.Releases) != 2 {
		c.t.Fatalf("exit %d\n%s", r.full.exit, strings.Join(r.full.report.statements(), "\n"))
	}
	for _, fault := range r.takeAway() {
		c.t.Error(fault)
	}
	c.t.Log(r.sum)
}
