package argo

import (
	"fmt"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestDeployedAtRandom has what a second rendering of the same sources makes of an object, and what counts as deployed: a value that each
// rendering makes anew is what Argo CD has written, as long as it owns the field.
func TestDeployedAtRandom(t *testing.T) {
	const head = "apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop"
	const desired = "{" + head + "}, data: {token: second, level: info}}"
	const live = "{" + head + `, managedFields: [
		{manager: argocd-controller, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:token': {}}}},
		{manager: kubectl-edit, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:level': {}}}}]}, data: {token: first, level: debug}}`
	for name, c := range map[string]struct{ again, token string }{
		"rendered once":  {"", "second"},
		"the same again": {desired, "second"},
		"another one":    {"{" + head + "}, data: {token: third, level: info}}", "first"},
	} {
		p := planOf(t, "[]", desired, live)
		p.made.answer, p.from.Cluster = drift.RenderedChart{}, p.cluster
		if c.again != "" {
			p.made.answer.Again = []render.Document{documentOf(contentOf(t, c.again), "")}
		}
		o := &p.made.objects[0]
		got, _ := p.deployedOf(listed{ref: o.Ref, desired: o, live: cluster.Live{Object: contentOf(t, live)}}, lastSync{isSame: true, random: p.random()})
		if data := fmt.Sprint(object.Child(got, "data")); data != "map[level:info token:"+c.token+"]" {
			t.Errorf("%s: %s", name, data)
		}
	}
}
