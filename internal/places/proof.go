package places

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Proof collects why a tree refutes the edits of the last Rewrite.
type Proof struct {
	of *Editor
	// Reasons are those of each edit. An edit that nothing refutes has an empty one.
	Reasons []string
}

// NewProof returns a proof that refutes nothing yet.
func (k *Editor) NewProof() *Proof { return &Proof{of: k, Reasons: make([]string, len(k.edits))} }

// All refutes all edits.
func (p *Proof) All(why string) { p.refute(why, func(int) bool { return true }) }

// File refutes the edits that change a file.
func (p *Proof) File(file, why string) {
	p.refute(why, func(i int) bool { return slices.Contains(p.of.files[i], file) })
}

// Composed refutes the edits at the paths where the controller composes something else than Rewrite returned. Otherwise says what may be
// the reason.
func (p *Proof) Composed(values map[string]any, otherwise string) {
	for _, path := range different(nil, values, p.of.composed) {
		why := fmt.Sprintf("%s composes something else at %s: %s", p.of.Controller, valuesfile.PathText(path), otherwise)
		p.refute(why, func(i int) bool {
			n := min(len(path), len(p.of.edits[i].Path))
			return slices.Equal(path[:n], p.of.edits[i].Path[:n])
		})
	}
}

// refute sets the reason of the edits that are in it, and of all others if none is.
func (p *Proof) refute(why string, isIn func(i int) bool) {
	found := false
	for i := range p.Reasons {
		if p.Reasons[i] == "" && isIn(i) {
			p.Reasons[i], found = why, true
		}
	}
	for i := range p.Reasons {
		if !found && p.Reasons[i] == "" {
			p.Reasons[i] = why
		}
	}
}

// different returns the paths where two values differ. Lists are compared as a whole.
func different(path []any, a, b any) (out [][]any) {
	left, isMap := a.(map[string]any)
	right, both := b.(map[string]any)
	if !isMap || !both {
		if !object.Equal(a, b) {
			out = append(out, path)
		}
		return out
	}
	for _, key := range object.SortedKeys(right) {
		was, found := left[key]
		if at := append(slices.Clone(path), key); !found {
			out = append(out, at)
		} else {
			out = append(out, different(at, was, right[key])...)
		}
	}
	for _, key := range object.SortedKeys(left) {
		if _, found := right[key]; !found {
			out = append(out, append(slices.Clone(path), key))
		}
	}
	return out
}
