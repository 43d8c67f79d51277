package secret

import (
	"sync"
	"unicode/utf8"
)

// The least lengths of a run of digits that encodes a secret of shortestWord bytes.
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

// inBase64 decodes the runs of base64 from each of the four digits at which an encoded text may begin, because the run may have
// other text in front.
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
