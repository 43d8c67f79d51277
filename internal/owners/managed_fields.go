package owners

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Entry is one entry of managedFields: what one manager owns.
type Entry struct {
	report.Owner
	// Index is the index of the entry in managedFields.
	Index int
	// Version is the API version at which the manager wrote.
	Version string
	Fields  *fieldpath.Set
}

// Entries returns the managedFields of an object. It leaves out entries that own nothing or cannot be decoded. Known are names of managers
// in addition to the built-in ones.
func Entries(live map[string]any, known Managers) []Entry {
	var out []Entry
	for i, raw := range RawEntries(live) {
		fields, err := Fields(raw)
		if err != nil || fields.Empty() {
			continue
		}
		entry := Entry{Owner: OwnerOf(raw), Index: i, Fields: fields}
		entry.Version, _ = raw["apiVersion"].(string)
		entry.Group = known.groupOf(entry.Manager)
		out = append(out, entry)
	}
	return out
}

// RawEntries returns the entries of an object's managedFields as the API server wrote them. An element that is no map is nil.
func RawEntries(live map[string]any) []map[string]any {
	managed, _ := object.Child(live, "metadata")["managedFields"].([]any)
	out := make([]map[string]any, len(managed))
	for i := range managed {
		out[i], _ = managed[i].(map[string]any)
	}
	return out
}

// OwnerOf returns the writer that a raw entry of managedFields names, without its group.
func OwnerOf(raw map[string]any) report.Owner {
	var out report.Owner
	out.Manager, _ = raw["manager"].(string)
	out.Operation, _ = raw["operation"].(string)
	out.Subresource, _ = raw["subresource"].(string)
	if stamp, ok := raw["time"].(string); ok {
		if t, err := time.Parse(time.RFC3339, stamp); err == nil {
			out.Time = &t
		}
	}
	return out
}

var errFields = errors.New("an entry of its managedFields cannot be read")

// Fields returns the fields that a raw entry of managedFields owns. An entry without fieldsV1 owns none.
func Fields(raw map[string]any) (*fieldpath.Set, error) {
	fields, isMap := raw["fieldsV1"].(map[string]any)
	set := &fieldpath.Set{}
	if !isMap && raw["fieldsV1"] != nil || !addFields(set, fields) {
		return nil, errFields
	}
	return set, nil
}

// FieldsV1 encodes a set as an entry of managedFields has it. It is the inverse of Fields.
func FieldsV1(set *fieldpath.Set) (json.RawMessage, error) {
	text, err := set.ToJSON()
	if err != nil {
		return nil, errFields
	}
	return text, nil
}

// addFields adds to a set what fieldsV1 names, as FromJSON of fieldpath.Set does with the text of it; false if it cannot be decoded. A
// field with nothing below it, or with a dot below it, is owned itself. Elements of an unknown kind are left out.
func addFields(set *fieldpath.Set, fields map[string]any) bool {
	for _, name := range object.SortedKeys(fields) {
		if name == "." {
			continue
		}
		element, err := fieldpath.DeserializePathElement(name)
		if errors.Is(err, fieldpath.ErrUnknownPathElementType) {
			continue
		}
		below, ok := fields[name].(map[string]any)
		if err != nil || !ok && fields[name] != nil {
			return false
		}
		children := &fieldpath.Set{}
		if !addFields(children, below) {
			return false
		}
		_, itself := below["."]
		if leaf := children.Empty(); leaf || itself {
			set.Members.Insert(element)
		}
		if !children.Empty() {
			*set.Children.Descend(element) = *children
		}
	}
	return true
}

// namesPerson reports whether managedFields name a person's tool. It decodes no fields.
func namesPerson(live map[string]any, known Managers) bool {
	return slices.ContainsFunc(RawEntries(live), func(raw map[string]any) bool {
		manager, _ := raw["manager"].(string)
		return known.groupOf(manager) == report.ManagerPerson
	})
}
