package release

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSkimDepth bounds the nesting of what skim reads. Most of what Helm writes is much flatter.
const maxSkimDepth = 100

// skim returns the JSON of a record without its longest texts. The members of its chart that nobody reads become "": templates, files, the
// schema of the values and, unless defaults is set, the values. The manifest becomes null, which the decoder reads as absent, and is
// returned as it is written, with its quotation marks. The decoder goes through each byte three times in small steps, so it has much less
// to do.
//
// The result is valid JSON exactly if data is, and holds the same record. What is left out was valid JSON, and what stays is left to the
// decoder to judge. If data is not as Helm writes it, skim may return it unchanged, and no manifest. The results are valid until put.
func (u *unpacker) skim(data []byte, defaults bool) (kept, manifest []byte) {
	s, from := skimmer{text: data}, 0
	u.kept = u.kept[:0]
	replace := func(start int, by string) {
		u.kept = append(append(u.kept, data[from:start]...), by...)
		from = s.pos
	}
	inChart := func(key []byte) bool {
		start := s.pos
		if !s.value(2) {
			return false
		}
		// A key in another case is read by Helm too. It is not left out, because Helm does not write it.
		switch string(key) {
		case "values":
			if !defaults {
				replace(start, `""`)
			}
		case "templates", "files", "schema":
			replace(start, `""`) // a number could go on with what follows
		}
		return true
	}
	usual := true
	s.members(func(key []byte) bool {
		start := s.pos
		switch {
		case string(key) == "chart" && s.at('{'):
			return s.members(inChart)
		case string(key) == "manifest" && s.at('"'):
			if !s.string() {
				return false
			}
			manifest = data[start:s.pos]
			replace(start, "null")
			return true
		case isLike(key, "manifest"):
			usual = false // the last of several counts, and the decoder knows which that is
		}
		return s.value(1)
	})
	if from == 0 || !usual {
		return data, nil
	}
	u.kept = append(u.kept, data[from:]...)
	return u.kept, manifest
}

// isLike reports whether the decoder may take a key for a name although it is written otherwise.
func isLike(key []byte, name string) bool {
	return bytes.ContainsRune(key, '\\') || string(key) != name && strings.EqualFold(string(key), name)
}

// unquote returns the text of a JSON string that skim has read. It leaves to the decoder what manifests hardly ever have: surrogates, and
// bytes that are not UTF-8.
func unquote(quoted []byte) (string, error) {
	text := quoted[1 : len(quoted)-1]
	var out strings.Builder
	out.Grow(len(text))
	for usual := utf8.Valid(text); usual; {
		n := bytes.IndexByte(text, '\\')
		if n < 0 {
			out.Write(text)
			return out.String(), nil
		}
		out.Write(text[:n])
		var c byte
		if c, usual = unescape(text[n:]); usual {
			out.WriteByte(c)
			text = text[n+escapeLength(text[n:]):]
		}
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return s, err
}

// unescape returns the character that a text begins with as an escape sequence. It returns false if it is not one of ASCII.
func unescape(text []byte) (byte, bool) {
	c := text[1]
	if c == 'u' {
		n, err := strconv.ParseUint(string(text[2:6]), 16, 7)
		return byte(n), err == nil
	}
	if i := strings.IndexByte("bfnrt", c); i >= 0 {
		return "\b\f\n\r\t"[i], true
	}
	return c, true
}

// skimmer reads JSON from left to right. Its methods return false for what is not valid JSON, or too deep.
type skimmer struct {
	text []byte
	pos  int
}

// members reads an object and calls value at the value of each member. The key is as it is written, without quotes.
func (s *skimmer) members(value func(key []byte) bool) bool {
	return s.items('{', '}', func() bool {
		start := s.pos
		if !s.string() {
			return false
		}
		key := s.text[start+1 : s.pos-1]
		if !s.take(':') {
			return false
		}
		s.space()
		return value(key)
	})
}

// items reads an object or a list, from its first bracket to its last, and calls item at each item.
func (s *skimmer) items(first, last byte, item func() bool) bool {
	if !s.take(first) {
		return false
	}
	if s.take(last) {
		return true
	}
	for {
		s.space()
		if !item() {
			return false
		}
		if !s.take(',') {
			return s.take(last)
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
		return s.items('[', ']', func() bool { return s.value(depth + 1) })
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

func (s *skimmer) string() bool {
	if !s.at('"') {
		return false
	}
	for i := s.pos + 1; i < len(s.text); i++ {
		i += plainLength(s.text[i:])
		if i == len(s.text) {
			return false
		}
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

// These select the lowest and the highest bit of each of eight bytes.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainLength returns how many bytes at the begin of a text are plain characters of a string: no quotation mark, no backslash, no control
// character. It looks at eight bytes together, and leaves the last few to the caller. Stored templates are base64, so most strings are
// plain from begin to end.
func plainLength(text []byte) int {
	n := 0
	for ; n+8 <= len(text); n += 8 {
		word := binary.LittleEndian.Uint64(text[n:])
		// A subtraction sets the highest bit of a byte that is smaller than what is subtracted. Its borrow may set that of later bytes too,
		// so only the first one counts.
		quote, backslash := word^lowBits*'"', word^lowBits*'\\'
		found := (word - lowBits*' ') &^ word
		found |= (quote - lowBits) &^ quote
		found |= (backslash - lowBits) &^ backslash
		if found &= highBits; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	return n
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

func (s *skimmer) space() {
	for s.at(' ') || s.at('\t') || s.at('\r') || s.at('\n') {
		s.pos++
	}
}
