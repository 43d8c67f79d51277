package owners

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/helmdrift/helmdrift/pkg/object"
)

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

// OwnsAround reports whether a set has a value as a whole that holds the path.
func OwnsAround(s *fieldpath.Set, path object.Path) bool {
	for n := len(path) - 1; n > 0; n-- {
		if OwnsWhole(s, path[:n]) {
			return true
		}
	}
	return false
}

// FieldPath returns a path as managedFields have it. They name no list item by its index, so the path ends before one.
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
