package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const managedFields = "/metadata/managedFields"

// writer is one entry of managedFields.
type writer struct {
	index int
	raw   map[string]any
}

// HandOver makes the JSON patch that gives the deployer what the repair wrote, on managedFields alone: what the repairer's entries and an
// apply of old's manifest have in common becomes part of the deployer's entry, and the repairer's entries go. Without it, the next upgrade
// that changes one of the fields would conflict with the repair. The patch is nil where there is nothing to hand over.
func (o *ObjectPlan) HandOver(after map[string]any) ([]byte, error) {
	if !o.ServerSide || o.source == nil {
		return nil, nil
	}
	if gone := o.movedObject(after); gone != nil {
		return nil, gone
	}
	ours, deployers := o.writersOf(after)
	given := o.absences()
	if len(ours) == 0 && (len(deployers) == 0 || given.Empty()) {
		return nil, nil
	}
	err := o.canHandOver(after)
	var ops []operation
	if err == nil {
		ops, err = o.handOver(given, ours, deployers)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the ownership of %s cannot be handed over: %w", o.Ref.Key, err)
	case len(ops) == 0:
		return nil, nil
	}
	return json.Marshal(append([]operation{testUID(after)}, ops...))
}

// writersOf picks the repairer's entries out of managedFields, and the deployer's.
func (o *ObjectPlan) writersOf(object map[string]any) (ours, deployers []writer) {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for i, v := range entries {
		entry, _ := v.(map[string]any)
		subresource, _ := entry["subresource"].(string)
		switch {
		case subresource != "":
		case entry["manager"] == repairer && entry["operation"] == "Update":
			ours = append(ours, writer{i, entry})
		case entry["manager"] == o.Deployer && entry["operation"] == "Apply":
			deployers = append(deployers, writer{i, entry})
		}
	}
	return ours, deployers
}

// canHandOver says why the ownership of an object could not be handed over; nil where it can. A plan asks before it writes values
// that would stay the repairer's.
func (o *ObjectPlan) canHandOver(live map[string]any) error {
	if _, err := o.source.Applied(); err != nil {
		return err
	}
	_, deployers := o.writersOf(live)
	if len(deployers) > 1 || len(deployers) == 1 && deployers[0].raw["apiVersion"] != o.Ref.APIVersion() {
		return fmt.Errorf("%s owns fields of it at another version than %s", o.Deployer, o.Ref.APIVersion())
	}
	return nil
}

// handOver gives the deployer some fields beside those that the repairer owns; no operation where it has them.
func (o *ObjectPlan) handOver(given *fieldpath.Set, ours, deployers []writer) ([]operation, error) {
	owned, err := o.source.Applied()
	if err != nil {
		return nil, err
	}
	var ops []operation
	for _, w := range append(append([]writer{}, ours...), deployers...) {
		ops = append(ops, w.tests()...)
	}
	for _, w := range ours {
		fields, err := w.fields()
		if err != nil {
			return nil, err
		}
		given = given.Union(fields.Intersection(owned))
	}
	more, err := o.give(given, ours, deployers)
	if err != nil {
		return nil, err
	}
	if len(ours)+len(more) == 0 {
		return nil, nil
	}
	ops = append(ops, more...)
	// From the last to the first: each removal moves those after it.
	for i := len(ours) - 1; i >= 0; i-- {
		ops = append(ops, operation{Op: "remove", Path: ours[i].at()})
	}
	return ops, nil
}

// absences are the places of which the deployer owned that nothing stands there, such as an empty text that the API leaves out, and where nothing
// stands again. Nobody who takes something away owns its place.
func (o *ObjectPlan) absences() *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, c := range o.Changes {
		if c.To == nil && c.finding.Managed {
			out = out.Union(o.source.AppliedAt(c.Path))
		}
	}
	return out
}

// give adds fields to the deployer's entry, or makes one.
func (o *ObjectPlan) give(given *fieldpath.Set, ours, deployers []writer) ([]operation, error) {
	if given.Empty() {
		return nil, nil
	}
	if len(deployers) == 0 {
		return o.newWriter(given, ours[0])
	}
	own := deployers[0]
	fields, err := own.fields()
	if err != nil {
		return nil, err
	}
	union := fields.Union(given)
	if union.Equals(fields) {
		return nil, nil
	}
	value, err := fieldsOf(union)
	return []operation{{"replace", own.at("fieldsV1"), value}}, err
}

// newWriter adds an entry of the deployer's at the end, for an object that has none.
func (o *ObjectPlan) newWriter(given *fieldpath.Set, ours writer) ([]operation, error) {
	value, err := fieldsOf(given)
	entry := maps.Clone(ours.raw)
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

// fields are what the entry owns.
func (w writer) fields() (*fieldpath.Set, error) {
	text, err := json.Marshal(w.raw["fieldsV1"])
	if err != nil {
		return nil, errFields
	}
	set := &fieldpath.Set{}
	if set.FromJSON(bytes.NewReader(text)) != nil {
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
