package release

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxSkimDepth bounds the nesting of what skim reads. Most of what Helm writes is much flatter.
const maxSkimDepth = 100

// skim returns the JSON of a record with "" for those members of its chart that nobody reads: templates, files, the schema of the values
// and, unless defaults is set, the values. They are most of the bytes of most records. The decoder goes through each byte twice in small
// steps, so it has much less to do.
//
// The result is valid JSON exactly if data is, and holds the same record. What is left out was valid JSON, and what stays is left to the
// decoder to judge. If data is not as Helm writes it, skim may return it unchanged. Otherwise the result is in u.kept, and valid until put.
func (u *unpacker) skim(data []byte, defaults bool) []byte {
	s, kept := skimmer{text: data}, u.kept[:0]
	from := 0
	inChart := func(key []byte) bool {
		start := s.pos
		if !s.value(2) {
			return false
		}
		// A key in another case is read by Helm too. It is not left out, because Helm does not write it.
		switch string(key) {
		case "values":
			if defaults {
				return true
			}
		case "templates", "files", "schema":
		default:
			return true
		}
		// A number could go on with what follows.
		kept = append(append(kept, data[from:start]...), `""`...)
		from = s.pos
		return true
	}
	s.members(func(key []byte) bool {
		if string(key) == "chart" && s.at('{') {
			return s.members(inChart)
		}
		return s.value(1)
	})
	if from == 0 {
		return data
	}
	u.kept = append(kept, data[from:]...)
	return u.kept
}

// skimmer reads JSON from left to right. Its methods return false for what is not valid JSON, or too deep.
type skimmer struct {
	text []byte
	pos  int
}

// members reads an object and calls value at the value of each member. The key is as it is written, without quotes.
func (s *skimmer) members(value func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		s.space()
		start := s.pos
		if !s.string() {
			return false
		}
		key := s.text[start+1 : s.pos-1]
		if !s.take(':') {
			return false
		}
		s.space()
		if !value(key) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// items reads a list.
func (s *skimmer) items(depth int) bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for {
		s.space()
		if !s.value(depth) {
			return false
		}
		if !s.take(',') {
			return s.take(']')
		}
	}
}

// value reads any value. Depth is the number of objects and lists around it.
func (s *skimmer) value(depth int) bool {
	switch {
	case depth > maxSkimDepth:
		return false
	case s.at('{'):
		return s.members(func([]byte) bool { return s.value(depth + 1) })
	case s.at('['):
		return s.items(depth + 1)
	case s.at('"'):
		return s.string()
	}
	// A number, true, false or null ends at a separator or at white space.
	rest := s.text[s.pos:]
	if end := bytes.IndexAny(rest, ",]} \t\r\n"); end >= 0 {
		rest = rest[:end]
	}
	s.pos += len(rest)
	return json.Valid(rest)
}

// string reads a string.
func (s *skimmer) string() bool {
	if !s.at('"') {
		return false
	}
	for i := s.pos + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return true
		case c == '\\':
			n := escapeLength(s.text[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case c < ' ':
			return false
		}
	}
	return false
}

// escapeLength returns the length of the escape sequence that begins a text, or 0 if it is not valid.
func escapeLength(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) >= 6 && !bytes.ContainsFunc(text[2:6], notHex) {
			return 6
		}
	}
	return 0
}

// notHex reports whether c is no hexadecimal digit.
func notHex(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", c) }

// at reports whether the next byte is c.
func (s *skimmer) at(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

// take skips white space, and c if it follows.
func (s *skimmer) take(c byte) bool {
	s.space()
	if !s.at(c) {
		return false
	}
	s.pos++
	return true
}

// space skips white space.
func (s *skimmer) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}
