package repair

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// managedFields is the pointer to the API server's record of the writers of an object. Clients may write it.
const managedFields = "/metadata/managedFields"

// HandOver returns the JSON patch that hands the deployer what the repair wrote. It changes only managedFields: the fields that both the
// repairer's entries and an apply of old's manifest have become part of the deployer's entry, and the repairer's entries are removed.
// Otherwise the next upgrade that changes one of the fields would conflict with the repair. The patch is nil if there is nothing to hand
// over.
func (o *ObjectPlan) HandOver(after map[string]any) ([]byte, error) {
	if !o.ServerSide || o.source == nil {
		return nil, nil
	}
	if stale := o.staleObject(after); stale != nil {
		return nil, stale
	}
	h := handOver{plan: o, entries: o.entriesOf(after), taken: o.contested(after)}
	if len(h.losers()) == 0 {
		h.taken = &fieldpath.Set{}
	}
	h.granted = o.absentFields().Union(h.taken)
	if len(h.ours) == 0 && h.taken.Empty() && (len(h.deployers) == 0 || h.granted.Empty()) {
		return nil, nil
	}
	ops, err := h.operations()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the ownership of %s cannot be handed over: %w", o.Ref.Key, err)
	case len(ops) == 0:
		return nil, nil
	}
	return json.Marshal(slices.Concat([]operation{testUID(after)}, o.testOwner(after), ops))
}

// entry is one entry of managedFields. A patch changes it in place, so it keeps its index and its raw form.
type entry struct {
	index  int
	raw    map[string]any
	owner  report.Owner
	fields *fieldpath.Set
	// err is set if the fields cannot be read.
	err error
}

// entries are managedFields by writer: the repairer's updates, the deployer's applies, and all others.
type entries struct{ ours, deployers, others []entry }

// entriesOf sorts managedFields by writer. A manager has separate entries for a subresource, such as scale. They stay, because a repair
// writes no subresource.
func (o *ObjectPlan) entriesOf(live map[string]any) (out entries) {
	for _, e := range readEntries(live) {
		switch by := e.owner; {
		case by.Subresource != "":
			out.others = append(out.others, e)
		case by.Manager == owners.Repairer && by.Operation == "Update":
			out.ours = append(out.ours, e)
		case by.Manager == o.Deployer && by.Operation == "Apply":
			out.deployers = append(out.deployers, e)
		default:
			out.others = append(out.others, e)
		}
	}
	return out
}

// readEntries decodes the managedFields of an object.
func readEntries(live map[string]any) (out []entry) {
	for i, raw := range owners.RawEntries(live) {
		e := entry{index: i, raw: raw, owner: owners.OwnerOf(raw)}
		e.fields, e.err = owners.Fields(raw)
		out = append(out, e)
	}
	return out
}

// holders returns the entries that own some of the fields.
func holders(all []entry, fields *fieldpath.Set) []entry {
	return object.Filter(all, func(e entry) bool { return e.err == nil && !e.fields.Intersection(fields).Empty() })
}

// contested returns the planned fields that have old's value although an apply conflicts with another owner of them.
func (o *ObjectPlan) contested(after map[string]any) *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, f := range o.source.Findings(after) {
		planned := slices.ContainsFunc(o.Changes, func(c Change) bool { return f.Path.HasPrefix(c.Path) })
		if planned && f.Drifted() && o.isOwnership(f, after) {
			out = out.Union(o.source.AppliedAt(f.Path))
		}
	}
	return out
}

// absentFields returns the fields that the deployer owned although live lacks them, such as an empty string that the API leaves out. The
// patch of values has removed them again, and a writer that removes a field does not own it.
func (o *ObjectPlan) absentFields() *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, c := range o.Changes {
		if c.To == nil && c.finding.Managed {
			out = out.Union(o.source.AppliedAt(c.Path))
		}
	}
	return out
}

// handOver is the ownership patch of one object. It moves fields between entries and never writes an object's values, so the API server
// changes nothing else.
type handOver struct {
	plan *ObjectPlan
	entries
	// granted are the fields that the deployer's entry gets. taken are those among them that others lose.
	granted, taken *fieldpath.Set
}

// applied returns the fields that an apply of old owns, or an error if the ownership of the object cannot be handed over. New asks for it
// before it plans values, because the repairer would keep them.
func (h *handOver) applied() (*fieldpath.Set, error) {
	owned, err := h.plan.source.Applied()
	if err != nil {
		return nil, err
	}
	version := h.plan.Ref.APIVersion()
	if len(h.deployers) > 1 || len(h.deployers) == 1 && h.deployers[0].raw["apiVersion"] != version {
		return nil, fmt.Errorf("%s owns fields of it at another version than %s", h.plan.Deployer, version)
	}
	return owned, nil
}

// losers returns the other entries that own something that is taken.
func (h *handOver) losers() []entry { return holders(h.others, h.taken) }

// operations returns the tests of every entry to change, followed by the changes. It returns nothing if the deployer already owns
// everything that it should.
func (h *handOver) operations() ([]operation, error) {
	owned, err := h.applied()
	if err != nil {
		return nil, err
	}
	for _, e := range h.ours {
		if e.err != nil {
			return nil, e.err
		}
		h.granted = h.granted.Union(e.fields.Intersection(owned))
	}
	ops, gone, err := h.take()
	if err != nil {
		return nil, err
	}
	more, err := h.grant()
	if err != nil || len(gone)+len(ops)+len(more) == 0 {
		return nil, err
	}
	var tests []operation
	for _, e := range slices.Concat(h.ours, h.deployers, h.losers()) {
		tests = append(tests, e.tests()...)
	}
	ops = slices.Concat(tests, ops, more)
	order.Sort(gone, func(a, b entry) int { return b.index - a.index }) // each removal shifts the entries after it
	for _, e := range gone {
		ops = append(ops, operation{Op: "remove", Path: e.pointer()})
	}
	return ops, nil
}

// take takes fields from the others. It returns the entries to remove: the repairer's, and those with nothing left.
func (h *handOver) take() (ops []operation, gone []entry, err error) {
	gone = slices.Clone(h.ours)
	for _, e := range h.losers() {
		rest := e.fields.Difference(h.taken)
		if rest.Empty() {
			gone = append(gone, e)
			continue
		}
		value, err := owners.FieldsV1(rest)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, operation{"replace", e.pointer() + "/fieldsV1", value})
	}
	return ops, gone, nil
}

// grant adds the granted fields to the deployer's entry, or adds an entry.
func (h *handOver) grant() ([]operation, error) {
	if h.granted.Empty() {
		return nil, nil
	}
	if len(h.deployers) == 0 {
		return h.plan.newEntry(h.granted, slices.Concat(h.ours, h.others)[0])
	}
	own := h.deployers[0]
	if own.err != nil {
		return nil, own.err
	}
	union := own.fields.Union(h.granted)
	if union.Equals(own.fields) {
		return nil, nil
	}
	value, err := owners.FieldsV1(union)
	return []operation{{"replace", own.pointer() + "/fieldsV1", value}}, err
}

// newEntry appends an entry for the deployer. It copies the fields that all entries have, such as the time, from another entry.
func (o *ObjectPlan) newEntry(granted *fieldpath.Set, like entry) ([]operation, error) {
	value, err := owners.FieldsV1(granted)
	raw := maps.Clone(like.raw)
	delete(raw, "subresource")
	maps.Copy(raw, map[string]any{"manager": o.Deployer, "operation": "Apply", "apiVersion": o.Ref.APIVersion(), "fieldsV1": value})
	return []operation{{"add", managedFields + "/-", raw}}, err
}

// pointer returns the JSON pointer to the entry.
func (e entry) pointer() string { return managedFields + "/" + strconv.Itoa(e.index) }

// tests returns tests that identify the entry: an index alone does not, because other writers add and remove entries.
func (e entry) tests() []operation {
	var out []operation
	for _, name := range []string{"manager", "operation", "fieldsV1"} {
		out = append(out, operation{"test", e.pointer() + "/" + name, e.raw[name]})
	}
	return out
}
