package owners

import (
	"encoding/json"
	"errors"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/helmdrift/helmdrift/pkg/object"
)

var errFields = errors.New("an entry of its managedFields cannot be read")

// Fields returns the fields that a raw entry of managedFields owns. An entry without fieldsV1 owns none.
func Fields(raw map[string]any) (*fieldpath.Set, error) {
	fields, isMap := raw["fieldsV1"].(map[string]any)
	set := &fieldpath.Set{}
	if !isMap && raw["fieldsV1"] != nil || !Fill(set, fields) {
		return nil, errFields
	}
	return set, nil
}

// FieldsV1 writes a set as an entry of managedFields has it. It is the inverse of Fields.
func FieldsV1(set *fieldpath.Set) (json.RawMessage, error) {
	text, err := set.ToJSON()
	if err != nil {
		return nil, errFields
	}
	return text, nil
}

// Fill adds to a set what fieldsV1 name, as fieldpath.Set's FromJSON does with their text; false where they are not understood. A field
// that has nothing below it, or a dot, is owned itself. Elements of a kind that is not known yet are left out.
func Fill(set *fieldpath.Set, fields map[string]any) bool {
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
		if !Fill(children, below) {
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

// OwnsWithin reports whether a set has the path or anything below it.
func OwnsWithin(s *fieldpath.Set, path object.Path) bool {
	target := FieldPath(path)
	return s.Has(target) || !below(s, target).Empty()
}

// OwnsWhole reports whether a set has the path and nothing below it: an atomic value.
func OwnsWhole(s *fieldpath.Set, path object.Path) bool {
	target := FieldPath(path)
	return s.Has(target) && below(s, target).Empty()
}

// OwnsAround reports whether a set has what holds the path as one value.
func OwnsAround(s *fieldpath.Set, path object.Path) bool {
	for n := len(path) - 1; n > 0; n-- {
		if OwnsWhole(s, path[:n]) {
			return true
		}
	}
	return false
}

// OwnsBelow reports whether a set has something below the path.
func OwnsBelow(s *fieldpath.Set, path object.Path) bool { return !below(s, FieldPath(path)).Empty() }

func below(s *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	for _, element := range path {
		s = s.WithPrefix(element)
	}
	return s
}

// FieldPath translates a Path into structured-merge-diff's. An index names nothing there, so the path ends before it.
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
