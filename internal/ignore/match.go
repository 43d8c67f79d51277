package ignore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// covers reports whether the pattern names the path or something above it. List items are looked up in the states of the object, live
// first.
func (p Pattern) covers(path object.Path, states []any) bool {
	if len(path) < len(p.Tokens) {
		return false
	}
	for i, t := range p.Tokens {
		if !t.matchesStep(path[i], valuesAt(path[:i], states)) {
			return false
		}
	}
	return true
}

// reachesInto reports whether the pattern names something below the path.
func (p Pattern) reachesInto(path object.Path, states []any) bool {
	return len(path) < len(p.Tokens) && Pattern{Tokens: p.Tokens[:len(path)]}.covers(path, states)
}

// valuesAt returns the values at a path in the states that have it.
func valuesAt(path object.Path, states []any) []any {
	var out []any
	for _, state := range states {
		if v, ok := path.Lookup(state); ok {
			out = append(out, v)
		}
	}
	return out
}

// matchesStep reports whether the token names a step from one of the holders. The holders are the values of the states before that step.
func (t Token) matchesStep(step object.Step, holders []any) bool {
	switch {
	case step.Form == object.FieldStep:
		return t.matchesField(step.Name)
	case t.Form == TokenAny:
		return true
	case t.Form == TokenKeys:
		return slices.ContainsFunc(holders, func(holder any) bool { return t.matchesItemIn(step, holder) })
	}
	isMember := step.Form == object.SetStep && t.matchesMember(step.Value)
	return isMember || t.Form == TokenIndex && t.matchesIndex(step, holders)
}

// matchesIndex reports whether the step's item is at the token's index in the first list: live's list, or the list of the next side if
// live has none.
func (t Token) matchesIndex(step object.Step, holders []any) bool {
	// Without a list to look in, only a step that is an index can be at the index.
	if len(holders) == 0 {
		return step.Form == object.IndexStep && step.Index == t.Index
	}
	list, _ := holders[0].([]any)
	return t.Index < len(list) && step.Matches(t.Index, list[t.Index])
}

// matchesItemIn reports whether a list has the step's item, with the keys of the token.
func (t Token) matchesItemIn(step object.Step, holder any) bool {
	list, _ := holder.([]any)
	for i, item := range list {
		if step.Matches(i, item) && t.matchesKeys(item) {
			return true
		}
	}
	return false
}

// matchesKeys reports whether an item has the keys of the token.
func (t Token) matchesKeys(item any) bool {
	m, _ := item.(map[string]any)
	return m != nil && !slices.ContainsFunc(t.Keys, func(k TokenKey) bool {
		v, has := m[k.Name]
		return !has || !k.Matches(v)
	})
}

// Matches reports whether a value is the one of the key.
func (k TokenKey) Matches(v any) bool {
	text := fmt.Sprint(v)
	return object.IsScalar(v) && (text == k.Value || !k.exact && object.MatchName(k.Value, text))
}

// matchesField reports whether the token names a field or a key of a map.
func (t Token) matchesField(name string) bool {
	switch {
	case t.Form == TokenAny, t.Form == TokenKeys:
		return t.Form == TokenAny
	case t.isLiteral:
		return t.Name == name
	}
	return object.MatchName(t.Name, name)
}

// matchesItem reports whether the token names the item at index i of a list.
func (t Token) matchesItem(i int, item any) bool {
	switch t.Form {
	case TokenAny:
		return true
	case TokenKeys:
		return t.matchesKeys(item)
	}
	return t.Form == TokenIndex && t.Index == i || t.matchesMember(item)
}

// matchesMember reports whether the token names a member of a set.
func (t Token) matchesMember(member any) bool {
	return !t.isLiteral && object.IsScalar(member) && object.MatchName(t.Name, fmt.Sprint(member))
}

// exists reports whether a value has a place that the pattern names.
func (p Pattern) exists(v any) bool { return len(findAll(v, p.Tokens)) > 0 }

// findAll returns the values that tokens name in a value.
func findAll(v any, tokens []Token) (out []any) {
	if len(tokens) == 0 {
		return []any{v}
	}
	t, rest := tokens[0], tokens[1:]
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if t.matchesField(name) {
				out = append(out, findAll(v[name], rest)...)
			}
		}
	case []any:
		for i, item := range v {
			if t.matchesItem(i, item) {
				out = append(out, findAll(item, rest)...)
			}
		}
	}
	return out
}

// without returns a copy of a value without what the tokens name. In a list, a null replaces an item, so that the indexes of the
// others stay the same.
func without(v any, tokens []Token) any {
	if len(tokens) == 0 {
		return nil
	}
	t, rest := tokens[0], tokens[1:]
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			if !t.matchesField(name) {
				out[name] = below
			} else if len(rest) > 0 {
				out[name] = without(below, rest)
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, item := range v {
			if t.matchesItem(i, item) {
				out[i] = without(item, rest)
			}
		}
		return out
	}
	return v
}

// fits reports whether an object of the shape can have a place that the pattern names. Below what the shape describes, anything is
// possible.
func (p Pattern) fits(s *kinds.Shape) bool {
	for _, t := range p.Tokens {
		next, ok := shapeOfToken(s, t)
		if !ok {
			return false
		}
		s = next
	}
	return true
}

// shapeOfToken returns the shape of what a token names, or false if there is no such place.
func shapeOfToken(s *kinds.Shape, t Token) (*kinds.Shape, bool) {
	if s == nil {
		return nil, true
	}
	switch s.Form {
	case kinds.FormLeaf:
		return nil, false
	case kinds.FormList:
		return s.Item(), t.Form != TokenName || s.List.Set && !t.isLiteral
	case kinds.FormMap:
		return s.Elem, t.Form != TokenKeys
	case kinds.FormStruct:
		if t.Form == TokenAny || t.Form == TokenKeys || strings.HasSuffix(t.Name, "*") && !t.isLiteral {
			return nil, t.Form != TokenKeys
		}
		return s.Field(t.Name), !s.Prunes(t.Name)
	}
	return nil, true // the shape is kinds.FormPlain
}
