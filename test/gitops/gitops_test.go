package gitops

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	jsonpatch "github.com/evanphx/json-patch"
	flux "github.com/fluxcd/helm-controller/api/v2"
	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// before are the values of the documents, and defaults are the values of the chart.
const (
	before   = `{replicaCount: 2, image: {repository: team/web, tag: "1.25"}, extraEnv: [{name: A, value: b}], podAnnotations: {team: shop}}`
	defaults = `{replicaCount: 1, log: {level: info}, podAnnotations: {note: default}, probe: {path: /, port: 80}}`
)

// overlays are what was absorbed.
var overlays = map[string]string{
	"values":  `{replicaCount: 4, image: {tag: "1.27"}, log: {level: debug}, ratio: 0.5, big: 9007199254740993, "on": "yes", when: "2026-01-01"}`,
	"lists":   `{extraEnv: [{name: A, value: b}, {name: DEBUG, value: "1"}], hosts: []}`,
	"nothing": `{}`,
	"nulls":   `{podAnnotations: {note: null}, probe: null, replicaCount: 4}`,
	"emptied": overlayOf(`{replicaCount: 2, image: {}, extraEnv: [{name: A, value: b}], podAnnotations: {}}`),
}

// overlayOf returns the overlay that turns the values of the documents into others.
func overlayOf(after string) string {
	var was, is map[string]any
	if err := errors.Join(yaml.Unmarshal([]byte(before), &was), yaml.Unmarshal([]byte(after), &is)); err != nil {
		panic(err)
	}
	text, err := json.Marshal(search.Overlay(was, is))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestEmptied checks that no value is left of a map that has become empty. A default of the chart is, and a null where it has none.
func TestEmptied(t *testing.T) {
	want := map[string]any{"image": map[string]any{"repository": nil, "tag": nil}, "podAnnotations": map[string]any{"note": "default", "team": nil}}
	seen := effective(t, merged(parsed(t, before), parsed(t, overlays["emptied"])))
	for key := range want {
		if diff := cmp.Diff(want[key], seen[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

// eachOverlay calls test with each overlay, the patch that a format has of it, and the values that must be in the document afterwards.
func eachOverlay(t *testing.T, format output.Format, test func(t *testing.T, patch, want map[string]any)) {
	for name, text := range overlays {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			result := &absorption.Result{Name: "web", Namespace: "prod", Overlay: parsed(t, text)}
			if err := output.WriteAbsorb(&out, format, result, output.Options{}); err != nil {
				t.Fatal(err)
			}
			test(t, parsed(t, out.String()), effective(t, merged(parsed(t, before), parsed(t, text))))
		})
	}
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out, useNumber); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// useNumber keeps the digits of numbers.
func useNumber(d *json.Decoder) *json.Decoder { d.UseNumber(); return d }

// merged writes a patch into a document: maps by their keys, everything else as a whole. A null is written too.
func merged(document, patch map[string]any) map[string]any {
	return chartutil.MergeTables(patch, document)
}

// effective returns what templates see with these values of the user.
func effective(t *testing.T, user map[string]any) map[string]any {
	t.Helper()
	values, err := chartutil.CoalesceValues(&chart.Chart{Metadata: &chart.Metadata{Name: "web"}, Values: parsed(t, defaults)}, user)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// checkValues compares what templates see with the values of a document.
func checkValues(t *testing.T, want, user map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, effective(t, user)); diff != "" {
		t.Errorf("the document renders with other values (-want +got):\n%s", diff)
	}
}

// documents returns a document with a patch: written into it, and merged as kubectl patch --type=merge does, unless the patch has nulls,
// which the API server would take for removals. A comment of such a patch says so.
func documents(t *testing.T, document string, patch map[string]any) []map[string]any {
	t.Helper()
	text, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	all := []map[string]any{merged(parsed(t, document), parsed(t, string(text)))}
	if !bytes.Contains(text, []byte("null")) {
		whole, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		patched, err := jsonpatch.MergePatch(whole, text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parsed(t, string(patched)))
	}
	return all
}

// TestFlux merges the patches into a HelmRelease.
func TestFlux(t *testing.T) {
	const document = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: prod}
spec:
  interval: 10m
  chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: shop}}}
  valuesFrom: [{kind: ConfigMap, name: web-values}]
  values: ` + before
	eachOverlay(t, output.Flux, func(t *testing.T, patch, want map[string]any) {
		for _, whole := range documents(t, document, patch) {
			text, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			var hr flux.HelmRelease
			if err := yaml.UnmarshalStrict(text, &hr); err != nil {
				t.Fatal(err)
			}
			if hr.APIVersion != flux.GroupVersion.String() || hr.Kind != flux.HelmReleaseKind || hr.Spec.Chart.Spec.Chart != "web" ||
				len(hr.Spec.ValuesFrom) != 1 || hr.GetReleaseName() != "web" {
				t.Errorf("the patch moves more than values: %s", text)
			}
			checkValues(t, want, parsed(t, string(hr.Spec.Values.Raw)))
		}
	})
}

// TestArgoCD merges the patches into an Application.
func TestArgoCD(t *testing.T) {
	const document = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: prod}
  source:
    repoURL: https://charts.example.com
    chart: web
    targetRevision: 1.2.0
    helm: {releaseName: web, valueFiles: [prod.yaml], valuesObject: ` + before + `}`
	schema := applicationSchema(t)
	eachOverlay(t, output.ArgoCD, func(t *testing.T, patch, want map[string]any) {
		for _, whole := range documents(t, document, patch) {
			schema.validate(t, whole)
			source := whole["spec"].(map[string]any)["source"].(map[string]any)
			helm := source["helm"].(map[string]any)
			if source["chart"] != "web" || helm["releaseName"] != "web" || len(helm) != 3 {
				t.Errorf("the patch moves more than values: %v", whole)
			}
			checkValues(t, want, helm["valuesObject"].(map[string]any))
		}
	})
}

// TestHelmfile adds the patches to the release of a helmfile.yaml, as their comment says.
func TestHelmfile(t *testing.T) {
	const document = `
repositories: [{name: shop, url: https://charts.example.com}]
releases:
- {name: api, namespace: prod, chart: shop/api}
- {name: web, namespace: prod, chart: shop/web, values: [prod.yaml, ` + before + `]}`
	types := helmfileTypes(t)
	eachOverlay(t, output.Helmfile, func(t *testing.T, patch, want map[string]any) {
		types.check(t, "HelmState", patch)
		whole := parsed(t, document)
		added := patch["releases"].([]any)[0].(map[string]any)
		for _, r := range whole["releases"].([]any) {
			release := r.(map[string]any)
			if release["name"] != added["name"] || release["namespace"] != added["namespace"] {
				continue
			}
			items, _ := release["values"].([]any)
			release["values"] = append(items, added["values"].([]any)...)
			types.check(t, "HelmState", whole)
			// Helm merges the files in their order.
			user := map[string]any{}
			for _, item := range release["values"].([]any) {
				if values, inline := item.(map[string]any); inline {
					user = merged(user, values)
				}
			}
			checkValues(t, want, user)
			return
		}
		t.Errorf("no release has the name of the patch: %v", patch)
	})
}
