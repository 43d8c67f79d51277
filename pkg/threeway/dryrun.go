package threeway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Requests returns the writes that Helm would send if the upgrade began now: creations, patches and replacements, including those that
// the server is predicted to reject. It omits deletions, empty client-side patches, because Helm does not send them (helm v3.22.0
// pkg/kube/client.go updateResource), objects that Helm does not process, and writes that the server cannot check before the release
// has created the kind or the namespace. Each call computes the bodies anew; they belong to the caller.
func (c *Comparison) Requests() []cluster.Request {
	var out []cluster.Request
	for i := range c.Objects {
		if request, ok := c.request(&c.Objects[i]); ok {
			out = append(out, request)
		}
	}
	return out
}

// request returns the write for one object, and false if Helm sends none.
func (c *Comparison) request(o *ObjectComparison) (cluster.Request, bool) {
	if !o.isWritten() || c.notAskedReason(o) != "" {
		return cluster.Request{}, false
	}
	out := cluster.Request{Ref: o.Ref, Method: o.method}
	job := c.job.writerOf(o.index, o.Content)
	target := job.helmText(o.Content)
	var err error
	if c.Input.ServerSide() {
		out.Method, out.PatchType, out.Force = cluster.MethodPatch, string(types.ApplyYAMLPatchType), c.Input.ForceConflicts
		out.Body, err = json.Marshal(target)
		return out, err == nil
	}
	switch o.method {
	case cluster.MethodPatch:
		out.PatchType, out.Body, err = job.writer.Patch(o.Ref, o.original, target, o.liveText)
	case cluster.MethodReplace:
		out.Strict = c.Input.helm4()
		out.Body, err = job.writer.Replacement(target, o.liveText)
	case cluster.MethodCreate:
		out.Body, err = json.Marshal(object.WithoutVersion(target))
	}
	return out, err == nil && string(out.Body) != "{}" // a patch that cannot be made is a predicted failure
}

// notAskedReason returns the reason why there is no request for an object that Helm writes. It is empty if there may be one.
func (c *Comparison) notAskedReason(o *ObjectComparison) string {
	switch {
	case c.job.writerOf(o.index, o.Content).writer.MigratesFirst(o.liveText):
		return "Helm first turns its own earlier writes into an apply, which a dry run cannot do"
	case c.job.redefined[o.GroupKind()]:
		return "the installation changes its CustomResourceDefinition first"
	case o.waitsFor != "":
		return "the release creates " + o.waitsFor + " first"
	}
	return o.exchanged
}

// longestMessage is how many bytes of a server's message are shown at most. The message may quote the whole object.
const longestMessage = 800

// Verify returns the comparison with the API server's answers to the [Comparison.Requests]: the DryRun of each object says whether the
// server agrees. An object that Helm writes but that cannot have a request gets the reason. An object without an answer stays as it is.
// The answer decides verdicts that were not certain, and everything that depends on them. c does not change. If c is verified already, the
// new answers count beside the earlier ones, and an object that has both gets the new one.
func (c *Comparison) Verify(answers map[object.Ref]cluster.Answer) *Comparison {
	before, settled := cmp.Or(c.before, c), map[object.Key]settlement{}
	maps.Copy(settled, c.settled)
	out := *before
	out.before, out.Objects, out.known = before, slices.Clone(before.Objects), c.known
	for i := range out.Objects {
		o := &out.Objects[i]
		if o.DryRun = c.Objects[i].DryRun; !o.isWritten() {
			continue
		}
		if reason := c.notAskedReason(o); reason != "" {
			o.DryRun = &report.DryRun{Result: report.DryRunRefused, Message: "not asked: " + reason}
		} else if answer, asked := answers[o.Ref]; asked {
			job := c.job.writerOf(o.index, o.Content)
			settled[o.key] = job.settlementBy(o, answer)
			dryRun := job.dryRunResult(o, answer, settled[o.key])
			o.DryRun = &dryRun
		}
	}
	out.settle(settled)
	return &out
}

// settlementBy returns what an answer settles about an object whose verdicts are not certain: the server rejects the write, or stores what
// was predicted. If it stores something else, the verdicts stay uncertain.
func (c *comparer) settlementBy(o *ObjectComparison, answer cluster.Answer) settlement {
	switch {
	case o.isCertain() || answer.Refused != "" || answer.Object != nil && len(c.differences(o, answer.Object)) > 0:
		return settlement{}
	case answer.Rejected != "" && o.Action != report.ActionFail:
		return settlement{settles: true, rejected: answer.Rejected}
	}
	return settlement{settles: true, succeeds: answer.Object != nil && o.Action == report.ActionFail}
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

// dryRunResult compares one answer with the prediction, as far as the answer has not settled it already.
func (c *comparer) dryRunResult(o *ObjectComparison, answer cluster.Answer, s settlement) report.DryRun {
	switch fails := s.rejected != "" || o.Action == report.ActionFail && !s.succeeds; {
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
	if more := len(paths) - mostPathsNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", apiserver.JoinPaths(paths[:mostPathsNamed]), more)
	}
	return apiserver.JoinPaths(paths)
}

// differences returns the paths where the prediction differs from what the server would store. For a new object, only what the manifest
// names counts.
func (c *comparer) differences(o *ObjectComparison, stored map[string]any) []object.Path {
	shape := c.writer.ShapeOf(o.Ref)
	if o.method != cluster.MethodCreate {
		f := kinds.NewNormalizer(o.Key, shape, o.liveText)
		return verdict.Differences(o.Key, shape, o.liveText, kinds.State{Value: o.Result, Present: true}, f.Stored(stored), false)
	}
	f := kinds.NewNormalizer(o.Key, shape, stored)
	predicted := f.Manifest(c.helmText(o.Content))
	predicted.Value = kinds.PlainNulls(predicted.Value)
	return verdict.Differences(o.Key, shape, stored, predicted, f.Stored(stored), true)
}
