package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// maxRefusals is how often the server may say of one and the same patch that it does not hold, although all that it tests was
// so when the object was read just before.
const maxRefusals = 3

// work is the repair of one object.
type work struct {
	*run
	plan *ObjectPlan
	// right tells that the planned values were seen to be back; rewritten is how they then left again.
	restored    bool
	overwritten *report.FixOutcome
	// unanswered tells that of some write it is not known whether it took place.
	unanswered bool
	// refused is the last patch of which the server said that it does not hold, and refusals how often in a row it said so.
	refused  []byte
	refusals int
}

// step looks at the object and sends the next requests for it. An error says why another step is needed. Nothing is asked between
// the look and the write: the longer that takes, the more a busy writer gets in between.
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

// restore brings the values back where they are not, and then their ownership. Values that were back and left again are not
// written again, which would be a fight; the ownership of the others is handed over all the same.
func (w *work) restore(ctx context.Context, live map[string]any) (report.FixOutcome, error) {
	body, err := w.plan.Patch(live)
	switch left := w.deviation(body, err); {
	case left != nil && !w.restored:
		return *left, nil
	case left != nil:
		w.overwritten = left
	case body != nil:
		return w.restoreValues(ctx, body)
	}
	w.restored = true
	return w.restoreOwnership(ctx, live)
}

// departure tells how the object has left the plan; nil where it has not.
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

// create makes the missing object.
func (w *work) create(ctx context.Context) (report.FixOutcome, error) {
	if w.DryRun && w.awaitsNamespace() {
		return w.end(report.FixFixed, ""), nil
	}
	request, err := w.creation()
	if err != nil {
		return w.end(report.FixFailed, err.Error()), nil
	}
	if _, err := w.write(ctx, request, w.creator()); err != nil {
		return w.afterError(err)
	}
	return w.end(report.FixFixed, ""), nil
}

// noVersion is a resource version that no object has. An apply with it creates the object or meets a 409. Without it, an object
// that has appeared meanwhile would be changed, and one that Helm itself has just made without any conflict (k8s.io/apiserver
// v0.37.2 pkg/registry/generic/registry/store.go Update compares the versions only where an object is there).
const noVersion = "1"

// creation is the request that makes the object.
func (w *work) creation() (threeway.Request, error) {
	request := threeway.Request{Ref: w.plan.Ref, Method: threeway.MethodCreate}
	object := w.plan.Create
	if w.plan.ServerSide {
		request.Method, request.PatchType = threeway.MethodPatch, string(types.ApplyYAMLPatchType)
		metadata, _ := object["metadata"].(map[string]any)
		object, metadata = maps.Clone(object), maps.Clone(metadata)
		metadata["resourceVersion"] = noVersion
		object["metadata"] = metadata
	}
	var err error
	if request.Body, err = json.Marshal(object); err != nil {
		return request, fmt.Errorf("write the object down: %w", err)
	}
	return request, nil
}

// creator is the field manager that makes the object. What a server-side apply makes is the deployer's at once.
func (w *work) creator() string {
	if w.plan.ServerSide {
		return w.plan.Deployer
	}
	return w.plan.Manager
}

// appeared ends the repair of an object that was missing and is there. If the answer to its creation was lost, it may be ours.
func (w *work) createdMeanwhile(live map[string]any) report.FixOutcome {
	isOurs := func(raw map[string]any) bool { return raw["manager"] == w.creator() }
	if w.unanswered && slices.ContainsFunc(owners.RawEntries(live), isOurs) {
		return w.end(report.FixFixed, "")
	}
	return w.end(report.FixDeclined, "it is there again: it was made after the plan was")
}

// awaitsNamespace tells whether the object's namespace is one that the plan makes: in a dry run it is not there.
func (w *work) awaitsNamespace() bool {
	return slices.ContainsFunc(w.run.plan.Objects, func(o ObjectPlan) bool {
		return o.Create != nil && o.Ref.Group == "" && o.Ref.Kind == "Namespace" && o.Ref.Name == w.plan.Ref.Namespace
	})
}

func (w *work) jsonPatch(body []byte) threeway.Request {
	return threeway.Request{Ref: w.plan.Ref, Method: threeway.MethodPatch, PatchType: string(types.JSONPatchType), Body: body}
}

// write sends a request, and remembers where it got no answer.
func (w *work) write(ctx context.Context, request threeway.Request, manager string) (map[string]any, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	after, err := w.send(ctx, request, manager)
	w.unanswered = w.unanswered || err != nil && !w.DryRun && isUnanswered(err)
	return after, err
}

// judgePatch says what the failure of a JSON patch means.
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
	return w.unfinished("the API server says that the patch does not hold, and all that it tests does: " + err.Error()), nil
}

// judge says what a failure means: the end, or another step.
func (w *work) afterError(err error) (report.FixOutcome, error) {
	switch {
	case !isFinal(err) && !(w.plan.Create != nil && codeOf(err) == codeNotFound):
		return report.FixOutcome{}, err
	case w.restored:
		return w.unfinished(err.Error()), nil
	}
	return w.end(report.FixRefused, err.Error()), nil
}

func (w *work) end(status report.FixStatus, reason string) report.FixOutcome {
	return report.FixOutcome{Object: report.ObjectKey{Key: w.plan.Ref.Key}, Status: status, Reason: reason}
}

// unfinished is the end for a reason that lies not in the object, and says how far its repair had come.
func (w *work) unfinished(reason string) report.FixOutcome {
	switch {
	case w.restored:
		reason = "the values are back, but " + w.plan.Deployer + " does not own them yet: " + reason + "; helmdrift fix, run again, completes it"
	case w.unanswered:
		reason += "; it is not known whether the last write took place: run helmdrift fix again"
	}
	return w.end(report.FixFailed, reason)
}

// panicked is a fault of this program, in words. They may quote content, which those about a Secret must not.
func (w *work) panicked(value any) string {
	if w.plan.Ref.Group == "" && w.plan.Ref.Kind == "Secret" {
		return "internal error"
	}
	return fmt.Sprintf("internal error: %v", value)
}
