package argo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file finds the Applications of the cluster that Argo CD deletes because the tree makes them no longer: those that an ApplicationSet
// made, and those that another Application made and prunes. An Application that somebody has applied by hand stays.

// maker is an Application that may have made others. Makes are the objects of Argo CD that it makes of the tree, and nil if all that the
// tree makes count.
type maker struct {
	*api.Application
	makes map[object.Key]bool
}

// dropped returns the Applications that Argo CD deletes because of the tree. An error says what is not known.
func (t *Tree) dropped(ctx context.Context, from drift.Connection, q Question) (out []*api.Application, err error) {
	var all candidates
	if err := all.list(ctx, from, t.namespaces()); err != nil {
		return nil, err
	}
	isGone := map[object.Key]bool{}
	for makers := t.makers(ctx, from, q, all.live); len(makers) > 0; {
		made := map[string]bool{}
		for _, m := range makers {
			addNamespaces(made, m.Application)
		}
		if err := all.list(ctx, from, slices.Sorted(maps.Keys(made))); err != nil {
			return out, err
		}
		var gone []maker
		for _, item := range all.live {
			at := object.RefOf(item).Key
			if t.made[at] != nil || isGone[at] {
				continue
			}
			fate, err := t.fateOf(ctx, from, item, makers)
			if err != nil {
				return nil, err
			}
			if fate == (fates{}) {
				continue
			}
			isGone[at] = true
			a := api.Decoded(item)
			if out = append(out, a); fate.goes != "" {
				a.Dropped = "the tree drops the Application, and " + fate.goes
				gone = append(gone, maker{Application: a})
			} else {
				a.Kept = "the tree drops the Application, but it stays: " + fate.stays
			}
		}
		makers = gone
	}
	return out, nil
}

// candidates are the Applications of some namespaces, in the order of their names.
type candidates struct {
	namespaces []string
	live       []map[string]any
}

// list adds the Applications of namespaces.
func (c *candidates) list(ctx context.Context, from drift.Connection, namespaces []string) error {
	for _, namespace := range namespaces {
		if slices.Contains(c.namespaces, namespace) {
			continue
		}
		c.namespaces = append(c.namespaces, namespace)
		items, err := from.Cluster.List(ctx, api.Kind(), namespace)
		if err != nil {
			return fmt.Errorf("which Applications of namespace %s the tree drops is not known: %w", namespace, err)
		}
		c.live = append(c.live, items...)
	}
	order.Sort(c.live, func(a, b map[string]any) int { return object.RefOf(a).Key.Compare(object.RefOf(b).Key) })
	return nil
}

// addNamespaces adds the namespaces of the objects of Argo CD that an Application has made.
func addNamespaces(to map[string]bool, a *api.Application) {
	for _, r := range a.Status.Resources {
		if r.Group == api.Group && r.Namespace != "" {
			to[r.Namespace] = true
		}
	}
}

// makers returns the Applications that may have made others and prune them. They are those of the tree, and those of the cluster that the
// tree does not make although their sources are in it. Somebody applied those by hand.
func (t *Tree) makers(ctx context.Context, from drift.Connection, q Question, live []map[string]any) (out []maker) {
	for _, at := range t.names() {
		if m := t.made[at]; m.isWhole {
			out = append(out, maker{Application: m.app})
		}
	}
	q.Tree = t
	e := &expansion{Tree: t, from: from, q: q, built: map[string]bool{}}
	for _, item := range live {
		m := &madeApp{content: item, app: api.Decoded(item)}
		isInTree := t.made[object.RefOf(item).Key] != nil
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
	return out
}

// namespaces returns the namespaces of the Applications that the tree may drop.
func (t *Tree) namespaces() []string {
	out := map[string]bool{}
	for at, m := range t.made {
		out[at.Namespace] = true
		addNamespaces(out, m.app)
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

// fates says what becomes of an Application that the tree drops: why it goes, or why it stays although what made it goes or drops it. Both
// are empty if nothing has made it that the tree is about.
type fates struct{ goes, stays string }

// fateOf says what Argo CD does with an Application of the cluster that the tree does not make. Makers are Applications of the tree, or
// others that go.
func (t *Tree) fateOf(ctx context.Context, from drift.Connection, item map[string]any, makers []maker) (fates, error) {
	key := object.RefOf(item).Key
	owner, kind := ownerOf(item)
	if kind != "ApplicationSet" {
		why, _ := prunes(item, makers)
		return fates{goes: why}, nil
	}
	title := "ApplicationSet " + key.Namespace + "/" + owner
	isSet := func(s appset.Set) bool { return s.Name == owner && (s.Namespace == "" || s.Namespace == key.Namespace) }
	if at := slices.IndexFunc(t.sets, isSet); at >= 0 {
		makes := func(s appset.Set) bool { return isSet(s) && (s.IsPartial || slices.Contains(s.Makes, key.Name)) }
		if slices.ContainsFunc(t.sets, makes) {
			return fates{}, nil
		}
		controller, err := t.controllerOf(ctx, from, key.Namespace)
		switch policy := t.sets[at].Policy; {
		case err != nil:
			return fates{}, fmt.Errorf("whether %s deletes Application %s is not known: %w", title, key.Name, err)
		case !controller.Deletes(policy):
			return fates{stays: title + " deletes none (" + controller.Says(policy) + ")"}, nil
		}
		return fates{goes: title + " deletes it"}, nil
	}
	ref := api.RefTo("ApplicationSet", key.Namespace, owner)
	live := from.Cluster.Read(ctx, []object.Ref{ref})[ref]
	if live.Err != nil {
		return fates{}, fmt.Errorf("reading %s, which made Application %s: %s", title, key.Name, live.Err.Message)
	}
	if live.Object == nil {
		return fates{}, nil
	}
	why, propagation := prunes(live.Object, makers)
	if why == "" {
		return fates{}, nil
	}
	controller, err := t.controllerOf(ctx, from, key.Namespace)
	if err != nil {
		return fates{}, fmt.Errorf("whether Application %s goes with %s is not known: %w", key.Name, title, err)
	}
	return goesWith(live.Object, title, why, propagation, controller), nil
}

// goesWith says what becomes of an Application whose ApplicationSet is deleted. Kubernetes deletes it with its owner, unless the controller
// has let go of it before: it does so if it may not delete Applications, but it comes in time for certain only if a finalizer holds the set
// and the deletion is not one in the foreground (argo-cd v3.6.1, its page "Controlling-Resource-Modification").
func goesWith(set map[string]any, title, why, propagation string, controller api.SetController) fates {
	own, _, _ := unstructured.NestedString(set, "spec", "syncPolicy", "applicationsSync")
	isHeld := slices.Contains((&unstructured.Unstructured{Object: set}).GetFinalizers(), api.Finalizer)
	goes := "so does it drop " + title + ", which made it: " + why
	switch policy := controller.Says(own); {
	case propagation == "orphan":
		return fates{stays: title + " is deleted with PrunePropagationPolicy=orphan"}
	case controller.Deletes(own):
	case propagation == "background" && isHeld:
		return fates{stays: title + ", which goes, lets go of it (" + policy + ")"}
	case propagation == "background":
		goes += "; " + policy + " does not keep it, since the ApplicationSet lacks the finalizer " + api.Finalizer
	default:
		goes += "; " + policy + " does not keep it for certain, since the ApplicationSet is deleted in the foreground"
	}
	return fates{goes: goes}
}

// ownerOf returns the name and the kind of the object of Argo CD that controls an Application, or of another controller, or "".
func ownerOf(item map[string]any) (name, kind string) {
	for _, owner := range (&unstructured.Unstructured{Object: item}).GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			return owner.Name, owner.Kind
		}
	}
	return "", ""
}

// prunes says which Application deletes an object of Argo CD that it made, or returns "", and how: in the foreground, in the background, or
// so that what the object owns stays.
func prunes(item map[string]any, makers []maker) (why, propagation string) {
	key := object.RefOf(item).Key
	for _, m := range makers {
		switch {
		case !m.Has(key), m.makes[key], optionsOf(m.Application).Leaves(item) != "":
		case m.Dropped != "":
			return m.Title() + ", which made it, goes", m.Propagation()
		default:
			return m.Title() + " prunes it", m.Propagation()
		}
	}
	return "", ""
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
