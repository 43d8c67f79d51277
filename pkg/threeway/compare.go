package threeway

import (
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Compare compares one release. It is pure: Needs lists what could be read to make the answer better.
func Compare(in Input) *Comparison {
	in.Autoscaled = markLeaving(in)
	job := newComparer(in)
	c := &Comparison{Input: in, Objects: job.compareAll(pairs(in)), job: job}
	c.Warnings, c.Errors = slices.Clone(in.Warnings), slices.Concat(in.Errors, in.NamespacesUnread)
	c.settle(nil)
	c.warnOfRules()
	c.warnOfDuplicates()
	c.warnOfDeployer()
	c.failOnUnseenAutoscalers()
	c.failOnUnseenDefinitions()
	c.noteGroupChanges()
	return c
}

// compareAll compares each object by itself, on all processors. A panic in a worker is raised again here.
func (c *comparer) compareAll(all []pair) []ObjectComparison {
	out := make([]ObjectComparison, len(all))
	panics := make([]any, len(all))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() error {
			defer func() { panics[i] = recover() }()
			out[i] = c.compare(all[i])
			return nil
		})
	}
	_ = group.Wait() // no object returns an error
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
	return out
}

// compare compares one object: it finds the live states, decides what Helm does, and applies the ignore rules.
func (c *comparer) compare(p pair) ObjectComparison {
	out := ObjectComparison{Object: *p.subject(), key: p.key, index: p.index}
	c = c.writerOf(p.index, p.subject().Content)
	found, err := c.find(p)
	if err != nil {
		out.Err = err
	}
	texts := textsOf(p, found.object())
	rules, remarks := ignore.ForObject(c.in.Rules, c.in.Name, out.Ref, texts...)
	d := c.decide(p, found, rules, err)
	out.decision, out.remarks = d, remarks // settle adds the outcome
	out.Missing, out.Terminating = d.missing, d.terminating
	out.Notes.Add(out.Note)
	for _, note := range d.notes {
		out.Notes.Add(note)
	}
	out.IgnoredBy = rules.Object(out.Gone(), texts[0])
	if !slices.ContainsFunc(d.Findings, func(f verdict.Finding) bool { return f.Verdict == report.Conflict && f.IgnoredBy == nil }) {
		out.conflictsIgnoredBy = rules.Conflicts()
	}
	return out
}
