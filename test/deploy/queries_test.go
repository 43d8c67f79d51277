package deploy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// scrapeLabels are what Prometheus itself adds to each sample.
var scrapeLabels = []string{"job", "instance", "pod"}

// checkQuery parses a query. It may name only metrics that the golden file of the fleet has, and only labels that they have.
func checkQuery(t *testing.T, query string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%v in %s", err, query)
		return
	}
	names, known := map[string]bool{}, map[string]map[string]bool{}
	for _, name := range scrapeLabels {
		names[name] = true
	}
	for _, s := range parse(t, golden(t, "fleet")) {
		known[s.name()] = map[string]bool{model.MetricNameLabel: true}
		s.labels.Range(func(l labels.Label) { known[s.name()][l.Name], names[l.Name] = true, true })
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			if known[n.Name] == nil {
				t.Errorf("there is no metric %q: %s", n.Name, query)
			}
			for _, m := range n.LabelMatchers {
				if !known[n.Name][m.Name] {
					t.Errorf("%s has no label %s: %s", n.Name, m.Name, query)
				}
			}
		case *parser.AggregateExpr:
			for _, name := range n.Grouping {
				if !names[name] {
					t.Errorf("there is no label %s: %s", name, query)
				}
			}
		}
		return nil
	})
}

// history holds the metrics of several scans, as Prometheus would have stored them.
type history []series

// series is one series of a history.
type series struct {
	labels labels.Labels
	points []chunks.Sample
}

// scrape adds the metrics that a target has from one time to another, read each minute.
func (h *history) scrape(t *testing.T, text string, from, until time.Time) {
	t.Helper()
	for _, s := range parse(t, []byte(text)) {
		i := h.find(s.labels)
		for at := from; at.Before(until); at = at.Add(time.Minute) {
			(*h)[i].points = append((*h)[i].points, point{at.UnixMilli(), s.value})
		}
	}
}

// find returns the index of the series with the labels. It adds the series if there is none.
func (h *history) find(wanted labels.Labels) int {
	for i, s := range *h {
		if labels.Equal(s.labels, wanted) {
			return i
		}
	}
	*h = append(*h, series{labels: wanted})
	return len(*h) - 1
}

// query evaluates an expression at one time, and returns the labels of the result, without the name, and their values.
func (h history) query(t *testing.T, expr string, at time.Time) map[string]float64 {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: parser.NewParser(parser.Options{}),
	})
	q, err := engine.NewInstantQuery(context.Background(), h, nil, expr, at)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	vector, err := q.Exec(context.Background()).Vector()
	if err != nil {
		t.Fatalf("%v in %s", err, expr)
	}
	out := map[string]float64{}
	for _, s := range vector {
		var words []string
		s.Metric.Range(func(l labels.Label) {
			if l.Name != model.MetricNameLabel {
				words = append(words, l.Value)
			}
		})
		out[strings.Join(words, " ")] = s.F
	}
	return out
}

// Querier makes a history a storage.Queryable.
func (h history) Querier(_, _ int64) (storage.Querier, error) { return querier{h: h}, nil }

// querier selects series of a history.
type querier struct {
	storage.LabelQuerier // the engine never calls its methods but Close
	h                    history
}

// Close does nothing.
func (querier) Close() error { return nil }

// Select returns the series that match.
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	found := &seriesSet{at: -1}
	for _, s := range q.h {
		if matches(s.labels, matchers) {
			found.all = append(found.all, storage.NewListSeries(s.labels, s.points))
		}
	}
	return found
}

// matches reports whether labels fulfil all matchers.
func matches(l labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(l.Get(m.Name)) {
			return false
		}
	}
	return true
}

// seriesSet is a list of series as the engine reads it.
type seriesSet struct {
	all []storage.Series
	at  int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.all) }
func (s *seriesSet) At() storage.Series                { return s.all[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// point is one value of a series.
type point struct {
	at    int64
	value float64
}

func (p point) T() int64                      { return p.at }
func (p point) ST() int64                     { return 0 }
func (p point) F() float64                    { return p.value }
func (p point) H() *histogram.Histogram       { return nil }
func (p point) FH() *histogram.FloatHistogram { return nil }
func (p point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample           { return p }
