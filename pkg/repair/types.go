package repair

import (
	"context"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Plan is what a repair writes, in Helm's install order, every value in clear. Result masks it.
type Plan struct {
	Objects []ObjectPlan
	// Left are drifted fields and objects that are not touched, each with the reason. They are declined.
	Left []Left

	comparison *threeway.Comparison
}

// ObjectPlan is what a repair writes to one object.
type ObjectPlan struct {
	Ref object.Ref
	// UID is that of the object that was compared; empty where it is missing.
	UID string
	// Changes are the fields that are put back.
	Changes []Change
	// Create is the object that is made again where it is missing, with Helm's metadata; nil otherwise.
	Create map[string]any
	// ServerSide reports that the release is applied server-side, so that the ownership of what is put back goes to Deployer.
	ServerSide bool
	// Manager is the field manager of the writes; an object that is made again by an apply becomes Deployer's at once.
	Manager string
	// Deployer is the field manager under which the release is written.
	Deployer string

	// source is what the comparison knows of an object that is not missing.
	source *threeway.Repairable
	// compared is the object in the comparison, for what is shown of it.
	compared *threeway.ObjectComparison
}

// Change is one planned field. What the plan has to take away for the sake of another change, such as the other name of a renamed
// item, is a Change too.
type Change struct {
	// ID is the finding's in the report.
	ID   string
	Path object.Path
	// To is what old's manifest says: threeway.Null where it says null and the server stores that, nil where it says that nothing stands
	// here. Of what is pruned it is the bare map that stays, if any. From is what the comparison saw. Of a list whose order is put back
	// they are the names of its items.
	To, From any

	kind changeKind
	// named is, of a renamed item, the path that it has in live.
	named object.Path
	// finding is what is shown of the change.
	finding threeway.Finding
}

// Left is a drifted field, or a whole object, that the plan leaves alone.
type Left struct {
	Ref object.Ref
	// ID is the finding's; empty for the object.
	ID     string
	Reason string
}

// Writer is the API server as a repair needs it. Each call is one request, which the Writer never repeats; errors are those of
// the API machinery (k8s.io/apimachinery/pkg/api/errors), or of the connection.
type Writer interface {
	// Get reads an object; nil where it is not there.
	Get(ctx context.Context, ref object.Ref) (map[string]any, error)
	// Write sends one request as a field manager, and gives the object as it is then. With dryRun nothing is stored.
	Write(ctx context.Context, request threeway.Request, manager string, dryRun bool) (map[string]any, error)
}
