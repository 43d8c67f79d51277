package document

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// maxDots is how many dots a key may have. The parser takes quadratic time for a key of very many parts.
const maxDots = 64

// parseTOML parses a TOML text. A text without any key does not prove the format.
func parseTOML(text string) (parsed, bool) {
	if len(text) > maxParsed || !isFlat(text) {
		return parsed{}, false
	}
	var root map[string]any
	if _, err := toml.Decode(text, &root); err != nil || len(root) == 0 {
		return parsed{}, false
	}
	b := budget{maxExpanded}
	v, ok := b.plain(root, 0)
	return parsed{root: v}, ok
}

// isFlat reports whether there are few enough brackets for the parser, which is recursive, and whether keys are short enough for it to be
// fast. It does not recognise strings, so the content of a string may make it refuse a text.
func isFlat(text string) bool {
	depth, dots := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			depth++
			dots = 0
		case ']', '}':
			depth = max(0, depth-1)
		case '.':
			dots++
		case '\n', '=', ',':
			dots = 0
		}
		if depth > maxDepth || dots > maxDots {
			return false
		}
	}
	return true
}

// plain returns a decoded value with the types of this package, because a comparison needs the same types for all libraries. The decoder
// has types for tables, arrays of tables, dates and times of several kinds.
func (b *budget) plain(v any, depth int) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return b.plainMap(v, depth)
	case []map[string]any: // an array of tables, which means the same as a list of maps
		return plainList(b, v, depth)
	case []any:
		return plainList(b, v, depth)
	case string:
		return v, b.spend(depth, v)
	case float64:
		// Reports are written in JSON, which has no such numbers.
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return word(strings.ToLower(fmt.Sprint(v))), b.spend(depth, "")
		}
	case time.Time:
		return word(timeText(v)), b.spend(depth, "")
	}
	return v, b.spend(depth, "")
}

func (b *budget) plainMap(m map[string]any, depth int) (any, bool) {
	out := make(map[string]any, len(m))
	for name, below := range m {
		v, ok := b.plain(below, depth+1)
		if !ok || !b.spend(depth, name) {
			return nil, false
		}
		out[name] = v
	}
	return out, true
}

func plainList[T any](b *budget, list []T, depth int) (any, bool) {
	out := make([]any, len(list))
	for i := range list {
		v, ok := b.plain(list[i], depth+1)
		if !ok || !b.spend(depth, "") {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// timeText returns a time as TOML writes it. The library marks times without a zone by the names of their locations. These names show
// whether the author wrote a date, a time or both; the decoded time alone does not.
func timeText(t time.Time) string {
	switch t.Location().String() {
	case "datetime-local":
		return t.Format("2006-01-02T15:04:05.999999999")
	case "date-local":
		return t.Format(time.DateOnly)
	case "time-local":
		return t.Format("15:04:05.999999999")
	}
	return t.Format(time.RFC3339Nano)
}
