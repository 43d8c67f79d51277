package text

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/urgency"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file writes what the controllers that deploy releases do next.

// maxDeployers is how many releases have a line that says what their controller does. The others are counted.
const maxDeployers = 20

// deployerLine returns the line that says what a controller does with the release.
func (t *text) deployerLine(d *report.Deployer) answerLine {
	if d == nil {
		return answerLine{}
	}
	return answerLine{label: "deployer", said: t.Escape(d.Says()), isLoud: isUnusual(d.Action)}
}

// isUnusual reports whether somebody may have to act before a controller does this, or because it does not act.
func isUnusual(action report.DeployerAction) bool {
	return !slices.Contains([]report.DeployerAction{
		report.DeployerNone, report.DeployerInstall, report.DeployerUpgrade, report.DeployerSync, report.DeployerCorrect,
	}, action)
}

// deployersLine counts what controllers do with several releases: "3 upgrade, 1 reinstall, 12 none".
func deployersLine(releases []report.Release) answerLine {
	counts := map[report.DeployerAction]int{}
	line := answerLine{label: "deployer"}
	for _, rel := range releases {
		if rel.Deployer != nil {
			counts[rel.Deployer.Action]++
			line.isLoud = line.isLoud || isUnusual(rel.Deployer.Action)
		}
	}
	var said layout.Clauses
	for _, action := range urgency.Actions() {
		said.AddIf(counts[action] > 0, fmt.Sprintf("%d %s", counts[action], action))
	}
	line.said = layout.JoinNonEmpty(", ", said...)
	return line
}

// toolCell returns what deploys a release.
func (t *text) toolCell(e entry) string { return t.Escape(e.Deployer.Tool()) }

// hasSeveralTools reports whether not all releases are deployed by the same.
func hasSeveralTools(all []entry) bool {
	return slices.ContainsFunc(all, func(e entry) bool { return e.Deployer.Tool() != all[0].Deployer.Tool() })
}

// nextCell returns what the controller of a release does next. A saved report may have an action that is no word of ours.
func (t *text) nextCell(e entry) string {
	if e.Deployer == nil {
		return ""
	}
	return t.Escape(string(e.Deployer.Action))
}

// deployers writes why controllers act, or do nothing although the chart has changed, one line for each release.
func (t *text) deployers(releases []report.Release) {
	acting := urgency.Acting(releases)
	for i, rel := range acting {
		if i == maxDeployers && !t.Verbose {
			t.Prose(fmt.Sprintf("%d more: -v", len(acting)-i))
			return
		}
		d := rel.Deployer
		t.Prose(fmt.Sprintf("%s %s in %s: %s", t.Word(d.Kind), t.Label(d.Name), t.Label(d.Namespace), t.Escape(d.Says())))
	}
}
