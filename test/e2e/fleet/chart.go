package fleet

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	helmtime "helm.sh/helm/v3/pkg/time"
)

// chartFiles is the chart without Chart.yaml, which each application has of its own.
//
//go:embed all:chart
var chartFiles embed.FS

// applications returns the names of the charts.
func applications() []string {
	return []string{"accounts", "billing", "cart", "catalog", "checkout", "gateway", "inventory", "mailer", "orders", "payments", "search",
		"shipping"}
}

// firstDeployed is when the oldest release was installed.
func firstDeployed() time.Time { return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC) }

// loadCharts returns one chart for each application, with a library chart as its dependency if so asked.
func loadCharts(seed uint64, dependency bool) ([]*chart.Chart, error) {
	var charts []*chart.Chart
	for i, name := range applications() {
		// The complement keeps the generators of charts apart from the generators of releases.
		random := rand.New(rand.NewPCG(seed, ^uint64(i)))
		files, err := chartFilesOf(name, random)
		if err != nil {
			return nil, err
		}
		loaded, err := loader.LoadFiles(files)
		if err != nil {
			return nil, fmt.Errorf("load chart %s: %w", name, err)
		}
		if dependency {
			loaded.Metadata.Dependencies = []*chart.Dependency{{Name: "common", Version: "1.0.0"}}
			loaded.AddDependency(&chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "common", Version: "1.0.0", Type: "library"}})
		}
		charts = append(charts, loaded)
	}
	return charts, nil
}

// chartFilesOf returns the files of an application's chart.
func chartFilesOf(name string, random *rand.Rand) ([]*loader.BufferedFile, error) {
	description := fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %d.%d.%d\nappVersion: \"%d.%d\"\ndescription: The service %s of the shop\n"+
		"type: application\nhome: https://shop.example.com/%s\nkeywords: [shop, %s]\n",
		name, 1+random.IntN(20), random.IntN(30), random.IntN(10), 1+random.IntN(9), random.IntN(20), name, name, name)
	files := []*loader.BufferedFile{
		{Name: "Chart.yaml", Data: []byte(description)},
		{Name: "README.md", Data: []byte(prose(random, size(random, minReadme, maxReadme)))},
	}
	return files, fs.WalkDir(chartFiles, "chart", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := chartFiles.ReadFile(path)
		files = append(files, &loader.BufferedFile{Name: strings.TrimPrefix(path, "chart/"), Data: text})
		return err
	})
}

// Manifest returns the manifest of the last revision, rendered and put together as helm upgrade does.
func (r Release) Manifest() (string, error) {
	options := chartutil.ReleaseOptions{Name: r.Name, Namespace: r.Namespace, Revision: r.Revisions, IsUpgrade: r.Revisions > 1}
	values, err := chartutil.ToRenderValues(r.chart, r.config(r.Revisions), options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", fmt.Errorf("values of %s: %w", r.Name, err)
	}
	files, err := engine.Render(r.chart, values)
	if err != nil {
		return "", fmt.Errorf("render %s: %w", r.Name, err)
	}
	_, sorted, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return "", fmt.Errorf("sort manifests of %s: %w", r.Name, err)
	}
	var manifest strings.Builder
	for _, m := range sorted {
		fmt.Fprintf(&manifest, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	return manifest.String(), nil
}

// Chart returns the chart of all revisions. It must not be changed, because releases share it.
func (r Release) Chart() *chart.Chart { return r.chart }

// Config returns the values that the user gave for the last revision.
func (r Release) Config() map[string]any { return r.config(r.Revisions) }

// config returns the values that the user gave for a revision.
func (r Release) config(revision int) map[string]any {
	config := map[string]any{"image": map[string]any{"tag": r.tag(revision)}}
	maps.Copy(config, r.values)
	return config
}

// Records returns what Helm stored of each revision, given the manifest of the last one.
func (r Release) Records(manifest string) []*release.Release {
	var records []*release.Release
	// One release a minute was installed, and each was upgraded every week.
	first := firstDeployed().Add(time.Duration(r.number) * time.Minute)
	for revision := 1; revision <= r.Revisions; revision++ {
		info := &release.Info{
			FirstDeployed: helmtime.Time{Time: first},
			LastDeployed:  helmtime.Time{Time: first.AddDate(0, 0, 7*(revision-1))},
			Status:        release.StatusSuperseded,
			Description:   "Upgrade complete",
		}
		if revision == 1 {
			info.Description = "Install complete"
		}
		// Every older revision was replaced by the next one.
		if revision == r.Revisions {
			info.Status = release.StatusDeployed
		}
		records = append(records, &release.Release{
			Name: r.Name, Namespace: r.Namespace, Version: revision, Info: info, Chart: r.chart, Config: r.config(revision),
			Manifest: strings.ReplaceAll(manifest, r.tag(r.Revisions), r.tag(revision)),
		})
	}
	return records
}
