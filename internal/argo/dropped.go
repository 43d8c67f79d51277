package argo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file finds the Applications of the cluster that Argo CD deletes because the tree makes them no longer: those that an ApplicationSet made,
// and those that another Application made and prunes. An Application that somebody has applied by hand stays.

// maker is an Application that may have made others. Makes are the objects of Argo CD that it makes of the tree, and nil if all that the tree
// makes count.
type maker struct {
	*api.Application
	makes map[object.Key]bool
}

// dropped returns the Applications that Argo CD deletes because of the tree. An error says what is not known.
func (t *Tree) dropped(ctx context.Context, from drift.Connection, q Question) (out []*api.Application, err error) {
	var live []map[string]any
	for _, namespace := range t.namespaces() {
		items, err := from.Cluster.List(ctx, api.Kind(), namespace)
		if err != nil {
			return nil, fmt.Errorf("which Applications of namespace %s the tree drops is not known: %w", namespace, err)
		}
		live = append(live, items...)
	}
	slices.SortFunc(live, func(a, b map[string]any) int { return object.RefOf(a).Compare(object.RefOf(b).Key) })
	isGone := map[name]bool{}
	for makers := t.makers(ctx, from, q, live); len(makers) > 0; {
		var gone []maker
		for _, item := range live {
			key := object.RefOf(item).Key
			at := name{key.Namespace, key.Name}
			if t.made[at] != nil || isGone[at] {
				continue
			}
			why, err := t.deletes(ctx, from.Cluster, item, makers)
			if err != nil {
				return nil, err
			}
			if why != "" {
				isGone[at] = true
				a := api.Decoded(item)
				a.Dropped = "the tree drops the Application, and " + why
				out, gone = append(out, a), append(gone, maker{Application: a})
			}
		}
		makers = gone
	}
	return out, nil
}

// makers returns the Applications that may have made others and prune them: those of the tree, and those of the cluster that the tree does not
// make, whose sources are in it, such as the one that somebody has applied by hand to begin with.
func (t *Tree) makers(ctx context.Context, from drift.Connection, q Question, live []map[string]any) (out []maker) {
	for _, m := range t.made {
		if m.isWhole {
			out = append(out, maker{Application: m.app})
		}
	}
	q.Tree = t
	e := &expansion{Tree: t, from: from, q: q}
	for _, item := range live {
		key := object.RefOf(item).Key
		m := &madeApp{content: item, app: api.Decoded(item)}
		isInTree := t.made[name{key.Namespace, key.Name}] != nil
		if isInTree || !optionsOf(m.app).Prune || !m.app.HasGroup(api.Group) || len(t.foldersOf(m.app)) != len(m.app.Sources()) {
			continue
		}
		makes := map[object.Key]bool{}
		for _, document := range e.documentsOf(ctx, m) {
			var content map[string]any
			if json.Unmarshal(document.JSON, &content) == nil {
				makes[object.RefOf(content).Key] = true
			}
		}
		if m.isWhole {
			out = append(out, maker{m.app, makes})
		}
	}
	slices.SortFunc(out, func(a, b maker) int { return strings.Compare(a.Title(), b.Title()) })
	return out
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
func (t *Tree) deletes(ctx context.Context, from drift.Cluster, item map[string]any, makers []maker) (string, error) {
	key := object.RefOf(item).Key
	set := setOf(item)
	if set == "" {
		return prunes(item, makers), nil
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
	if why := prunes(live.Object, makers); why != "" {
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

// prunes says which Application deletes an object of Argo CD that it made, or returns "".
func prunes(item map[string]any, makers []maker) string {
	key := object.RefOf(item).Key
	for _, m := range makers {
		switch {
		case !m.Has(key), m.makes[key], optionsOf(m.Application).Leaves(item) != "":
		case m.Dropped != "":
			return m.Title() + ", which made it, goes"
		default:
			return m.Title() + " prunes it"
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
