package applied

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file finds the Kustomizations of the cluster that may build a folder, for a folder that does not have its own.

// makers returns the Kustomizations that the labels of some objects name, those of the HelmReleases in question, and those of such
// Kustomizations (fluxcd/pkg/ssa v0.76.1 manager.go SetOwnerLabels). One that is not there builds nothing.
func (t *Tree) makers(ctx context.Context, made []tree.Asked) (out []tree.Candidate, err error) {
	var wanted []object.Ref
	for _, o := range made {
		wanted = append(wanted, LookupOrder{o.Kind, o.Namespace, o.Name}.ref())
	}
	named := map[tree.Maker]bool{}
	var next []tree.Candidate
	add := func(item map[string]any, title string) {
		if m := tree.MakerOf(item); m.Namespace != "" && m.Name != "" && !named[m] {
			named[m], next = true, append(next, tree.Candidate{Maker: m, Made: title})
		}
	}
	t.see(ctx, append(wanted, t.about...))
	for _, ref := range wanted {
		add(t.live[ref].Object, deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name))
	}
	for _, ref := range t.about {
		add(t.live[ref].Object, "")
	}
	for len(next) > 0 {
		found := next
		next, wanted = nil, nil
		for _, c := range found {
			wanted = append(wanted, kustomizationRef(c.Maker))
		}
		t.see(ctx, wanted)
		for i, c := range found {
			now := t.live[wanted[i]]
			if now.Err != nil {
				c.Unread = now.Err.Message
			} else if now.Object == nil {
				continue
			} else if c.JSON, err = json.Marshal(now.Object); err != nil {
				return nil, err
			}
			out = append(out, c)
			add(now.Object, "")
		}
	}
	return out, ctx.Err()
}

// see reads what the cluster has of some objects. It asks for each of them once.
func (t *Tree) see(ctx context.Context, refs []object.Ref) {
	unseen := slices.DeleteFunc(slices.Clone(refs), func(ref object.Ref) bool {
		_, isSeen := t.live[ref]
		return isSeen
	})
	if len(unseen) > 0 {
		maps.Copy(t.live, t.Over.Cluster.Read(ctx, unseen))
	}
}
