// Package effect is the hook that tells a comparison and a fix what their writes mean for pods and data. They pass each object before
// and after the write; internal/forecast answers. Without a [Forecast], reports have no effects.
package effect

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Forecast predicts the effects of one operation. It reads from the cluster what makes the prediction better, such as the pods of a
// namespace; if from is nil, it reads nothing. If it cannot read something, the prediction is less exact, and the answer says so.
type Forecast func(ctx context.Context, from Reader, o Operation) Effects

// Reader reads the lists and objects that a forecast needs. drift.Cluster and *live.Cluster implement it.
type Reader interface {
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error)
	Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live
}

// Operation is the writes of an upgrade or a fix.
type Operation struct {
	// Objects are the objects of the release, including those without a write: they may use an object that is written.
	Objects []Write
	// Autoscaled holds the autoscaler of each object whose replicas an autoscaler sets.
	Autoscaled map[object.Key]object.Autoscaler
	// AutoscalersUnseen is set if some autoscalers could not be read, so that one of them may set replicas.
	AutoscalersUnseen bool
	// Now is the time of the operation, for effects that depend on it. It is zero if the time is not known.
	Now time.Time
}

// Write is an object of the release, before and after the write.
type Write struct {
	object.Ref
	// Action is what happens to the object as a whole.
	Action report.Action
	// Before and After are the normal forms, without status, of the live object and of the object after the write, or nil if there is none.
	Before, After map[string]any
	// Deployed is the normal form of the object in the manifest of the deployed revision, or nil if there is none.
	Deployed map[string]any
	// Live is the object as it was read, with its status and metadata, or nil if there is none.
	Live map[string]any
	// TemplateEdited is when somebody last changed the live pod template, if it differs from the deployed one. It is zero if it does not.
	TemplateEdited time.Time
	// Doubt says why After is not certain. It is empty if After is certain.
	Doubt string
}

// Effects are the predicted effects of one operation. Objects without an effect are not in it.
type Effects struct {
	Objects map[object.Key]*report.Effect
	// Release sums up the effects. It is nil if no object has an effect.
	Release *report.ReleaseEffect
	// Unread says what could not be read, or is not known for another reason. Each entry is a clause.
	Unread []string
	// Unknown holds the objects whose write affects pods in a way that only their controller knows.
	Unknown map[object.Key]bool
}
