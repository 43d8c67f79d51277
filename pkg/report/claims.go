package report

import (
	"cmp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file is about objects that the wrong number of deployers claim: none, or several.

// ClaimedObject names an object of a cluster.
type ClaimedObject struct {
	Cluster    string `json:"cluster"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Key returns the identity of the object, whatever its version.
func (o ClaimedObject) Key() object.Key {
	return Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}.Key()
}

// Compare orders objects by cluster, and then by key.
func (o ClaimedObject) Compare(other ClaimedObject) int {
	return cmp.Or(cmp.Compare(o.Cluster, other.Cluster), o.Key().Compare(other.Key()))
}

// Orphan is an object whose annotations name a release, but which no manifest of that release or of another one has now. No upgrade deletes
// it.
type Orphan struct {
	ClaimedObject
	// Release and ReleaseNamespace are what the annotations of the object name.
	Release          string `json:"release"`
	ReleaseNamespace string `json:"releaseNamespace"`
	// Reason says what became of the release, or of the object in it.
	Reason OrphanReason `json:"reason"`
	// Revision is the last stored revision whose manifest has the object. It is nil if none has it.
	Revision *Revision `json:"revision,omitempty"`
	// Kept is set if the annotation helm.sh/resource-policy asks Helm to leave the object. It then sets no exit code.
	Kept bool `json:"kept,omitempty"`
	// Problem says why an earlier revision could not be read, so that Revision may be wrong.
	Problem string `json:"problem,omitempty"`
}

// OrphanReason says why no manifest has an object.
type OrphanReason string

// These are the reasons: a later revision of the release dropped the object, no stored revision has it, the release was uninstalled and its
// records were kept, and there is no record of the release.
const (
	OrphanDropped     OrphanReason = "dropped"
	OrphanUnrecorded  OrphanReason = "unrecorded"
	OrphanUninstalled OrphanReason = "uninstalled"
	OrphanNoRelease   OrphanReason = "no-release"
)

// Overlap is an object that several deployers claim. Each of them writes its own manifest.
type Overlap struct {
	ClaimedObject
	// Claims are at least two, ordered by kind, namespace and name; releases come first.
	Claims []Claim `json:"claims"`
}

// Claim is a deployer that claims an object.
type Claim struct {
	// Kind is Release, Application of Argo CD or Kustomization of Flux.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// By says what shows the claim.
	By ClaimSource `json:"by"`
}

// Compare orders claims by kind, namespace and name, whatever shows them. Releases come first.
func (c Claim) Compare(other Claim) int {
	rank := func(c Claim) int {
		return slices.Index([]string{ClaimRelease, ClaimApplication, ClaimKustomization}, c.Kind)
	}
	return cmp.Or(cmp.Compare(rank(c), rank(other)), cmp.Compare(c.Namespace, other.Namespace), cmp.Compare(c.Name, other.Name))
}

// Add adds claims, each deployer once, and keeps their order. A manifest shows a claim better than a mark does.
func (o *Overlap) Add(claims ...Claim) {
	all := slices.Clone(o.Claims)
	for _, claim := range claims {
		switch i := slices.IndexFunc(all, func(c Claim) bool { return c.Compare(claim) == 0 }); {
		case i < 0:
			all = append(all, claim)
		case claim.By == ClaimManifest:
			all[i] = claim
		}
	}
	order.Sort(all, Claim.Compare)
	o.Claims = all
}

// joined returns overlaps in the order of their objects, each object once: a cluster may be searched in several parts, and each part sees
// some of the claims.
func joined(all []Overlap) []Overlap {
	order.Sort(all, func(a, b Overlap) int { return a.Compare(b.ClaimedObject) })
	var out []Overlap
	for _, o := range all {
		if n := len(out); n > 0 && out[n-1].Compare(o.ClaimedObject) == 0 {
			out[n-1].Add(o.Claims...)
			continue
		}
		out = append(out, o)
	}
	return out
}

// ClaimSource says what shows that a deployer claims an object.
type ClaimSource string

// The manifest of a release has the object, or the object has labels or annotations that name the deployer.
const (
	ClaimManifest ClaimSource = "manifest"
	ClaimMark     ClaimSource = "mark"
)

// These are the kinds of deployers that claim objects.
const (
	ClaimRelease       = "Release"
	ClaimApplication   = "Application"
	ClaimKustomization = "Kustomization"
)
