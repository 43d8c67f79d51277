package flux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/links"
	"github.com/helmdrift/helmdrift/internal/tempdir"
)

// ChartOrder says how source-controller changes a chart before helm-controller gets it. A child process does it, because a chart is foreign
// text.
type ChartOrder struct {
	// Path is a directory or an archive.
	Path string
	// ValuesFiles are merged and replace values.yaml. They are in the chart, or below Root if that is set.
	ValuesFiles   []string
	IgnoreMissing bool
	Root          string
	// Metadata becomes the build metadata of the version.
	Metadata string
	// Artifact is a folder of a working tree that the chart is in. It takes the place of Path and Root.
	Artifact *ArtifactOrder
	// AllowOutsideLinks follows symbolic links that lead out of the working tree.
	AllowOutsideLinks bool
	// Temp is a folder for temporary files, or empty for that of the system.
	Temp string
}

// InTemp calls a function with the order and a folder for its temporary files, which goes afterwards: a child process that is killed
// removes nothing.
func (o ChartOrder) InTemp(do func(ChartOrder) (ChartAnswer, error)) (out ChartAnswer, err error) {
	if o.Temp, err = tempdir.New(); err != nil {
		return out, err
	}
	defer func() { _ = os.RemoveAll(o.Temp) }()
	return do(o)
}

// ArtifactOrder says where a chart is in a working tree, or in the files of a source.
type ArtifactOrder struct {
	// Dir is the folder with the content of the source, Kind the kind of the source, and Ignore its spec.ignore.
	Dir, Kind, Ignore string
	// Chart is the path of the chart in it: a folder or an archive.
	Chart string
}

// ChartAnswer is the name and the version of a chart after that, and its archive if it was changed. Content is its contentOf.
type ChartAnswer struct {
	Name, Version string
	Archive       []byte
	Content       string
}

// maxValuesFile bounds the length of a values file in bytes, as Helm bounds the files of a chart.
const maxValuesFile = 5 << 20

// PrepareChart carries out an order (fluxcd/source-controller v1.9.3 internal/helm/chart/builder_remote.go Build, builder_local.go Build).
func PrepareChart(_ context.Context, o ChartOrder) (ChartAnswer, error) {
	if o.Artifact != nil {
		dir, err := os.MkdirTemp(o.Temp, "chart-")
		if err != nil {
			return ChartAnswer{}, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := o.copyTo(dir); err != nil {
			return ChartAnswer{}, err
		}
		o.Root, o.Path = dir, filepath.Join(dir, filepath.Clean("/"+o.Artifact.Chart))
	}
	info, err := os.Stat(o.Path)
	if err != nil {
		return ChartAnswer{}, errors.New("the chart cannot be read")
	}
	isChanged := len(o.ValuesFiles) > 0 || o.Metadata != "" || o.Artifact != nil
	if info.IsDir() && !isChanged {
		about, err := chartutil.LoadChartfile(filepath.Join(o.Path, "Chart.yaml"))
		if err != nil {
			return ChartAnswer{}, errors.New("the Chart.yaml of the chart cannot be read")
		}
		return ChartAnswer{Name: about.Name, Version: about.Version}, nil
	}
	if info.IsDir() && !o.AllowOutsideLinks {
		if err := checkLinks(o.Path); err != nil {
			return ChartAnswer{}, err
		}
	}
	loaded, err := loader.Load(o.Path)
	if err != nil {
		return ChartAnswer{}, fmt.Errorf("loading the chart: %w", err)
	}
	if !isChanged {
		return ChartAnswer{Name: loaded.Metadata.Name, Version: loaded.Metadata.Version, Content: contentOf(loaded)}, nil
	}
	return o.change(loaded)
}

// copyTo copies the chart and its values files as source-controller would have them.
func (o ChartOrder) copyTo(dir string) error {
	artifact, err := tree.OpenArtifact(o.Artifact.Dir, o.Artifact.Kind, o.Artifact.Ignore)
	if err != nil {
		return err
	}
	defer func() { _ = artifact.Close() }()
	if !artifact.Has(tree.CleanPath(o.Artifact.Chart)) {
		return fmt.Errorf("the %s has no chart %s", o.Artifact.Kind, o.Artifact.Chart)
	}
	names := []string{tree.CleanPath(o.Artifact.Chart)}
	for _, file := range o.ValuesFiles {
		if artifact.Has(tree.CleanPath(file)) {
			names = append(names, tree.CleanPath(file))
		}
	}
	return artifact.Copy(dir, names...)
}

// checkLinks refuses symbolic links of a directory that lead out of its working tree.
func checkLinks(dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			return links.Check(name)
		}
		return err
	})
}

// change returns the chart with its new version and default values.
func (o ChartOrder) change(loaded *chart.Chart) (ChartAnswer, error) {
	if o.Metadata != "" {
		version, err := semver.NewVersion(loaded.Metadata.Version)
		if err != nil {
			return ChartAnswer{}, fmt.Errorf("the version %s of the chart is not semantic", loaded.Metadata.Version)
		}
		changed, err := version.SetMetadata(o.Metadata)
		if err != nil {
			return ChartAnswer{}, fmt.Errorf("%s cannot be added to the version of the chart", o.Metadata)
		}
		loaded.Metadata.Version = changed.String()
	}
	if len(o.ValuesFiles) > 0 {
		if err := o.replaceValues(loaded); err != nil {
			return ChartAnswer{}, err
		}
	}
	dir, err := os.MkdirTemp(o.Temp, "chart-")
	if err != nil {
		return ChartAnswer{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name, err := chartutil.Save(loaded, dir)
	if err != nil {
		return ChartAnswer{}, fmt.Errorf("packaging the chart: %w", err)
	}
	archive, err := os.ReadFile(name)
	return ChartAnswer{Name: loaded.Metadata.Name, Version: loaded.Metadata.Version, Archive: archive, Content: contentOf(loaded)}, err
}

// replaceValues merges the values files in order and makes them the default values of the chart (fluxcd/source-controller v1.9.3
// internal/helm/chart/builder_remote.go mergeChartValues, builder_local.go mergeFileValues, builder.go OverwriteChartDefaultValues).
func (o ChartOrder) replaceValues(loaded *chart.Chart) error {
	values := map[string]any{}
	for _, name := range o.ValuesFiles {
		if o.Root == "" && filepath.Clean(name) == chartutil.ValuesfileName {
			values = loader.MergeMaps(values, loaded.Values)
			continue
		}
		text, err := o.readValuesFile(loaded, name)
		if errors.Is(err, fs.ErrNotExist) && o.IgnoreMissing {
			continue
		}
		if err != nil {
			return fmt.Errorf("the values file %s of spec.chart.spec.valuesFiles is not there", name)
		}
		given := map[string]any{}
		if err := yaml.Unmarshal(text, &given); err != nil {
			return fmt.Errorf("the values file %s of spec.chart.spec.valuesFiles is not a YAML document with a table", name)
		}
		values = loader.MergeMaps(values, given)
	}
	var text bytes.Buffer
	if len(values) > 0 {
		if err := common.Values(values).Encode(&text); err != nil {
			return err
		}
	}
	for _, f := range loaded.Raw {
		if f.Name == chartutil.ValuesfileName {
			f.Data, loaded.Values = text.Bytes(), values
			return nil
		}
	}
	return errors.New("the chart has no values.yaml, which valuesFiles would replace")
}

// readValuesFile returns a values file of the chart, or of the source.
func (o ChartOrder) readValuesFile(loaded *chart.Chart, name string) ([]byte, error) {
	if o.Root == "" {
		for _, f := range loaded.Files {
			if f.Name == filepath.Clean(name) {
				return f.Data, nil
			}
		}
		return nil, fs.ErrNotExist
	}
	// The files of a source are below its folder, and a link of the folder does not lead out of it.
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(filepath.Clean(filepath.Join(".", name)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return files.ReadAll(name, file, maxValuesFile)
}
