package repair

import (
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// valueAt follows tokens, which are known to lead somewhere.
func valueAt(node any, tokens []string) any {
	for _, token := range tokens {
		switch n := node.(type) {
		case map[string]any:
			node = n[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(n) {
				return nil
			}
			node = n[i]
		default:
			return nil
		}
	}
	return node
}

// edited gives a tree in which the value at tokens was replaced. The tree is changed in place as far as that goes.
func edited(node any, tokens []string, edit func(any) any) any {
	if len(tokens) == 0 {
		return edit(node)
	}
	switch n := node.(type) {
	case map[string]any:
		n[tokens[0]] = edited(n[tokens[0]], tokens[1:], edit)
	case []any:
		if i, err := strconv.Atoi(tokens[0]); err == nil && i >= 0 && i < len(n) {
			n[i] = edited(n[i], tokens[1:], edit)
		}
	}
	return node
}

// without gives a tree from which the value at tokens was taken.
func without(node any, tokens []string) any {
	last := len(tokens) - 1
	return edited(node, tokens[:last], func(holder any) any {
		switch h := holder.(type) {
		case map[string]any:
			delete(h, tokens[last])
		case []any:
			if i, err := strconv.Atoi(tokens[last]); err == nil && i >= 0 && i < len(h) {
				return slices.Delete(h, i, i+1)
			}
		}
		return holder
	})
}

// clone copies a JSON value. The null of a plan becomes one.
func clone(v any) any {
	switch v := v.(type) {
	case threeway.Null:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, below := range v {
			out[k] = clone(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, below := range v {
			out[i] = clone(below)
		}
		return out
	}
	return v
}

// pointer writes tokens as RFC 6901 has them.
func pointer(tokens []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString("/" + escape.Replace(token))
	}
	return b.String()
}
