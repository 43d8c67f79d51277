package progress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// page is a terminal that understands the two sequences of Rollout: some lines up, and erase what is below.
type page struct {
	t     *testing.T
	lines []string
}

func (p *page) Write(text []byte) (int, error) {
	rest := string(text)
	var up int
	if n, _ := fmt.Sscanf(rest, "\x1b[%dA\x1b[J", &up); n == 1 {
		p.lines = p.lines[:len(p.lines)-up]
		_, rest, _ = strings.Cut(rest, "\x1b[J")
	}
	if strings.Contains(rest, "\x1b") || rest != "" && !strings.HasSuffix(rest, "\n") {
		p.t.Errorf("%q is written", text)
	}
	p.lines = append(p.lines, strings.Split(strings.TrimSuffix(rest, "\n"), "\n")...)
	if rest == "" {
		p.lines = p.lines[:len(p.lines)-1]
	}
	return len(text), nil
}

func (p *page) mustShow(want ...string) {
	p.t.Helper()
	if got := strings.Join(p.lines, "\n"); got != strings.Join(want, "\n") {
		p.t.Errorf("shows\n%s\nand not\n%s", got, strings.Join(want, "\n"))
	}
}

// rolledOut is an outcome with some of three pods updated.
func rolledOut(kind, name string, updated int64) report.FixOutcome {
	return report.FixOutcome{
		Object:  report.ObjectKey{Key: object.Key{Group: "apps", Kind: kind, Namespace: "prod", Name: name}},
		Rollout: &report.Rollout{PodCounts: &report.PodCounts{Wanted: 3, Updated: updated, Ready: 3}},
	}
}

// TestRolloutProgress follows two workloads beside a ConfigMap. A message stands above the block.
func TestRolloutProgress(t *testing.T) {
	screen := &page{t: t}
	p := NewRollout(screen, layout.Options{Unicode: true, Width: 60}, "prod", nil)
	settings := report.FixOutcome{Object: report.ObjectKey{Key: object.Key{Kind: "ConfigMap", Namespace: "prod", Name: "conf"}},
		Rollout: &report.Rollout{Status: report.RolloutReady, Message: "Resource is always ready"}}
	claim := report.FixOutcome{Object: report.ObjectKey{Key: object.Key{Kind: "PersistentVolumeClaim", Namespace: "prod", Name: "data"}},
		Rollout: &report.Rollout{Message: "PVC is not Bound. \x1b[2J"}}
	p.Update([]report.FixOutcome{settings, rolledOut("Deployment", "web", 0), claim})
	screen.mustShow("Deployment web              0 of 3 pods updated, 3 ready, 0", `PersistentVolumeClaim data  PVC is not Bound. \x1b[2J`)
	if _, err := p.Write([]byte("not up yet\n")); err != nil {
		t.Fatal(err)
	}
	p.Update([]report.FixOutcome{settings, rolledOut("Deployment", "web", 1), rolledOut("StatefulSet", "db", 3)})
	screen.mustShow("not up yet", "Deployment web  1 of 3 pods updated, 3 ready, 0 unavailable",
		"StatefulSet db  3 of 3 pods updated, 3 ready, 0 unavailable")
	p.Done()
	screen.mustShow("not up yet")
}

// TestRolloutProgressOfMany checks that the block stays small.
func TestRolloutProgressOfMany(t *testing.T) {
	screen := &page{t: t}
	var all []report.FixOutcome
	for i := range 14 {
		all = append(all, rolledOut("Deployment", fmt.Sprint("web-", i), 1))
	}
	p := NewRollout(screen, layout.Options{Width: 100}, "prod", nil)
	p.Update(all)
	p.Update(all)
	if len(screen.lines) != maxRolloutLines+1 || screen.lines[maxRolloutLines] != "and 4 more" {
		t.Errorf("shows\n%s", strings.Join(screen.lines, "\n"))
	}
}
