package valuesfile

import (
	"encoding/json"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// writer writes new values in the style of the file.
type writer struct {
	eol string
	// step is how far a map is indented beyond its key, listStep is how far a list is, and dash is the distance from a "-" to what
	// follows it.
	step, listStep, dash int
	// single is set if the file has more strings in single quotes than in double quotes.
	single bool
	// json is set if the file is JSON, or YAML that has only flow style and quoted keys.
	json bool
	// unended is set if the last line has no line break. At such an end, a block scalar loses its last line break.
	unended bool
	// quoteLines is set if the lines after a block scalar would become part of it.
	quoteLines bool
}

// overlay is the map of an alias, with other values for some keys.
type overlay struct {
	alias string
	keys  map[string]any
}

// under returns the text of the value of a key: what follows on the line of the key, and the lines below, each with its line break before
// it. Column is the column of the key. A string uses the quotes of the scalar hint.
func (w *writer) under(v any, column int, hint *yaml3.Node) (inline, below string) {
	indent := column + w.step
	if l, ok := v.([]any); ok && len(l) > 0 {
		indent = column + w.listStep
	}
	if parts := w.parts(v, indent); len(parts) > 0 {
		return "", w.lines(parts, indent)
	}
	return w.scalar(v, column, column+w.step, hint)
}

// beside returns the text of a value. The value begins at a column, and its further lines begin there too. Parent is the column of the
// block around it.
func (w *writer) beside(v any, parent, column int, hint *yaml3.Node) (inline, below string) {
	parts := w.parts(v, column)
	if len(parts) == 0 {
		return w.scalar(v, parent, column, hint)
	}
	inline, below, more := strings.Cut(parts[0], w.eol)
	if more {
		below = w.eol + below
	}
	return inline, below + w.lines(parts[1:], column)
}

// lines returns entries on lines of their own, each with its line break before it.
func (w *writer) lines(parts []string, column int) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(w.eol + pad(column) + part)
	}
	return b.String()
}

// parts returns the text of each entry of a map or list, or none if v is empty or something else. A text may have several lines. The keys
// of a new map are sorted, because a Go map has no order and the result must be the same each time.
func (w *writer) parts(v any, column int) (parts []string) {
	var keys map[string]any
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			parts = append(parts, w.item(item, column, nil))
		}
	case overlay:
		keys, parts = v.keys, []string{"<<: *" + v.alias}
	case map[string]any:
		keys = v
	}
	for _, key := range object.SortedKeys(keys) {
		parts = append(parts, w.pair(key, keys[key], column))
	}
	return parts
}

// item returns the text of a list item, from its "-" on.
func (w *writer) item(v any, column int, hint *yaml3.Node) string {
	inline, below := w.beside(v, column, column+w.dash, hint)
	return "-" + pad(w.dash-1) + inline + below
}

// pair returns the text of a key with its value.
func (w *writer) pair(key string, v any, column int) string {
	inline, below := w.under(v, column, nil)
	if inline != "" {
		inline = " " + inline
	}
	return w.key(key, false) + ":" + inline + below
}

// key returns the text of a key. A key that YAML could take for something other than a string, such as y or on, is quoted, even if the
// file does not quote its keys.
func (w *writer) key(key string, flow bool) string {
	if !w.json && isPlain(key, flow) {
		return key
	}
	return w.quoted(key)
}

// quoted returns a string in the quotes that the file uses most, if they can hold it.
func (w *writer) quoted(s string) string {
	if w.single && !w.json {
		if text, ok := singleQuoted(s); ok {
			return text
		}
	}
	return doubleQuoted(s)
}

// scalar returns the text of a scalar or of an empty map or list. Lines of a block scalar begin at column. If the old string had quotes
// over several lines, its author did not want a block.
func (w *writer) scalar(v any, parent, column int, hint *yaml3.Node) (inline, below string) {
	if s, ok := v.(string); ok && !w.json && !w.quoteLines && strings.Contains(s, "\n") && !isQuotedLines(hint) {
		indicators, lines, ok := literal(s, column-parent, pad(column), w.eol)
		if ok && (!w.unended || strings.HasSuffix(indicators, "-")) {
			return indicators, lines
		}
	}
	return w.flow(v, hint, false), ""
}

// isQuoted reports whether a node is a scalar in quotes.
func isQuoted(n *yaml3.Node) bool {
	return n != nil && n.Style&(yaml3.SingleQuotedStyle|yaml3.DoubleQuotedStyle) != 0
}

// isQuotedLines reports whether a string has quotes and several lines.
func isQuotedLines(n *yaml3.Node) bool { return isQuoted(n) && strings.Contains(n.Value, "\n") }

// flow returns the text of a value on one line. Inside is set if the value is within a flow collection.
func (w *writer) flow(v any, hint *yaml3.Node, inside bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return w.string(v, hint, inside)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = w.flow(item, nil, true)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		return "{" + strings.Join(w.flowPairs(v), ", ") + "}"
	case overlay:
		return "{" + strings.Join(append([]string{"<<: *" + v.alias}, w.flowPairs(v.keys)...), ", ") + "}"
	}
	text, _ := json.Marshal(v) // a number or boolean
	return string(text)
}

// flowPairs returns the text of each key of a map in flow style.
func (w *writer) flowPairs(m map[string]any) (pairs []string) {
	for _, key := range object.SortedKeys(m) {
		pairs = append(pairs, w.flowPair(key, m[key]))
	}
	return pairs
}

// flowPair returns the text of a key and its value in flow style.
func (w *writer) flowPair(key string, v any) string {
	return w.key(key, true) + ": " + w.flow(v, nil, true)
}

// string returns a string in the quotes of the hint if they can hold it, without quotes if it needs none, or else in the quotes of the
// file. It keeps existing quotes, because they often mark what must not become a number.
func (w *writer) string(s string, hint *yaml3.Node, inside bool) string {
	switch {
	case w.json:
	case isQuoted(hint) && hint.Style&yaml3.SingleQuotedStyle != 0:
		if text, ok := singleQuoted(s); ok {
			return text
		}
	case isQuoted(hint):
	case isPlain(s, inside):
		return s
	default:
		return w.quoted(s)
	}
	return doubleQuoted(s)
}

// pad returns n spaces.
func pad(n int) string { return strings.Repeat(" ", max(n, 0)) }
