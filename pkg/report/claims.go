package report

import (
	"cmp"

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
