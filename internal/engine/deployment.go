package engine

import (
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Deployment says how a program deploys that is not the helm command. A field that is empty says that it does as the helm command.
type Deployment struct {
	// Manager is its field manager.
	Manager string
	// ForcesConflicts is set if it takes over what others own wherever it applies server-side.
	ForcesConflicts bool
	// Sync is set if the program does not call Helm's library. It sends objects as they are rendered, whoever owns them, and the failure of
	// one object keeps it from no other.
	Sync *Sync
}

// Sync is how such a program writes.
type Sync struct {
	// Method returns how it writes an object, and whether it replaces the object instead.
	Method func(desired map[string]any) (method report.ApplyMethod, replaces bool)
	// Write predicts its write of desired over live. The Writer has what Method says.
	Write func(w Writer, ref object.Ref, desired, live map[string]any) (Written, error)
	// Refused returns why the API server refuses to create or update an object, or "", apart from what it refuses to everybody.
	Refused func(desired map[string]any) string
	// Recreates reports whether it deletes a live object and creates it again, so that each of its fields can change.
	Recreates func(desired, live map[string]any) bool
	// Leaves returns why it leaves a live object that desired no longer has, or "" if it deletes the object.
	Leaves func(live map[string]any) string
}

// Syncs reports whether a program deploys that does not call Helm's library. A nil Deployment is the helm command.
func (d *Deployment) Syncs() bool { return d != nil && d.Sync != nil }
