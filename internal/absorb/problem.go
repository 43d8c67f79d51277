package absorb

import (
	"context"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Problem is a chart with its values, and the fields that live has otherwise.
type Problem struct {
	Wanted []Wanted
	Chart  Chart
	// Values is what the templates see as .Values, with the values of subcharts below their names. Edited is the content of the values file
	// that may change.
	Values, Edited map[string]any
	// Reads returns what a template may read: paths in Values, in which "*" stands for any key. It returns nil if that is not known.
	Reads func(source string) [][]string
	// Form returns the normal form of an object that the chart renders, and LiveForm that of the live object; nil if there is none.
	Form     func(key object.Key, content map[string]any) map[string]any
	LiveForm func(key object.Key) map[string]any
	// Again is another rendering with the values as they are: where it differs, the chart is random.
	Again Rendering
	// Hooks tells the same of the hooks.
	Hooks Hooks
	// MaxSideEffects is how many fields of other objects an edit may move.
	MaxSideEffects int
	// Refuses returns why the values file cannot take edits, and nil if it can. If Refuses is nil, the file takes everything.
	Refuses func(edits []Edit) *Refusal
	// YAML returns a value as a text of YAML.
	YAML func(v any) string
}

// Chart renders the chart.
type Chart interface {
	// Render renders the chart once for each content of the values file. If source is not empty, only the objects of that template are needed.
	// An error means that no more renderings are possible.
	Render(ctx context.Context, edited []map[string]any, source string) ([]Rendering, error)
}

// Rendering is what the chart renders to.
type Rendering struct {
	Objects map[object.Key]object.Object
	// Hooks are those of the whole chart; none if only a template is rendered.
	Hooks []Hook
	// Fault says why the chart cannot be rendered.
	Fault string
	// GivenUp is set if the Fault is that the rendering took too much time or memory.
	GivenUp bool
}

// Refusal is the reason why a values file cannot take edits.
type Refusal struct {
	// Reason says it in words, without a value, and Line is the line of the file; 0 if there is none.
	Reason string
	Line   int
	// Also are further edits with which the file can take all: another place shares the value, and gets it too.
	Also []Edit
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// Refused is a change that would absorb a field if the chart or the values file took it, or if it left no hole elsewhere.
type Refused struct {
	Edits  []Edit
	Reason string
	// Hole is the place where it would leave a text without a value that the text needs; nil if there is none.
	Hole *Effect
	// ByFile is set if the values file refuses it, at Line. Otherwise the chart or its schema does.
	ByFile bool
	Line   int
}

// Wanted is one field that desired should have as live has it.
type Wanted struct {
	Key object.Key
	// Source is the template of the object.
	Source string
	// Path is empty if live lacks the whole object.
	Path object.Path
	// Live is the live value in normal form, and Text as the API server returned it. Present is false if live lacks the field.
	Live, Text any
	Present    bool
	// Secret and Volatile fields are not searched.
	Secret, Volatile bool
}

// IsIn reports whether an object in normal form has the field as live has it.
func (w Wanted) IsIn(form any) bool {
	value, present := w.Path.Lookup(form)
	return present == w.Present && (!present || object.Equal(value, w.Live))
}

// Edit is one change of the values file.
type Edit struct {
	// Path has keys of maps as texts and indexes of lists as ints.
	Path []any
	// Value is the new value. Null means that a default of the chart is dropped.
	Value any
	// Remove takes the value out of the file.
	Remove bool
}

// Status is what was found for a field.
type Status int

// The statuses of a field.
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
	// Edits absorb the field; none if those of another field do so already. Effects is what they move beyond it.
	Edits   []Edit
	Effects []Effect
	// Others are further candidates, which are proved too.
	Others []Candidate
	// With are the numbers of the fields with which this one is in conflict.
	With []int
	// Refused is set for a field that is left if a change was refused that would absorb it.
	Refused *Refused
}

// Candidate is a change of values that absorbs a field.
type Candidate struct {
	Edits   []Edit
	Effects []Effect
}

// Effect is a place that edits move beyond the field.
type Effect struct {
	Key object.Key
	// Hook has the events of a hook; nil if the object is none.
	Hook []string
	// Path is empty if the object appears or disappears.
	Path          object.Path
	Before, After any
	// Converges is set if the place becomes what live has.
	Converges bool
	// Derived is set if the place only follows something else: a checksum, or the version label.
	Derived bool
}

// Result is the outcome of a search. Found is parallel to Problem.Wanted.
type Result struct {
	Found []Found
	// Edited is the content of the values file with the edits of all absorbed fields, and Edits is what differs from Problem.Edited.
	Edited map[string]any
	Edits  []Edit
	// Final is the rendering with them.
	Final   Rendering
	Renders int
	// GivenUp are the changes whose rendering took too much time or memory, each with the reason.
	GivenUp []Refused
	// Stopped is why the search ended early; nil if it did not.
	Stopped error
}
