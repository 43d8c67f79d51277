package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/owners"
)

const managedFields = "/metadata/managedFields"

// writer is one entry of managedFields.
type writer struct {
	index int
	raw   map[string]any
}

// HandOver makes the JSON patch that hands the deployer what the repair wrote, on managedFields alone: what the repairer's entries and an
// apply of old's manifest have in common becomes part of the deployer's entry, and the repairer's entries go. Without it, the next upgrade
// that changes one of the fields would conflict with the repair. The patch is nil where there is nothing to hand over.
func (o *ObjectPlan) HandOver(after map[string]any) ([]byte, error) {
	if !o.ServerSide || o.source == nil {
		return nil, nil
	}
	if gone := o.movedObject(after); gone != nil {
		return nil, gone
	}
	h := handOver{plan: o, taken: o.takenOver(after)}
	h.ours, h.deployers, h.others = o.writersOf(after)
	if len(h.losers()) == 0 {
		h.taken = &fieldpath.Set{}
	}
	h.given = o.absences().Union(h.taken)
	if len(h.ours) == 0 && h.taken.Empty() && (len(h.deployers) == 0 || h.given.Empty()) {
		return nil, nil
	}
	err := o.canHandOver(after)
	var ops []operation
	if err == nil {
		ops, err = h.operations()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the ownership of %s cannot be handed over: %w", o.Ref.Key, err)
	case len(ops) == 0:
		return nil, nil
	}
	return json.Marshal(append([]operation{testUID(after)}, ops...))
}

// writersOf sorts the entries of managedFields: the repairer's, the deployer's, and those of others.
func (o *ObjectPlan) writersOf(object map[string]any) (ours, deployers, others []writer) {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for i, v := range entries {
		entry, _ := v.(map[string]any)
		subresource, _ := entry["subresource"].(string)
		switch {
		case subresource != "":
			others = append(others, writer{i, entry})
		case entry["manager"] == repairer && entry["operation"] == "Update":
			ours = append(ours, writer{i, entry})
		case entry["manager"] == o.Deployer && entry["operation"] == "Apply":
			deployers = append(deployers, writer{i, entry})
		default:
			others = append(others, writer{i, entry})
		}
	}
	return ours, deployers, others
}

// canHandOver says why the ownership of an object could not be handed over; nil where it can. A plan asks before it writes values
// that would stay the repairer's.
func (o *ObjectPlan) canHandOver(live map[string]any) error {
	if _, err := o.source.Applied(); err != nil {
		return err
	}
	_, deployers, _ := o.writersOf(live)
	if len(deployers) > 1 || len(deployers) == 1 && deployers[0].raw["apiVersion"] != o.Ref.APIVersion() {
		return fmt.Errorf("%s owns fields of it at another version than %s", o.Deployer, o.Ref.APIVersion())
	}
	return nil
}

// takenOver are the planned fields whose value is as old has it, and on which an apply conflicts with their owners.
func (o *ObjectPlan) takenOver(after map[string]any) *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, f := range o.source.Findings(after) {
		planned := slices.ContainsFunc(o.Changes, func(c Change) bool { return leads(c.Path, f.Path) })
		if planned && f.Drifted() && o.isOwnership(f, after) {
			out = out.Union(o.source.AppliedAt(f.Path))
		}
	}
	return out
}

// handOver is the ownership patch of one object.
type handOver struct {
	plan *ObjectPlan
	// ours, deployers and others are the entries of managedFields.
	ours, deployers, others []writer
	// given are fields that the deployer gets beside those that the repairer owns, and taken those of them that others lose.
	given, taken *fieldpath.Set
}

// operations give the deployer what is its own; there is none where it has all that.
func (h *handOver) operations() ([]operation, error) {
	owned, err := h.plan.source.Applied()
	if err != nil {
		return nil, err
	}
	for _, w := range h.ours {
		fields, err := w.fields()
		if err != nil {
			return nil, err
		}
		h.given = h.given.Union(fields.Intersection(owned))
	}
	ops, gone, err := h.take()
	if err != nil {
		return nil, err
	}
	more, err := h.give()
	if err != nil || len(gone)+len(ops)+len(more) == 0 {
		return nil, err
	}
	var tests []operation
	for _, w := range slices.Concat(h.ours, h.deployers, h.losers()) {
		tests = append(tests, w.tests()...)
	}
	ops = slices.Concat(tests, ops, more)
	slices.SortFunc(gone, func(a, b writer) int { return b.index - a.index }) // each removal moves those after it
	for _, w := range gone {
		ops = append(ops, operation{Op: "remove", Path: w.at()})
	}
	return ops, nil
}

// losers are the others who own something that is taken.
func (h *handOver) losers() []writer {
	var out []writer
	for _, w := range h.others {
		if fields, err := w.fields(); err == nil && !fields.Intersection(h.taken).Empty() {
			out = append(out, w)
		}
	}
	return out
}

// take takes fields from the others, and returns the entries that go: ours, and those that have nothing left.
func (h *handOver) take() (ops []operation, gone []writer, err error) {
	gone = slices.Clone(h.ours)
	for _, w := range h.losers() {
		fields, err := w.fields()
		if err != nil {
			return nil, nil, err
		}
		rest := fields.Difference(h.taken)
		if rest.Empty() {
			gone = append(gone, w)
			continue
		}
		value, err := fieldsOf(rest)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, operation{"replace", w.at("fieldsV1"), value})
	}
	return ops, gone, nil
}

// absences are the places of which the deployer owned that nothing stands there, such as an empty text that the API leaves out, and
// where nothing stands again. Nobody who takes something away owns its place.
func (o *ObjectPlan) absences() *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, c := range o.Changes {
		if c.To == nil && c.finding.Managed {
			out = out.Union(o.source.AppliedAt(c.Path))
		}
	}
	return out
}

// give adds the given fields to the deployer's entry, or makes one.
func (h *handOver) give() ([]operation, error) {
	if h.given.Empty() {
		return nil, nil
	}
	if len(h.deployers) == 0 {
		return h.plan.newWriter(h.given, slices.Concat(h.ours, h.others)[0])
	}
	own := h.deployers[0]
	fields, err := own.fields()
	if err != nil {
		return nil, err
	}
	union := fields.Union(h.given)
	if union.Equals(fields) {
		return nil, nil
	}
	value, err := fieldsOf(union)
	return []operation{{"replace", own.at("fieldsV1"), value}}, err
}

// newWriter adds an entry of the deployer's at the end, for an object that has none.
func (o *ObjectPlan) newWriter(given *fieldpath.Set, like writer) ([]operation, error) {
	value, err := fieldsOf(given)
	entry := maps.Clone(like.raw)
	delete(entry, "subresource")
	maps.Copy(entry, map[string]any{"manager": o.Deployer, "operation": "Apply", "apiVersion": o.Ref.APIVersion(), "fieldsV1": value})
	return []operation{{"add", managedFields + "/-", entry}}, err
}

// at is the pointer to an entry, or to one field of it.
func (w writer) at(field ...string) string {
	out := managedFields + "/" + strconv.Itoa(w.index)
	for _, name := range field {
		out += "/" + name
	}
	return out
}

// tests pins an entry to what it was.
func (w writer) tests() []operation {
	var out []operation
	for _, name := range []string{"manager", "operation", "fieldsV1"} {
		out = append(out, operation{"test", w.at(name), w.raw[name]})
	}
	return out
}

var errFields = errors.New("an entry of its managedFields cannot be read")

// fields returns the fields that the entry owns.
func (w writer) fields() (*fieldpath.Set, error) {
	set, ok := owners.OwnedFields(w.raw)
	if !ok {
		return nil, errFields
	}
	return set, nil
}

// fieldsOf writes fields as managedFields have them.
func fieldsOf(set *fieldpath.Set) (any, error) {
	text, err := set.ToJSON()
	if err != nil {
		return nil, errFields
	}
	return json.RawMessage(text), nil
}
