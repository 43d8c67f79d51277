package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// The exit codes of every command. The output format never changes them.
const (
	// exitClean: nothing that --fail-on selects.
	exitClean = 0
	// exitFailure: a usage error, a failure, or a comparison that is incomplete. It beats exitSelected.
	exitFailure = 1
	// exitSelected: something that --fail-on selects.
	exitSelected = 2
)

// exitHelp stands in the help of every command that has these codes.
const exitHelp = `Exit codes:
  0  nothing that --fail-on selects
  1  usage error or failure; something could not be compared, even if drift was found; or the dry
     run of the API server contradicts the prediction
  2  something that --fail-on selects`

// fixExitHelp is the same for fix, and for diff --fix.
const fixExitHelp = `Exit codes:
  0  everything that fix can put back is as Helm deployed it
  1  usage error or failure, or something could not be read
  2  drift remains: not confirmed, dry run, not selected, or left or refused for a reason`

// exitStatus is an error that carries an exit code and has already been reported.
type exitStatus int

// Error makes exitStatus an error; nobody prints it.
func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// failOn is the set of things that make a command exit with 2. It is a flag value that refuses unknown words.
type failOn map[string]bool

// failOnWords are the words of --fail-on, in the order of its help.
func failOnWords() []string {
	return []string{"drift", "change", "unmanaged", "conflict", "fail", "effect", "none"}
}

// String lists the words that are set.
func (f *failOn) String() string {
	var on []string
	for _, word := range failOnWords() {
		if (*f)[word] {
			on = append(on, word)
		}
	}
	return strings.Join(on, ",")
}

// defaultFailOn is what --fail-on selects where nobody says otherwise.
func defaultFailOn() failOn { return failOn{"drift": true, "conflict": true, "fail": true} }

// Set takes a comma-separated list. Words with a + are added to what is selected so far, which is the default at first; words without
// one take its place. A list that has both could mean either, so it is an error.
func (f *failOn) Set(list string) error {
	var words []string
	added := 0
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		name, adds := strings.CutPrefix(word, "+")
		if !slices.Contains(failOnWords(), name) {
			return fmt.Errorf("must be some of: %s; each with a + adds to %s", strings.Join(failOnWords(), ", "), f)
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
		return fmt.Errorf("type either +%s, which adds to %s, or %s, which takes its place",
			strings.Join(words, ",+"), f, strings.Join(words, ","))
	}
	for _, word := range words {
		set[word] = true
	}
	if set["none"] && len(set) > 1 {
		return fmt.Errorf("none goes with no other word")
	}
	*f = set
	return nil
}

// completions are the words of --fail-on in both forms.
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

// status is the exit code of a report: what could not be seen comes first, and what the server says is otherwise.
func (f failOn) status(r *report.Report) error {
	switch {
	case r.HasError(), r.Disputed():
		return exitStatus(exitFailure)
	case slices.ContainsFunc(r.Releases, f.selectsRelease):
		return exitStatus(exitSelected)
	}
	return nil
}

func (f failOn) selectsRelease(r report.Release) bool {
	return f["drift"] && r.Terminating || slices.ContainsFunc(r.Objects, f.selectsObject)
}

func (f failOn) selectsObject(o report.Object) bool {
	whole := f["drift"] && o.Gone() ||
		f["fail"] && o.Action == report.ActionFail ||
		f["effect"] && o.Action.Writes() ||
		f["change"] && !o.Missing && o.Action.Writes() && o.Action != report.ActionUpdate
	return whole && o.IgnoredBy == nil && !o.Known || slices.ContainsFunc(o.Fields, f.selectsField)
}

func (f failOn) selectsField(field report.Finding) bool {
	if field.Silenced() {
		return false
	}
	return f["drift"] && field.Drifted() ||
		f["change"] && field.Cause != report.CauseDrift ||
		f["unmanaged"] && !field.Managed ||
		f["conflict"] && field.Verdict == report.Conflict
}

// fixStatus is the exit code of a fix: what failed or could not be seen comes first.
func fixStatus(r *report.FixResult) error {
	is := func(status report.FixStatus) func(report.FixOutcome) bool {
		return func(o report.FixOutcome) bool { return o.Status == status }
	}
	switch {
	case r.After == nil, r.After.HasError(), slices.ContainsFunc(r.Results, is(report.FixFailed)):
		return exitStatus(exitFailure)
	case r.DryRun != "" && len(r.Plan) > 0, r.After.Summary.DriftedReleases > 0,
		slices.ContainsFunc(r.Results, is(report.FixDeclined)), slices.ContainsFunc(r.Results, is(report.FixRefused)):
		return exitStatus(exitSelected)
	}
	return nil
}
