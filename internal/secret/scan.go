package secret

import (
	"iter"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/helmdrift/helmdrift/internal/order"
)

// scan is one reading of a text by the finders. Whoever can write one annotation decides what is in a text, so its length bounds the work
// on it: the methods of a scan count the bytes that they read, and a text that takes too much work is masked whole. A finder reads the
// text through these methods, or calls spend for what it reads otherwise.
type scan struct {
	text string
	// left is the work that is left. When it falls below asks, the scan asks whether the process was interrupted.
	left, asks int
	// interrupted is set if an interrupt ended the scan.
	interrupted bool
	// within is the scan that found this text inside its own text, if one did.
	within *scan
	// runs are the last runs of each class. In a text such as eyJ.eyJ.eyJ. the same run has many beginnings.
	runs [classes]span
	// block is the span of lines that blockValue read last.
	block span
}

// workPerByte and leastWork bound the work on a text. The manifests, documents and logs in the experiments take at most a third of it.
const (
	workPerByte = 256
	leastWork   = 64 << 10
)

// askedWork is the work between two questions whether the process was interrupted, a few milliseconds of time.
const askedWork = 1 << 20

// interrupted is set by Interrupt.
var interrupted atomic.Bool

// Interrupt tells the finders that the context of the process has ended. From then on they give up each text that takes more than a few
// milliseconds, and mask it whole, so that the process can soon print what it has and end. Only a main function calls it.
func Interrupt() { interrupted.Store(true) }

// These are the work for each byte of something slower than a loop.
const (
	regexpWork = 8
	jsonWork   = 16
	yamlWork   = 128
)

// exhausted is the panic that ends a scan whose work is spent, or that an interrupt ends. It does not leave find.
type exhausted struct{}

// newScan returns a scan of a text. If another scan found the text, the new one gets the work that is left for that scan.
func newScan(text string, within *scan) *scan {
	if within != nil {
		return &scan{text: text, left: within.left, asks: within.asks, within: within}
	}
	work := leastWork + workPerByte*len(text)
	return &scan{text: text, left: work, asks: max(0, work-askedWork)}
}

// spend subtracts work from what is left.
func (s *scan) spend(work int) {
	if s.left -= work; s.left >= s.asks {
		return
	}
	if s.left >= 0 && interrupted.Load() {
		s.left, s.interrupted = -1, true
	}
	if s.asks = max(0, s.left-askedWork); s.left < 0 {
		panic(exhausted{})
	}
}

// find returns what the finders find, or the whole text if it takes too much work.
func (s *scan) find(finders ...func(*scan) []span) (out []span) {
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case exhausted:
			out = []span{{0, len(s.text)}}
		default:
			panic(problem)
		}
		if s.within != nil {
			s.within.left, s.within.asks, s.within.interrupted = s.left, s.asks, s.interrupted
			s.within.spend(0)
		}
	}()
	for _, find := range finders {
		out = append(out, find(s)...)
	}
	return out
}

// indexes yields the positions of a part in the text.
func (s *scan) indexes(part string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; at += len(part) {
			if at = s.index(at, part); at < 0 || !yield(at) {
				return
			}
		}
	}
}

// index returns the first position of a part at or after an offset, or -1. The search compares many bytes at once.
func (s *scan) index(from int, part string) int {
	i := strings.Index(s.text[from:], part)
	if i < 0 {
		s.spend((len(s.text)-from)/16 + 1)
		return -1
	}
	s.spend(i/16 + 1)
	return from + i
}

// matches returns the matches of an expression in the text, as FindAllStringSubmatchIndex does.
func (s *scan) matches(e *regexp.Regexp) [][]int {
	s.spend(regexpWork * len(s.text))
	return e.FindAllStringSubmatchIndex(s.text, -1)
}

// expression returns a regular expression that is compiled on first use.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// end returns the end of the run of bytes of a class that begins at an offset.
func (s *scan) end(c class, at int) int {
	if last := s.runs[c]; last.from <= at && at < last.to {
		return last.to
	}
	to := at
	for to < len(s.text) && c.has(s.text[to]) {
		to++
	}
	s.spend(to - at + 1)
	if at < to {
		s.runs[c] = span{at, to}
	}
	return to
}

// start returns the beginning of the run of bytes of a class that ends at an offset.
func (s *scan) start(c class, at int) int {
	last, from, work := s.runs[c], at, 1
	for from > 0 && c.has(s.text[from-1]) {
		if work++; last.from < from && from <= last.to {
			from = last.from
		} else {
			from--
		}
	}
	s.spend(work)
	if from < at {
		to := at
		if last.from <= at && at < last.to {
			to = last.to
		}
		s.runs[c] = span{from, to}
	}
	return from
}

// secret returns the span, unless its text is harmless.
func (s *scan) secret(part span) []span {
	if part.from >= part.to {
		return nil
	}
	s.spend(part.to - part.from)
	if isHarmless(strings.Trim(s.text[part.from:part.to], `"'`)) {
		return nil
	}
	return []span{part}
}

// Mask replaces a secret.
const Mask = "***"

// span is a part of a text.
type span struct{ from, to int }

// merged returns spans in order. Those that overlap or touch become one, and empty ones are dropped.
func merged(spans []span) []span {
	order.Sort(spans, func(a, b span) int { return a.from - b.from })
	out := spans[:0]
	for _, part := range spans {
		if n := len(out); n > 0 && part.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, part.to)
		} else if part.from < part.to {
			out = append(out, part)
		}
	}
	return out
}

// spaces are the bytes between words, also of different lines.
const spaces = " \t\r\n"

// prefixLength returns how many bytes at the beginning of a text are among some ASCII characters.
func prefixLength(text, among string) int { return len(text) - len(strings.TrimLeft(text, among)) }

// containsFold reports whether a text contains a lower-case part, regardless of case. It does not allocate.
func containsFold(text, lower string) bool {
	for i := 0; i+len(lower) <= len(text); i++ {
		if (text[i] == lower[0] || text[i] == lower[0]-'a'+'A') && strings.EqualFold(text[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

// class is a class of bytes. The finders read runs of them.
type class int

const (
	// inLine are the bytes of a line, and notSpace are the bytes of a word in it.
	inLine class = iota
	notSpace
	// blank are the blanks within a line, and quotes are quotes that may be escaped.
	blank
	quotes
	// beforeSign are the bytes between the end of a name and its sign.
	beforeSign
	// inToken are the bytes of a token. inJWT also has the dot, and inPath the slash. inBase64 are the digits of both alphabets of base64.
	inToken
	inJWT
	inPath
	inBase64
	hexDigit
	// inName are the bytes of the name in front of a sign.
	inName
	// inAuthority are the bytes of a URL up to its path, and inDSN are the bytes of a data source name up to its network.
	inAuthority
	inDSN
	// inHeader are the bytes of the value of an HTTP header.
	inHeader
	// inWord are the bytes of an unquoted value, and inVariable are the bytes up to the end of a variable in it.
	inWord
	inVariable
	// inFault are the bytes of an unquoted value in an error, and notBracket are the bytes after the last bracket of a line.
	inFault
	notBracket
	// inDigest are the bytes of a digest that may have the name of its algorithm in front.
	inDigest
	// inArgument are the bytes of an argument in a command line.
	inArgument
	// inElement are the bytes between two tags of XML.
	inElement
	// classes is the number of classes.
	classes
)

// has reports whether a byte is in the class.
func (c class) has(b byte) bool {
	switch c {
	case inLine:
		return b != '\n'
	case notSpace:
		return b != ' '
	case blank:
		return b == ' ' || b == '\t'
	case quotes:
		return strings.IndexByte("\"'`\\", b) >= 0
	case beforeSign:
		return strings.IndexByte("\"'\\ \t", b) >= 0
	case inToken:
		return isTokenByte(b)
	case inJWT:
		return isTokenByte(b) || b == '.'
	case inPath:
		return isTokenByte(b) || b == '/'
	case inBase64:
		return isTokenByte(b) || b == '+' || b == '/' || b == '='
	case hexDigit:
		return b >= '0' && b <= '9' || b >= 'a' && b <= 'f'
	case inName:
		return isTokenByte(b) || b == '.' || b >= 0x80
	case inAuthority:
		return strings.IndexByte(" \t\r\n/\"'<>`", b) < 0
	case inDSN:
		return strings.IndexByte(" \t\r\n\"'<>`=", b) < 0
	case inHeader:
		return strings.IndexByte("\"'`\r\n", b) < 0
	case inWord:
		return strings.IndexByte(" \t\r\n;&,\"'`)}]<>|", b) < 0
	case inVariable:
		return strings.IndexByte("\n)}", b) < 0
	case inFault:
		return strings.IndexByte(" \t\r\n\f\v:", b) < 0
	case notBracket:
		return strings.IndexByte("\n]}", b) < 0
	case inDigest:
		return inBase64.has(b) || b == ':'
	case inArgument:
		return strings.IndexByte(" \t\r\n\"'`,[]", b) < 0
	case inElement:
		return b != '<' && b != '>'
	case classes:
	}
	return false
}

// isTokenByte reports whether a byte may be part of a token, as letters, digits, underscores and dashes may.
func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
