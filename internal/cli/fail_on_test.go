package cli

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestFailOnForms checks both forms of --fail-on: words with a + add to the default, words without a + replace it, and a list of both is an error that says what to type.
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
		{times("++drift"), "", "must be some of drift, change, unmanaged, conflict, fail, effect, restart, downtime, uninstall, blocked, unknown, none; a word with a + adds to drift,conflict,fail,uninstall"},
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
