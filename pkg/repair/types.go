package repair

import (
	"context"

	"github.com/helmdrift/helmdrift/internal/forecast"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Plan is what a repair writes, in Helm's install order, every value in clear. Result masks it.
type Plan struct {
	Objects []ObjectPlan
	// Declined are the drifted fields and objects that the plan leaves alone, each with the reason.
	Declined []Declined

	comparison *threeway.Comparison
	// effects are what the writes mean for pods, once Forecast was called.
	effects forecast.Effects
}

// ObjectPlan is what a repair writes to one object.
type ObjectPlan struct {
	Ref object.Ref
	// UID is that of the object that was compared; empty if it is missing.
	UID string
	// Changes are the fields that are put back.
	Changes []Change
	// Create is the object to be created if it is missing, with Helm's metadata; nil otherwise.
	Create map[string]any
	// Outside reports that Create is for another namespace than the release's own, or for none.
	Outside bool
	// ServerSide reports that the release is applied server-side, so that the ownership of what is put back goes to Deployer.
	ServerSide bool
	// Manager is the field manager of the writes. An object that is created by an apply belongs to Deployer at once.
	Manager string
	// Deployer is the field manager under which the release is written.
	Deployer string

	// release is the one that is repaired, and owner the one that the annotations of live named when the plan was made.
	release, owner object.ReleaseName
	// source is what the comparison knows of an object that is not missing.
	source *threeway.Repairable
	// compared is the object in the comparison, for what is shown of it.
	compared *threeway.ObjectComparison
}

// Change is one planned field. What the plan removes because another change needs it, such as the edited name of a renamed item, is a
// Change too.
type Change struct {
	// ID is the finding's in the report.
	ID   string
	Path object.Path
	// To is what old's manifest says: object.Null if it says null and the server stores that, nil if it names nothing here. For a pruned
	// field it is the empty map that stays, if any. From is what the comparison saw in live. For a list whose order is put back, both are
	// the names of its items.
	To, From any

	kind changeKind
	// livePath is the path that a renamed item has in live.
	livePath object.Path
	// finding is what is shown of the change.
	finding threeway.Finding
}

// Declined is a drifted field, or a whole object, that the plan leaves alone.
type Declined struct {
	Ref object.Ref
	// ID is the finding's; empty for the object.
	ID     string
	Reason string
}

// Writer is the API server as a repair needs it. Each call is one request that the Writer never repeats, because only the repair knows
// whether a repetition is safe. Errors are those of the API machinery (k8s.io/apimachinery/pkg/api/errors), or of the connection.
type Writer interface {
	// Get reads an object; nil if it does not exist.
	Get(ctx context.Context, ref object.Ref) (map[string]any, error)
	// Write sends one request as a field manager and returns the object after it. With dryRun nothing is stored.
	Write(ctx context.Context, request threeway.Request, manager string, dryRun bool) (map[string]any, error)
}
