package secret

import (
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// deepestEncoding is how many encodings within each other are read: the data of a Secret, of a file in JSON, of a login in base64.
const deepestEncoding = 3

// find returns where the secrets are in a text, as they are and encoded. Depth is how many encodings are read. A text in base64 or in
// hexadecimal digits is found as a whole, because its other parts say what is before and after the secret.
func (n *needles) find(s *scan, text string, depth int) []span {
	least := 1
	if depth < deepestEncoding {
		least = shortestWord
	}
	out := n.in(s, text, least)
	if depth == 0 || len(text) < shortestBase64 {
		return out
	}
	for _, decode := range decoders {
		s.spend(len(text))
		for _, d := range decode(n, text) {
			for _, found := range n.find(s, d.text, depth-1) {
				out = append(out, d.source(found))
			}
		}
	}
	if n.blanks {
		s.spend(len(text))
		for _, d := range unfolded(text) {
			for _, found := range n.in(s, d.text, least) {
				out = append(out, d.source(found))
			}
		}
	}
	return out
}

// spans returns where the secrets are in a text, as they are and encoded, in order and without overlaps.
func (n *needles) spans(text string) []span {
	if n == nil || n.count == 0 || text == "" {
		return nil
	}
	return merged(newScan(text, nil).find(func(s *scan) []span { return n.find(s, text, deepestEncoding) }))
}

// decoders read a text in the encodings in which templates, tools and errors quote values.
var decoders = [...]func(*needles, string) []decoding{
	(*needles).inBase64, (*needles).inHex, (*needles).percents, (*needles).backslashes, (*needles).entities, (*needles).doubledQuotes,
}

// decoding is what a text says in one encoding.
type decoding struct {
	text   string
	pieces []piece
}

// piece is a part of a decoded text, and what encodes it.
type piece struct {
	at int // where it begins in the decoded text
	of span
	// literal is set if the part is not encoded.
	literal bool
}

// source returns what encodes a part of the decoded text.
func (d decoding) source(part span) span {
	first, last := d.pieceAt(part.from), d.pieceAt(part.to-1)
	out := span{first.of.from, last.of.to}
	if first.literal {
		out.from += part.from - first.at
	}
	if last.literal {
		out.to = last.of.from + part.to - last.at
	}
	return out
}

// pieceAt returns the piece with an offset of the decoded text.
func (d decoding) pieceAt(offset int) piece {
	return d.pieces[sort.Search(len(d.pieces), func(i int) bool { return d.pieces[i].at > offset })-1]
}

// The lengths from which a run of digits can be a secret of shortestWord bytes.
const (
	shortestBase64 = (shortestWord*8 + 5) / 6
	shortestHex    = shortestWord * 2
	// wrappedBase64 is the length from which a line of base64 goes on in the next one.
	wrappedBase64 = 60
)

// notSextet marks the bytes that are in no alphabet of base64.
const notSextet = 0xff

// sextets are the values of the digits of base64, of both alphabets.
var sextets = sync.OnceValue(func() (out [256]byte) {
	for i := range out {
		out[i] = notSextet
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		out[c] = byte(i)
	}
	out['-'], out['_'] = out['+'], out['/']
	return out
})

// inBase64 decodes the runs of base64 from each of the four digits at which an encoded text may begin, because the run may have other text in
// front.
func (n *needles) inBase64(text string) []decoding {
	values := sextets()
	runs := base64Runs(text, &values)
	if len(runs) == 0 {
		return nil
	}
	out := make([]decoding, 4)
	var buffer []byte
	for offset := range out {
		buffer = buffer[:0]
		for _, run := range runs {
			buffer = out[offset].add(buffer, run, n, appendBase64(buffer, text[run.from+offset:run.to], &values))
		}
		out[offset].text = string(buffer)
	}
	return out
}

// add adds the decoded text of a run to the buffer, unless it is no text and can have no secret. The buffer with the text is longer.
func (d *decoding) add(buffer []byte, run span, n *needles, longer []byte) []byte {
	if !n.binary && !hasText(longer[len(buffer):]) {
		return longer[:len(buffer)]
	}
	d.pieces = append(d.pieces, piece{at: len(buffer), of: run})
	return append(longer, '\n')
}

// hasText reports whether there are as many bytes of text in a row as the shortest secret has that is looked for. What was no base64 or is
// decoded from the wrong digit rarely has.
func hasText(raw []byte) bool {
	long := 0
	for i := 0; i < len(raw); {
		size := 1
		switch c := raw[i]; {
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRune(raw[i:]); r == utf8.RuneError {
				long = 0
			} else {
				long += size
			}
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f:
			long = 0
		default:
			long++
		}
		if long >= shortestWord {
			return true
		}
		i += size
	}
	return false
}

// appendBase64 appends what digits of base64 encode, from the first one on. Line breaks and the padding encode nothing.
func appendBase64(to []byte, text string, values *[256]byte) []byte {
	var bits uint32
	digits := 0
	for i := range len(text) {
		v := values[text[i]]
		if v == notSextet {
			continue
		}
		bits = bits<<6 | uint32(v)
		if digits++; digits == 4 {
			to = append(to, byte(bits>>16), byte(bits>>8), byte(bits))
			bits, digits = 0, 0
		}
	}
	switch digits {
	case 2:
		to = append(to, byte(bits>>4))
	case 3:
		to = append(to, byte(bits>>10), byte(bits>>2))
	}
	return to
}

// base64Runs returns the runs of digits of base64, with their padding. A long line goes on in the next one.
func base64Runs(text string, values *[256]byte) (runs []span) {
	for i := 0; i < len(text); i++ {
		if values[text[i]] == notSextet {
			continue
		}
		from, line := i, i
		for {
			for i < len(text) && values[text[i]] != notSextet {
				i++
			}
			if i-line < wrappedBase64 || i == len(text) || text[i] != '\r' && text[i] != '\n' {
				break
			}
			next := i + prefixLength(text[i:], isSpace)
			if next == len(text) || values[text[next]] == notSextet {
				break
			}
			i, line = next, next
		}
		for i < len(text) && text[i] == '=' {
			i++
		}
		if i-from >= shortestBase64 {
			runs = append(runs, span{from, i})
		}
	}
	return runs
}

// inHex decodes the runs of hexadecimal digits, from the first and from the second digit.
func (n *needles) inHex(text string) []decoding {
	var out [2]decoding
	var buffers [2][]byte
	for i := 0; i < len(text); i++ {
		from := i
		for i < len(text) && isHexDigit(text[i]) {
			i++
		}
		if i-from < shortestHex {
			continue
		}
		for offset := range out {
			longer := buffers[offset]
			for j := from + offset; j+1 < i; j += 2 {
				longer = append(longer, hexValue(text[j])<<4|hexValue(text[j+1]))
			}
			buffers[offset] = out[offset].add(buffers[offset], span{from, i}, n, longer)
		}
	}
	out[0].text, out[1].text = string(buffers[0]), string(buffers[1])
	return out[:]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func isHexDigit(c byte) bool { return hexDigit.has(c) || c >= 'A' && c <= 'F' }

// hexValue returns the value of a hexadecimal digit.
func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

// unescaped decodes a text in which a mark begins what is encoded. Decode returns the meaning of what begins with the mark, and its length,
// or 0 if the mark encodes nothing.
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
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[(text + " ")[0]]
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
