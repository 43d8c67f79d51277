package document

import (
	"path"
	"strings"
	"unicode/utf8"
)

// Format is the format of a document.
type Format string

// These are the formats.
const (
	YAML Format = "yaml"
	JSON Format = "json"
	TOML Format = "toml"
)

// These are the bounds of a document, and of a comparison.
const (
	// maxSize is how long a text may be: as long as an object. maxParsed is the limit for YAML and TOML, because their parsers are slow;
	// they take less than a second for such a text. maxExpanded is how large the values may be after all aliases are followed.
	maxSize     = 1 << 20
	maxParsed   = 256 << 10
	maxExpanded = 2 << 20
	// maxDepth is how deep lists and maps may be nested.
	maxDepth = 64
	// maxChanges is how many changes are listed.
	maxChanges = 100
)

// syntax is a format with its parser. The parser returns false if the text is not, or not certainly, in the format.
type syntax struct {
	format Format
	parse  func(text string) (parsed, bool)
}

// parsed is a parsed text.
type parsed struct {
	// root is the document, or the list of them if there are several.
	root    any
	several bool
	// oddKeys are the keys of YAML that are not strings. They are compared by their texts, but documents with different odd keys are not
	// equal.
	oddKeys []string
}

// syntaxesOf returns the formats to try for an entry with a name, in this order. If the name says what the entry is, there is no
// choice: a broken .json is a text with an error and not YAML.
func syntaxesOf(name string) []syntax {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		return []syntax{{YAML, parseYAML}}
	case ".json", ".conf":
		return []syntax{{JSON, parseJSON}}
	case ".toml":
		return []syntax{{TOML, parseTOML}}
	case ".ini", ".cnf", ".cfg", ".properties", ".env":
		return nil // a line of such a text is a setting, so the differing lines say everything
	}
	return []syntax{{JSON, parseJSON}, {YAML, parseUnnamedYAML}}
}

// parseAll parses the texts in the first format that all of them have. A nil text stays nil.
func parseAll(name string, texts Sides[*string]) (Format, Sides[*parsed], bool) {
	for _, t := range texts {
		if t != nil && (len(*t) > maxSize || !utf8.ValidString(*t)) {
			return "", Sides[*parsed]{}, false
		}
	}
	for _, s := range syntaxesOf(name) {
		if all, ok := s.parseAll(texts); ok {
			return s.format, all, true
		}
	}
	return "", Sides[*parsed]{}, false
}

// parseAll parses the texts. It returns false if one of them is not a document of the format, or if some are maps and others lists. A
// single scalar is valid JSON, but has no parts to compare.
func (s syntax) parseAll(texts Sides[*string]) (out Sides[*parsed], ok bool) {
	several := false
	for i, text := range texts {
		if text == nil {
			continue
		}
		doc, ok := s.parseOne(*text)
		if !ok || isScalar(doc.root) {
			return out, false
		}
		out[i] = &doc
		several = several || doc.several
	}
	hasMap, hasList := false, false
	for _, doc := range out {
		if doc == nil {
			continue
		}
		// If only one side has several documents, treat both as lists of documents.
		if several && !doc.several {
			doc.root = []any{doc.root}
		}
		// A map on one side and a list on the other have no places in common.
		hasMap, hasList = hasMap || isMap(doc.root), hasList || isList(doc.root)
	}
	return out, !hasMap || !hasList
}

// parseOne parses a text. If a library panics, the text is not a document: texts come from the cluster, and a report must not fail because
// of one of them.
func (s syntax) parseOne(text string) (doc parsed, ok bool) {
	defer func() {
		if recover() != nil {
			doc, ok = parsed{}, false
		}
	}()
	return s.parse(text)
}

func isMap(v any) bool    { _, ok := v.(map[string]any); return ok }
func isList(v any) bool   { _, ok := v.([]any); return ok }
func isScalar(v any) bool { return !isMap(v) && !isList(v) }

// word is a scalar that is not a string, or that some parsers do not read as a string: a date, a number in a special notation, an unquoted
// on or yes. It never equals a string.
type word string

// budget is what is left of the bounds of one document.
type budget struct{ left int }

// spend subtracts a value with the given depth and text from the budget, and returns false if the document is too deep or too large. A
// few lines with aliases can stand for gigabytes, and only counting shows that.
func (b *budget) spend(depth int, text string) bool {
	b.left -= len(text) + 4
	return depth <= maxDepth && b.left >= 0
}
