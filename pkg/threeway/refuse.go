package threeway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// refuse fails an object that the API server is predicted to reject as Helm sends it: a value of another type than the
// field's, a change of an immutable field, fields that contradict each other. An object that cannot be created ends the
// upgrade there; an object that cannot be patched does not (helm v3.22.0 pkg/kube/client.go update).
func (c *comparer) refuse(d *decision, p pair) {
	switch {
	case len(d.failures) > 0:
	case d.action == report.ActionCreate:
		text := c.helmText(p.desired.Content)
		stored := c.storedForm(p.desired.Ref, text, nil)
		if !c.in.ServerSide() {
			d.duplicates = apiserver.Duplicates(stored, c.writer.ShapeOf(p.desired.Ref))
		}
		creation := apiserver.Creation{Ref: p.desired.Ref, Definition: c.in.Schemas[p.desired.GroupKind()], Text: text, Stored: stored}
		reason := apiserver.Join(creation.Undecodable(), c.refusedToSync(text))
		refused := ""
		if c.in.ServerSide() && (d.waitsFor == "" || creation.Definition != nil) {
			refused, d.wantsSchema = c.writer.Creation(p.desired.Ref, text)
			metadata := apiserver.MetadataWrite{Ref: p.desired.Ref, Resource: resourceOf(p.desired.Ref), Result: text}
			refused = cmp.Or(refused, metadata.Refused())
		}
		if refused != "" {
			reason = apiserver.Join(refused, reason) // the server checks nothing after that
		} else {
			var taken string
			taken, d.exchanged = c.numbers(p, nil, stored)
			reason = apiserver.Join(reason, cmp.Or(taken, creation.Invalid())) // the server allocates before it validates
		}
		if reason != "" {
			d.Uncreatable = reason
			d.fail(scopeLater, reason)
		}
	case d.Live != nil && d.Result != nil:
		reason, immutable := d.invalid, []object.Path(nil)
		if d.Engine == report.EngineReplace {
			reason = apiserver.Join(c.writer.StrictReason(p.subject().Ref, d.desiredText), reason)
		}
		if d.Engine != "" && p.desired != nil && !object.Equal(d.Live, d.Result) {
			reason = apiserver.Join(reason, c.refusedToSync(d.desiredText))
		}
		if reason == "" && !object.Equal(d.Live, d.Result) && !(c.in.By.Syncs() && c.in.By.Sync.Recreates(d.desiredText, d.liveText)) {
			update := apiserver.Update{
				Ref: p.subject().Ref, Definition: c.in.Schemas[p.subject().GroupKind()], Text: d.liveText, Live: d.Live, Result: d.Result,
			}
			reason, immutable = update.Refused(d.Engine != report.EngineStrategic)
			var taken string
			taken, d.exchanged = c.numbers(p, d.Live, d.Result)
			reason = cmp.Or(reason, taken)
		}
		if reason = cmp.Or(reason, d.lostLabels); reason != "" {
			d.failures = append(d.failures, failure{scope: scopeDeletions, reason: reason, immutable: immutable})
		}
	}
}

// refusedToSync returns why the API server refuses an object as a program writes it that does not call Helm's library, or "".
func (c *comparer) refusedToSync(text map[string]any) string {
	if !c.in.By.Syncs() {
		return ""
	}
	return c.in.By.Sync.Refused(text)
}

// metadataReason returns the server's error about metadata that only the server sets. It is empty if the server accepts what Helm
// writes there.
func (c *comparer) metadataReason(ref object.Ref, live map[string]any, done engine.Written) string {
	return apiserver.MetadataWrite{
		Ref: ref, Resource: resourceOf(ref), Live: live, Result: done.Result, Replaces: done.Engine == report.EngineReplace,
		WantsVersion: kinds.Native().Shape(ref.GVK()) == nil || ref.Group == "apiregistration.k8s.io" || wantsResourceVersion(ref.Key),
	}.Refused()
}

// storedForm returns the normal form of a new object as the server would store it, in the spelling of live if that is not nil.
func (c *comparer) storedForm(ref object.Ref, text, live map[string]any) map[string]any {
	out, _ := kinds.PlainNulls(kinds.NewNormalizer(ref.Key, c.writer.ShapeOf(ref), live).Manifest(text).Object()).(map[string]any)
	return out
}

// noteControlCharacters adds a note with the places of control characters. A server-side apply fails on them.
func (c *comparer) noteControlCharacters(d *decision, p pair) {
	if !c.in.ServerSide() || p.desired == nil || len(d.failures) == 0 {
		return
	}
	if places := apiserver.Unreadable(p.desired.Content, nil); len(places) > 0 {
		d.notes.Add("control characters at " + apiserver.JoinPaths(places))
	}
}

// inOrder returns hooks in the order Helm runs the hooks of one event (helm v3.22.0 pkg/action/hooks.go hookByWeight).
func inOrder(hooks []Hook) []Hook {
	return order.Sorted(slices.Values(hooks), func(a, b Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	})
}

// hookOf returns the hook that an object of old becomes in the operation, and its position among the hooks that Helm runs, from 1. It
// returns nil if the object becomes none.
func (c *comparer) hookOf(o *object.Object) (h *Hook, position int) {
	byName := func(h Hook) bool { return h.Key == object.Key{} && h.Kind == o.Kind && h.Name == o.Name }
	i := slices.IndexFunc(c.in.Hooks, func(h Hook) bool { return h.Key == o.Key || byName(h) })
	if i < 0 {
		return nil, 0
	}
	return &c.in.Hooks[i], i + 1
}

// isDeletedByHook reports whether Helm deletes a live object because the object becomes a hook. Helm deletes it before it creates the hook
// or, if an apply writes the hook over the object, after the hook.
func (c *comparer) isDeletedByHook(h *Hook) bool {
	return h != nil && (h.DeletedBefore || h.DeletedAfter && c.in.ServerSide())
}

// failHook fails an object that exists when Helm creates it as a hook. A hook that runs last finds only an object that Helm keeps.
func (c *comparer) failHook(d *decision, o *object.Object, live map[string]any, h *Hook, position int) {
	if h == nil || h.DeletedBefore || !h.First && c.in.leaves(live) == "" {
		return
	}
	why := apierrors.NewAlreadyExists(resourceOf(o.Ref), o.Name).Error()
	if c.in.ServerSide() {
		why = c.refusedHook(o, live, h)
	}
	if why == "" {
		return
	}
	reason := fmt.Sprintf("warning: Hook %s %s failed: %s", h.Event, h.Path, why)
	if c.in.Operation != report.OperationRollback {
		reason = h.Event + " hooks failed: " + reason
	}
	scope := scopeNothing
	if h.First {
		scope, d.hook = scopeManifest, position
	}
	d.fail(scope, reason)
}

// refusedHook returns why the API server refuses a hook that Helm applies over a live object (helm v4.3.1 pkg/action/hooks.go
// execHookWithDelayedShutdown), or "" if it takes the hook. A hook of another version of the API is not predicted.
func (c *comparer) refusedHook(o *object.Object, live map[string]any, h *Hook) string {
	if h.Content["apiVersion"] != o.GVK().GroupVersion().String() {
		return ""
	}
	done, err := c.writer.ApplyNew(o.Ref, h.Content, live)
	switch {
	case err != nil:
		return err.Error()
	case done.Refusal != "":
		return conflictError(o.Ref, done.Refusal)
	case done.Invalid != "":
		return done.Invalid
	}
	was, is := storedForms(o.Key, kinds.NewNormalizer(o.Key, c.writer.ShapeOf(o.Ref), live), live, done.Result)
	reason, _ := apiserver.Update{Ref: o.Ref, Definition: c.in.Schemas[o.GroupKind()], Text: live, Live: was, Result: is}.Refused(true)
	return reason
}

// conflictError returns Helm's error for an apply with conflicts (helm v4.3.1 pkg/kube/client.go patchResourceServerSide).
func conflictError(ref object.Ref, conflicts string) string {
	return fmt.Sprintf("conflict occurred while applying object %s/%s %s: %s", ref.Namespace, ref.Name, ref.GVK(), conflicts)
}

// terminatingNote says that an object or its namespace is being deleted, and which finalizers delay that. It is empty if neither is.
func (c *comparer) terminatingNote(ref object.Ref, live map[string]any, d decision) string {
	switch {
	case live == nil:
		return ""
	case len(d.failures) == 0 && object.EndsDeletion(live, d.Result):
		return "it is being deleted, and this write takes its finalizers away, so it goes at once; only an upgrade after that creates it again"
	case object.Child(live, "metadata")["deletionTimestamp"] != nil:
		note := "it is being deleted"
		if held := apiserver.FinalizersOf(live); len(held) > 0 {
			note += " and goes when its finalizers are removed (" + strings.Join(held, ", ") + ")"
		}
		return note + "; Helm writes to it as long as it is there, and creates it again only in an upgrade after it has gone"
	case c.in.Terminating[ref.Namespace]:
		return fmt.Sprintf("its namespace %q is being deleted, and it goes with it", ref.Namespace)
	}
	return ""
}

// namespaceTerminating returns the API server's error for a creation in a namespace that is being deleted (apiserver v0.37
// pkg/admission/plugin/namespace/lifecycle/admission.go Admit).
func namespaceTerminating(resource schema.GroupResource, name, namespace string) string {
	return fmt.Sprintf("%v %q is forbidden: unable to create new content in namespace %s because it is being terminated",
		resource, name, namespace)
}

// resourceOf guesses the resource of a kind from its name. The guess is wrong for a few custom kinds.
func resourceOf(ref object.Ref) schema.GroupResource {
	resource, _ := meta.UnsafeGuessKindToResource(ref.GVK())
	return resource.GroupResource()
}

// recordError begins Helm's error if it cannot store the record of a first revision. Helm stores the record before it creates
// anything, so a namespace among the chart's own objects comes too late (helm v3.22.0 pkg/action/install.go RunWithContext).
const recordError = "create: failed to create: "
