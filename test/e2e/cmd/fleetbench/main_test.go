package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]string{"20,200,2000": "20,200,2000", "7": "7", "200,20": "", "0": "", "a": "", "": ""} {
		var s sizes
		if err := s.Set(text); (err == nil) != (want != "") || err == nil && s.String() != want {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// TestSample checks that the releases of a sample are different ones of the fleet, and untouched.
func TestSample(t *testing.T) {
	f, err := fleet.New(fleet.Options{Objects: fleet.MinObjects})
	if err != nil {
		t.Fatal(err)
	}
	b := bench{fleet: f, options: options{sample: 10}}
	for size, want := range map[int]int{3: 3, 10: 10, 20: 10, 200: 10, 2000: 10} {
		names := map[string]bool{}
		for _, release := range b.sampleOf(size) {
			names[release.Name] = release.Drift == fleet.NoDrift
			if !names[release.Name] {
				t.Errorf("%s drifted", release.Name)
			}
		}
		if len(names) != want {
			t.Errorf("of %d releases: %v", size, names)
		}
	}
}

// TestCheckReport checks that a wrong report is found out.
func TestCheckReport(t *testing.T) {
	f, err := fleet.New(fleet.Options{Objects: fleet.MinObjects})
	if err != nil {
		t.Fatal(err)
	}
	b := bench{fleet: f}
	one := f.Release(0)
	entry := `{"name": "` + one.Name + `", "namespace": "` + one.Namespace + `", "drifted": false, "errors": []}`
	report := func(entries string) []byte { return []byte(`{"releases": [` + entries + `]}`) }
	if err := b.checkReport(report(entry), 1); err != nil {
		t.Error(err)
	}
	for name, entries := range map[string]string{
		"missing": "", "twice": entry + "," + entry, "drifted": strings.Replace(entry, "false", "true", 1),
		"error": strings.Replace(entry, "[]", `[{"text": "x"}]`, 1), "no JSON": "{",
	} {
		if b.checkReport(report(entries), 1) == nil {
			t.Errorf("%s: the report is accepted", name)
		}
	}
}

func TestMedian(t *testing.T) {
	if got := median([]time.Duration{9, 1, 3}); got != 3 {
		t.Errorf("%d", got)
	}
}

func TestHighWater(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc on this system")
	}
	if got := highWater(os.Getpid()); got < 1<<20 || got > 1<<40 {
		t.Errorf("%d bytes", got)
	}
}

// TestTable checks ratios, extrapolation, and that helm diff has columns only if it was measured.
func TestTable(t *testing.T) {
	rows := []row{{
		releases: 200, lists: time.Second, scan: 2 * time.Second, one: time.Second / 10, kubectl: time.Second,
		peak: 3e6, processor: time.Second / 2, scanTraffic: traffic{requests: 230, records: 200, bytes: 5e6},
	}}
	var text strings.Builder
	printTable(&text, options{sample: 10, rounds: 3, fleet: fleet.Options{Objects: 15}}, rows)
	for _, want := range []string{
		"| 200 | 1.00 s | 2.00 s | 2.0 | 10.0 ms | 20.00 s | 10.0 | 200.00 s | 100.0 |\n",
		"| 200 | 3000 | 0.50 s | 3.0 MB | 230 | 200 | 5.0 MB | 0 | 0.0 MB |\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no line %s in\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "helm diff") {
		t.Errorf("helm diff was not measured:\n%s", &text)
	}
}
