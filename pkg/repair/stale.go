package repair

import (
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// StaleError is the error of ObjectPlan.Patch and HandOver if the object is no longer what the plan saw: a planned field has changed, or
// another object has the name. It names places but no values.
type StaleError struct {
	// Fields are the ids of the planned fields that changed. It is empty if the reason concerns the whole object.
	Fields []string
	// Reason says in a sentence what changed.
	Reason string
}

// Error returns the reason.
func (e *StaleError) Error() string { return e.Reason }

// staleFields names the planned fields that changed.
func staleFields(changes []Change) *StaleError {
	out := &StaleError{}
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path.String())
		out.Fields = append(out.Fields, c.ID)
	}
	out.Reason = strings.Join(paths, ", ") + " changed after the plan was made"
	return out
}

// beingDeleted is the reason for not writing to an object that is being deleted.
const beingDeleted = "it is being deleted"

// staleObject returns an error if live is not the object of the plan, or nil if it is. The uid decides, because a name can be
// used again.
func (o *ObjectPlan) staleObject(live map[string]any) *StaleError {
	metadata := object.Child(live, "metadata")
	uid, _ := metadata["uid"].(string)
	switch {
	case live == nil:
		return &StaleError{Reason: "it is gone: it was deleted after the plan was made"}
	case uid != o.UID:
		return &StaleError{Reason: "another object has its name now: it was deleted and created again after the plan was made"}
	case metadata["deletionTimestamp"] != nil:
		return &StaleError{Reason: beingDeleted}
	case o.isOthers(live):
		return &StaleError{Reason: "its annotations do not name this release: they changed after the plan was made"}
	}
	return nil
}

// isOthers reports whether an object does not belong to the release, because its annotations changed after the plan was made. In the
// release's own namespace, annotations that name no release are drift.
func (o *ObjectPlan) isOthers(live map[string]any) bool {
	was, now := object.ReleaseOf(o.source.Live), object.ReleaseOf(live)
	if now == (object.ReleaseName{}) {
		return was == o.release && o.Ref.Namespace != o.release.Namespace
	}
	annotations := object.Child(object.Child(o.source.Live, "metadata"), "annotations")
	wasFree := annotations[object.ReleaseNameAnnotation] == nil && annotations[object.ReleaseNamespaceAnnotation] == nil
	return now != o.release && (wasFree || was == o.release)
}
