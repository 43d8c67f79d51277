package repair

import (
	"strings"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// StaleError is the error of ObjectPlan.Patch and HandOver where the ground has moved: since the plan was made, a planned field has
// changed, or the object is another one. It names places and no values.
type StaleError struct {
	// Fields are the ids of the planned fields that are not as the plan saw them; empty where it is about all of the object.
	Fields []string
	// Reason says in a sentence what moved.
	Reason string
}

// Error gives the reason.
func (m *StaleError) Error() string { return m.Reason }

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

// beingDeleted is why nothing is written to an object that will be gone.
const beingDeleted = "it is being deleted"

// staleObject tells of an object that is not the one planned for; nil where it is.
func (o *ObjectPlan) staleObject(live map[string]any) *StaleError {
	metadata, _ := live["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	switch {
	case live == nil:
		return &StaleError{Reason: "it is gone: it was deleted after the plan was made"}
	case uid != o.UID:
		return &StaleError{Reason: "another object has its name now: it was deleted and made again after the plan was made"}
	case metadata["deletionTimestamp"] != nil:
		return &StaleError{Reason: beingDeleted}
	}
	return nil
}

// drifted lists those findings that are drift, which a repair takes back.
func drifted(findings []threeway.Finding) []threeway.Finding {
	var out []threeway.Finding
	for _, f := range findings {
		if f.Drifted() {
			out = append(out, f)
		}
	}
	return out
}
