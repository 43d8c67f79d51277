package text

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file writes which objects the wrong number of deployers claim.

// maxClaimed is how many orphans, and how many overlaps, are named. The others are counted.
const maxClaimed = 20

// claimsLine counts the orphans and the overlaps.
func claimsLine(scan *report.Scan) answerLine {
	var said layout.Clauses
	said.Count(len(scan.Orphans), "orphan")
	said.Count(len(scan.Overlaps), "overlap")
	return answerLine{label: "claims", said: layout.JoinNonEmpty(", ", said...), isLoud: len(said) > 0}
}

// ClaimPhrases are the words about objects that the wrong number of deployers claim.
type ClaimPhrases struct {
	Title   string
	Objects []string
}

// Claims returns the orphans and the overlaps of a report. It leaves out what there is none of.
func (p Phrases) Claims(r *report.Report) []ClaimPhrases {
	if r.Scan == nil {
		return nil
	}
	isSeveral := len(clustersOf(r)) > 1
	var orphans, overlaps []string
	for _, o := range r.Scan.Orphans {
		name, said := p.Orphan(o, isSeveral)
		orphans = append(orphans, name+": "+said)
	}
	for _, o := range r.Scan.Overlaps {
		name, said := p.Overlap(o, isSeveral)
		overlaps = append(overlaps, name+": "+said)
	}
	return slices.DeleteFunc([]ClaimPhrases{
		{english.Count(len(orphans), "orphan") + ": no manifest has such an object any more, and neither an upgrade nor fix deletes it", orphans},
		{english.Count(len(overlaps), "overlap") + ": several deployers claim such an object, and each writes its own manifest", overlaps},
	}, func(c ClaimPhrases) bool { return len(c.Objects) == 0 })
}

// claims writes the orphans and the overlaps of a scan, each under a headline.
func (t *text) claims(r *report.Report) {
	for _, c := range (Phrases{t}).Claims(r) {
		t.Prose(c.Title)
		for i, said := range c.Objects {
			if i == maxClaimed && !t.Verbose {
				t.Continuation("", fmt.Sprintf("%d more: -v", len(c.Objects)-i))
				break
			}
			t.Continuation("", said)
		}
	}
}
