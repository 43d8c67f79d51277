package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file turns a report into an exit code. The rules are about what was found, so they read reports and not comparisons: whoever has
// the JSON of a report can apply them too. What is ignored, or known from the baseline, never sets an exit code.

// The exit codes of every command. They depend on what was found, never on the output format.
const (
	// exitClean means that nothing was found that --fail-on selects.
	exitClean = 0
	// exitFailure means a usage error, a failure, or an incomplete comparison. It takes precedence over exitSelected: whoever reads 2 may
	// rely on a complete report.
	exitFailure = 1
	// exitSelected means that something was found that --fail-on selects.
	exitSelected = 2
)

// exitHelp is the part of the help of diff that explains the exit codes.
const exitHelp = `Exit codes:
  0  nothing that --fail-on selects
  1  usage error or failure; something could not be compared, even if drift was found; the dry
     run by the API server contradicts the prediction; or --fail-on has restart or downtime,
     and something that they depend on is not known
  2  something that --fail-on selects: by default drift, a conflict, or an object on which the
     upgrade fails`

// fixExitHelp is the same for fix. diff --fix has these codes too.
const fixExitHelp = `Exit codes:
  0  everything that fix can put back is as Helm deployed it
  1  usage error or failure; something could not be read; or, with --wait, something did not come up
  2  drift remains: you did not confirm or select it, it was a dry run, or the result says why`

// exitStatus is an error that only carries an exit code. What it stands for was printed as a report.
type exitStatus int

// Error makes exitStatus an error. It is never printed.
func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// failOn is the value of --fail-on: the set of kinds of findings that make diff exit with 2.
//
// Drift is what differs from what Helm deployed, change is what the chart changes, unmanaged is what no manifest names, conflict and fail
// are fields and objects on which the operation fails, effect is every write, restart and downtime are what the writes mean for pods, and
// none is nothing.
type failOn map[string]bool

// failOnWords returns the words of --fail-on in the order of its help.
func failOnWords() []string {
	return []string{"drift", "change", "unmanaged", "conflict", "fail", "effect", "restart", "downtime", "none"}
}

// failOnUsage returns the help of --fail-on.
func failOnUsage() string {
	return "what sets exit code 2, as a `list` of " + strings.Join(failOnWords(), ", ") + "; +word adds to the default"
}

// String returns the words that are set, separated by commas.
func (f *failOn) String() string {
	var on []string
	for _, word := range failOnWords() {
		if (*f)[word] {
			on = append(on, word)
		}
	}
	return strings.Join(on, ",")
}

// defaultFailOn returns what --fail-on selects by default: what Helm deployed is not what the cluster holds, or the upgrade would fail.
func defaultFailOn() failOn { return failOn{"drift": true, "conflict": true, "fail": true} }

// Set reads a comma-separated list. Words with a + are added to what is selected so far, which is the default at first; words without a +
// replace it. A list that has both kinds could mean either, so it is an error.
func (f *failOn) Set(list string) error {
	var words []string
	added := 0
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		name, adds := strings.CutPrefix(word, "+")
		if !slices.Contains(failOnWords(), name) {
			return fmt.Errorf("must be some of %s; a word with a + adds to %s", strings.Join(failOnWords(), ", "), f)
		}
		words = append(words, name)
		if adds {
			added++
		}
	}
	set := failOn{}
	switch added {
	case 0:
	case len(words):
		maps.Copy(set, *f)
	default:
		return fmt.Errorf("put a + before every word or before none: +%s adds to %s, and %s replaces it",
			strings.Join(words, ",+"), f, strings.Join(words, ","))
	}
	for _, word := range words {
		set[word] = true
	}
	if set["none"] && len(set) > 1 {
		return errors.New("none cannot be combined with other words")
	}
	*f = set
	return nil
}

// completions returns the words of --fail-on in both forms, for the shell.
func (f *failOn) completions() []string {
	words := failOnWords()
	for _, word := range failOnWords() {
		if word != "none" && !(*f)[word] {
			words = append(words, "+"+word)
		}
	}
	return words
}

// Type returns the placeholder in help texts.
func (f *failOn) Type() string { return "list" }

// status returns the exit code of a report as an error; nil is exit code 0. Errors, predictions that the dry run of the API server
// contradicts, and an incomplete forecast that was asked for take precedence over findings.
func (f failOn) status(r *report.Report) error {
	switch {
	case r.HasError(), r.Disputed(), f.lacksEffects(r):
		return exitStatus(exitFailure)
	case slices.ContainsFunc(r.Releases, f.selectsRelease):
		return exitStatus(exitSelected)
	}
	return nil
}

// lacksEffects reports whether the exit code depends on a forecast that lacks something: what is not known may restart pods.
func (f failOn) lacksEffects(r *report.Report) bool {
	return (f["restart"] || f["downtime"]) && slices.ContainsFunc(r.Releases, report.Release.LacksEffects)
}

// selects reports whether an object sets exit code 2 or, if it is nil, the release itself does.
func (f failOn) selects(r *report.Release, o *report.Object) bool {
	if o == nil {
		return f.selectsWhole(*r)
	}
	return f.selectsObject(*o)
}

// selectsRelease reports whether a release, or an object of it, sets exit code 2.
func (f failOn) selectsRelease(r report.Release) bool {
	return f.selectsWhole(r) || slices.ContainsFunc(r.Objects, f.selectsObject)
}

// selectsWhole reports whether a release as a whole sets exit code 2. A namespace that is being deleted is drift of everything in it.
func (f failOn) selectsWhole(r report.Release) bool {
	return f["drift"] && r.Terminating || f["restart"] && r.Restarts() || f["downtime"] && r.GoesDown()
}

// selectsObject reports whether an object or one of its fields sets exit code 2.
func (f failOn) selectsObject(o report.Object) bool {
	// A whole object counts if it is gone, if the operation fails on it or writes it, or if the change is the object itself.
	whole := f["drift"] && o.Gone() ||
		f["fail"] && o.Action == report.ActionFail ||
		f["effect"] && o.Action.Writes() ||
		f["change"] && !o.Missing && o.Action.Writes() && o.Action != report.ActionUpdate
	return whole && o.IgnoredBy == nil && !o.Known || slices.ContainsFunc(o.Fields, f.selectsField)
}

// selectsField reports whether a field sets exit code 2. Fields that are ignored, or that the baseline has, never do.
func (f failOn) selectsField(field report.Finding) bool {
	if field.Silenced() {
		return false
	}
	return f["drift"] && field.Drifted() ||
		f["change"] && field.Cause != report.CauseDrift ||
		f["unmanaged"] && !field.Managed ||
		f["conflict"] && field.Verdict == report.Conflict
}

// fixStatus returns the exit code of a fix as an error; nil is exit code 0. What failed, could not be read or did not come up takes
// precedence over drift that remains.
func fixStatus(r *report.FixResult) error {
	is := func(status report.FixStatus) func(report.FixOutcome) bool {
		return func(o report.FixOutcome) bool { return o.Status == status }
	}
	switch {
	case r.After == nil, r.After.HasError(), slices.ContainsFunc(r.Results, is(report.FixFailed)),
		slices.ContainsFunc(r.Results, func(o report.FixOutcome) bool { return !o.IsUp() }):
		return exitStatus(exitFailure)
	case r.DryRun != "" && len(r.Plan) > 0, r.After.Summary.DriftedReleases > 0,
		slices.ContainsFunc(r.Results, is(report.FixDeclined)), slices.ContainsFunc(r.Results, is(report.FixRefused)):
		return exitStatus(exitSelected)
	}
	return nil
}
