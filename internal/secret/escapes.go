package secret

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescaped decodes a text. A mark begins what is encoded. Decode returns the meaning of what begins with the mark, and its length, or 0 if
// the mark encodes nothing.
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

// percents decodes %2F, as URLs have it. In a query, a plus sign is a blank, and in a path it is not.
func (n *needles) percents(text string) []decoding {
	decode := func(text string) (string, int) {
		if len(text) < 3 || !isHexDigit(text[1]) || !isHexDigit(text[2]) {
			return "", 0
		}
		return string([]byte{hexValue(text[1])<<4 | hexValue(text[2])}), 3
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

// backslashes decodes \n and \u003c, as JSON, YAML, Go and shells have them.
func (*needles) backslashes(text string) []decoding {
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

// codePoint returns the character that x41, u0041 or U00000041 means, and the length of that; 0 if it is none of them.
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

// entities decodes &amp; and &#38;, as XML and HTML have them.
func (*needles) entities(text string) []decoding {
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
func (*needles) doubledQuotes(text string) []decoding {
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
		return " ", prefixLength(text, isSpace)
	})
}
