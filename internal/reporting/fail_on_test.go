package reporting

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestFailOnForms checks both forms of --fail-on: words with a + add to the default, words without a + replace it, and a list of both is an
// error that says what to type.
func TestFailOnForms(t *testing.T) {
	times := func(given ...string) []string { return given }
	for _, c := range []struct {
		given       []string
		want, wrong string
	}{
		{times(), "drift,conflict,fail,uninstall", ""},
		{times("+unmanaged"), "drift,unmanaged,conflict,fail,uninstall", ""},
		{times("+unmanaged,+change"), "drift,change,unmanaged,conflict,fail,uninstall", ""},
		{times(" +unmanaged , +effect"), "drift,unmanaged,conflict,fail,effect,uninstall", ""},
		{times("+drift"), "drift,conflict,fail,uninstall", ""},
		{times("drift,unmanaged"), "drift,unmanaged", ""},
		{times("none"), "none", ""},
		{times("+unmanaged", "+change"), "drift,change,unmanaged,conflict,fail,uninstall", ""},
		{times("drift", "+unmanaged"), "drift,unmanaged", ""},
		{times("+unmanaged", "change"), "change", ""},
		{times("drift,+unmanaged"), "", "put a + before every word or before none: +drift,+unmanaged adds to drift,conflict,fail,uninstall, and drift,unmanaged replaces it"},
		{times("+none"), "", "none cannot be combined with other words"},
		{times("none", "+drift"), "", "none cannot be combined with other words"},
		{times("none,drift"), "", "none cannot be combined with other words"},
		{times("++drift"), "", "must be some of drift, change, unmanaged, conflict, fail, effect, restart, downtime, uninstall, blocked, unknown, orphan, overlap, none; a word with a + adds to drift,conflict,fail,uninstall"},
		{times("+"), "", "must be some of"},
		{times("+drift,"), "", "must be some of"},
		{times("everything"), "", "must be some of"},
	} {
		f := defaultFailOn()
		var err error
		for _, list := range c.given {
			err = f.Set(list)
		}
		switch {
		case c.wrong == "" && (err != nil || f.String() != c.want):
			t.Errorf("%q: %s, %v", c.given, f.String(), err)
		case c.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), c.wrong)):
			t.Errorf("%q: %v", c.given, err)
		}
	}
}

// TestKnownWritesSelectNothing checks that neither effect nor change selects a write that the baseline has.
func TestKnownWritesSelectNothing(t *testing.T) {
	all := FailOn{"drift": true, "change": true, "effect": true, "fail": true}
	for _, action := range []report.Action{report.ActionUpdate, report.ActionReplace, report.ActionAdopt} {
		o := report.Object{Action: action}
		if o.Known = true; all.selectsObject(o) {
			t.Errorf("%s is known and counts", action)
		}
		if o.Known = false; !all.selectsObject(o) {
			t.Errorf("%s is new and does not count", action)
		}
	}
}

// TestFailOnUninstall checks which words select what a controller does with a whole release. An uninstall changes every object and stops
// every pod, although the report lists only drift.
func TestFailOnUninstall(t *testing.T) {
	const ofUninstall = "change effect restart downtime uninstall"
	for action, want := range map[report.DeployerAction]string{
		report.DeployerUninstall: ofUninstall, report.DeployerReinstall: ofUninstall, report.DeployerBlocked: "blocked",
		report.DeployerUpgrade: "", report.DeployerInstall: "", report.DeployerRollback: "", report.DeployerNone: "",
	} {
		r := &report.Report{Releases: []report.Release{{Deployer: &report.Deployer{Action: action}}}}
		var got []string
		for _, word := range failOnWords() {
			if word == "orphan" || word == "overlap" { // an error: nobody has looked for these
				continue
			}
			switch err := (FailOn{word: true}).Status(r); {
			case err == cli.ExitStatus(cli.ExitSelected): //nolint:errorlint // it is never wrapped
				got = append(got, word)
			case err != nil:
				t.Errorf("%s, --fail-on %s: %v", action, word, err)
			}
		}
		if said := strings.Join(got, " "); said != want {
			t.Errorf("%s: %q select it, want %q", action, said, want)
		}
	}
}

// TestFailOnClaims checks which orphans and overlaps set the exit code, and that nobody takes a report for clean that has not looked for
// them.
func TestFailOnClaims(t *testing.T) {
	orphans := func(kept ...bool) *report.Scan {
		out := &report.Scan{OrphansSought: true}
		for _, isKept := range kept {
			out.Orphans = append(out.Orphans, report.Orphan{Kept: isKept})
		}
		return out
	}
	for name, c := range map[string]struct {
		word string
		scan *report.Scan
		want string
	}{
		"no scan":                   {"orphan", nil, "--fail-on orphan: this report does not say whether there are orphans"},
		"no scan, overlap":          {"overlap", nil, "--fail-on overlap: this report does not say whether there are overlaps"},
		"not sought":                {"orphan", &report.Scan{}, "--fail-on orphan: this report does not say whether there are orphans"},
		"overlap of named releases": {"overlap", &report.Scan{Named: true}, "--fail-on overlap: this report does not say whether there are overlaps"},
		"none":                      {"orphan", orphans(), ""},
		"kept":                      {"orphan", orphans(true, true), ""},
		"one":                       {"orphan", orphans(true, false), "exit status 2"},
		"one, of another word":      {"drift", orphans(false), ""},
		"overlap":                   {"overlap", &report.Scan{Overlaps: make([]report.Overlap, 1)}, "exit status 2"},
		"overlap of another word":   {"drift", &report.Scan{Overlaps: make([]report.Overlap, 1)}, ""},
		"orphan is no overlap":      {"overlap", orphans(false), ""},
		"none, and nobody has seen": {"none", &report.Scan{}, ""},
	} {
		got := ""
		if err := (FailOn{c.word: true}).Status(&report.Report{Scan: c.scan}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	next := &report.Report{Scan: &report.Scan{}, Releases: []report.Release{{Deployer: &report.Deployer{}}}}
	if err := (FailOn{"overlap": true}).Status(next); err == nil || !strings.Contains(err.Error(), "does not say whether there are overlaps") {
		t.Errorf("%v for what Flux does next", err)
	}
	for range 20 { // the first word of the help comes first, whatever the order of a map
		if err := (FailOn{"overlap": true, "orphan": true}).CheckOne(); err == nil || !strings.HasPrefix(err.Error(), "--fail-on orphan: ") {
			t.Fatal(err)
		}
	}
	unread := &report.Report{Scan: orphans(false), Errors: []report.ScanError{{}}}
	if err := (FailOn{"orphan": true}).Status(unread); err != cli.ExitStatus(cli.ExitFailure) { //nolint:errorlint // it is never wrapped
		t.Errorf("%v with an error of the scan", err)
	}
}
