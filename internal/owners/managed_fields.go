package owners

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Entry is one entry of managedFields: what one manager owns.
type Entry struct {
	report.Owner
	// Index is the index of the entry in managedFields.
	Index int
	// Version is the API version that the manager wrote.
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

// RawEntries returns the entries of an object's managedFields as the API server wrote them. An element that is not a map is nil.
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
	stamp, _ := raw["time"].(string)
	if t, err := time.Parse(time.RFC3339, stamp); err == nil {
		out.Time = &t
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

// ownsAny reports whether a raw entry of managedFields has any field.
func ownsAny(raw map[string]any) bool {
	fields, _ := raw["fieldsV1"].(map[string]any)
	for name := range fields {
		if strings.HasPrefix(name, fieldPrefix) {
			return true
		}
	}
	return false
}

// names reports whether a raw entry of managedFields has the field with a path of names, or anything below it.
func names(raw map[string]any, path ...string) bool {
	fields, found := raw["fieldsV1"].(map[string]any)
	for _, name := range path {
		var below any
		if below, found = fields[fieldPrefix+name]; !found {
			return false
		}
		fields, _ = below.(map[string]any)
	}
	return found
}

// fieldPrefix begins the name of a field in fieldsV1 (structured-merge-diff v6 fieldpath/serialize-pe.go peField, peSeparator).
const fieldPrefix = "f:"

// FieldsV1 encodes a set as an entry of managedFields has it. It is the inverse of Fields.
func FieldsV1(set *fieldpath.Set) (json.RawMessage, error) {
	text, err := set.ToJSON()
	if err != nil {
		return nil, errFields
	}
	return text, nil
}

// addFields adds to a set what fieldsV1 names, as FromJSON of fieldpath.Set does with its text. It returns false if fieldsV1 cannot be
// decoded. A field with nothing below it, or with a dot below it, is itself owned. Elements of an unknown kind are left out.
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

// OwnsWithin reports whether a set has the path or anything below it.
func OwnsWithin(s *fieldpath.Set, path object.Path) bool {
	return s.Has(FieldPath(path)) || OwnsBelow(s, path)
}

// OwnsBelow reports whether a set has anything below the path.
func OwnsBelow(s *fieldpath.Set, path object.Path) bool {
	for _, element := range FieldPath(path) {
		s = s.WithPrefix(element)
	}
	return !s.Empty()
}

// OwnsWhole reports whether a set has the path and nothing below it: the manager owns the value as a whole.
func OwnsWhole(s *fieldpath.Set, path object.Path) bool {
	return s.Has(FieldPath(path)) && !OwnsBelow(s, path)
}

// OwnsAround reports whether a set has, as a whole, a value that contains the path.
func OwnsAround(s *fieldpath.Set, path object.Path) bool {
	for n := len(path) - 1; n > 0; n-- {
		if OwnsWhole(s, path[:n]) {
			return true
		}
	}
	return false
}

// FieldPath returns a path as managedFields have it. They do not name list items by index, so the path ends before such an item.
func FieldPath(path object.Path) fieldpath.Path {
	var out fieldpath.Path
	for _, s := range path {
		switch s.Form {
		case object.FieldStep:
			out = append(out, fieldpath.PathElement{FieldName: &s.Name})
		case object.KeyStep:
			out = append(out, fieldpath.PathElement{Key: keyFields(s.Keys)})
		case object.SetStep:
			v := value.NewValueInterface(s.Value)
			out = append(out, fieldpath.PathElement{Value: &v})
		case object.IndexStep:
			return out
		}
	}
	return out
}

func keyFields(keys []object.ListKey) *value.FieldList {
	list := make(value.FieldList, len(keys))
	for i, k := range keys {
		list[i] = value.Field{Name: k.Name, Value: value.NewValueInterface(k.Value)}
	}
	list.Sort()
	return &list
}
