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
)

// helm3 follows helm v3.22.0 pkg/action/upgrade.go prepareUpgrade.
type helm3 struct{ *chart.Chart }

var _ helmChart = helm3{}

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
	for _, present := range h.Dependencies() {
		i.present = append(i.present, present.Name())
	}
	return i
}

func (h helm3) setDefaults(values map[string]any) { h.Values = values }

func (h helm3) defaults() any {
	all := []any{h.Values}
	for _, sub := range h.Dependencies() {
		all = append(all, helm3{sub}.defaults())
	}
	return all
}

func (h helm3) inputs(given map[string]any, o ChartOptions) (inputs, values map[string]any, err error) {
	if err := chartutil.ProcessDependenciesWithMerge(h.Chart, given); err != nil {
		return nil, nil, fmt.Errorf("processing dependencies: %w", err)
	}
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

func (h helm3) schemas() schemas {
	out := schemas{name: h.Name(), schema: h.Schema}
	for _, sub := range h.Dependencies() {
		out.below = append(out.below, helm3{sub}.schemas())
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

func (h helm3) sources() (templates, files []source) {
	for _, f := range h.Templates {
		templates = append(templates, source{f.Name, &f.Data})
	}
	for _, f := range h.Files {
		files = append(files, source{f.Name, &f.Data})
	}
	for _, sub := range h.Dependencies() {
		t, f := helm3{sub}.sources()
		templates, files = append(templates, t...), append(files, f...)
	}
	return templates, files
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

func (h helm3) templates() []Template {
	var out []Template
	for _, f := range h.Templates {
		out = append(out, Template{Path: path.Join(h.ChartFullPath(), f.Name), Values: valuesPath(h.ChartPath()), Text: string(f.Data)})
	}
	for _, sub := range h.Dependencies() {
		out = append(out, helm3{sub}.templates()...)
	}
	return out
}

func (h helm3) retain(keep func(string) bool) {
	var kept []*chart.File
	for _, f := range h.Templates {
		if keep(path.Join(h.ChartFullPath(), f.Name)) {
			kept = append(kept, f)
		}
	}
	h.Templates = kept
	for _, sub := range h.Dependencies() {
		helm3{sub}.retain(keep)
	}
}
