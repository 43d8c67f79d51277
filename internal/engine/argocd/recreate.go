package argocd

import (
	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file finds out whether a sync deletes a live object and creates it again.

// mayRecreate implements engine.Sync: what the API server refuses to change is no reason to fail then. recreate decides.
func (o Options) mayRecreate(desired, live map[string]any) bool {
	return o.rebinds(desired, live) || o.forces(desired, live)
}

// forces reports whether a sync may delete a live object and create it again because of Force=true in an annotation. For all objects of an
// Application, that is no option (gitops-engine v3.6.1 pkg/sync/sync_context.go applyObject). kubectl does not force a server-side apply
// (pkg/utils/kube/resource_ops.go newApplyOptions), and Argo CD updates a namespace and a definition that it replaces.
func (o Options) forces(desired, live map[string]any) bool {
	if desired == nil || live == nil || !(Options{}).isSet("Force=true", desired, live) {
		return false
	}
	if o.isSet("Replace=true", desired, live) {
		return live["kind"] != "CustomResourceDefinition" && live["kind"] != "Namespace"
	}
	method, _ := o.method(desired)
	return method == report.ApplyClientSide
}

// Recreation says why a sync deletes a live object and creates it again. Why is empty if it does not. IsRefused is set if it does so
// because the API server refuses the change.
type Recreation struct {
	Why       string
	IsRefused bool
}

// recreate returns the outcome of a write, given its outcome if the object stays the same one, and whether the sync deletes the object and
// creates it again. A replacement does so always, and a client-side apply if the API server refuses the patch because the object would be
// invalid. If it refuses the new object too, kubectl restores the old one, and the sync fails (kubectl v0.37 pkg/cmd/apply/patcher.go
// Patch, deleteAndCreate, pkg/cmd/replace/replace.go forceReplace).
func (o Options) recreate(w engine.Writer, ref object.Ref, desired, live map[string]any, done engine.Written) (engine.Written, Recreation) {
	again := Recreation{Why: "Force=true and Replace=true delete it and create it again"}
	switch {
	case o.rebinds(desired, live):
		return done, Recreation{"its role changes, so Argo CD deletes it and creates it again", true}
	case !o.forces(desired, live):
		return done, Recreation{}
	case !o.isSet("Replace=true", desired, live):
		reason, isInvalid := refusal(w, ref, live, done)
		if !isInvalid {
			done.Invalid = apiserver.Join(done.Invalid, reason)
			return done, Recreation{}
		}
		again = Recreation{"the API server refuses the change, so Force=true deletes it and creates it again", true}
		desired = withLastApplied(desired, live)
	}
	out := w.Replace(desired)
	stored := kinds.NewNormalizer(ref.Key, w.ShapeOf(ref), nil).Manifest(desired).Object()
	creation := apiserver.Creation{Ref: ref, Definition: w.Schemas[ref.GroupKind()], Text: desired, Stored: stored}
	out.Invalid = apiserver.Join(creation.Undecodable(), creation.Invalid())
	return out, again
}

// refusal returns why the API server refuses a patch, or "". isInvalid is set if it can decode the object and finds it invalid.
func refusal(w engine.Writer, ref object.Ref, live map[string]any, done engine.Written) (reason string, isInvalid bool) {
	normal := kinds.NewNormalizer(ref.Key, w.ShapeOf(ref), live)
	is, will := normal.Stored(live), normal.Stored(done.Result)
	apiserver.ApplyServerRules(ref.Key, is, will)
	if object.Equal(is.Object(), will.Object()) {
		return "", false
	}
	update := apiserver.Update{Ref: ref, Definition: w.Schemas[ref.GroupKind()], Text: live, Live: is.Object(), Result: will.Object()}
	invalid, _ := update.Refused(false)
	if done.Engine != report.EngineStrategic {
		if all, _ := update.Refused(true); all != invalid {
			return all, false
		}
	}
	invalid = apiserver.Join(invalid, apiserver.LostJobLabels(ref.Key, live, done.Result))
	return invalid, invalid != ""
}
