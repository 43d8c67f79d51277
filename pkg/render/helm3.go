package render

import (
	"context"
	"fmt"
	"path"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// helm3 follows helm v3.22.0 pkg/action/upgrade.go prepareUpgrade.
type helm3 struct{ *chart.Chart }

func loadHelm3(path string) (helmChart, error) {
	ch, err := loader.Load(path)
	return helm3{ch}, err
}

func (h helm3) info() chartInfo {
	m := h.Metadata
	i := chartInfo{
		name: m.Name, version: m.Version, appVersion: m.AppVersion, kubeVersion: m.KubeVersion, kind: m.Type, deprecated: m.Deprecated,
	}
	for _, required := range m.Dependencies {
		i.required = append(i.required, required.Name)
	}
	return i
}

func (h helm3) setDefaults(values map[string]any) { h.Values = values }

func (h helm3) processDependencies(given map[string]any) error {
	if err := chartutil.ProcessDependenciesWithMerge(h.Chart, given); err != nil {
		return fmt.Errorf("processing dependencies: %w", err)
	}
	return nil
}

func (h helm3) inputs(given map[string]any, o ChartOptions) (inputs, values map[string]any, err error) {
	release := chartutil.ReleaseOptions{
		Name: o.ReleaseName, Namespace: o.Namespace, Revision: o.revision(), IsUpgrade: !o.Install, IsInstall: o.Install,
	}
	all, err := chartutil.ToRenderValuesWithSchemaValidation(h.Chart, given, release, o.Capabilities, true)
	if err != nil {
		return nil, nil, err
	}
	coalesced, _ := all["Values"].(chartutil.Values)
	return all, coalesced, nil
}

func (h helm3) tree() chartTree {
	out := chartTree{name: h.Name(), values: h.Values, schema: h.Schema}
	for _, f := range h.Templates {
		out.templates = append(out.templates, source{path: path.Join(h.ChartFullPath(), f.Name), data: &f.Data})
	}
	for _, f := range h.Files {
		out.files = append(out.files, source{path: f.Name, data: &f.Data})
	}
	for _, sub := range h.Dependencies() {
		out.below = append(out.below, helm3{sub}.tree())
	}
	return out
}

func (h helm3) render(_ context.Context, inputs map[string]any, o ChartOptions) (map[string]string, error) {
	var e engine.Engine
	if o.Lookup != nil {
		e = engine.New(o.Lookup)
	}
	e.EnableDNS = o.EnableDNS
	return e.Render(h.Chart, inputs)
}

func (h helm3) sort(files map[string]string) ([]sortedDocument, []Hook, error) {
	hooks, documents, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, nil, err
	}
	var sorted []sortedDocument
	for _, d := range documents {
		sorted = append(sorted, sortedDocument{d.Name, d.Content})
	}
	var listed []Hook
	for _, h := range hooks {
		listed = append(listed, Hook{
			Kind: h.Kind, Name: h.Name, Path: h.Path, Weight: h.Weight,
			Events: stringsOf(h.Events), DeletePolicies: stringsOf(h.DeletePolicies), Text: h.Manifest,
		})
	}
	return sorted, listed, nil
}

// coalesceHelm3 merges given values into the defaults of a chart without subcharts. The name of the chart only occurs in warnings.
func coalesceHelm3(name string, defaults, given map[string]any) (map[string]any, error) {
	return chartutil.CoalesceValues(&chart.Chart{Metadata: &chart.Metadata{Name: name}, Values: defaults}, given)
}

func (h helm3) definitions() (documents []Document) {
	for _, crd := range h.CRDObjects() {
		documents = append(documents, definitionsIn(crd.Filename, crd.File.Data)...)
	}
	return documents
}

func (h helm3) clone() helmChart { return helm3{cloneHelm3(h.Chart)} }

// cloneHelm3 copies what processing the dependencies changes: the metadata, the values and the tree of charts.
func cloneHelm3(ch *chart.Chart) *chart.Chart {
	out := *ch
	metadata := *ch.Metadata
	metadata.Dependencies = nil
	for _, d := range ch.Metadata.Dependencies {
		dependency := *d
		metadata.Dependencies = append(metadata.Dependencies, &dependency)
	}
	out.Metadata = &metadata
	out.Values, _ = copyValue(ch.Values).(map[string]any)
	var below []*chart.Chart
	for _, sub := range ch.Dependencies() {
		below = append(below, cloneHelm3(sub))
	}
	out.SetDependencies(below...)
	return &out
}

func (h helm3) retain(keep func(string) bool) {
	h.Templates = object.Filter(h.Templates, func(f *chart.File) bool { return keep(path.Join(h.ChartFullPath(), f.Name)) })
	for _, sub := range h.Dependencies() {
		helm3{sub}.retain(keep)
	}
}
