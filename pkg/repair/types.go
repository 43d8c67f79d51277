package repair

import (
	"context"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Plan is what a repair writes, in Helm's install order, with every value in clear. Result masks it.
type Plan struct {
	Objects []ObjectPlan
	// Declined are the drifted fields and objects that the plan leaves alone, each with the reason.
	Declined []Declined

	comparison *threeway.Comparison
	// effects are what the writes mean for pods, once Forecast was called.
	effects effect.Effects
}

// ObjectPlan is what a repair writes to one object.
type ObjectPlan struct {
	Ref object.Ref
	// UID is the uid of the object that was compared. It is empty if the object is missing.
	UID string
	// Changes are the fields that are put back.
	Changes []Change
	// Create is the object to create if it is missing, with Helm's metadata. Otherwise it is nil.
	Create map[string]any
	// Outside reports that Create is for another namespace than the release's own, or for none.
	Outside bool
	// ServerSide reports that the release is applied server-side, so that the ownership of what is put back goes to Deployer.
	ServerSide bool
	// Manager is the field manager of the patches. An object that is created belongs to Deployer at once.
	Manager string
	// Deployer is the field manager that writes the release.
	Deployer string

	// release is the release that is repaired.
	release object.ReleaseName
	// source is what the comparison knows about an object that is not missing.
	source *threeway.Repairable
	// read are the managedFields of the last object that isWrittenBy was asked about.
	read []entry
	// compared is the object in the comparison, for showing it.
	compared *threeway.ObjectComparison
}

// Change is one planned field. A removal that another change needs, such as that of the edited name of a renamed item, is a Change too.
type Change struct {
	// ID is the id of the finding in the report.
	ID   string
	Path object.Path
	// To is the value in old's manifest: object.Null if it is null and the server stores that, nil if the manifest has nothing here. For
	// a pruned field it is the empty map that stays, if any. From is what the comparison saw in live. If the order of a list is put back,
	// both are the names of its items.
	To, From any

	kind changeKind
	// livePath is the path of a renamed item in live.
	livePath object.Path
	// finding is the finding behind the change, for showing it.
	finding threeway.Finding
}

// changeKind is how a change is made.
type changeKind int

const (
	// putValue sets the value at a path, or removes it.
	putValue changeKind = iota
	// putAtomic is putValue for an atomic value of a server-side apply: it also removes what others wrote into it.
	putAtomic
	// putOrder restores the order of the list items that old names. Together they keep the places that they have.
	putOrder
	// putName gives an item of a list its old keys back.
	putName
	// dropName stands for the edited name of an item, which putName removes.
	dropName
	// prune removes what a person added and no manifest names.
	prune
	// putOwner hands the deployer the ownership of a value that equals old's, if an apply conflicts with another owner of it.
	putOwner
)

// Declined is a drifted field, or a whole object, that the plan leaves alone.
type Declined struct {
	Ref object.Ref
	// ID is the id of the finding. It is empty for a whole object.
	ID     string
	Reason string
	// LeftOut is set if Only or Skip leave it out.
	LeftOut bool
}

// Writer is the API server as a repair needs it. Each call is one request that the Writer never repeats, because only the repair knows
// whether a repetition is safe. Errors are those of the API machinery (k8s.io/apimachinery/pkg/api/errors), or of the connection.
type Writer interface {
	// Get reads an object. It returns nil if the object does not exist.
	Get(ctx context.Context, ref object.Ref) (map[string]any, error)
	// Write sends one request as a field manager and returns the object after it. With dryRun, the server stores nothing.
	Write(ctx context.Context, request cluster.Request, manager string, dryRun bool) (map[string]any, error)
}
