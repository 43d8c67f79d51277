package secret

import (
	"iter"
	"regexp"
	"strings"
)

// scan is one reading of a text by the finders. Whoever can write one annotation decides what is in a text, so the work on it is bounded by
// its length: the methods of a scan count the bytes that they read, and a text with too much work in it is masked whole. A finder reads
// the text through these methods, or counts by spend what it reads otherwise.
type scan struct {
	text string
	// left is the work that may still be done.
	left int
	// within is the scan that found this text in its own one, if one did.
	within *scan
	// runs are the last runs of each class. In a text such as eyJ.eyJ.eyJ. the same run has many beginnings.
	runs [classes]span
	// block are the lines that blockValue read last.
	block span
}

// workPerByte and leastWork bound the work on a text. The manifests, documents and logs that this was tried on take at most a third of it.
const (
	workPerByte = 256
	leastWork   = 64 << 10
)

// The work for each byte that is read by something slower than a loop.
const (
	regexpWork = 8
	jsonWork   = 16
	yamlWork   = 128
)

// exhausted is the panic that ends a scan whose work is spent. It does not leave find.
type exhausted struct{}

// newScan returns a scan of a text. If the text was found by another scan, it has what is left of the work of that one.
func newScan(text string, within *scan) *scan {
	if within != nil {
		return &scan{text: text, left: within.left, within: within}
	}
	return &scan{text: text, left: leastWork + workPerByte*len(text)}
}

// spend takes work from what is left.
func (s *scan) spend(work int) {
	if s.left -= work; s.left < 0 {
		panic(exhausted{})
	}
}

// find returns what the finders find. It returns the whole text if there was too much work in it.
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
			s.within.left = s.left
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
			if at = s.index(at, len(s.text), part); at < 0 || !yield(at) {
				return
			}
		}
	}
}

// index returns the first position of a part between two offsets; -1 if it is not there. The search compares many bytes at once.
func (s *scan) index(from, to int, part string) int {
	i := strings.Index(s.text[from:to], part)
	if i < 0 {
		s.spend((to-from)/16 + 1)
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

// end returns where a run of bytes of a class ends that begins at an offset.
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

// start returns where a run of bytes of a class begins that ends at an offset.
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

// line returns the line that has an offset, without its end.
func (s *scan) line(at int) span { return span{s.start(inLine, at), s.end(inLine, at)} }

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
