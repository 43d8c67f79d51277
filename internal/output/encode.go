package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/accept"
)

// writeJSON returns the document itself. Integers stay integers, and strings decode to exactly the value that was read.
// (Values come from the API server's own JSON and so are valid UTF-8; JSON could not carry anything else.)
func writeJSON[T any](document T, _ Options) ([]byte, error) { return escape.Encode(document, "  ") }

// writeYAML returns the same document as writeJSON in block style, key by key in the same order.
//
// It writes YAML from the JSON by itself because of what the libraries do with strings: a block scalar puts the lines of a value at the
// beginning of lines, where CI agents look for commands, and bidi characters pass unescaped. Here each string that is not a plain word is
// double-quoted on one line, so there is no doubt whether "no" or "1e3" is a string.
func writeYAML[T any](document T, _ Options) ([]byte, error) { return encodeYAML(document) }

// encodeYAML writes the JSON document of v in YAML, with the keys, the order and the omissions of JSON.
func encodeYAML(v any) ([]byte, error) {
	doc, err := escape.Encode(v, "")
	if err != nil {
		return nil, err
	}
	y := yamlWriter{in: json.NewDecoder(bytes.NewReader(doc))}
	y.in.UseNumber()
	if err := y.value("", ""); err != nil {
		return nil, err
	}
	y.out.WriteByte('\n')
	return y.out.Bytes(), nil
}

// yamlWriter turns JSON tokens into YAML lines. It holds one value at a time, and writes a line break before a line and never after it.
type yamlWriter struct {
	in  *json.Decoder
	out bytes.Buffer
}

// value writes the next JSON value. The first line of a collection that is not empty begins with first, and its other lines with indent.
func (y *yamlWriter) value(first, indent string) error {
	tok, err := y.in.Token()
	if err != nil {
		return err
	}
	switch t := tok.(type) {
	case json.Delim:
		return y.collection(t, first, indent)
	case string:
		y.out.WriteString(" " + yamlString(t))
	case nil:
		y.out.WriteString(" null")
	default: // json.Number, bool
		fmt.Fprintf(&y.out, " %v", t)
	}
	return nil
}

// collection writes the rest of a mapping or a sequence. An empty one is in flow style, because block style cannot express it.
func (y *yamlWriter) collection(open json.Delim, first, indent string) error {
	entry, empty := y.item, " []"
	if open == '{' {
		entry, empty = y.member, " {}"
	}
	if !y.in.More() {
		y.out.WriteString(empty)
	}
	for lead := first; y.in.More(); lead = "\n" + indent {
		y.out.WriteString(lead)
		if err := entry(indent); err != nil {
			return err
		}
	}
	_, err := y.in.Token() // the closing delimiter
	return err
}

// item writes "- " and an item. The further lines of the item begin below its first character.
func (y *yamlWriter) item(indent string) error {
	y.out.WriteString("-")
	return y.value(" ", indent+"  ")
}

// maxSimpleKey is the length where keys begin to get a "? ". YAML demands it from 1024 characters on.
const maxSimpleKey = 1000

// member writes "key:" and a value. A collection begins on the next line.
func (y *yamlWriter) member(indent string) error {
	tok, err := y.in.Token()
	if err != nil {
		return err
	}
	name, _ := tok.(string)
	if key := yamlString(name); len(key) < maxSimpleKey {
		y.out.WriteString(key + ":")
	} else {
		y.out.WriteString("? " + key + "\n" + indent + ":")
	}
	return y.value("\n"+indent+"  ", indent+"  ")
}

// yamlString returns a string on one line, as a plain word or in double quotes.
func yamlString(s string) string {
	if isPlainYAML(s) {
		return s
	}
	quoted, _ := json.Marshal(s) // a string always encodes
	return escape.YAML(string(quoted))
}

// isPlainYAML reports whether every YAML parser takes s for a string: s does not begin like a number, a date or an indicator.
func isPlainYAML(s string) bool {
	if s == "" || !escape.IsLetter(rune(s[0])) && s[0] != '/' || strings.HasSuffix(s, ":") {
		return false
	}
	odd := func(r rune) bool { return !escape.IsLetter(r) && !strings.ContainsRune("0123456789_./:@+-", r) }
	// These are booleans and nulls in YAML 1.1, and Kubernetes' own parser still reads them so.
	reserved := []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
	return !strings.ContainsFunc(s, odd) && !slices.Contains(reserved, strings.ToLower(s))
}

// writeRules returns the rules that silence a report, as the configuration takes them. Adding them there accepts what the report says.
func writeRules(r *report.Report, _ Options) ([]byte, error) {
	doc, err := encodeYAML(map[string]any{"ignore": accept.Rules(r)})
	if err != nil {
		return nil, err
	}
	if n := r.Summary.Errors; n > 0 {
		doc = append(fmt.Appendf(nil, "# Incomplete: the report counts errors: %d.\n", n), doc...)
	}
	return doc, nil
}
