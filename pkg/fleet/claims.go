package fleet

import (
	"slices"
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// claims collects who claims the objects of a cluster: what the manifests of the compared releases have, and what the listed objects say of
// themselves. It keeps the listed objects only as long as no manifest has them, so it grows with the manifests alone.
type claims struct {
	mu sync.Mutex
	// releases are those that were compared, and places are where their records are.
	releases map[object.ReleaseName]*compared
	places   []place
	// claimed has every object of the manifests that the comparisons used, with the first release that has it in its deployed manifest; nil
	// if that is in none. groups are the groups of each kind in it.
	claimed map[object.Key]*compared
	groups  map[string][]string
	// shared are the objects that have several claims.
	shared map[object.Key]*report.Overlap
	// unclaimed are listed objects that carry the annotations of a release.
	unclaimed map[object.Key]candidate
}

// compared is a release that was compared.
type compared struct {
	object.ReleaseName
	// storage is the namespace of its records, and old and last are the revisions whose manifests are claims.
	storage   string
	old, last int
	// status is that of the last revision.
	status string
	// isIncomplete is set if a part of a manifest could not be read.
	isIncomplete bool
	// uncompared are its hooks, and the objects whose names the API server generates.
	uncompared []report.NotCompared
}

// candidate is a listed object that is an orphan if no manifest has it.
type candidate struct {
	object.Ref
	named        object.ReleaseName
	generateName string
	isKept       bool
	// mayBeStoredElsewhere is set if a program deployed it that can store the records in another namespace than that of the release.
	mayBeStoredElsewhere bool
}

func newClaims() *claims {
	return &claims{
		releases: map[object.ReleaseName]*compared{}, claimed: map[object.Key]*compared{}, groups: map[string][]string{},
		shared: map[object.Key]*report.Overlap{}, unclaimed: map[object.Key]candidate{},
	}
}

// see takes an object of a list. It is the See of a sweep.
func (c *claims) see(o map[string]any) {
	found, isCandidate := candidateOf(o)
	if !isCandidate {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isClaimed(found.Key) {
		c.unclaimed[found.Key] = found
	}
}

// resourcePolicy is the annotation that asks Helm to keep an object (helm v3.22.0 pkg/kube/resource_policy.go).
const resourcePolicy = "helm.sh/resource-policy"

// candidateOf reports whether an object would be an orphan if no manifest had it. Whoever owns an object answers for it: controllers copy
// labels and annotations to what they make, such as the ReplicaSets of a Deployment. An object that is being deleted is about to be gone,
// and one that another deployer marked is not Helm's alone.
func candidateOf(o map[string]any) (out candidate, isCandidate bool) {
	out.named = object.ReleaseOf(o)
	if out.named == (object.ReleaseName{}) {
		return out, false
	}
	metadata := object.Child(o, "metadata")
	if metadata["deletionTimestamp"] != nil || len(object.Items(metadata, "ownerReferences")) > 0 || len(marksOf(o)) > 0 {
		return out, false
	}
	annotations, labels := object.Child(metadata, "annotations"), object.Child(metadata, "labels")
	out.Ref = object.RefOf(o)
	out.generateName, _ = metadata["generateName"].(string)
	policy, _ := annotations[resourcePolicy].(string)
	out.isKept = strings.EqualFold(strings.TrimSpace(policy), "keep")
	const flux, fleet = "helm.toolkit.fluxcd.io/name", "objectset.rio.cattle.io/hash"
	out.mayBeStoredElsewhere = labels[flux] != nil || labels[fleet] != nil
	return out, true
}

// marksOf returns the deployers besides Helm whose labels and annotations an object has. Argo CD writes
// APPLICATION:GROUP/KIND:NAMESPACE/NAME, and an Application outside of its own namespace is NAMESPACE_NAME there. A copy of an object keeps
// the mark of the original, which names another object and says nothing.
func marksOf(o map[string]any) (out []report.Claim) {
	metadata := object.Child(o, "metadata")
	tracking, _ := object.Child(metadata, "annotations")["argocd.argoproj.io/tracking-id"].(string)
	if parts := strings.SplitN(tracking, ":", 3); len(parts) == 3 && parts[0] != "" {
		key := object.RefOf(o).Key
		namespace, name, _ := strings.Cut(parts[2], "/")
		if parts[1] == key.Group+"/"+key.Kind && name == key.Name && (key.Namespace == "" || namespace == key.Namespace) {
			claim := report.Claim{Kind: report.ClaimApplication, Name: parts[0], By: report.ClaimMark}
			if of, app, isElsewhere := strings.Cut(parts[0], "_"); isElsewhere {
				claim.Namespace, claim.Name = of, app
			}
			out = append(out, claim)
		}
	}
	labels := object.Child(metadata, "labels")
	if name, _ := labels["kustomize.toolkit.fluxcd.io/name"].(string); name != "" {
		namespace, _ := labels["kustomize.toolkit.fluxcd.io/namespace"].(string)
		out = append(out, report.Claim{Kind: report.ClaimKustomization, Namespace: namespace, Name: name, By: report.ClaimMark})
	}
	return out
}

// add takes what the comparison of a release knows. A release may be added again if it was compared again.
func (c *claims) add(r *drift.Result) {
	in := r.Comparison.Input
	if in.Old == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	about := &compared{
		ReleaseName: in.Release(), storage: in.StorageNamespace, old: in.Old.Revision,
		uncompared: in.NotCompared, isIncomplete: len(in.Errors) > 0,
	}
	if in.Last != nil {
		about.last, about.status = in.Last.Revision, in.Last.Status
	}
	c.releases[about.ReleaseName] = about
	c.places = append(c.places, place{in.StorageNamespace, in.Name})
	for _, o := range in.OldObjects {
		if o.Name == "" {
			continue
		}
		live := in.Live[o.Ref]
		c.own(o.Ref, about, otherClaims(in, live))
		if live.Object != nil {
			c.claim(object.RefOf(live.Object).Key) // a cluster-scoped object may have a namespace in the manifest
		}
	}
	for _, o := range slices.Concat(in.DesiredObjects, in.LastObjects) {
		c.claim(o.Key)
	}
}

// otherClaims returns who else claims an object of a release, as its live object shows.
func otherClaims(in threeway.Input, live cluster.Live) []report.Claim {
	if live.Object == nil {
		return nil
	}
	out := marksOf(live.Object)
	if named := object.ReleaseOf(live.Object); named != in.Release() && in.Others[named].Exists {
		out = append(out, claimOf(named, report.ClaimMark))
	}
	return out
}

// claim marks an object as one that a manifest has.
func (c *claims) claim(key object.Key) {
	if _, known := c.claimed[key]; !known {
		c.claimed[key] = nil
	}
	if !slices.Contains(c.groups[key.Kind], key.Group) {
		c.groups[key.Kind] = append(c.groups[key.Kind], key.Group)
	}
	delete(c.unclaimed, key)
}

// isClaimed reports whether a manifest has an object, in whatever group: the API server serves some kinds in several groups, and a manifest
// may name another one than the list.
func (c *claims) isClaimed(key object.Key) bool {
	return slices.ContainsFunc(c.groups[key.Kind], func(group string) bool {
		key.Group = group
		_, claimed := c.claimed[key]
		return claimed
	})
}

// own claims an object for a release whose deployed manifest has it. Others are the other claims that its live object shows.
func (c *claims) own(ref object.Ref, by *compared, others []report.Claim) {
	c.claim(ref.Key)
	first := c.claimed[ref.Key]
	if first == nil || first.ReleaseName == by.ReleaseName {
		c.claimed[ref.Key] = by
	} else {
		others = append(others, claimOf(first.ReleaseName, report.ClaimManifest))
	}
	if len(others) == 0 {
		return
	}
	shared := c.shared[ref.Key]
	if shared == nil {
		shared = &report.Overlap{ClaimedObject: claimedObject("", ref.Key, ref.APIVersion())}
		c.shared[ref.Key] = shared
	}
	shared.Add(append(others, claimOf(by.ReleaseName, report.ClaimManifest))...)
}

// claimOf returns the claim of a release.
func claimOf(r object.ReleaseName, by report.ClaimSource) report.Claim {
	return report.Claim{Kind: report.ClaimRelease, Namespace: r.Namespace, Name: r.Name, By: by}
}

// overlaps returns the objects that several deployers claim.
func (c *claims) overlaps(cluster string) (out []report.Overlap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, shared := range c.shared {
		overlap := *shared
		overlap.Cluster, overlap.Claims = cluster, slices.Clone(shared.Claims)
		out = append(out, overlap)
	}
	order.Sort(out, func(a, b report.Overlap) int { return a.Compare(b.ClaimedObject) })
	return out
}

func claimedObject(cluster string, key object.Key, version string) report.ClaimedObject {
	return report.ClaimedObject{Cluster: cluster, APIVersion: version, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name}
}

// candidates returns the listed objects that no manifest has, by the release that they name.
func (c *claims) candidates() map[object.ReleaseName][]candidate {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[object.ReleaseName][]candidate{}
	for _, found := range c.unclaimed {
		about := c.releases[found.named]
		if c.isClaimed(found.Key) || about != nil && slices.ContainsFunc(about.uncompared, found.isOne) {
			continue
		}
		out[found.named] = append(out[found.named], found)
	}
	return out
}

// isOne reports whether the candidate is the object that was not compared: that hook, or an object whose name the API server generated.
func (c candidate) isOne(n report.NotCompared) bool {
	if n.Kind != c.Kind || n.Path != "" {
		return false
	}
	return n.Reason == report.NotComparedHook && n.Name == c.Name || n.Reason != report.NotComparedHook && n.Name == c.generateName
}
