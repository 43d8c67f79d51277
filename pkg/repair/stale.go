package repair

import (
	"slices"
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

// isOthers reports whether an object does not belong to the release, because its annotations changed after the plan was made. A value
// that is neither that of the plan nor the release's own is somebody else's; if the plan writes the annotation, it is a planned field that
// changed. Both annotations may also name another release although only one of them changed, unless the plan's own write has changed it.
// In the release's own namespace, annotations that are gone are drift.
func (o *ObjectPlan) isOthers(live map[string]any) bool {
	at := object.Path{}.Field("metadata").Field("annotations")
	was, now := object.Child(object.Child(o.source.Live, "metadata"), "annotations"), object.Child(object.Child(live, "metadata"), "annotations")
	isWritten := true // by the plan, as far as the annotations show
	for _, own := range []struct{ name, value string }{
		{object.ReleaseNameAnnotation, o.release.Name}, {object.ReleaseNamespaceAnnotation, o.release.Namespace},
	} {
		isPlanned := slices.ContainsFunc(o.Changes, func(c Change) bool { return at.Field(own.name).HasPrefix(c.Path) })
		had, _ := was[own.name].(string)
		switch value, _ := now[own.name].(string); value {
		case had:
			isWritten = isWritten && !isPlanned
		case own.value, "":
			isWritten = isWritten && isPlanned
		default:
			return !isPlanned
		}
	}
	switch owner, owned := object.ReleaseOf(live), object.ReleaseOf(o.source.Live); {
	case owner == o.release || owner == owned:
		return false
	case owner == (object.ReleaseName{}):
		return owned == o.release && o.Ref.Namespace != o.release.Namespace
	}
	return !isWritten
}
