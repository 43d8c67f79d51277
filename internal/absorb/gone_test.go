package absorb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/absorb"
)

// TestGone checks that every object that is gone is absorbed, or left with a reason, whether Helm creates it, fails on it or skips it, and
// that what is being deleted is left too.
func TestGone(t *testing.T) {
	const chart = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {refused: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
{{- if .Values.c }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
{{- end }}
---
apiVersion: example.com/v1
kind: Shop
metadata: {name: d}
`
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"Chart.yaml":         []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"),
		"values.yaml":        []byte("c: true\n"),
		"templates/all.yaml": []byte(chart),
		"crds/shops.yaml": []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
			"metadata: {name: shops.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {plural: shops, kind: Shop}\n" +
			"  versions: [{name: v1, served: true, storage: true}]\n"),
	})
	file := []byte("c: true\n")
	for name, test := range map[string]struct {
		edits string
		of    func(c *testCluster)
		want  string
	}{
		"nothing": {},
		"being deleted": {
			edits: "ConfigMap b /metadata/deletionTimestamp '2026-11-22T10:00:00Z'\nConfigMap b /metadata/finalizers [example.com/hold]\n",
			want: "ConfigMap b: left (no-value, being deleted): once it has gone, " +
				"helmdrift absorb looks for a value that removes it from the chart\n",
		},
		"refused by the API server, and skipped because of that": {
			edits: "ConfigMap a\nConfigMap b\nConfigMap c\n",
			want: `ConfigMap a: left (no-value): no value of the chart was found that controls it
ConfigMap b: left (no-value): no value of the chart was found that controls it
ConfigMap c: absorbed
`,
		},
		"of a kind that is not served": {
			of:   func(c *testCluster) { c.unserved = []string{"Shop"} },
			want: "Shop d: left (no-value): the cluster does not serve its kind, and Helm fails on it even if the chart no longer renders it\n",
		},
		"in a namespace that is being deleted": {
			edits: "ConfigMap a\nConfigMap c\n",
			of:    func(c *testCluster) { c.terminating = map[string]bool{"prod": true} },
			want: `ConfigMap a: left (no-value): its namespace "prod" is being deleted
ConfigMap b: left (no-value, being deleted): its namespace "prod" is being deleted
ConfigMap c: left (no-value): its namespace "prod" is being deleted
Shop d: left (no-value, being deleted): its namespace "prod" is being deleted
Namespace prod: left (no-value, being deleted): it is the namespace of the release, which goes with it
`,
		},
		"without a release": {
			edits: "ConfigMap b\nConfigMap c\n",
			of:    func(c *testCluster) { c.isUnrecorded, c.unserved = true, []string{"Shop"} },
			want: `ConfigMap b: left (no-value): no value of the chart was found that controls it
ConfigMap c: absorbed
Shop d: left (no-value): no value of the chart was found that controls it
CustomResourceDefinition shops.example.com: left (no-value): it is of a folder crds, and absorb changes only what templates render
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := install(t.Context(), dir, file, false)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.edit(test.edits); err != nil {
				t.Fatal(err)
			}
			if test.of != nil {
				test.of(c)
			}
			of := target(dir, file)
			of.Chart.Install = c.isUnrecorded
			a, err := absorb.Run(t.Context(), c.connection(), of, absorb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range a.Report("test", time.Now()).Fields {
				fmt.Fprintf(&got, "%s %s: %s", f.Object.Kind, f.Object.Name, f.Status)
				if f.IsLeft() {
					fmt.Fprintf(&got, " (%s%s): %s", f.Reason, map[bool]string{true: ", being deleted"}[f.Terminating], f.Message)
				}
				got.WriteString("\n")
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestUnread checks that an object that could not be read does not count as gone: a switch that takes it away has a side effect.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"Chart.yaml":  []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"),
		"values.yaml": []byte("extra: true\n"),
		"templates/all.yaml": []byte("{{- if .Values.extra }}\napiVersion: v1\nkind: Service\nmetadata: {name: extra}\n---\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n{{- end }}\n"),
	})
	const left = "Service extra: left (side-effects)\n  or\n    extra: true -> false\n    also ConfigMap extra delete: <nil> -> <nil>\n"
	for _, test := range []struct {
		edits     string
		forbidden []string
		want      string
	}{
		{"Service extra", nil, left},
		{"Service extra", []string{"ConfigMap"}, left},
		{"Service extra\nConfigMap extra", []string{"ConfigMap"}, left},
		{"Service extra\nConfigMap extra", nil,
			"ConfigMap extra: absorbed\n  extra: true -> false\n  also Service extra delete: <nil> -> <nil>\n" +
				"Service extra: absorbed\nedit extra: true -> false\n"},
	} {
		c, err := install(t.Context(), dir, []byte("extra: true\n"), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.edit(test.edits); err != nil {
			t.Fatal(err)
		}
		c.forbidden = test.forbidden
		a, err := absorb.Run(t.Context(), c.connection(), target(dir, []byte("extra: true\n")), absorb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, described(a.Report("test", time.Now()))); diff != "" {
			t.Errorf("%q gone, %q unread: -want +got\n%s", test.edits, test.forbidden, diff)
		}
	}
}
