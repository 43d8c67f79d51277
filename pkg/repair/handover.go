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

// HandOver makes the JSON patch that gives helm what the repair wrote, on managedFields alone: what the repairer's entries and an
// apply of old's manifest have in common becomes part of helm's entry, and the repairer's entries go. Without it, the next upgrade
// that changes one of the fields would conflict with the repair. The patch is nil where there is nothing to hand over.
func (o *ObjectPlan) HandOver(after map[string]any) ([]byte, error) {
	if !o.ServerSide || o.source == nil {
		return nil, nil
	}
	if gone := o.movedObject(after); gone != nil {
		return nil, gone
	}
	ours, helms := writersOf(after)
	given := o.absences()
	if len(ours) == 0 && (len(helms) == 0 || given.Empty()) {
		return nil, nil
	}
	err := o.canHandOver(after)
	var ops []operation
	if err == nil {
		ops, err = o.handOver(given, ours, helms)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the ownership of %s cannot be handed over: %w", o.Ref.Key, err)
	case len(ops) == 0:
		return nil, nil
	}
	return json.Marshal(append([]operation{testUID(after)}, ops...))
}

// writersOf picks the repairer's entries out of managedFields, and helm's.
func writersOf(object map[string]any) (ours, helms []writer) {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for i, v := range entries {
		entry, _ := v.(map[string]any)
		subresource, _ := entry["subresource"].(string)
		switch {
		case subresource != "":
		case entry["manager"] == repairer && entry["operation"] == "Update":
			ours = append(ours, writer{i, entry})
		case entry["manager"] == deployer && entry["operation"] == "Apply":
			helms = append(helms, writer{i, entry})
		}
	}
	return ours, helms
}

// canHandOver says why the ownership of an object could not be handed over; nil where it can. A plan asks before it writes values
// that would stay the repairer's.
func (o *ObjectPlan) canHandOver(live map[string]any) error {
	if _, err := o.source.Applied(); err != nil {
		return err
	}
	_, helms := writersOf(live)
	if len(helms) > 1 || len(helms) == 1 && helms[0].raw["apiVersion"] != o.Ref.APIVersion() {
		return fmt.Errorf("helm owns fields of it at another version than %s", o.Ref.APIVersion())
	}
	return nil
}

// handOver gives helm some fields beside those that the repairer owns; no operation where it has them.
func (o *ObjectPlan) handOver(given *fieldpath.Set, ours, helms []writer) ([]operation, error) {
	owned, err := o.source.Applied()
	if err != nil {
		return nil, err
	}
	var ops []operation
	for _, w := range append(append([]writer{}, ours...), helms...) {
		ops = append(ops, w.tests()...)
	}
	for _, w := range ours {
		fields, err := w.fields()
		if err != nil {
			return nil, err
		}
		given = given.Union(fields.Intersection(owned))
	}
	more, err := o.give(given, ours, helms)
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

// absences are the places of which helm owned that nothing stands there, such as an empty text that the API leaves out, and where nothing
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

// give adds fields to helm's entry, or makes one.
func (o *ObjectPlan) give(given *fieldpath.Set, ours, helms []writer) ([]operation, error) {
	if given.Empty() {
		return nil, nil
	}
	if len(helms) == 0 {
		return newWriter(given, ours[0], o.Ref.APIVersion())
	}
	helm := helms[0]
	fields, err := helm.fields()
	if err != nil {
		return nil, err
	}
	union := fields.Union(given)
	if union.Equals(fields) {
		return nil, nil
	}
	value, err := fieldsOf(union)
	return []operation{{"replace", helm.at("fieldsV1"), value}}, err
}

// newWriter adds an entry of helm's at the end, for an object that has none.
func newWriter(given *fieldpath.Set, ours writer, apiVersion string) ([]operation, error) {
	value, err := fieldsOf(given)
	entry := maps.Clone(ours.raw)
	maps.Copy(entry, map[string]any{"manager": deployer, "operation": "Apply", "apiVersion": apiVersion, "fieldsV1": value})
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
