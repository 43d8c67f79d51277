package valuesfile

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// source is a text with its lines. Its line breaks are the ones of YAML 1.1 (go.yaml.in/yaml/v3 v3.0.5 yamlprivateh.go is_break).
type source struct {
	text  string
	lines []int // where each line begins
}

// newSource finds the lines of a text.
func newSource(text string) source {
	s := source{text: text, lines: []int{0}}
	for i := 0; i < len(text); {
		n := breakLength(text[i:])
		if i += max(n, 1); n > 0 {
			s.lines = append(s.lines, i)
		}
	}
	return s
}

// breakLength returns the length of the line break at the start of a text, or 0 if there is none. Nearly every character is plain ASCII,
// so that case comes first.
func breakLength(text string) int {
	if text == "" || text[0] >= ' ' && text[0] < 0x80 {
		return 0
	}
	for _, b := range [...]string{"\r\n", "\r", "\n", "\u0085", "\u2028", "\u2029"} {
		if strings.HasPrefix(text, b) {
			return len(b)
		}
	}
	return 0
}

// offset returns the offset of a line and column, both counted from 1. The library counts columns in characters, and a text in Go has
// bytes.
func (s source) offset(line, column int) int {
	if line > len(s.lines) {
		return len(s.text)
	}
	at := s.lines[line-1]
	for ; column > 1 && at < len(s.text); column-- {
		_, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
	}
	return at
}

// line returns the line of an offset, counted from 1.
func (s source) line(at int) int { return sort.SearchInts(s.lines, at+1) }

// lineStart returns the offset of the beginning of an offset's line.
func (s source) lineStart(at int) int { return s.lines[s.line(at)-1] }

// lineEnd returns the offset of the line break that ends the line of an offset, or the end of the text.
func (s source) lineEnd(at int) int {
	for at < len(s.text) && breakLength(s.text[at:]) == 0 {
		at++
	}
	return at
}

// afterLine returns the offset of the next line, or the end of the text.
func (s source) afterLine(at int) int {
	at = s.lineEnd(at)
	return at + breakLength(s.text[at:])
}

// column returns the column of an offset, counted from 0 in bytes. Before the entries of a block there are only spaces and indicators, so
// it equals the library's column.
func (s source) column(at int) int { return at - s.lineStart(at) }

// peek returns the byte at an offset, or 0 at the end of the text.
func (s source) peek(at int) byte {
	if at < len(s.text) {
		return s.text[at]
	}
	return 0
}

// skipSpace returns the offset after spaces and tabs.
func (s source) skipSpace(at int) int {
	for s.peek(at) == ' ' || s.peek(at) == '\t' {
		at++
	}
	return at
}

// skip returns the offset after blanks, line breaks and comments.
func (s source) skip(at int) int {
	for {
		at = s.skipSpace(at)
		if s.peek(at) == '#' {
			at = s.lineEnd(at)
		}
		n := breakLength(s.text[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// isBlank reports whether a blank, a line break or the end of the text is at an offset.
func (s source) isBlank(at int) bool {
	return at >= len(s.text) || s.text[at] == ' ' || s.text[at] == '\t' || breakLength(s.text[at:]) > 0
}

// endOfWord returns the offset after a tag or anchor. In a flow collection, these end before an indicator too.
func (s source) endOfWord(at int, flow bool) int {
	for !s.isBlank(at) && (!flow || !strings.ContainsRune(",[]{}", rune(s.text[at]))) {
		at++
	}
	return at
}

// endOfQuoted returns the offset after a quoted scalar. The scanner of the library has accepted it, so the end is there.
func (s source) endOfQuoted(at int) int {
	quote := s.text[at]
	for at++; at < len(s.text); at++ {
		switch {
		case quote == '"' && s.text[at] == '\\':
			at++
		case quote == '\'' && strings.HasPrefix(s.text[at:], "''"):
			at++
		case s.text[at] == quote:
			return at + 1
		}
	}
	return len(s.text)
}

// endOfPlain returns the offset after a plain scalar with a known value: where the folded text equals the value. The text alone does not
// show the end, because the next line may belong to the scalar or be a key.
func (s source) endOfPlain(at int, value string) (int, bool) {
	for i := 0; i < len(value); {
		if !s.isBlank(at) {
			if s.peek(at) != value[i] {
				return at, false
			}
			at, i = at+1, i+1
			continue
		}
		blanks, breaks, after := s.blanks(at)
		folded := blanks
		switch {
		case breaks == 1:
			folded = " "
		case breaks > 1:
			folded = strings.Repeat("\n", breaks-1)
		}
		if folded == "" || !strings.HasPrefix(value[i:], folded) {
			return at, false
		}
		at, i = after, i+len(folded)
	}
	return at, true
}

// blanks returns the run of blanks and line breaks at an offset, the number of its breaks, and the offset after it.
func (s source) blanks(at int) (run string, breaks, after int) {
	for after = at; after < len(s.text) && s.isBlank(after); {
		n := breakLength(s.text[after:])
		if n > 0 {
			breaks++
		}
		after += max(n, 1)
	}
	return s.text[at:after], breaks, after
}

// endOfBlock returns where the header of a block scalar ends, without its comment, and where the scalar ends, without its last line break.
// Indent is the column of the map or list that has the scalar (go.yaml.in/yaml/v3 v3.0.5 scannerc.go yaml_parser_scan_block_scalar).
// Comments and blank lines below a scalar may belong to it or not, depending on their indent. The rules are the scanner's.
//
// The scalar of this text ends after "two"; a comment at the indent of the lines would be a part of it:
//
//	key: |-  # the header ends after "-"
//	  one
//	  two
//	# not a line of the text
func (s source) endOfBlock(at, indent int) (header, end int) {
	header, own := at+1, 0
	for ; strings.IndexByte("+-123456789", s.peek(header)) >= 0; header++ {
		if c := s.text[header]; c >= '1' {
			own = indent + int(c-'0')
		}
	}
	keep := strings.Contains(s.text[at:header], "+")
	end = s.lineEnd(header)
	longest := 0 // the widest blank line before the first line with text
	for next := s.afterLine(end); next < len(s.text); next = s.afterLine(next) {
		text := s.text[next:s.lineEnd(next)]
		spaces := len(text) - len(strings.TrimLeft(text, " "))
		if spaces == len(text) && (own == 0 || spaces < own) {
			if longest = max(longest, spaces); keep {
				end = next + len(text)
			}
			continue
		}
		if own == 0 {
			own = max(longest, spaces, indent+1)
		}
		if spaces < own {
			break
		}
		end = next + len(text)
	}
	return header, end
}
