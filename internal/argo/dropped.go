package argo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file finds the Applications of the cluster that Argo CD deletes because the tree makes them no longer: those that an ApplicationSet made,
// and those that another Application made and prunes. An Application that somebody has applied by hand stays.

// reading is what dropping needs of a cluster.
type reading interface {
	Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error)
}

var _ reading = drift.Cluster(nil)

// dropped returns the Applications that Argo CD deletes because of the tree. An error says what is not known.
func (t *Tree) dropped(ctx context.Context, from reading) (out []*api.Application, err error) {
	var live []map[string]any
	for _, namespace := range t.namespaces() {
		items, err := from.List(ctx, api.Kind(), namespace)
		if err != nil {
			return nil, fmt.Errorf("which Applications of namespace %s the tree drops is not known: %w", namespace, err)
		}
		live = append(live, items...)
	}
	slices.SortFunc(live, func(a, b map[string]any) int { return object.RefOf(a).Compare(object.RefOf(b).Key) })
	isGone := map[name]bool{}
	for makers := t.all(); len(makers) > 0; {
		var gone []*api.Application
		for _, item := range live {
			key := object.RefOf(item).Key
			at := name{key.Namespace, key.Name}
			if t.made[at] != nil || isGone[at] {
				continue
			}
			why, err := t.deletes(ctx, from, item, makers)
			if err != nil {
				return nil, err
			}
			if why != "" {
				isGone[at] = true
				a := api.Decoded(item)
				a.Dropped = "the tree drops the Application, and " + why
				gone = append(gone, a)
			}
		}
		out, makers = append(out, gone...), gone
	}
	return out, nil
}

// namespaces returns those where the Applications are that the tree may drop.
func (t *Tree) namespaces() []string {
	out := map[string]bool{}
	for at, m := range t.made {
		out[at.namespace] = true
		for _, r := range m.app.Status.Resources {
			if r.Group == api.Group {
				out[r.Namespace] = true
			}
		}
	}
	for _, s := range t.sets {
		if s.Namespace != "" {
			out[s.Namespace] = true
		} else {
			out[defaultNamespace], out[t.namespace] = true, true
		}
	}
	delete(out, "")
	return slices.Sorted(maps.Keys(out))
}

// deletes says why Argo CD deletes an Application of the cluster that the tree does not make, or returns "". Makers are Applications of the tree,
// or others that go.
func (t *Tree) deletes(ctx context.Context, from reading, item map[string]any, makers []*api.Application) (string, error) {
	key := object.RefOf(item).Key
	set := setOf(item)
	if set == "" {
		return t.prunes(item, makers), nil
	}
	isSet := func(s appset.Set) bool { return s.Name == set && (s.Namespace == "" || s.Namespace == key.Namespace) }
	if slices.ContainsFunc(t.sets, isSet) {
		makes := func(s appset.Set) bool { return isSet(s) && (s.Keeps || slices.Contains(s.Makes, key.Name)) }
		if slices.ContainsFunc(t.sets, makes) {
			return "", nil
		}
		return "ApplicationSet " + key.Namespace + "/" + set + " deletes it", nil
	}
	ref := api.RefTo("ApplicationSet", key.Namespace, set)
	live := from.Read(ctx, []object.Ref{ref})[ref]
	if live.Err != nil {
		return "", fmt.Errorf("reading ApplicationSet %s/%s, which made Application %s: %s", key.Namespace, set, key.Name, live.Err.Message)
	}
	policy, _, _ := unstructured.NestedString(live.Object, "spec", "syncPolicy", "applicationsSync")
	if live.Object == nil || policy == "create-only" || policy == "create-update" {
		return "", nil // such a set lets go of its Applications
	}
	if why := t.prunes(live.Object, makers); why != "" {
		return "so does it drop ApplicationSet " + key.Namespace + "/" + set + ", which made it: " + why, nil
	}
	return "", nil
}

// setOf returns the name of the ApplicationSet that made an Application, or "".
func setOf(item map[string]any) string {
	for _, owner := range (&unstructured.Unstructured{Object: item}).GetOwnerReferences() {
		if owner.Kind == "ApplicationSet" && owner.Controller != nil && *owner.Controller && strings.HasPrefix(owner.APIVersion, api.Group+"/") {
			return owner.Name
		}
	}
	return ""
}

// prunes says which Application prunes an object of Argo CD that it made, or returns "".
func (t *Tree) prunes(item map[string]any, makers []*api.Application) string {
	key := object.RefOf(item).Key
	for _, maker := range makers {
		if !maker.Has(key) {
			continue
		}
		made := t.made[name{maker.Metadata.Namespace, maker.Metadata.Name}]
		switch {
		case maker.Dropped != "" && optionsOf(maker).Leaves(item) == "":
			return maker.Title() + ", which made it, goes"
		case maker.Dropped == "" && made != nil && made.isWhole && optionsOf(maker).Leaves(item) == "":
			return maker.Title() + " prunes it"
		}
	}
	return ""
}

// optionsOf returns how Argo CD deletes what an Application made: with the Application itself, or because its sources make it no longer.
func optionsOf(a *api.Application) argocd.Options {
	out := argocd.Options{List: a.Spec.SyncPolicy.SyncOptions}
	if out.Removes = a.Goes() != ""; out.Removes {
		out.Prune = a.Cascades()
	} else if a.IsAutomated() {
		out.Prune = a.Spec.SyncPolicy.Automated.Prune
	}
	return out
}
