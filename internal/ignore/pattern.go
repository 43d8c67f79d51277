package ignore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Pattern is a place, or several, that an ignore rule names: a JSON pointer (RFC 6901), as Flux writes it, in which
//
//   - * stands for any one field or list item, and a name that ends in * for all that begin so,
//   - [name=web] for the list items that have these fields with these values; several are parted by commas, and a value ends
//     in * where it is a prefix,
//   - a number for the item at that index of live's list,
//   - a name for the field of that name, or for that member of a set.
//
// It covers what it names and everything below. The empty pattern is the whole object.
type Pattern struct {
	text   string
	tokens []token
}

// token is one part of a pattern.
type token struct {
	form tokenForm
	// name is the field; index is what a number says.
	name  string
	index int
	// keys are what an item must have.
	keys []tokenKey
}

type tokenForm int

const (
	tokenName tokenForm = iota
	tokenAny
	tokenIndex
	tokenKeys
)

type tokenKey struct {
	name, value string
	// exact tells that a * at the value's end is one.
	exact bool
}

func (k tokenKey) takes(v any) bool {
	text := fmt.Sprint(v)
	return object.IsScalar(v) && (text == k.value || !k.exact && object.Glob(k.value, text))
}

// ParsePattern reads a pattern.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	if text == "" {
		return p, nil
	}
	if !strings.HasPrefix(text, "/") {
		return p, fmt.Errorf("path %q does not begin with /: paths are JSON pointers, such as /spec/replicas", text)
	}
	for _, part := range splitPattern(text[1:]) {
		t, err := parseToken(part)
		if err != nil {
			return p, fmt.Errorf("path %q: %w", text, err)
		}
		p.tokens = append(p.tokens, t)
	}
	return p, nil
}

// splitPattern splits at slashes outside of brackets: [mountPath=/data] is one token.
func splitPattern(text string) []string {
	var out []string
	start, inside := 0, false
	for i, r := range text {
		switch {
		case r == '[' && i == start:
			inside = true
		case r == ']' && (i+1 == len(text) || text[i+1] == '/'):
			inside = false
		case r == '/' && !inside:
			out, start = append(out, text[start:i]), i+1
		}
	}
	return append(out, text[start:])
}

func parseToken(text string) (token, error) {
	if text == "*" {
		return token{form: tokenAny}, nil
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return token{}, fmt.Errorf("%s has no closing bracket", text)
		}
		return parseKeys(inner)
	}
	for i := range text {
		if text[i] == '~' && !strings.HasPrefix(text[i:], "~0") && !strings.HasPrefix(text[i:], "~1") {
			return token{}, fmt.Errorf("%s: ~ stands before 0 (for ~) or 1 (for /) only", text)
		}
	}
	t := token{name: strings.NewReplacer("~1", "/", "~0", "~").Replace(text)}
	if index, err := strconv.Atoi(text); err == nil && strconv.Itoa(index) == text && index >= 0 {
		t.form, t.index = tokenIndex, index
	}
	return t, nil
}

// parseKeys reads key=value pairs. A value in double quotes is taken as it is; in one without, a comma ends it.
func parseKeys(text string) (token, error) {
	t := token{form: tokenKeys}
	for rest := text; ; {
		name, value, ok := strings.Cut(rest, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return token{}, fmt.Errorf("[%s] is not of the form [key=value]", text)
		}
		key := tokenKey{name: name}
		if quoted, err := strconv.QuotedPrefix(value); err == nil && strings.HasPrefix(value, `"`) {
			key.exact = true
			key.value, _ = strconv.Unquote(quoted)
			value = value[len(quoted):]
		} else {
			end := strings.IndexByte(value+",", ',')
			key.value, value = strings.TrimSpace(value[:end]), value[end:]
		}
		t.keys = append(t.keys, key)
		if value == "" {
			return t, nil
		}
		if rest, ok = strings.CutPrefix(value, ","); !ok {
			return token{}, fmt.Errorf("[%s] is not of the form [key=value]", text)
		}
	}
}

// String gives the pattern as it was written.
func (p Pattern) String() string { return p.text }

// PatternOf writes a path as an ignore rule names it: where list items have keys, by those.
func PatternOf(path object.Path) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteByte('/')
		switch s.Form {
		case object.FieldStep:
			b.WriteString(object.EscapeToken(s.Name))
		case object.SetStep:
			b.WriteString(object.EscapeToken(fmt.Sprint(s.Value)))
		case object.IndexStep:
			b.WriteString(strconv.Itoa(s.Index))
		case object.KeyStep:
			keys := make([]string, len(s.Keys))
			for i, k := range s.Keys {
				keys[i] = k.Name + "=" + plainOrQuoted(fmt.Sprint(k.Value))
			}
			b.WriteString("[" + strings.Join(keys, ",") + "]")
		}
	}
	return b.String()
}

// plainOrQuoted quotes what would not be read as it stands.
func plainOrQuoted(text string) string {
	if text == "" || text != strings.TrimSpace(text) || strings.ContainsAny(text, "\",]*") {
		return strconv.Quote(text)
	}
	return text
}

// covers tells whether the pattern names a place or something above it. The roots are the object's sides, live first: list items
// are looked up in them.
func (p Pattern) covers(path object.Path, roots []any) bool {
	if len(path) < len(p.tokens) {
		return false
	}
	for i, t := range p.tokens {
		holders := valuesAt(path[:i], roots)
		if !t.names(path[i], holders) {
			return false
		}
	}
	return true
}

// reachesInto tells whether the pattern names something below a place.
func (p Pattern) reachesInto(path object.Path, roots []any) bool {
	if len(path) >= len(p.tokens) {
		return false
	}
	return Pattern{tokens: p.tokens[:len(path)]}.covers(path, roots)
}

// valuesAt gives what stands at a path in each of the roots that has it.
func valuesAt(path object.Path, roots []any) []any {
	var out []any
	for _, root := range roots {
		if v, ok := path.Lookup(root); ok {
			out = append(out, v)
		}
	}
	return out
}

// names tells whether a token names a step that is taken from what the holders hold.
func (t token) names(step object.Step, holders []any) bool {
	switch t.form {
	case tokenAny:
		return true
	case tokenName:
		return step.Form == object.FieldStep && t.namesField(step.Name) || step.Form == object.SetStep && t.isMember(step.Value)
	case tokenIndex:
		if step.Form == object.FieldStep {
			return step.Name == t.name
		}
		return step.Form == object.SetStep && t.isMember(step.Value) || t.isAt(step, holders)
	case tokenKeys:
		return step.Form != object.FieldStep && slices.ContainsFunc(holders, func(holder any) bool { return t.hasItem(step, holder) })
	}
	return false
}

// isAt tells whether the step's item stands at the token's index of live's list, or, where live has none, of the next side's.
func (t token) isAt(step object.Step, holders []any) bool {
	if len(holders) == 0 {
		return step.Form == object.IndexStep && step.Index == t.index
	}
	list, _ := holders[0].([]any)
	return t.index < len(list) && step.Matches(t.index, list[t.index])
}

// hasItem tells whether a list has the step's item, with what the token asks for.
func (t token) hasItem(step object.Step, holder any) bool {
	list, _ := holder.([]any)
	for i, item := range list {
		if step.Matches(i, item) && t.isOf(item) {
			return true
		}
	}
	return false
}

// isOf tells whether an item has what the token asks for.
func (t token) isOf(item any) bool {
	m, _ := item.(map[string]any)
	return m != nil && !slices.ContainsFunc(t.keys, func(k tokenKey) bool {
		v, has := m[k.name]
		return !has || !k.takes(v)
	})
}

// namesField tells whether a token names a field or a key of a map.
func (t token) namesField(name string) bool {
	return t.form == tokenAny || t.form != tokenKeys && object.Glob(t.name, name)
}

// namesItem tells whether a token names an item of a list that is at hand.
func (t token) namesItem(i int, item any) bool {
	switch t.form {
	case tokenAny:
		return true
	case tokenIndex:
		return t.index == i || t.isMember(item)
	case tokenKeys:
		return t.isOf(item)
	case tokenName:
		return t.isMember(item)
	}
	return false
}

// isMember tells whether a token names a member of a set.
func (t token) isMember(member any) bool {
	return object.IsScalar(member) && object.Glob(t.name, fmt.Sprint(member))
}

// exists tells whether a value has a place that the pattern names.
func (p Pattern) exists(v any) bool { return len(allBelow(v, p.tokens)) > 0 }

// allBelow gives what stands at the places that tokens name below a value.
func allBelow(v any, tokens []token) (out []any) {
	if len(tokens) == 0 {
		return []any{v}
	}
	t, rest := tokens[0], tokens[1:]
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if t.namesField(name) {
				out = append(out, allBelow(v[name], rest)...)
			}
		}
	case []any:
		for i, item := range v {
			if t.namesItem(i, item) {
				out = append(out, allBelow(item, rest)...)
			}
		}
	}
	return out
}

// fits tells whether the kind's schema can have a place that the pattern names; where the schema ends, anything may stand.
func (p Pattern) fits(s *kinds.Shape) bool {
	for _, t := range p.tokens {
		next, ok := shapeOfToken(s, t)
		if !ok {
			return false
		}
		s = next
	}
	return true
}

// shapeOfToken returns the shape of what a token names; false where the kind has no such place.
func shapeOfToken(s *kinds.Shape, t token) (*kinds.Shape, bool) {
	if s == nil {
		return nil, true
	}
	switch s.Form {
	case kinds.FormPlain:
		return nil, true
	case kinds.FormLeaf:
		return nil, false
	case kinds.FormList:
		return s.Item(), t.form != tokenName || s.List.Set
	case kinds.FormMap:
		return s.Elem, t.form != tokenKeys
	case kinds.FormStruct:
		if t.form == tokenAny || t.form == tokenKeys || strings.HasSuffix(t.name, "*") {
			return nil, t.form != tokenKeys
		}
		_, known := s.Fields[t.name]
		return s.Field(t.name), known || !s.Closed
	}
	return nil, true
}
