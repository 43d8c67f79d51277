package forecast

import (
	"time"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Object is an object of the release, before and after the write.
type Object struct {
	object.Ref
	// Action is what happens to the object as a whole.
	Action report.Action
	// Before and After are the normal forms of the live object and of what the write leaves; nil if there is none. They hold no status.
	Before, After map[string]any
	// Deployed is the normal form of what the manifest of the deployed revision says; nil if there is none.
	Deployed map[string]any
	// Live is the object as it was read, with its status and metadata; nil if there is none.
	Live map[string]any
	// TemplateEdited is when somebody last changed the live pod template so that it differs from what was deployed; zero if it does not.
	TemplateEdited time.Time
	// Doubt says why it is not certain what the write leaves; empty if it is.
	Doubt string
}

// Input is everything from which the effects of one operation are predicted.
type Input struct {
	// Objects are those of the release, also those that are not written: they may use one that is.
	Objects []Object
	// Seen holds what was read of the lists of Wants.
	Seen Seen
	// Autoscaled holds the autoscaler of each object whose replicas an autoscaler sets.
	Autoscaled map[object.Key]object.Autoscaler
	// AutoscalersUnseen is set if some autoscalers could not be read, so that one of them may set replicas.
	AutoscalersUnseen bool
	// Now is when the operation is, for what happens at a time; zero if that is not known.
	Now time.Time
}

// Effects are the predicted effects of one operation. Objects without an effect are not in it.
type Effects struct {
	Objects map[object.Key]*report.Effect
	// Release is the sum; nil if no object has an effect.
	Release *report.ReleaseEffect
	// Unread says what could not be read, or is not known for another reason, each a clause.
	Unread []string
	// Unknown holds the objects whose write has an effect on pods that only their controller knows.
	Unknown map[object.Key]bool
}

// Predict returns the effects of an operation.
func Predict(in Input) Effects {
	wanted := allWants(in)
	in.Seen = in.Seen.with(wanted)
	out := Effects{Objects: map[object.Key]*report.Effect{}, Unread: in.unread(wanted), Unknown: map[object.Key]bool{}}
	for i := range in.Objects {
		o := &in.Objects[i]
		if effect := in.effectOf(o); effect != nil {
			out.Objects[o.Key] = effect
		}
		if o.isUnknown() {
			out.Unknown[o.Key] = true
			out.Unread = append(out.Unread, "what becomes of the pods of "+named(o.Key)+" is not known")
		}
	}
	in.addOthers(out.Objects)
	out.Release = sum(in.Objects, out.Objects)
	return out
}

// effectOf returns the effect of an object; nil if it has none.
func (in Input) effectOf(o *Object) *report.Effect {
	if w, ok := workloadOf(o); ok {
		return in.workload(w)
	}
	if o.isPod() {
		return barePod(o)
	}
	return customWorkload(o)
}
