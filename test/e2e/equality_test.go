package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// renderCharts contains charts that render in many ways. Next to each folder may be a values file (NAME.yaml) and the expected diff right
// after the installation (NAME.want), if it is not empty: values that each rendering makes anew, and what a chart does differently in an
// upgrade. NAME.want4 is the one for Helm 4 if it differs.
const renderCharts = "testdata/charts/render"

// TestRenderEquality installs each chart with both Helms. The rendering of helmdrift must equal, byte for byte, what upgrade
// --dry-run=server of the same Helm returns, except values that each rendering makes anew; and the binary must find no drift.
func TestRenderEquality(t *testing.T) {
	charts, err := filepath.Glob(filepath.Join(renderCharts, "*", "Chart.yaml"))
	must(t, err)
	for _, file := range charts {
		chart, err := filepath.Abs(filepath.Dir(file))
		must(t, err)
		t.Run(filepath.Base(chart), func(t *testing.T) {
			t.Parallel()
			// Sequentially, because Helm does not wait for a definition of crds/ that somebody else is creating.
			for _, by4 := range []bool{false, true} {
				t.Run(fmt.Sprintf("helm%d", major(by4)), func(t *testing.T) {
					checkRendering(t, helmCall{by4: by4, verb: "install", chart: chart, serverSide: "false"})
				})
			}
		})
	}
}

func major(by4 bool) int {
	if by4 {
		return 4
	}
	return 3
}

func checkRendering(t *testing.T, call helmCall) {
	c := newCase(t, suite.cluster)
	args := []string{c.release, call.chart}
	if values := call.chart + ".yaml"; exists(values) {
		call.values.ValueFiles = []string{values}
		args = append(args, "-f", values)
	}
	if _, err := c.run(call); err != nil {
		if _, ours := c.render(call, 0); ours == nil {
			t.Fatalf("Helm cannot render this, helmdrift can: %v", err)
		}
		return
	}
	call.verb, call.dryRun = "upgrade", true
	theirs, err := c.run(call)
	must(t, err)
	ours, err := c.render(call, 1)
	must(t, err)
	if diff := compareManifests(theirs, ours.Manifest, ours.Again); diff != "" {
		t.Errorf("manifests differ (-Helm +helmdrift):\n%s", diff)
	}
	out, err := c.diff(args...)
	must(t, err)
	c.wantFile(t, out, call)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// render renders the chart of a call as the command line of helmdrift does.
func (c *Case) render(call helmCall, lastRevision int) (*render.Rendered, error) {
	ctx := context.Background()
	cluster, err := live.Connect(ctx, c.cluster.Config, live.Options{})
	if err != nil {
		return nil, err
	}
	capabilities, err := cluster.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	return render.Chart(ctx, render.ChartOptions{
		Path: call.chart, Helm4: call.by4, Install: lastRevision == 0, ReleaseName: c.release, Namespace: c.ns, LastRevision: lastRevision,
		Values: render.ValueOptions{Files: call.values.ValueFiles}, Capabilities: capabilities, Lookup: live.Lookups(c.cluster.Config, live.Options{}),
	})
}

// wantFile compares the result of a diff with the want file of the chart.
func (c *Case) wantFile(t *testing.T, out binaryRun, call helmCall) {
	t.Helper()
	file := call.chart + ".want"
	if call.by4 && exists(file+"4") {
		file += "4"
	}
	got := strings.ReplaceAll(strings.Join(append(out.report.lines(), fmt.Sprintf("exit %d\n", out.exit)), "\n"), c.ns, "NS")
	expected := []byte("exit 0\n")
	if exists(file) {
		var err error
		expected, err = os.ReadFile(file)
		must(t, err)
	}
	if got == string(expected) {
		return
	}
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o644))
	}
	t.Errorf("%s (-want +got):\n%s\n%s", filepath.Base(file), cmp.Diff(string(expected), got), out.stderr)
}

// compareManifests compares two manifests byte for byte, document by document. A document that differs in a second rendering is compared
// as a tree, without the values that differ.
func compareManifests(theirs, ours, again string) string {
	if again == "" {
		again = ours
	}
	a, b, second := documents(theirs), documents(ours), documents(again)
	if len(a) != len(b) || len(second) != len(b) {
		return fmt.Sprintf("Helm has %d documents, helmdrift %d and %d:\n%s", len(a), len(b), len(second), cmp.Diff(theirs, ours))
	}
	var out strings.Builder
	for i := range a {
		if b[i] == second[i] {
			out.WriteString(cmp.Diff(a[i], b[i]))
			continue
		}
		trees, err := decodeTrees(a[i], b[i], second[i])
		if err != nil {
			return err.Error()
		}
		blank(trees[1], trees[2], func(path []string) { blankAt(trees[0], path); blankAt(trees[1], path) })
		out.WriteString(cmp.Diff(trees[0], trees[1]))
	}
	return out.String()
}

// documents splits a manifest at Helm's separators.
func documents(manifest string) []string {
	return strings.Split("\n"+manifest, "\n---\n# Source: ")
}

func decodeTrees(texts ...string) ([]map[string]any, error) {
	trees := make([]map[string]any, len(texts))
	for i, text := range texts {
		if err := yaml.Unmarshal([]byte("# "+text), &trees[i]); err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// blank calls do for each path where two trees differ.
func blank(a, b map[string]any, do func(path []string), above ...string) {
	keys := slices.Sorted(maps.Keys(a))
	for key := range b {
		if _, both := a[key]; !both {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		path := append(slices.Clone(above), key)
		x, xMap := a[key].(map[string]any)
		y, yMap := b[key].(map[string]any)
		switch {
		case xMap && yMap:
			blank(x, y, do, path...)
		case !cmp.Equal(a[key], b[key]):
			do(path)
		}
	}
}

func blankAt(tree map[string]any, path []string) {
	for _, key := range path[:len(path)-1] {
		tree, _ = tree[key].(map[string]any)
	}
	if last := path[len(path)-1]; tree != nil && tree[last] != nil {
		tree[last] = "blank"
	}
}
