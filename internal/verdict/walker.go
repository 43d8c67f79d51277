package verdict

import (
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Walker has what the comparisons of all objects of a release share. Nobody changes it.
type Walker struct {
	// Command is the helm command that does the upgrade, for notes.
	Command string
	// Release is the name of the release, Managers are the field managers that the user names, and Deployer finds the one that Helm writes
	// the release as (owners.New).
	Release  string
	Managers owners.Managers
	Deployer func() owners.Deployer
	// Autoscaled holds the autoscaler of each object whose replicas an autoscaler sets.
	Autoscaled map[object.Key]object.Autoscaler
	// Unknown is the text that stands in desired for values that are not known, or "" if there are none.
	Unknown string
}

// objectWalk walks the states of one object. Its fields are set once, before the walk.
type objectWalk struct {
	Object
	command    string
	owners     *owners.Ownership
	autoscaler object.Autoscaler
	unknown    string
	// live, old and result are the whole objects in normal form, or nil if absent.
	live, old, result map[string]any
	// allocated returns the fields that the server or a controller fills in. Called returns those that it fills in because live asks for it,
	// whatever Helm deployed.
	allocated, called func() *AllocatedFields
	// conflicts are the places that make a server-side apply fail.
	conflicts []conflictPlace
}

// withWholes returns the walk with other normal forms of the whole objects.
func (w *objectWalk) withWholes(n States) *objectWalk {
	out := *w
	out.live, out.old, out.result = n.Live.Object(), n.Old.Object(), n.Result.Object()
	return &out
}

// conflictPlace is one place that makes an apply fail, with the server's message about each of the managers.
type conflictPlace struct {
	path  object.Path
	notes report.Notes
}

// entry is the outcome for one place of the walk.
type entry struct {
	Finding
	weight weight
	// isDefault is set if the entry is silent because live's value is the API's default.
	isDefault bool
	// presence holds which of old, desired and live have the field.
	presence presence
	// goesAlong is set if the field is removed only because what holds it is.
	goesAlong bool
}

// weight says how an entry counts when the subtree around it is folded.
type weight int

const (
	// silent is not a finding, and does not keep the subtree from becoming one.
	silent weight = iota
	// soft is a finding that follows from others: a default that is added or removed together with its parent.
	soft
	// hard is a finding of its own.
	hard
)
