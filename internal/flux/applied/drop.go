package applied

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file finds what kustomize-controller deletes: objects that a Kustomization of the tree made and makes no longer.

// Dropped returns those of the HelmReleases of the cluster that Flux deletes because of the tree.
func (t *Tree) Dropped(ctx context.Context, items []map[string]any) (out []*api.HelmRelease) {
	for _, item := range items {
		if why := t.Deletes(ctx, api.RefOf(api.Kind(), item), item); why != "" {
			h := api.HelmReleaseOf(item)
			h.Dropped = "the tree drops the HelmRelease, and " + why
			out = append(out, h)
		}
	}
	return out
}

// Deletes says why Flux deletes an object of the cluster, or returns "" (fluxcd/kustomize-controller v1.9.4
// internal/controller/kustomization_controller.go prune, deleteObjects).
func (t *Tree) Deletes(ctx context.Context, ref object.Ref, item map[string]any) string {
	maker := tree.MakerOf(item)
	switch {
	case maker == (tree.Maker{}) || t.Over.tree[ref] || isKept(item):
		return ""
	case t.prunes(maker, ref):
		return maker.String() + " prunes it"
	case !t.built[maker] && lists(t.last(ctx, maker), ref):
		return maker.String() + ", which made it, goes"
	}
	return ""
}

// last returns a Kustomization of the cluster that the tree drops and that then deletes what it made, or nil. It asks the cluster once for
// each Kustomization, and several goroutines may call it.
func (t *Tree) last(ctx context.Context, m tree.Maker) map[string]any {
	t.deleted.Lock()
	defer t.deleted.Unlock()
	out, known := t.deleted.makers[m]
	if !known {
		found, isSeen := t.live[kustomizationRef(m)]
		if !isSeen {
			found = t.Over.Cluster.Read(ctx, []object.Ref{kustomizationRef(m)})[kustomizationRef(m)]
		}
		if found.Err != nil {
			t.Note(tree.Failed, m.String(), "whether the tree drops it is not known: "+found.Err.Message)
		}
		if t.deleted.makers == nil {
			t.deleted.makers = map[tree.Maker]map[string]any{}
		}
		if t.takesAll(m, found.Object) {
			out = found.Object
		}
		t.deleted.makers[m] = out
	}
	return out
}

// takesAll reports whether a Kustomization of the cluster goes and deletes what it made (fluxcd/kustomize-controller v1.9.4
// internal/controller/kustomization_controller.go finalizerShouldDeleteResources). It also goes with its maker, which goneSets has found
// before.
func (t *Tree) takesAll(m tree.Maker, now map[string]any) bool {
	ref, by := kustomizationRef(m), tree.MakerOf(now)
	goes := t.prunes(by, ref) || !t.built[by] && lists(t.deleted.makers[by], ref)
	if now == nil || t.Over.tree[ref] || !goes || isKept(now) || isSuspended(now) {
		return false
	}
	prunes, _, _ := unstructured.NestedBool(now, "spec", "prune")
	policy, _, _ := unstructured.NestedString(now, "spec", "deletionPolicy")
	if policy == "" || policy == "MirrorPrune" {
		return prunes
	}
	return policy == "Delete" || policy == "WaitForTermination"
}

// prunes reports whether a Kustomization of the tree deletes an object that it made and makes no longer.
func (t *Tree) prunes(m tree.Maker, ref object.Ref) bool {
	after := t.Over.objects[kustomizationRef(m)].Object
	prunes, _, _ := unstructured.NestedBool(after, "spec", "prune")
	return prunes && t.built[m] && lists(after, ref)
}

// lists reports whether an object is in the inventory of a Kustomization. The labels of an object do not show that: they stay when a
// Kustomization leaves it (fluxcd/kustomize-controller v1.9.4 internal/inventory/inventory.go Diff, fluxcd/cli-utils v1.2.2
// pkg/object/objmetadata.go String).
func lists(kustomization map[string]any, ref object.Ref) bool {
	return slices.Contains(inventory(kustomization), ref.Namespace+"_"+ref.Name+"_"+ref.Group+"_"+ref.Kind)
}

// inventory returns the entries of the inventory of a Kustomization.
func inventory(kustomization map[string]any) (out []string) {
	entries, _, _ := unstructured.NestedSlice(kustomization, "status", "inventory", "entries")
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		id, _ := e["id"].(string)
		out = append(out, id)
	}
	return out
}

// noteSets notes the ResourceSets that the tree drops and that Flux deletes: Flux Operator then deletes what it made of them.
func (t *Tree) noteSets(ctx context.Context) {
	gone := t.goneSets(ctx)
	t.see(ctx, gone)
	for _, ref := range gone {
		now, title := t.live[ref], deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name)
		if now.Err != nil {
			t.Note(tree.Unbuilt, title, "the tree drops it, and what Flux Operator made of it is not known: "+now.Err.Message)
		} else if why := t.Deletes(ctx, ref, now.Object); why != "" && tree.ConcernsReleases(now.Object) {
			t.Note(tree.Unbuilt, title, "the tree drops it, and "+why+": Flux Operator deletes what it made of it, maybe HelmReleases or what "+
				"they use")
		}
	}
}

// goneSets returns the ResourceSets that nothing in the tree makes any more. Kustomizations of the tree have made them, or others that go
// because the tree drops them.
func (t *Tree) goneSets(ctx context.Context) []object.Ref {
	made, gone := map[string]bool{}, map[object.Ref]bool{}
	for _, o := range t.answer.Objects {
		if bytes.Contains(o.JSON, []byte(tree.OperatorGroup)) {
			made[o.Title()] = true
		}
	}
	var ids []string
	for m := range t.built {
		ids = append(ids, inventory(t.Over.objects[kustomizationRef(m)].Object)...)
	}
	slices.Sort(ids)
	dropped := map[object.Ref]bool{} // two may have made each other
	for ; len(ids) > 0; ids = ids[1:] {
		parts := strings.Split(ids[0], "_")
		if len(parts) != 4 {
			continue
		}
		ref := object.Ref{Key: object.Key{Namespace: parts[0], Name: parts[1], Group: parts[2], Kind: parts[3]}, Version: "v1"}
		switch m := madeKustomization(ref); {
		case ref.Group == tree.OperatorGroup && ref.Kind == "ResourceSet":
			gone[ref] = !made[deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name)]
		case m != (tree.Maker{}) && !t.Over.tree[ref] && !dropped[ref]:
			dropped[ref] = true
			ids = append(ids, inventory(t.last(ctx, m))...)
		}
	}
	maps.DeleteFunc(gone, func(_ object.Ref, isGone bool) bool { return !isGone })
	return order.Sorted(maps.Keys(gone), func(a, b object.Ref) int { return a.Compare(b.Key) })
}

// findBuilt finds the Kustomizations whose objects the tree has. What cannot be built or was not looked at deletes nothing.
func (t *Tree) findBuilt() {
	t.built = map[tree.Maker]bool{}
	for ref := range t.Over.tree {
		t.built[madeKustomization(ref)] = true
	}
	for _, o := range t.answer.Objects {
		t.built[o.Maker] = true
	}
	for _, m := range t.answer.Roots {
		t.built[m] = true // also if it makes nothing any more
	}
	for _, m := range t.answer.Left {
		delete(t.built, m)
	}
	for _, p := range t.Problems() {
		if p.Severity == tree.Failed || p.Severity == tree.Skipped {
			maps.DeleteFunc(t.built, func(m tree.Maker, _ bool) bool { return p.Where == m.String() })
		}
	}
}

// kustomizationRef names a Kustomization.
func kustomizationRef(m tree.Maker) object.Ref {
	return object.Ref{Key: object.Key{Group: kustomizeGroup, Kind: "Kustomization", Namespace: m.Namespace, Name: m.Name}, Version: "v1"}
}

// madeKustomization returns the Kustomization that an object is, or the zero value.
func madeKustomization(ref object.Ref) tree.Maker {
	if ref.Group != kustomizeGroup {
		return tree.Maker{}
	}
	return tree.Maker{Namespace: ref.Namespace, Name: ref.Name}
}

// isKept reports whether a label or an annotation keeps kustomize-controller from deleting an object.
func isKept(item map[string]any) bool { return isMarked(item, "prune", "disabled") || isExcluded(item) }

// isSuspended reports whether an object of Flux is suspended.
func isSuspended(item map[string]any) bool {
	out, _, _ := unstructured.NestedBool(item, "spec", "suspend")
	return out
}
