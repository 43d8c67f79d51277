package object

import "strconv"

// Lookup returns the value at the path in root, or false if root lacks it. If several items have the name, the value is the list of them.
func (p Path) Lookup(root any) (any, bool) {
	node := root
	for _, s := range p {
		_, next, ok := s.Find(node)
		if !ok {
			return nil, false
		}
		node = next
	}
	return node, true
}

// Find returns the value that the step leads to from node, and the token of the step in a JSON pointer. If several items of a list have
// the name, the token names the first, and the value is the list of all.
func (s Step) Find(node any) (token string, next any, ok bool) {
	if s.Form == FieldStep {
		m, isMap := node.(map[string]any)
		if !isMap {
			return "", nil, false
		}
		next, ok = m[s.Name]
		return s.Name, next, ok
	}
	list, _ := node.([]any)
	indexes := s.Indexes(list)
	if len(indexes) == 0 {
		return "", nil, false
	}
	return strconv.Itoa(indexes[0]), OneOrList(Pick(list, indexes)), true
}

// Indexes returns the indexes of the items that the step names. There may be several: in lists of native kinds, the API server accepts
// items with the same name, such as two environment variables.
func (s Step) Indexes(list []any) []int {
	var out []int
	for i, item := range list {
		if s.Matches(i, item) {
			out = append(out, i)
		}
	}
	return out
}

// Matches reports whether the step names the item at index i of its list.
func (s Step) Matches(i int, item any) bool {
	switch s.Form {
	case IndexStep:
		return i == s.Index
	case SetStep:
		return IsScalar(item) && item == s.Value
	case KeyStep:
		m, ok := item.(map[string]any)
		if !ok {
			return false
		}
		for _, k := range s.Keys {
			if v := m[k.Name]; !IsScalar(v) || v != k.Value { // no closure, because long lists take their time here
				return false
			}
		}
		return true
	case FieldStep:
	}
	return false
}

// Pick returns the items of a list at the indexes, without those beyond its end.
func Pick(list []any, indexes []int) []any {
	var out []any
	for _, i := range indexes {
		if i < len(list) {
			out = append(out, list[i])
		}
	}
	return out
}

// OneOrList returns the value of the items with the same name: the item if there is one, or else the list of them.
func OneOrList(items []any) any {
	switch len(items) {
	case 0:
		return nil
	case 1:
		return items[0]
	}
	return items
}
