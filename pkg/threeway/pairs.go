package threeway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/releaseutil"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// pair is one object as the manifests of old, desired and the last revision have it.
type pair struct {
	// key identifies the object, even if it has no name.
	key                object.Key
	old, desired, last *object.Object
	// index is the object's position in desired's manifest, whose order Helm follows. Objects of old that desired lacks come last,
	// since Helm deletes last. Objects of the crds folder come first, and have a negative index.
	index int
}

// isDefinition reports whether the object is of the crds folder.
func (p pair) isDefinition() bool { return p.index < 0 }

// subject is the object that the report names: desired's, or old's if desired has none.
func (p pair) subject() *object.Object {
	if p.desired != nil {
		return p.desired
	}
	return p.old
}

// withoutChange returns the pair with old as desired: all its findings are drift.
func (p pair) withoutChange() pair {
	p.desired = p.old
	return p
}

// pairs matches old, desired and last by key, in Helm's install order.
func pairs(in Input) []pair {
	byKey := map[object.Key]*pair{}
	at := func(key object.Key, place int) *pair {
		if byKey[key] == nil {
			byKey[key] = &pair{key: key, index: place}
		}
		return byKey[key]
	}
	eachObject(in.DesiredObjects, func(i int, key object.Key, o *object.Object) { at(key, i).desired = o })
	eachObject(in.OldObjects, func(i int, key object.Key, o *object.Object) { at(key, len(in.DesiredObjects)+i).old = o })
	eachObject(in.LastObjects, func(_ int, key object.Key, o *object.Object) {
		if p := byKey[key]; p != nil {
			p.last = o
		}
	})
	eachObject(in.Definitions, func(i int, key object.Key, o *object.Object) {
		if byKey[key] == nil {
			at(key, i-len(in.Definitions)).desired = o
		}
	})
	out := make([]pair, 0, len(byKey))
	for _, p := range byKey {
		out = append(out, *p)
	}
	order.Sort(out, func(a, b pair) int {
		return cmp.Or(cmp.Compare(installRank(a.key.Kind), installRank(b.key.Kind)), cmp.Compare(a.key.Kind, b.key.Kind), a.key.Compare(b.key))
	})
	return out
}

// eachObject calls f for every object with its index and its key. Objects with generateName are numbered in the order of the manifest.
func eachObject(objects []object.Object, f func(int, object.Key, *object.Object)) {
	nth := map[object.Key]int{}
	for i := range objects {
		key := objects[i].Key
		if key.Name == "" {
			key.Name = objects[i].GenerateName + "*"
			nth[key]++
			key.Name = fmt.Sprintf("%s%d", key.Name, nth[key])
		}
		f(i, key, &objects[i])
	}
}

// installRank orders kinds as helm v3.22.0 pkg/releaseutil InstallOrder does, unknown ones last.
func installRank(kind string) int {
	if rank := slices.Index(releaseutil.InstallOrder, kind); rank >= 0 {
		return rank
	}
	return len(releaseutil.InstallOrder)
}

// markLeaving returns the autoscalers of the objects of a release. It marks those that the operation deletes, lets scale another object, or
// leaves paused. Replicas that they set are not drift, but nothing sets them after the operation.
func (c *comparer) markLeaving() map[object.Key]object.Autoscaler {
	in := c.in
	if in.Operation == report.OperationDrift || len(in.Autoscaled) == 0 {
		return in.Autoscaled
	}
	out := maps.Clone(in.Autoscaled)
	for target, scaler := range out {
		old, desired := scalerIn(in.OldObjects, scaler, target), scalerIn(in.DesiredObjects, scaler, target)
		switch {
		case old == nil: // belongs to somebody else
		case desired == nil:
			scaler.Leaves = in.leaves(in.Live[old.Ref].Object) == ""
		default:
			scaler.Leaves = !scales(desired.Content, target)
			if live := in.Live[desired.Ref].Object; live != nil {
				done, err := c.writer.Write(desired.Ref, old.Content, desired.Content, live)
				scaler.Paused = scaler.Paused && err != nil || object.PausesScaling(done.Result)
			}
		}
		scaler.Leaves = scaler.Leaves || scaler.Paused
		out[target] = scaler
	}
	return out
}

// scalerIn returns the autoscaler of a manifest, or nil if the manifest lacks it.
func scalerIn(objects []object.Object, scaler object.Autoscaler, target object.Key) *object.Object {
	for i := range objects {
		if o := &objects[i]; o.Kind+" "+o.Name == scaler.Name && o.Namespace == target.Namespace {
			return o
		}
	}
	return nil
}

// scales reports whether an autoscaler names a target. Without a kind it scales a Deployment.
func scales(scaler map[string]any, target object.Key) bool {
	ref := object.Child(object.Child(scaler, "spec"), "scaleTargetRef")
	kind, _ := ref["kind"].(string)
	return ref["name"] == target.Name && (kind == "" || strings.EqualFold(kind, target.Kind))
}

// leaves returns why the operation leaves a live object that the manifest no longer has, or "" if it deletes the object.
func (in Input) leaves(live map[string]any) string {
	switch {
	case in.By.Syncs():
		return in.By.Sync.Leaves(live)
	case object.Child(object.Child(live, "metadata"), "annotations")["helm.sh/resource-policy"] == "keep":
		return "helm.sh/resource-policy: keep"
	}
	return ""
}

// deployerOf finds the field manager that Helm writes the release as.
func deployerOf(in Input) owners.Deployer {
	if in.By != nil {
		return owners.Deployer{Manager: in.By.Manager, Known: true}
	}
	live := map[object.Ref]map[string]any{}
	for _, o := range slices.Concat(in.OldObjects, in.DesiredObjects) {
		live[o.Ref] = in.Live[o.Ref].Object
	}
	return owners.FindDeployer(slices.Collect(maps.Values(live)), in.Managers, in.Name, in.Operation == report.OperationInstall)
}

// textsOf returns old's, desired's and live's text of an object. An absent text is nil.
func textsOf(p pair, live map[string]any) []map[string]any {
	out := []map[string]any{nil, nil, live}
	if p.old != nil {
		out[0] = p.old.Content
	}
	if p.desired != nil {
		out[1] = p.desired.Content
	}
	return out
}
