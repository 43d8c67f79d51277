package threeway

import (
	"cmp"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// inOrder returns hooks in the order in which Helm runs those of one event (helm v3.22.0 pkg/action/hooks.go hookByWeight).
func inOrder(hooks []Hook) []Hook {
	out := slices.Clone(hooks)
	slices.SortStableFunc(out, func(a, b Hook) int { return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name)) })
	return out
}

// hookOf returns the hook that an object of old becomes in the operation; nil if it becomes none.
func (c *comparer) hookOf(o *object.Object) *Hook {
	i := slices.IndexFunc(c.hooks, func(h Hook) bool { return h.Kind == o.Kind && h.Name == o.Name })
	if i < 0 {
		return nil
	}
	return &c.hooks[i]
}

// position returns the position of a hook among those that Helm runs, from 1.
func (c *comparer) position(h *Hook) int { return slices.Index(c.hooks, *h) + 1 }

// isDeletedByHook reports whether Helm deletes a live object because it becomes a hook: before it creates the hook, or, if an apply writes
// the hook over the object, after the hook.
func (c *comparer) isDeletedByHook(h *Hook) bool {
	return h != nil && (h.DeletedBefore || h.DeletedAfter && c.in.ServerSide())
}

// failHook fails an object that exists when Helm creates it as a hook. Server-side, the creation is an apply, which writes over it (helm
// v4.3.1 pkg/action/hooks.go execHookWithDelayedShutdown). A hook that runs last finds only an object that Helm keeps.
func (c *comparer) failHook(d *decision, o *object.Object, h *Hook) {
	if h == nil || h.DeletedBefore || c.in.ServerSide() || !h.First && d.action != report.ActionKeep {
		return
	}
	reason := fmt.Sprintf("%s hooks failed: warning: Hook %[1]s %s failed: %s", h.Event, h.Path, apierrors.NewAlreadyExists(resourceOf(o.Ref), o.Name))
	scope := scopeNothing
	if h.First {
		scope, d.hook = scopeManifest, c.position(h)
	}
	d.fail(scope, reason)
}
