package secret

import (
	"encoding/hex"
	"sort"
	"sync"
	"unicode/utf8"
)

// deepestEncoding is how many nested encodings are read: a login in base64, in a JSON file, in the data of a Secret.
const deepestEncoding = 3

// find returns where the secrets are in a text, in clear and encoded. Depth is how many encodings it reads. It returns a text in
// base64 or in hexadecimal digits as a whole, because its other parts reveal what is before and after the secret.
func (n *Needles) find(s *scan, text string, depth int) []span {
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

// spans returns where the secrets are in a text, in clear and encoded, in order and without overlaps.
func (n *Needles) spans(text string) []span {
	if n == nil || n.count == 0 || text == "" {
		return nil
	}
	return merged(newScan(text, nil).find(func(s *scan) []span { return n.find(s, text, deepestEncoding) }))
}

// decoders read a text in the encodings that templates, tools and errors use to quote values.
var decoders = [...]func(*Needles, string) []decoding{
	(*Needles).inBase64, (*Needles).inHex, (*Needles).percents, (*Needles).backslashes, (*Needles).entities, (*Needles).doubledQuotes,
}

// decoding is a text decoded from one encoding.
type decoding struct {
	text   string
	pieces []piece
}

// piece is a part of a decoded text, with the part of the text that encodes it.
type piece struct {
	at int // where it begins in the decoded text
	of span
	// literal is set if the part is not encoded.
	literal bool
}

// source returns the span that encodes a part of the decoded text.
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

// These are the least lengths of a run of digits that encodes a secret of shortestWord bytes.
const (
	shortestBase64 = (shortestWord*8 + 5) / 6
	shortestHex    = shortestWord * 2
	// wrappedBase64 is the least length of a line of base64 that goes on in the next one.
	wrappedBase64 = 60
)

// notSextet marks the bytes that are in no alphabet of base64.
const notSextet = 0xff

// sextets are the values of the digits of base64, of both alphabets.
var sextets = sync.OnceValue(func() (out [256]byte) {
	for i := range out {
		out[i] = notSextet
	}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i, c := range []byte(digits) {
		out[c] = byte(i)
	}
	out['-'], out['_'] = out['+'], out['/']
	return out
})

// inBase64 decodes the runs of base64 four times, starting at each of the first four digits, because other text may precede the
// encoded text.
func (n *Needles) inBase64(text string) []decoding {
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

// add adds the decoded text of a run to the buffer, unless it is not text and cannot contain a secret. The buffer with the text is longer.
func (d *decoding) add(buffer []byte, run span, n *Needles, longer []byte) []byte {
	if !n.binary && !hasText(longer[len(buffer):]) {
		return longer[:len(buffer)]
	}
	d.pieces = append(d.pieces, piece{at: len(buffer), of: run})
	return append(longer, '\n')
}

// hasText reports whether there are as many bytes of text in a row as in the shortest secret. There rarely are if the run was not base64,
// or was decoded from the wrong digit.
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

// base64Runs returns the runs of digits of base64, with their padding. A long line continues in the next one.
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
			next := i + prefixLength(text[i:], spaces)
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
func (n *Needles) inHex(text string) []decoding {
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
			longer, _ := hex.AppendDecode(buffers[offset], []byte(text[from+offset:i])) // it leaves out a last single digit
			buffers[offset] = out[offset].add(buffers[offset], span{from, i}, n, longer)
		}
	}
	out[0].text, out[1].text = string(buffers[0]), string(buffers[1])
	return out[:]
}

func isHexDigit(c byte) bool { return hexDigit.has(c) || c >= 'A' && c <= 'F' }
