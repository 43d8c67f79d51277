package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fieldPath is a parsed path of a report. Only tests parse paths.
type fieldPath []pathStep

// pathStep is a field or a list item, which it identifies by its keys, its value or its index.
type pathStep struct {
	field string
	keys  map[string]string
	value string
	index int
}

var stepPattern = regexp.MustCompile(`^(?:\.?([\w-]+)|\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\[([\w.-]+=[^\]]*)\])`)

func parsePath(text string) (fieldPath, error) {
	var out fieldPath
	for rest := text; rest != ""; {
		m := stepPattern.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("path %s: cannot read %q", text, rest)
		}
		rest = rest[len(m[0]):]
		s := pathStep{index: -1}
		switch {
		case m[1] != "":
			s.field = m[1]
		case m[3] != "":
			s.index, _ = strconv.Atoi(m[3])
		case m[4] != "":
			s.keys = map[string]string{}
			for pair := range strings.SplitSeq(m[4], ",") {
				name, value, _ := strings.Cut(pair, "=")
				s.keys[name] = value
			}
		default:
			name, err := strconv.Unquote(`"` + m[2] + `"`)
			if err != nil {
				return nil, err
			}
			s.field, s.value = name, name
		}
		out = append(out, s)
	}
	return out, nil
}

// indexIn returns the index of the list item that the step names, or -1.
func (s pathStep) indexIn(list []any) int {
	return slices.IndexFunc(list, func(item any) bool {
		if s.keys == nil {
			return fmt.Sprint(item) == s.value && s.value != ""
		}
		m, _ := item.(map[string]any)
		for name, value := range s.keys {
			if fmt.Sprint(m[name]) != value {
				return false
			}
		}
		return m != nil
	})
}

// lookup returns what the path leads to.
func (p fieldPath) lookup(v any) (any, bool) {
	for _, s := range p {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[s.field]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i := s.index
			if i < 0 {
				i = s.indexIn(node)
			}
			if i < 0 || i >= len(node) {
				return nil, false
			}
			v = node[i]
			if twins := s.matching(node); len(twins) > 1 {
				v = twins // several items of one name are one value
			}
		default:
			return nil, false
		}
	}
	return v, true
}

// matching returns the items of a list that have the step's keys.
func (s pathStep) matching(list []any) []any {
	var out []any
	for _, item := range list {
		if s.keys != nil && s.indexIn([]any{item}) == 0 {
			out = append(out, item)
		}
	}
	return out
}

// follow resolves an RFC 6901 pointer.
func follow(v any, pointer string) (any, bool) {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = unescape.Replace(token)
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}
