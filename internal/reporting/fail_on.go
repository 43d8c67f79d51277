package reporting

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file turns a report into an exit code. The rules read reports and not comparisons, so anybody with the JSON of a report can
// apply them too. A finding that is ignored, or known from the baseline, never sets an exit code.

// ExitHelp is the part of the help of diff that explains the exit codes.
const ExitHelp = `Exit codes:
  0  nothing that --fail-on selects
  1  usage error or failure; something could not be compared, even if drift was found; the dry
     run by the API server contradicts the prediction; or --fail-on has restart or downtime,
     and something that they depend on is not known
  2  something that --fail-on selects: by default drift, a conflict, an object on which the
     upgrade fails, or a release that its deployer uninstalls`

// FailOn is the value of --fail-on: the set of kinds of findings that make diff exit with 2.
//
// drift selects what differs from what Helm deployed, change what the chart changes, and unmanaged what no manifest names. conflict and
// fail select fields and objects that make the operation fail, and effect selects every write. restart and downtime select what the writes
// mean for pods. uninstall and blocked select what the controller that deploys a release does next: it uninstalls the release, or does not
// act. An uninstall changes every object and stops every pod, so change, effect, restart and downtime select it too. unknown selects
// fields whose value in the chart is not known here. orphan and overlap select objects of a scan that no release claims any more, or that
// several deployers claim. none selects nothing.
type FailOn map[string]bool

// failOnWords returns the words of --fail-on in the order of its help.
func failOnWords() []string {
	return []string{
		"drift", "change", "unmanaged", "conflict", "fail", "effect", "restart", "downtime", "uninstall", "blocked", "unknown",
		"orphan", "overlap", "none",
	}
}

// String returns the words that are set, separated by commas.
func (f *FailOn) String() string {
	var on []string
	for _, word := range failOnWords() {
		if (*f)[word] {
			on = append(on, word)
		}
	}
	return strings.Join(on, ",")
}

// defaultFailOn returns what --fail-on selects by default: the cluster does not hold what Helm deployed, the upgrade would fail, or the
// release goes.
func defaultFailOn() FailOn {
	return FailOn{"drift": true, "conflict": true, "fail": true, "uninstall": true}
}

// Set reads a comma-separated list. Words with a + add to the current selection, which at first is the default; words without a + replace
// it. A list with both kinds is ambiguous, so it is an error.
func (f *FailOn) Set(list string) error {
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
	set := FailOn{}
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
func (f *FailOn) completions() []string {
	words := failOnWords()
	for _, word := range failOnWords() {
		if word != "none" && !(*f)[word] {
			words = append(words, "+"+word)
		}
	}
	return words
}

// Type returns the placeholder in help texts.
func (f *FailOn) Type() string { return "list" }

// Status returns the exit code of a report as an error; nil is exit code 0. Three things take precedence over findings: errors,
// predictions that the dry run of the API server contradicts, and an incomplete forecast if --fail-on depends on it.
func (f FailOn) Status(r *report.Report) error {
	if err := f.CheckClaims(r); err != nil {
		return err
	}
	switch {
	case r.HasError(), isDisputed(r), f.lacksEffects(r):
		return cli.ExitStatus(cli.ExitFailure)
	case slices.ContainsFunc(r.Releases, f.selectsRelease), f.selectsClaims(r.Scan):
		return cli.ExitStatus(cli.ExitSelected)
	}
	return nil
}

// isDisputed reports whether the API server contradicts a certain prediction.
func isDisputed(r *report.Report) bool {
	return slices.ContainsFunc(r.Releases, func(rel report.Release) bool { return slices.ContainsFunc(rel.Objects, report.Object.Disputed) })
}

// CheckOne returns an error if the exit code depends on what only a scan of several releases finds.
func (f FailOn) CheckOne() error { return f.CheckClaims(&report.Report{}) }

// CheckClaims returns an error if the exit code depends on orphans or overlaps, and nobody has looked for them. What the tools that deploy
// releases do next is compared without them. A caller that asks before it writes the report leaves no file in a CI format that looks green.
func (f FailOn) CheckClaims(r *report.Report) error {
	isNext := slices.ContainsFunc(r.Releases, func(one report.Release) bool { return one.Deployer != nil })
	for _, claim := range []struct {
		word     string
		isSought bool
	}{
		{"orphan", r.Scan != nil && r.Scan.OrphansSought},
		{"overlap", r.Scan != nil && !r.Scan.Named && !isNext},
	} {
		if word := claim.word; f[word] && !claim.isSought {
			return hint.New(fmt.Errorf("--fail-on %s: this report does not say whether there are %ss", word, word),
				"it needs a scan of the releases as they are: helmdrift diff -A --fail-on +"+word+", or -n NAMESPACE and no name of a release")
		}
	}
	return nil
}

// selectsClaims reports whether an orphan or an overlap sets exit code 2. An object that the chart asks Helm to keep is no failure.
func (f FailOn) selectsClaims(scan *report.Scan) bool {
	return scan != nil && (f["overlap"] && len(scan.Overlaps) > 0 ||
		f["orphan"] && slices.ContainsFunc(scan.Orphans, func(o report.Orphan) bool { return !o.Kept }))
}

// lacksEffects reports whether the exit code depends on a forecast that is incomplete.
func (f FailOn) lacksEffects(r *report.Report) bool {
	return slices.ContainsFunc(r.Releases, func(release report.Release) bool { return f.lacksEffectsOf(&release) })
}

// lacksEffectsOf is lacksEffects for one release: an unknown effect may restart pods.
func (f FailOn) lacksEffectsOf(r *report.Release) bool {
	isIncomplete := func(m report.Message) bool { return m.Code == report.CodeEffects }
	return (f["restart"] || f["downtime"]) && slices.ContainsFunc(r.Warnings, isIncomplete)
}

// selects reports whether an object sets exit code 2 or, if it is nil, the release itself does.
func (f FailOn) selects(r *report.Release, o *report.Object) bool {
	if o == nil {
		return f.selectsWhole(*r)
	}
	return f.selectsObject(*o)
}

// selectsRelease reports whether a release, or an object of it, sets exit code 2.
func (f FailOn) selectsRelease(r report.Release) bool {
	return f.selectsWhole(r) || slices.ContainsFunc(r.Objects, f.selectsObject)
}

// selectsWhole reports whether a release as a whole sets exit code 2. If the namespace is being deleted, everything in it has drifted. A
// report about a release that its controller uninstalls has no effects, and lists only drift.
func (f FailOn) selectsWhole(r report.Release) bool {
	restarts := r.Effect != nil && r.Effect.Restarts > 0
	goesDown := r.Effect != nil && len(r.Effect.Downtime) > 0
	isBlocked := r.Deployer != nil && r.Deployer.Action == report.DeployerBlocked
	return f["drift"] && r.Terminating || f["restart"] && restarts || f["downtime"] && goesDown ||
		f.selectsUninstall() && r.Deployer.Uninstalls() || f["blocked"] && isBlocked
}

// selectsUninstall reports whether any of the words selects that a release is uninstalled.
func (f FailOn) selectsUninstall() bool {
	return f["uninstall"] || f["change"] || f["effect"] || f["restart"] || f["downtime"]
}

// selectsObject reports whether an object or one of its fields sets exit code 2.
func (f FailOn) selectsObject(o report.Object) bool {
	// A whole object counts if it is gone, if the operation fails on it or writes it, or if the chart adds or removes it.
	whole := f["drift"] && o.Gone() ||
		f["fail"] && o.Action == report.ActionFail ||
		f["effect"] && o.Action.Writes() ||
		f["change"] && !o.Missing && o.Action.Writes() && o.Action != report.ActionUpdate
	return whole && o.IgnoredBy == nil && !o.Known || slices.ContainsFunc(o.Fields, f.selectsField)
}

// selectsField reports whether a field sets exit code 2. Fields that are ignored, or that the baseline has, never do.
func (f FailOn) selectsField(field report.Finding) bool {
	if field.Silenced() {
		return false
	}
	return f["drift"] && field.Drifted() ||
		f["change"] && field.Cause != report.CauseDrift ||
		f["unmanaged"] && !field.Managed ||
		f["conflict"] && field.Verdict == report.Conflict ||
		f["unknown"] && field.Class == report.ClassUnknown
}
