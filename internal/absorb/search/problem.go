package search

import (
	"context"

	"github.com/helmdrift/helmdrift/internal/absorb/reads"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Problem is a chart with its values, and the fields that differ in live.
type Problem struct {
	Wanted []Wanted
	// Render renders the chart once for each content of the values file. If source is not empty, only the objects of that template are
	// needed. An error means that no more renderings are possible.
	Render func(ctx context.Context, edited []map[string]any, source string) ([]Rendering, error)
	// Values is what the templates see as .Values, with the values of subcharts below their names. Edited is the content of the values file
	// that may change.
	Values, Edited map[string]any
	// Reads returns what a template may read. It returns nil if that is not known.
	Reads func(source string) []reads.Value
	// Form returns the normal form of an object that the chart renders, and LiveForm that of the live object, or nil if none was read.
	Form     func(key object.Key, content map[string]any) map[string]any
	LiveForm func(key object.Key) map[string]any
	// Lacks reports whether the cluster is known to lack an object. What could not be read may be there.
	Lacks func(key object.Key) bool
	// Again is another rendering with unchanged values. Where it differs, the chart is random.
	Again Rendering
	// Hooks shows the same for the hooks.
	Hooks Hooks
	// MaxSideEffects is how many fields of other objects the edits for one field may change.
	MaxSideEffects int
	// Refuses returns why the values file cannot take edits, or nil if it can. A nil Refuses means that the file takes all edits.
	Refuses func(edits []Edit) *Refusal
	// YAML returns a value as a text of YAML.
	YAML func(v any) string
}

// Rendering is the output of the chart.
type Rendering struct {
	Objects map[object.Key]object.Object
	// Hooks are the hooks of the whole chart. There are none if only one template was rendered.
	Hooks []Hook
	// Fault says why the chart cannot be rendered.
	Fault string
	// GivenUp is set if the rendering took too much time or memory.
	GivenUp bool
}

// Refusal is the reason why a values file cannot take edits.
type Refusal struct {
	// Reason describes the refusal without quoting a value. Line is the line of the file, or 0 if there is none.
	Reason string
	Line   int
	// Also has further edits. Together with them, the file can take all edits: another place shares the value, and gets it too.
	Also []Edit
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// Refused is a change that would absorb a field, if the chart or the values file accepted it, or if it left no hole elsewhere.
type Refused struct {
	Edits  []Edit
	Reason string
	// Hole is the place of a text that would lack a value that it needs, or nil if there is none.
	Hole *Effect
	// ByFile is set if the values file refuses it, at Line. Otherwise the chart or its schema does.
	ByFile bool
	Line   int
}

// Wanted is one field that should become equal to live in desired.
type Wanted struct {
	Key object.Key
	// Source is the template of the object.
	Source string
	// Path is empty if live lacks the whole object.
	Path object.Path
	// Live is the live value in normal form, and Text is it as the API server returned it. Present is false if live lacks the field.
	Live, Text any
	Present    bool
	// Secret and Volatile mark fields that are not searched.
	Secret, Volatile bool
}

// IsIn reports whether the field of an object in normal form equals live.
func (w Wanted) IsIn(form any) bool {
	value, present := w.Path.Lookup(form)
	return present == w.Present && (!present || object.Equal(value, w.Live))
}

// holds reports whether a field of a rendering equals live. It compares the normal forms, where 0.5 and 500m are the same quantity.
func (p *Problem) holds(r Rendering, w Wanted) bool {
	o, found := r.Objects[w.Key]
	if len(w.Path) == 0 {
		return !found
	}
	return found && w.IsIn(p.Form(w.Key, o.Content))
}

// Status says what was found for a field.
type Status int

// These are the statuses of a field.
const (
	NoValue Status = iota
	Absorbed
	Secret
	Volatile
	Conflict
	SideEffects
	NotRendered
)

// Found is what was found for one field.
type Found struct {
	Status Status
	// Candidate absorbs the field. It has no edits if those of another field absorb it already.
	Candidate
	// Others are further proved candidates.
	Others []Candidate
	// With has the numbers of the fields that are in conflict with this one.
	With []int
	// Refused is set for a field that is not absorbed because the change for it was refused.
	Refused *Refused
}

// Candidate is a change of values that absorbs a field, with its effects beyond the field.
type Candidate struct {
	Edits   []Edit
	Effects []Effect
}

// Result is the outcome of a search. Found is parallel to Problem.Wanted.
type Result struct {
	Found []Found
	// Edited is the content of the values file with the edits of all absorbed fields, and Edits is the difference from Problem.Edited.
	Edited  map[string]any
	Edits   []Edit
	Renders int
	// GivenUp are the changes whose rendering took too much time or memory, each with the reason.
	GivenUp []Refused
	// Stopped says why the search ended early. It is nil if it did not.
	Stopped error
}
