package e2e

import (
	"context"
	"flag"
	"math/rand/v2"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var fluxRegistries = flag.Int("flux.registries", 3, "how many random scripts TestFlux runs whose chart is in a registry")

// pushAndWait pushes a chart as push does, and waits until source-controller has it.
func (c *Case) pushAndWait(name, host string) error {
	if err := c.push(name, host); err != nil {
		return err
	}
	r, err := c.ref("ocirepositories.source.toolkit.fluxcd.io/web")
	if err != nil {
		return err
	}
	return c.cluster.waitFor(context.Background(), r, "its reconciliation", func(o *unstructured.Unstructured) bool {
		handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
		return handled == o.GetAnnotations()[reconcileRequest] && isSettled(o)
	})
}

// newRegistryScript returns the random script of a seed whose HelmRelease names an OCIRepository, so that each push moves the digest that
// is in the version of the chart. It has the files of a script that exists, the chart among them.
func newRegistryScript(seed uint64, files []txtar.File) []byte {
	s := &fluxScript{Rand: rand.New(rand.NewPCG(seed, 17)), name: "web", deployed: "web", chart: "oci/web", publish: "registry oci/web"}
	s.others = []func(){
		func() { s.line(s.publish) }, // the same content with another digest
		func() { s.patch("{interval: " + s.pick("1h", "60m", "2h") + "}") },
		func() { s.patch("{driftDetection: {mode: " + s.pick("enabled", "warn") + "}}") },
	}
	var out []txtar.File
	for _, f := range files {
		f.Name = strings.Replace(f.Name, "chart/", "oci/web/", 1)
		f.Data = []byte(strings.ReplaceAll(string(f.Data), "chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: charts}}}",
			"chartRef: {kind: OCIRepository, name: web}"))
		out = append(out, f)
	}
	return s.run("registry", seed, out)
}
