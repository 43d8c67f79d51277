package release

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
)

// BenchmarkDecode measures the speed in unpacked bytes: of a record, of a record with values, and of Helm's own
// types. One record has the usual size, the other is as large as a Secret can store.
func BenchmarkDecode(b *testing.B) {
	for name, objects := range map[string]int{"ordinary": 5, "large": 300} {
		b.Run(name, func(b *testing.B) { benchDecode(b, recordOf(b, objects)) })
	}
}

func benchDecode(b *testing.B, plain []byte) {
	text := pack(b, plain)
	run := func(name string, decode func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decode(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(text))/1e6, "stored-MB")
		})
	}
	run("record", func() error { _, err := Decode(text, Options{}); return err })
	run("values", func() error { _, err := Decode(text, Options{Values: true}); return err })
	run("helm", func() error {
		packed, err := unbase64(text)
		if err != nil {
			return err
		}
		data, err := (&unpacker{}).unpack(packed, DefaultLimit)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &helm.Release{})
	})
}

// recordOf returns the JSON of a release with a number of objects, and a chart with as many values and templates. With
// 300 it is as large as a Secret can store. The largest known real record unpacks to 6.5 MB and is stored in 0.84 MB.
func recordOf(tb testing.TB, objects int) []byte {
	tb.Helper()
	// Each line has random parts, and the fixed seed makes the record the same every time.
	seed := uint32(1)
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			seed = seed*1664525 + 1013904223
			fmt.Fprintf(&b, "            - name: SETTING_%d\n              value: \"registry.example.com/%08x\"\n", i, seed)
		}
		return b.String()
	}
	rel := helmRelease("web", 2, helm.StatusDeployed)
	values := map[string]any{}
	var text strings.Builder
	for i := range objects {
		fmt.Fprintf(&text, "---\n# Source: web/templates/%d.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-%d\n", i, i)
		text.WriteString(lines(120))
		values[fmt.Sprintf("component%d", i)] = map[string]any{"enabled": true, "replicas": i, "text": lines(2)}
		file := &chart.File{Name: fmt.Sprintf("templates/%d.yaml", i), Data: []byte(lines(60))}
		rel.Chart.Templates = append(rel.Chart.Templates, file)
	}
	rel.Manifest, rel.Chart.Values = text.String(), values
	return marshal(tb, rel)
}
