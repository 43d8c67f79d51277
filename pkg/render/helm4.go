package render

import (
	"context"
	"fmt"
	"path"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// helm4 follows helm v4.3.1 pkg/action/upgrade.go prepareUpgrade. It differs from Helm 3 in five ways: templates have
// more functions and see the chart's metadata as a map, nulls of values.yaml are dropped when values are coalesced,
// documents are split by other rules, and webhook configurations come last in the order of installing.
//
// About 70 lines are as in helm3.go. They call functions and read fields of the same names, but of types that the two libraries do not
// share, so one function for both would first have to convert every chart.
type helm4 struct{ *chart.Chart }

func loadHelm4(path string) (helmChart, error) {
	ch, err := loader.Load(path)
	return helm4{ch}, err
}

func (h helm4) info() chartInfo {
	m := h.Metadata
	i := chartInfo{
		name: m.Name, version: m.Version, appVersion: m.AppVersion, kubeVersion: m.KubeVersion, kind: m.Type, deprecated: m.Deprecated,
	}
	for _, required := range m.Dependencies {
		i.required = append(i.required, required.Name)
	}
	return i
}

func (h helm4) setDefaults(values map[string]any) { h.Values = values }

func (h helm4) processDependencies(given map[string]any) error {
	if err := chartutil.ProcessDependencies(h.Chart, given); err != nil {
		return fmt.Errorf("processing dependencies: %w", err)
	}
	return nil
}

func (h helm4) inputs(given map[string]any, o ChartOptions) (inputs, values map[string]any, err error) {
	release := common.ReleaseOptions{
		Name: o.ReleaseName, Namespace: o.Namespace, Revision: o.revision(), IsUpgrade: !o.Install, IsInstall: o.Install,
	}
	all, err := util.ToRenderValuesWithSchemaValidation(h.Chart, given, release, o.helm4Capabilities(), true)
	if err != nil {
		return nil, nil, err
	}
	coalesced, _ := all["Values"].(common.Values)
	return all, coalesced, nil
}

// helm4Capabilities converts the capabilities to Helm 4's types (pkg/action/action.go getCapabilities). Its
// HelmVersion is the version of the Helm 4 library.
func (o ChartOptions) helm4Capabilities() *common.Capabilities {
	version := o.Capabilities.KubeVersion
	return &common.Capabilities{
		KubeVersion: common.KubeVersion{Version: version.Version, Major: version.Major, Minor: version.Minor},
		APIVersions: common.VersionSet(o.Capabilities.APIVersions),
		HelmVersion: common.DefaultCapabilities.HelmVersion,
	}
}

func (h helm4) tree() chartTree {
	out := chartTree{name: h.Name(), values: h.Values, schema: h.Schema}
	for _, f := range h.Templates {
		out.templates = append(out.templates, source{path: path.Join(h.ChartFullPath(), f.Name), data: &f.Data})
	}
	for _, f := range h.Files {
		out.files = append(out.files, source{path: f.Name, data: &f.Data})
	}
	for _, sub := range h.Dependencies() {
		out.below = append(out.below, helm4{sub}.tree())
	}
	return out
}

func (h helm4) render(ctx context.Context, inputs map[string]any, o ChartOptions) (map[string]string, error) {
	var e engine.Engine
	if o.Lookup != nil {
		e = engine.New(o.Lookup)
	}
	e.EnableDNS = o.EnableDNS
	return e.RenderWithContext(ctx, h.Chart, inputs)
}

func (h helm4) sort(files map[string]string) ([]sortedDocument, []Hook, error) {
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

// coalesceHelm4 merges given values into the defaults of a chart without subcharts. The name of the chart only occurs in warnings.
func coalesceHelm4(name string, defaults, given map[string]any) (map[string]any, error) {
	return util.CoalesceValues(&chart.Chart{Metadata: &chart.Metadata{Name: name}, Values: defaults}, given)
}

func (h helm4) definitions() (documents []Document) {
	for _, crd := range h.CRDObjects() {
		documents = append(documents, definitionsIn(crd.Filename, crd.File.Data)...)
	}
	return documents
}

func (h helm4) clone() helmChart { return helm4{cloneHelm4(h.Chart)} }

// cloneHelm4 copies what processing the dependencies changes: the metadata, the values and the tree of charts.
func cloneHelm4(ch *chart.Chart) *chart.Chart {
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
		below = append(below, cloneHelm4(sub))
	}
	out.SetDependencies(below...)
	return &out
}

func (h helm4) retain(keep func(string) bool) {
	h.Templates = object.Filter(h.Templates, func(f *common.File) bool { return keep(path.Join(h.ChartFullPath(), f.Name)) })
	for _, sub := range h.Dependencies() {
		helm4{sub}.retain(keep)
	}
}
