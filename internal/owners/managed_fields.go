package owners

import (
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
	for i, m := range managedFields(live) {
		raw, _ := m.(map[string]any)
		if entry, ok := entryOf(raw); ok {
			entry.Index, entry.Group = i, known.groupOf(entry.Manager)
			out = append(out, entry)
		}
	}
	return out
}

func managedFields(live map[string]any) []any {
	managed, _ := object.Child(live, "metadata")["managedFields"].([]any)
	return managed
}

// entryOf decodes one entry of managedFields; false if it owns nothing or cannot be decoded.
func entryOf(raw map[string]any) (Entry, bool) {
	set, ok := OwnedFields(raw)
	if !ok || set.Empty() {
		return Entry{}, false
	}
	entry := Entry{Fields: set}
	entry.Manager, _ = raw["manager"].(string)
	entry.Operation, _ = raw["operation"].(string)
	entry.Version, _ = raw["apiVersion"].(string)
	entry.Subresource, _ = raw["subresource"].(string)
	if stamp, ok := raw["time"].(string); ok {
		if t, err := time.Parse(time.RFC3339, stamp); err == nil {
			entry.Time = &t
		}
	}
	return entry, true
}

// OwnedFields returns the fields that an entry of managedFields owns; false if they cannot be decoded.
func OwnedFields(entry map[string]any) (*fieldpath.Set, bool) {
	fields, isMap := entry["fieldsV1"].(map[string]any)
	if !isMap && entry["fieldsV1"] != nil {
		return nil, false
	}
	set := &fieldpath.Set{}
	return set, addFields(set, fields)
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
	return slices.ContainsFunc(managedFields(live), func(m any) bool {
		raw, _ := m.(map[string]any)
		manager, _ := raw["manager"].(string)
		return known.groupOf(manager) == report.ManagerPerson
	})
}
