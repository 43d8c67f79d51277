package secret

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// These bound what is parsed as YAML. The parser takes quadratic time for many nested brackets.
const (
	longestNested = 64 << 10
	deepestNested = 16
)

// nestedValue returns a whole map or list after the sign, if it contains a secret.
func (a assignment) nestedValue(at int) []span {
	to, depth := a.brackets(at)
	part := a.text[at:to]
	v, ok := a.parsed(part, depth)
	found := !ok
	if ok {
		Place{form: announced}.each(v, walk{visit: func(Place, string) { found = true }, within: a.scan})
	}
	if !found {
		return nil
	}
	return []span{{at, to}}
}

// parsed returns the value of a part of the text in JSON or YAML. It returns false if the part is too long, too deep, or neither.
func (s *scan) parsed(part string, depth int) (v any, ok bool) {
	s.spend(jsonWork * len(part))
	if json.Unmarshal([]byte(part), &v) == nil {
		return v, true
	}
	// Anchors and aliases ("&", "*") could expand a short text without bound.
	if len(part) > longestNested || depth > deepestNested || strings.ContainsAny(part, "&*") {
		return nil, false
	}
	s.spend(yamlWork * (len(part) + 4))
	err := yaml.Unmarshal([]byte(part), &v)
	return v, err == nil
}

// brackets returns the end of the brackets that begin at an offset, and how deep they are.
func (a assignment) brackets(from int) (to, deepest int) {
	depth := 0
	for to = from; to < len(a.text); to++ {
		switch a.text[to] {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
		if depth == 0 {
			to++
			break
		}
	}
	a.spend(to - from)
	return to, deepest
}

// blockValue finds the secrets in the lines below the sign that are indented deeper than its name: a text of several
// lines, a map, or a list.
func (a assignment) blockValue(at int) (out []span) {
	isText := a.text[at] == '|' || a.text[at] == '>'
	// Below an announced name, another announced name finds nothing new.
	if !isText && a.block.from <= at && at < a.block.to {
		return nil
	}
	from := at
	line := span{a.start(inLine, a.from), a.end(inLine, a.from)}
	depth := a.indent(line)
	for ; a.nextLine(&line); at = line.to {
		content := strings.TrimSpace(a.text[line.from:line.to])
		deep := a.indent(line)
		isItem := strings.HasPrefix(content, "- ") && deep == depth
		if content != "" && deep <= depth && !isItem {
			break
		}
		a.spend(nameWork * len(content))
		begin := line.from + deep
		out = append(out, a.blockLine(span{begin, begin + len(content)}, isText)...)
	}
	if !isText {
		a.block = span{from, at}
	}
	return out
}

// nextLine moves a line to the next one. It returns false if there is none.
func (s *scan) nextLine(line *span) bool {
	from := s.end(inLine, line.to) + 1
	if from > len(s.text) {
		return false
	}
	*line = span{from, s.end(inLine, from)}
	return true
}

// blockLine finds the secret in one line of a block.
func (s *scan) blockLine(line span, isText bool) []span {
	content := s.text[line.from:line.to]
	if !isText {
		content = strings.TrimPrefix(content, "- ")
		if name, value, isPair := strings.Cut(content, ":"); isPair && !strings.HasPrefix(value, "//") {
			name = strings.Trim(name, `"' `)
			if (Place{form: announced}).Field(name).plain {
				return nil
			}
			content = strings.TrimLeft(value, " \t")
		}
	}
	return s.secret(span{line.to - len(content), line.to})
}

// indent returns the number of blanks at the beginning of a line.
func (s *scan) indent(line span) int { return min(s.end(blank, line.from), line.to) - line.from }

// unescaped decodes a text. A mark begins each escape. Decode returns the meaning and the length of the escape at the start of a text, or
// 0 if there is none.
func unescaped(text, mark string, decode func(text string) (meaning string, length int)) []decoding {
	var b strings.Builder
	var d decoding
	literal := 0 // what is before it is decoded
	for at := 0; ; {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			break
		}
		i += at
		meaning, length := decode(text[i:])
		if length == 0 {
			at = i + len(mark)
			continue
		}
		d.literal(&b, text, literal, i)
		if meaning != "" {
			d.pieces = append(d.pieces, piece{at: b.Len(), of: span{i, i + length}})
			b.WriteString(meaning)
		}
		at, literal = i+length, i+length
	}
	if literal == 0 {
		return nil
	}
	d.literal(&b, text, literal, len(text))
	d.text = b.String()
	return []decoding{d}
}

// literal adds a part of the text that is not encoded.
func (d *decoding) literal(b *strings.Builder, text string, from, to int) {
	if from < to {
		d.pieces = append(d.pieces, piece{at: b.Len(), of: span{from, to}, literal: true})
		b.WriteString(text[from:to])
	}
}

// percents decodes %2F, as in URLs. In a query, a plus sign is a blank, and in a path it is not.
func (n *Needles) percents(text string) []decoding {
	decode := func(text string) (string, int) {
		raw, err := hex.DecodeString(text[1:min(3, len(text))])
		if err != nil || len(raw) == 0 {
			return "", 0
		}
		return string(raw), 3
	}
	out := unescaped(text, "%", decode)
	if !strings.Contains(text, "+") || out == nil && !n.blanks {
		return out
	}
	query := strings.ReplaceAll(text, "+", " ")
	if out == nil {
		return []decoding{{query, []piece{{of: span{0, len(text)}, literal: true}}}}
	}
	return append(out, unescaped(query, "%", decode)...)
}

// escapes are what a letter after a backslash means in JSON, in YAML and in Go. Other characters mean themselves.
const escapes = "a\a b\b e\x1b f\f n\n r\r t\t v\v 0\x00 N\u0085 _\u00a0 L\u2028 P\u2029"

// backslashes decodes \n and \u003c, as in JSON, YAML, Go and shells.
func (*Needles) backslashes(text string) []decoding {
	return unescaped(text, `\`, func(text string) (string, int) {
		if len(text) < 2 {
			return "", 0
		}
		if r, length := codePoint(text[1:]); length > 0 {
			if low, more := codePoint(strings.TrimPrefix(text[1+length:], `\`)); utf16.IsSurrogate(r) && more > 0 && text[1+length] == '\\' {
				return string(utf16.DecodeRune(r, low)), 2 + length + more
			}
			if text[1] == 'x' && r >= utf8.RuneSelf { // Go means a byte, YAML a character; in a longer secret the other bytes tell
				return string([]byte{byte(r)}), 1 + length
			}
			return string(r), 1 + length
		}
		for escape := range strings.SplitSeq(escapes, " ") {
			if escape[0] == text[1] {
				return escape[1:], 2
			}
		}
		_, size := utf8.DecodeRuneInString(text[1:])
		return text[1 : 1+size], 1 + size
	})
}

// codePoint returns the character for x41, u0041 or U00000041, and the length of the escape, or 0 if the text is none of these.
func codePoint(text string) (r rune, length int) {
	digits := 0
	switch {
	case strings.HasPrefix(text, "x"):
		digits = 2
	case strings.HasPrefix(text, "u"):
		digits = 4
	case strings.HasPrefix(text, "U"):
		digits = 8
	}
	if digits == 0 || len(text) <= digits {
		return 0, 0
	}
	v, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), 1 + digits
}

// entities decodes &amp; and &#38;, as in XML and HTML.
func (*Needles) entities(text string) []decoding {
	const longest = 10
	return unescaped(text, "&", func(text string) (string, int) {
		name, _, found := strings.Cut(text[1:min(len(text), longest)], ";")
		if !found {
			return "", 0
		}
		length := len(name) + 2
		if meaning := map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}[name]; meaning != "" {
			return meaning, length
		}
		number, isNumber := strings.CutPrefix(name, "#")
		base := 10
		if digits, isHex := strings.CutPrefix(strings.ToLower(number), "x"); isHex {
			number, base = digits, 16
		}
		v, err := strconv.ParseUint(number, base, 32)
		if !isNumber || err != nil || v > utf8.MaxRune {
			return "", 0
		}
		return string(rune(v)), length
	})
}

// doubledQuotes decodes a quote in single quotes, as YAML and SQL have it (”), and two ways of shells.
func (*Needles) doubledQuotes(text string) []decoding {
	return unescaped(text, "'", func(text string) (string, int) {
		for _, quote := range []string{`'\''`, `'"'"'`, "''"} {
			if strings.HasPrefix(text, quote) {
				return "'", len(quote)
			}
		}
		return "", 0
	})
}

// unfolded decodes line breaks in the place of blanks, as YAML folds long texts.
func unfolded(text string) []decoding {
	return unescaped(text, "\n", func(text string) (string, int) {
		return " ", prefixLength(text, spaces)
	})
}
