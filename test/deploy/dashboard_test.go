package deploy

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// dashboard is as much of a Grafana dashboard as the tests read.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct {
		List []struct {
			Name, Type string
			Query      any
		}
	}
	Panels []struct {
		ID          int
		Title, Type string
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ RefID, Expr string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || len(d.Panels) < 10 {
		t.Fatalf("no dashboard: %+v", d)
	}
	return d
}

// filled returns a query as Grafana sends it if "All" is chosen.
func filled(query string, d dashboard) string {
	for _, v := range d.Templating.List {
		query = strings.ReplaceAll(query, "$"+v.Name, ".*")
	}
	return query
}

// TestDashboard parses every query, and evaluates it on the metrics of a fleet: each must have a result there.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	now := time.Unix(1795168800, 0)
	var h history
	h.scrape(t, string(golden(t, "fleet")), now.Add(-10*time.Minute), now.Add(time.Minute))
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d has no title or query, or the id of another", p.ID)
		}
		ids[p.ID] = true
		for _, other := range d.Panels[:i] {
			a, b := p.GridPos, other.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H || a.X+a.W > 24 {
				t.Errorf("%q lies on %q, or beyond the edge", p.Title, other.Title)
			}
		}
		for _, target := range p.Targets {
			query := filled(target.Expr, d)
			checkQuery(t, query)
			if len(h.query(t, query, now)) == 0 {
				t.Errorf("%q has no result: %s", p.Title, query)
			}
		}
	}
}

// TestDashboardVariables: the lists that a reader chooses from are made of metrics and labels that exist.
func TestDashboardVariables(t *testing.T) {
	d := readDashboard(t)
	form := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		query, _ := v.Query.(map[string]any)["query"].(string)
		parts := form.FindStringSubmatch(query)
		if parts == nil {
			t.Errorf("%s: %q is no list of values", v.Name, query)
			continue
		}
		checkQuery(t, "sum by ("+parts[2]+") ("+filled(parts[1], d)+")")
	}
}
