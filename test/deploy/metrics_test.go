package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// sample is one line of metrics as Prometheus reads it.
type sample struct {
	labels labels.Labels // with the name of the metric
	value  float64
}

// name returns the name of the metric.
func (s sample) name() string { return s.labels.Get(model.MetricNameLabel) }

// parse reads metrics by the OpenMetrics parser of Prometheus. The parser is lenient, so parse also checks what a scrape would reject or
// a stricter reader would: a sample that is there twice, a family in two places or without a type, a unit that the name does not end with.
func parse(t testing.TB, text []byte) []sample {
	t.Helper()
	p := textparse.NewOpenMetricsParser(text, labels.NewSymbolTable())
	var all []sample
	seen, families, current := map[string]bool{}, map[string]bool{}, ""
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch entry {
		case textparse.EntryType:
			name, kind := p.Type()
			if current = string(name); kind != model.MetricTypeGauge || families[current] {
				t.Errorf("%s: type %s, or in two places", name, kind)
			}
			families[current] = true
		case textparse.EntryUnit:
			if name, unit := p.Unit(); !strings.HasSuffix(string(name), "_"+string(unit)) {
				t.Errorf("%s has the unit %s", name, unit)
			}
		case textparse.EntrySeries:
			var s sample
			line, at, value := p.Series()
			p.Labels(&s.labels)
			s.value = value
			if at != nil || s.name() != current || seen[s.labels.String()] {
				t.Errorf("%s has a time, is twice there, or is not below its type", line)
			}
			seen[s.labels.String()] = true
			all = append(all, s)
		case textparse.EntryHelp:
		default:
			t.Errorf("entry %v in\n%s", entry, text)
		}
	}
}

// render returns the metrics of a report.
func render(t testing.TB, r *report.Report) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := output.Write(&out, output.Prometheus, r, output.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// golden returns a golden file of internal/output. The file of the fleet has every family.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../internal/output/testdata/prometheus", name+".prom"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestGoldenFilesAreMetrics reads each golden file as a scrape reads it, and as the Pushgateway and the node exporter do.
func TestGoldenFilesAreMetrics(t *testing.T) {
	files, err := filepath.Glob("../../internal/output/testdata/prometheus/*.prom")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		text := golden(t, strings.TrimSuffix(filepath.Base(file), ".prom"))
		if len(parse(t, text)) == 0 {
			t.Errorf("%s has no samples", file)
		}
		checkOlderFormat(t, text)
	}
}

// checkOlderFormat reads metrics by the parser of the older text format, and lets Prometheus's linter judge their names and help.
func checkOlderFormat(t *testing.T, text []byte) {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	found := 0
	for _, f := range families {
		found += len(f.GetMetric())
	}
	if want := len(parse(t, text)); found != want {
		t.Errorf("the older format has %d samples, OpenMetrics has %d", found, want)
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestHostileNames: whatever the names are, they come to Prometheus as labels, escaped as in the text of a report, and as nothing else.
func TestHostileNames(t *testing.T) {
	for _, s := range []string{
		``, `"`, `\`, `\"`, `"} 1`, "a\nhelmdrift_release_drifted 1", "a\r\n# EOF\n", "\x00", "\x1b]0;pwned\x07", "\xff\xfe", "\u202e", "\u2028",
		"日本語", "{a=\"b\"}", "a,b=\"c\"", "##vso[task.complete]", `\n`, `\x1b`, strings.Repeat("k", 5000),
	} {
		r := report.New(s, time.Unix(1795168800, 0), []report.Release{
			{Cluster: s, StorageNamespace: s, Name: s, Drifted: true, Objects: []report.Object{{
				Drifted: true, Fields: []report.Finding{{Managed: true, Verdict: report.Verdict(s), Cause: report.Cause(s)}},
			}}},
			{Cluster: s, StorageNamespace: s, Name: s, Drifted: true}, // the same labels again
		})
		text := render(t, r)
		checkOlderFormat(t, text)
		want := escape.Text(s, false)
		checked := 0
		for _, sample := range parse(t, text) {
			sample.labels.Range(func(l labels.Label) {
				if l.Name != model.MetricNameLabel {
					checked++
					if l.Value != want {
						t.Errorf("label %s of %s is %q, want %q", l.Name, sample.name(), l.Value, want)
					}
				}
			})
		}
		if s != "" && checked < 20 {
			t.Errorf("%q: only %d labels\n%s", s, checked, text)
		}
	}
}

// TestSeriesOfALargeFleet holds the metrics to the bound of docs/fleet.md: at most 21 series for each cluster, at most 15 for each
// release with findings, 6 more, and none for any other release.
func TestSeriesOfALargeFleet(t *testing.T) {
	const clusters, perCluster, driftedEach = 500, 200, 10
	var releases []report.Release
	for i := range clusters * perCluster {
		r := report.Release{
			Cluster: fmt.Sprint("cluster-", i%clusters), StorageNamespace: fmt.Sprint("team-", i/clusters/10), Name: fmt.Sprint("app-", i),
		}
		if i/clusters < driftedEach {
			r.Drifted = true
			field := report.Finding{Managed: true, Verdict: report.Overwrite, Cause: report.CauseDrift}
			r.Objects = []report.Object{{Drifted: true, Fields: []report.Finding{field}}}
		}
		releases = append(releases, r)
	}
	text := render(t, report.NewScan("v", time.Unix(1795168800, 0), releases, nil, report.Scan{Seconds: 1, Requests: 1}))
	n := len(parse(t, text))
	const drifted = clusters * driftedEach
	if want := 4 + clusters*7 + drifted*3; n != want {
		t.Errorf("%d series, want %d", n, want)
	}
	t.Logf("%d releases, %d drifted: %d series, %d bytes", len(releases), drifted, n, len(text))
}
