package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/retry"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxRefusals is how often the server may refuse the same patch although all its tests passed when the object was read just before.
const maxRefusals = 3

// work is the repair of one object.
type work struct {
	*run
	plan *ObjectPlan
	// restored reports whether the planned values were seen in place. overwritten is the outcome if they changed again after that.
	restored    bool
	overwritten *report.FixOutcome
	// unanswered is set if nobody knows whether some write took place.
	unanswered bool
	// refused is the last patch that the server refused because of a failed test. refusals counts how often in a row.
	refused  []byte
	refusals int
}

// step reads the object and sends the next requests for it. An error means that another step is needed. Nothing else happens between the
// read and the write, because a busy writer may get in between.
func (w *work) step(ctx context.Context) (report.FixOutcome, error) {
	if !w.restored {
		if err := w.checkBefore(ctx); err != nil {
			return report.FixOutcome{}, err
		}
	}
	live, err := w.get(ctx, w.plan.Ref)
	switch {
	case err != nil:
		return w.afterError(err)
	case live == nil && w.plan.Create != nil:
		return w.create(ctx)
	case w.plan.Create != nil:
		return w.createdMeanwhile(live), nil
	}
	if stale := w.plan.staleObject(live); stale != nil {
		return w.end(report.FixDeclined, stale.Reason), nil
	}
	return w.restore(ctx, live)
}

// restore puts back the values, and then their ownership. It does not write values again that were in place and have changed since,
// because that would be a fight between two writers. It still hands over the ownership of the others.
func (w *work) restore(ctx context.Context, live map[string]any) (report.FixOutcome, error) {
	body, err := w.plan.Patch(live)
	switch left := w.deviation(body, err); {
	case left != nil && !w.restored: // nothing was written yet
		return *left, nil
	case left != nil:
		w.overwritten = left // reported after the hand-over
	case body != nil:
		return w.restoreValues(ctx, body)
	}
	w.restored = true
	return w.restoreOwnership(ctx, live)
}

// deviation returns the outcome of an object that no longer fits the plan, or nil if it fits.
func (w *work) deviation(body []byte, err error) *report.FixOutcome {
	var stale *StaleError
	var out report.FixOutcome
	switch {
	case errors.As(err, &stale):
		out = w.end(report.FixDeclined, stale.Reason)
		out.Fields = stale.Fields
	case err != nil:
		out = w.end(report.FixFailed, err.Error())
	case body != nil && w.restored:
		out = w.end(report.FixDeclined, didNotStay)
	default:
		return nil
	}
	return &out
}

// restoreValues sends the patch of values. It continues with the server's answer, which saves a read.
func (w *work) restoreValues(ctx context.Context, body []byte) (report.FixOutcome, error) {
	after, err := w.write(ctx, w.jsonPatch(body), w.plan.Manager)
	if err != nil {
		return w.afterPatchError(body, err)
	}
	if w.DryRun {
		return w.end(report.FixFixed, ""), nil
	}
	w.restored = true
	return w.restore(ctx, after)
}

// restoreOwnership hands the values over to the deployer. A dry run sends nothing: the entries to change exist only after the first write.
func (w *work) restoreOwnership(ctx context.Context, live map[string]any) (report.FixOutcome, error) {
	body, err := w.plan.HandOver(live)
	var stale *StaleError
	switch {
	case errors.As(err, &stale):
		return w.end(report.FixDeclined, stale.Reason), nil
	case err != nil:
		return w.end(report.FixFailed, "the values are back, but "+err.Error()), nil
	case body != nil && !w.DryRun:
		if _, err := w.write(ctx, w.jsonPatch(body), w.plan.Manager); err != nil {
			return w.afterPatchError(body, err)
		}
	}
	if w.overwritten != nil {
		return *w.overwritten, nil
	}
	return w.end(report.FixFixed, ""), nil
}

func (w *work) create(ctx context.Context) (report.FixOutcome, error) {
	if w.DryRun && w.run.plan.createsNamespace(w.plan.Ref.Namespace) { // a dry run does not store the namespace
		return w.end(report.FixFixed, ""), nil
	}
	request, err := w.creation()
	if err != nil {
		return w.end(report.FixFailed, err.Error()), nil
	}
	if _, err := w.write(ctx, request, w.plan.Deployer); err != nil {
		return w.afterError(err)
	}
	return w.end(report.FixFixed, ""), nil
}

// noVersion is a resource version that no object has. An apply with it creates the object or gets a 409. Without it, an apply would change
// an object that has appeared meanwhile, and without any conflict if Helm itself has just created it (k8s.io/apiserver v0.37.1
// pkg/registry/generic/registry/store.go Update compares the versions only if the object exists).
const noVersion = "1"

// creation returns the request that creates the object.
func (w *work) creation() (cluster.Request, error) {
	request := cluster.Request{Ref: w.plan.Ref, Method: cluster.MethodCreate}
	body := object.WithoutVersion(w.plan.Create)
	if w.plan.ServerSide {
		request.Method, request.PatchType = cluster.MethodPatch, string(types.ApplyYAMLPatchType)
		object.Child(body, "metadata")["resourceVersion"] = noVersion
	}
	var err error
	if request.Body, err = json.Marshal(body); err != nil {
		return request, fmt.Errorf("encode the object: %w", err)
	}
	return request, nil
}

// createdMeanwhile ends the repair of an object that was missing and exists now. It is not compared with the manifest: its creator may
// have wanted it as it is. If the answer to our own creation was lost, the object may be ours.
func (w *work) createdMeanwhile(live map[string]any) report.FixOutcome {
	isOurs := func(raw map[string]any) bool { return raw["manager"] == w.plan.Deployer }
	if w.unanswered && slices.ContainsFunc(owners.RawEntries(live), isOurs) {
		return w.end(report.FixFixed, "")
	}
	return w.end(report.FixDeclined, "it exists again: it was created after the plan was made")
}

func (w *work) jsonPatch(body []byte) cluster.Request {
	return cluster.Request{Ref: w.plan.Ref, Method: cluster.MethodPatch, PatchType: string(types.JSONPatchType), Body: body}
}

// write sends a request and remembers if it got no answer. If the server turned the request away with 429, write pauses for at least as
// long as the server asks, and then sends it once more without reading again: it had no effect, and its tests run again. An overloaded
// server turns away all kinds of requests alike. If each new step began with reads, the reads could use up all requests that succeed, and
// the write would never get through.
func (w *work) write(ctx context.Context, request cluster.Request, manager string) (map[string]any, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	after, err := w.send(ctx, request, manager)
	if wait := pause(1, err); retry.Status(err) == http.StatusTooManyRequests && !w.DryRun && wait < maxPause && !retry.EndsBefore(ctx, wait) {
		if retry.Sleep(ctx, wait) == nil {
			after, err = w.send(ctx, request, manager)
		}
	}
	w.unanswered = w.unanswered || err != nil && !w.DryRun && isUnanswered(err)
	return after, err
}

// afterPatchError decides how to go on after the error of a JSON patch. A failed test usually means that somebody wrote in between, so
// another step follows. If the same patch fails again and again, the server sees something else than it shows.
func (w *work) afterPatchError(body []byte, err error) (report.FixOutcome, error) {
	if !testFailed(err) {
		return w.afterError(err)
	}
	if !bytes.Equal(body, w.refused) {
		w.refused, w.refusals = body, 0
	}
	if w.refusals++; w.refusals < maxRefusals {
		return report.FixOutcome{}, err
	}
	return w.unfinished("the API server says that a test of the patch fails, but all of them hold: " + err.Error()), nil
}

// afterError decides how to go on after an error: with an outcome, or with another step.
func (w *work) afterError(err error) (report.FixOutcome, error) {
	switch {
	// A 404 of a creation means that the namespace is missing. Waiting does not bring it back.
	case (isTransient(err) || isStale(err)) && !(w.plan.Create != nil && retry.Status(err) == http.StatusNotFound):
		return report.FixOutcome{}, err
	case w.restored:
		return w.unfinished(err.Error()), nil
	}
	return w.end(report.FixRefused, err.Error()), nil
}

// end returns the outcome of the object.
func (w *work) end(status report.FixStatus, reason string) report.FixOutcome {
	return report.FixOutcome{Object: report.ObjectKey{Key: w.plan.Ref.Key}, Status: status, Reason: reason}
}

// unfinished returns the outcome for a reason outside the object, and says how far the repair had come.
func (w *work) unfinished(reason string) report.FixOutcome {
	switch {
	case w.restored:
		reason = "the values are back, but " + w.plan.Deployer + " does not own them yet: " + reason + "; helmdrift fix, run again, completes it"
	case w.unanswered:
		reason += "; it is not known whether the last write took place: run helmdrift fix again"
	}
	return w.end(report.FixFailed, reason)
}

// panicked describes a fault of this program. The text may quote content, so for a Secret it is left out.
func (w *work) panicked(value any) string {
	if w.plan.Ref.Group == "" && w.plan.Ref.Kind == "Secret" {
		return "internal error"
	}
	return fmt.Sprintf("internal error: %v", value)
}
