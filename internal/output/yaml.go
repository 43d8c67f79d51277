package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// writeYAML gives the same document as writeJSON, key by key in the same order, in block style.
//
// It writes YAML itself, from the JSON, because of what the libraries do with strings: block scalars put a value's lines
// at the beginning of lines, where CI agents look for commands, and bidi characters pass them raw. Every string that is not
// a plain word is double-quoted on one line here, which also leaves no question whether "no" or "1e3" is a string.
func writeYAML(r *report.Report, _ Options) ([]byte, error) { return encodeYAML(r) }

// writeFixYAML is the same for the result of a fix.
func writeFixYAML(r *report.FixResult, _ Options) ([]byte, error) { return encodeYAML(r) }

func encodeYAML(v any) ([]byte, error) {
	doc, err := encodeJSON(v, "")
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

// yamlWriter turns JSON tokens into YAML lines. It never holds more than one value, and writes a line break only before a
// line, never after it.
type yamlWriter struct {
	in  *json.Decoder
	out bytes.Buffer
}

// value writes the next JSON value. Collections that are not empty begin with first, and their other lines with indent.
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

// collection writes the rest of a mapping or a sequence. Empty ones need the flow style: block style has no word for them.
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

// item writes "- " and an item, whose own lines begin where it begins.
func (y *yamlWriter) item(indent string) error {
	y.out.WriteString("-")
	return y.value(" ", indent+"  ")
}

// maxSimpleKey is the length from which YAML wants a key announced by "? "; the standard says 1024 characters.
const maxSimpleKey = 1000

// member writes "key:" and a value, which begins on a line of its own unless it fits behind the key.
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

// yamlString gives a string as a plain word or between double quotes, on one line.
func yamlString(s string) string {
	if plainYAML(s) {
		return s
	}
	quoted, _ := json.Marshal(s) // a string always encodes
	return escapeYAML(string(quoted))
}

// plainYAML tells whether no YAML parser takes s for anything but a string: it begins like no number, date or indicator.
func plainYAML(s string) bool {
	if s == "" || !letter(rune(s[0])) && s[0] != '/' || strings.HasSuffix(s, ":") {
		return false
	}
	odd := func(r rune) bool { return !letter(r) && !strings.ContainsRune("0123456789_./:@+-", r) }
	// The words of YAML 1.1's booleans and nulls, which Kubernetes' own parser still honours.
	reserved := []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
	return !strings.ContainsFunc(s, odd) && !slices.Contains(reserved, strings.ToLower(s))
}
