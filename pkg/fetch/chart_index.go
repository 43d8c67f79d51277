package fetch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// Helm's own package for indexes, pkg/repo, links its whole client for clusters. What follows reads the same indexes with the same result,
// which TestIndexesLikeHelm compares.

// chartIndex is the index of a chart repository. Helm refuses an index with other fields than these (helm v3.22.0 pkg/repo/index.go
// IndexFile), unless it is JSON.
type chartIndex struct {
	ServerInfo  map[string]any           `json:"serverInfo"`
	APIVersion  string                   `json:"apiVersion"`
	Generated   time.Time                `json:"generated"`
	Entries     map[string]chartVersions `json:"entries"`
	PublicKeys  []string                 `json:"publicKeys"`
	Annotations map[string]string        `json:"annotations"`
}

// chartVersion is a version of a chart in an index. Nothing reads its last four fields (ChartVersion).
type chartVersion struct {
	*chart.Metadata
	URLs    []string  `json:"urls"`
	Created time.Time `json:"created"`
	Removed bool      `json:"removed"`
	Digest  string    `json:"digest"`

	Checksum      string `json:"checksum"`
	Engine        string `json:"engine"`
	TillerVersion string `json:"tillerVersion"`
	URL           string `json:"url"`
}

// readIndex reads an index and sorts the versions of each chart, the newest first. It leaves out versions that Helm takes for invalid
// (LoadIndexFile, loadIndex).
func readIndex(path string) (chartIndex, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return chartIndex{}, err
	}
	var index chartIndex
	switch {
	case len(text) == 0:
		err = errors.New("empty index.yaml file")
	case json.Valid(text):
		err = json.Unmarshal(text, &index)
	default:
		err = yaml.UnmarshalStrict(text, &index)
	}
	if err == nil && index.APIVersion == "" {
		err = errors.New("no API version specified")
	}
	if err != nil {
		return chartIndex{}, fmt.Errorf("error loading %s: %w", path, err)
	}
	for name, versions := range index.Entries {
		versions = slices.DeleteFunc(versions, func(v *chartVersion) bool { return v == nil || !v.isValid() })
		sort.Sort(sort.Reverse(versions))
		index.Entries[name] = versions
	}
	return index, nil
}

// isValid reports whether Helm takes a version from an index (loadIndex, ignoreSkippableChartValidationError). It fills in what Helm fills
// in before it looks.
func (v *chartVersion) isValid() bool {
	if v.Metadata == nil {
		v.Metadata = &chart.Metadata{}
	}
	if v.APIVersion == "" {
		v.APIVersion = chart.APIVersionV1
	}
	err := v.Validate()
	var invalid chart.ValidationError
	return err == nil || errors.As(err, &invalid) && strings.HasPrefix(err.Error(), "validation: more than one dependency with name or alias")
}

// chartVersions are the versions of a chart. They are sorted by the same function and the same comparison as in Helm, because the order of
// versions that are equal or no versions depends on both.
type chartVersions []*chartVersion

// Len implements sort.Interface.
func (v chartVersions) Len() int { return len(v) }

// Swap implements sort.Interface.
func (v chartVersions) Swap(i, j int) { v[i], v[j] = v[j], v[i] }

// Less implements sort.Interface (ChartVersions.Less).
func (v chartVersions) Less(i, j int) bool {
	a, err := semver.NewVersion(v[i].Version)
	if err != nil {
		return true
	}
	b, err := semver.NewVersion(v[j].Version)
	return err == nil && a.LessThan(b)
}

// choose returns the version that Helm chooses, or nil if none matches (IndexFile.Get). Wanted is a version or a constraint, or empty for
// the latest stable version.
func (v chartVersions) choose(wanted string) *chartVersion {
	constraint, err := semver.NewConstraint(cmp.Or(wanted, "*"))
	if err != nil {
		return nil
	}
	for _, version := range v {
		if wanted != "" && version.Version == wanted {
			return version
		}
	}
	for _, version := range v {
		if parsed, err := semver.NewVersion(version.Version); err == nil && constraint.Check(parsed) {
			return version
		}
	}
	return nil
}
