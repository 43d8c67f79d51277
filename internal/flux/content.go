package flux

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// This file finds out whether the chart of the sources is the one that is deployed. If it is, and so are the values, it need not be
// rendered to know that it has not changed. In most trees, that holds for most of the HelmReleases.

// maxStoredChart bounds what is decoded of a record in this process. A chart that is larger is rendered.
const maxStoredChart = 4 << 20

// contentOf returns a digest of everything in a chart that a template can read. It is "" for a chart with dependencies, because Helm does
// not store them.
func contentOf(c *chart.Chart) string {
	if c.Metadata == nil || len(c.Metadata.Dependencies) > 0 || len(c.Dependencies()) > 0 {
		return ""
	}
	byName := func(files []*common.File) map[string][]byte {
		out := map[string][]byte{}
		for _, f := range files {
			out[f.Name] = f.Data
		}
		return out
	}
	text, err := json.Marshal([]any{c.Metadata, c.Values, c.Schema, byName(c.Templates), byName(c.Files)})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// hasContent reports whether a deployed record has a chart with this digest. It may say no although it has.
func hasContent(loaded *release.Loaded, content string) bool {
	if loaded == nil || loaded.Old == nil || loaded.Old != loaded.Last || content == "" {
		return false
	}
	stored, c := loaded.Old.StoredChart, chart.Chart{}
	return len(stored) > 0 && len(stored) <= maxStoredChart && json.Unmarshal(stored, &c) == nil && contentOf(&c) == content
}

// withCharts returns a connection whose records have their values and charts.
func withCharts(from drift.Connection) drift.Connection {
	records := from.Records
	from.Records = func(namespace string) (drift.Records, error) {
		found, err := records(namespace)
		return recordsWithCharts{found}, err
	}
	return from
}

// recordsWithCharts are records with their values and charts.
type recordsWithCharts struct{ drift.Records }

// Load implements drift.Records.
func (r recordsWithCharts) Load(ctx context.Context, name string, revision int, o release.Options) (*release.Loaded, error) {
	o.Values, o.Chart = true, true
	return r.Records.Load(ctx, name, revision, o)
}
