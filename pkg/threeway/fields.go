package threeway

import (
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fields is what the comparison of an object field by field came to. Its zero value belongs to an object whose fields were not compared.
type fields struct {
	Engine   report.Engine
	Findings []verdict.Finding
	// Old, Desired, Live and Result are the normal forms that were compared; nil where a side is absent.
	Old, Desired, Live, Result map[string]any
	// Controllers and Forgotten count what controllers and forgotten writers wrote and no upgrade touches.
	Controllers, Forgotten int

	// liveText and desiredText are what was read and what Helm would send; pointers of a report lead into them.
	liveText, desiredText map[string]any
	// conflict is the API server's text where it refuses a server-side apply because of other managers.
	conflict string
	// invalid is the API server's text where it does not take what an apply makes of live.
	invalid string
	// wantsSchema is set where the definition of the kind would tell more, even if nothing differs.
	wantsSchema bool
	// open is set where managers of which not all is known decide whether an apply fails.
	open bool
	// duplicates are items that desired has more than once.
	duplicates []object.Path
	// unpatched is why Helm can make no patch of the texts. The findings are those that the table alone gives then.
	unpatched error
}

// countControllers folds what controllers wrote and no upgrade touches into a number, and into another one what is signed by nobody but
// forgotten writers.
func (o *fields) countControllers() {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		isCounted := f.IgnoredBy == nil && !f.Managed && f.Verdict == report.Ignore && f.Class == "" && f.Certain
		switch {
		case isCounted && owners.AreControllers(f.Owners):
			o.Controllers++
		case isCounted && owners.AreForgotten(f.Owners):
			o.Forgotten++
		default:
			kept = append(kept, f)
		}
	}
	o.Findings = kept
}
