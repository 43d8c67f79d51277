package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fields is the result of comparing an object field by field. Its zero value belongs to an object whose fields were not compared.
type fields struct {
	Engine   report.Engine
	Findings []verdict.Finding
	// Old, Desired, Live and Result are the normal forms that were compared; nil if absent.
	Old, Desired, Live, Result map[string]any
	// Controllers and Forgotten count fields that controllers and forgotten writers wrote and no upgrade changes.
	Controllers, Forgotten int

	// liveText is the object as it was read, and desiredText the one that Helm would send; pointers of a report refer to them.
	liveText, desiredText map[string]any
	// conflict is the API server's message if it rejects a server-side apply because of other managers.
	conflict string
	// invalid is the API server's message if it rejects the result of an apply.
	invalid string
	// wantsSchema is set if the definition of the kind would make the prediction better, even if nothing differs.
	wantsSchema bool
	// moves is set if the manifests differ and have different versions. Without the schema an apply may look like no write then, because the
	// list items that it removes are not known.
	moves bool
	// open is set if it is not certain whether an apply fails, because of managers at other versions or an unknown deployer.
	open bool
	// duplicates are items that desired has more than once.
	duplicates []object.Path
	// unpatched is the reason why Helm cannot make a patch. The findings follow from the table alone then.
	unpatched error
}

// countControllers replaces findings that no upgrade changes by counts: those of controllers, and those of forgotten writers alone.
func (o *fields) countControllers() {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		isCounted := f.IgnoredBy == nil && !f.Managed && f.Verdict == report.Ignore && f.Class == "" && f.Certain
		switch {
		case isCounted && (owners.AreControllers(f.Owners) || isStatus(f)):
			o.Controllers++
		case isCounted && owners.AreForgotten(f.Owners):
			o.Forgotten++
		default:
			kept = append(kept, f)
		}
	}
	o.Findings = kept
}

// isStatus reports whether a field that no manifest names is one of a status that no person is known to have written. The status of a kind
// is what its controller says, under whatever name that writes.
func isStatus(f verdict.Finding) bool {
	return f.Path.HasPrefix(object.Path{{Name: "status"}}) && !slices.ContainsFunc(f.Owners, func(o report.Owner) bool { return o.Group == report.ManagerPerson })
}
