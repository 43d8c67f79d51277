package threeway

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// longestMessage is the most bytes that are shown of a server's message, which may quote the whole object.
const longestMessage = 800

// mostPathsNamed is the most paths that a disagreement names.
const mostPathsNamed = 5

// Verify compares the predictions with the API server's answers to the [Comparison.Requests], and keeps the result in the DryRun of each
// object. An object that Helm writes but for which there can be no request gets the reason; one without an answer is left as it is. If
// verdicts were not certain, the answer decides them: Verify changes c, so call it before Report.
func (c *Comparison) Verify(answers map[object.Ref]Answer) {
	defer func() { propagateFailures(c.Objects) }() // an object whose verdicts were not certain may turn out to fail
	for i := range c.Objects {
		o := &c.Objects[i]
		if !o.isWritten() {
			continue
		}
		if reason := c.notAskedReason(o); reason != "" {
			o.DryRun = &report.DryRun{Result: report.DryRunRefused, Message: "not asked: " + reason}
		} else if answer, asked := answers[o.Ref]; asked {
			job := c.job.writerOf(o.index)
			job.applyAnswer(o, answer)
			dryRun := job.dryRunResult(o, answer)
			o.DryRun = &dryRun
		}
	}
}

// applyAnswer decides the uncertain verdicts of an object by the server's answer: the server rejects the write, or stores what was
// predicted. If it stores something else, the verdicts stay uncertain.
func (c *comparer) applyAnswer(o *ObjectComparison, answer Answer) {
	switch {
	case o.isCertain() || answer.Refused != "":
		return
	case answer.Rejected != "" && o.Action != report.ActionFail:
		o.fail(scopeDeletions, answer.Rejected)
	case answer.Object != nil && len(c.differences(o, answer.Object)) > 0:
		return
	case answer.Object != nil && o.Action == report.ActionFail:
		o.clearConflicts()
	}
	for i := range o.Findings {
		if f := &o.Findings[i]; !f.Certain {
			f.Certain = true
			f.Notes.Add(report.NoteSettled, "the server's dry run settles it")
		}
	}
}

// clearConflicts turns a predicted failure on conflicts into an update: the server finds no conflict.
func (o *ObjectComparison) clearConflicts() {
	o.Action, o.Reason, o.failure = report.ActionUpdate, "", failure{}
	for i := range o.Findings {
		f := &o.Findings[i]
		f.Blocked = false
		switch {
		case f.Verdict != report.Conflict:
		case f.Live == nil:
			f.Verdict = report.Add
		default:
			f.Verdict = report.Overwrite
		}
	}
}

// shownDryRun returns the answer as a report has it. It is shortened after scrubbing, so that no part of a secret is left.
func shownDryRun(d *report.DryRun, scrub func(string) string) *report.DryRun {
	if d == nil {
		return nil
	}
	message := scrub(d.Message)
	if len(message) > longestMessage {
		message = strings.ToValidUTF8(message[:longestMessage], "") + " …"
	}
	return &report.DryRun{Result: d.Result, Message: message}
}

// dryRunResult compares one answer with the prediction.
func (c *comparer) dryRunResult(o *ObjectComparison, answer Answer) report.DryRun {
	switch fails := o.Action == report.ActionFail; {
	case answer.Refused != "":
		return report.DryRun{Result: report.DryRunRefused, Message: answer.Refused}
	case answer.Rejected != "" && fails:
		return report.DryRun{Result: report.DryRunAgrees, Message: "the server refuses it: " + answer.Rejected}
	case answer.Rejected != "":
		return report.DryRun{Result: report.DryRunDisagrees, Message: "the server refuses it: " + answer.Rejected}
	case fails:
		return report.DryRun{Result: report.DryRunDisagrees, Message: "the server takes it"}
	}
	paths := c.differences(o, answer.Object)
	if len(paths) == 0 {
		return report.DryRun{Result: report.DryRunAgrees}
	}
	return report.DryRun{Result: report.DryRunDisagrees, Message: "the server's answer differs at " + joinPaths(paths)}
}

// joinPaths lists paths for a message, never values.
func joinPaths(paths []object.Path) string {
	var names []string
	for _, p := range paths[:min(len(paths), mostPathsNamed)] {
		names = append(names, p.String())
	}
	if more := len(paths) - len(names); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// differences returns the paths at which what the server would store differs from the prediction. For a new object, only what the manifest
// names counts.
func (c *comparer) differences(o *ObjectComparison, stored map[string]any) []object.Path {
	shape := c.writer.ShapeOf(o.Ref)
	if o.method != MethodCreate {
		f := kinds.NewNormalizer(o.Key, shape, o.liveText)
		return verdict.Differences(o.Key, shape, o.liveText, kinds.State{Value: o.Result, Present: true}, f.Stored(stored), false)
	}
	f := kinds.NewNormalizer(o.Key, shape, stored)
	predicted := f.Manifest(c.helmText(o.Content))
	predicted.Value = kinds.PlainNulls(predicted.Value)
	return verdict.Differences(o.Key, shape, stored, predicted, f.Stored(stored), true)
}
