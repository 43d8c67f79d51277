package secret

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needles are known secrets that are looked for in texts. Most positions of a text are dismissed by a filter, so that a search takes about
// the same time for one secret and for thousands.
type needles struct {
	// tables have the secrets of at least headSizes bytes, by their first bytes, and no longer ones than the table before.
	tables [len(headSizes)]map[uint64][]needle
	// filter has a bit for the first bytes of each secret of at least shortestWord bytes.
	filter [64]uint64
	count  int
	// blanks is set if a secret has blanks, at which an editor may break it into lines; binary if one is no text.
	blanks, binary bool
}

// needle is one secret.
type needle struct {
	text string
	// inside is set if the secret is found in the middle of a word too.
	inside bool
}

// headSizes are how many bytes of a secret are the key of its table.
var headSizes = [...]int{8, shortestWord, 1}

// newNeedles returns the needles of texts. The value of a text is true if it is found in the middle of a word too.
func newNeedles(texts map[string]bool) *needles {
	n := &needles{count: len(texts)}
	for text, inside := range texts {
		i := slices.IndexFunc(headSizes[:], func(size int) bool { return len(text) >= size })
		if i < 0 {
			continue
		}
		if n.tables[i] == nil {
			n.tables[i] = map[uint64][]needle{}
		}
		var head uint64
		for j := range headSizes[i] {
			head |= uint64(text[j]) << (8 * j)
		}
		n.tables[i][head] = append(n.tables[i][head], needle{text, inside})
		bit := bucket(head)
		n.filter[bit/64] |= 1 << (bit % 64)
		n.blanks = n.blanks || strings.Contains(text, " ")
		n.binary = n.binary || !utf8.ValidString(text)
	}
	for _, table := range n.tables {
		for _, same := range table {
			// The longest comes first, so that no part of a secret is left.
			slices.SortFunc(same, func(a, b needle) int { return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text)) })
		}
	}
	return n
}

// bucket returns the bit of the filter for the first bytes of a text.
func bucket(head uint64) uint64 { return head << 32 * 0x9e3779b97f4a7c15 >> 52 }

// in returns where the secrets of at least some length are in a text, without overlaps. The scan counts the work.
func (n *needles) in(s *scan, text string, least int) (out []span) {
	s.spend(len(text))
	var head uint64 // the 8 bytes at an offset
	for i := range min(7, len(text)) {
		head |= uint64(text[i]) << (8*i + 8)
	}
	last := 0
	for i := range len(text) {
		head >>= 8
		if i+7 < len(text) {
			head |= uint64(text[i+7]) << 56
		}
		if i < last {
			continue
		}
		bit := bucket(head)
		isHead := n.filter[bit/64]&(1<<(bit%64)) != 0
		if !isHead && (least > 1 || n.tables[2] == nil) {
			continue
		}
		if found := n.at(s, head, text, last, i, least); found > 0 {
			out, last = append(out, span{i, i + found}), i+found
		}
	}
	return out
}

// at returns the length of the secret at an offset of a text, or 0. Last is where the one before it ends.
func (n *needles) at(s *scan, head uint64, text string, last, i, least int) int {
	for j, size := range headSizes {
		if size < least {
			break
		}
		for _, one := range n.tables[j][head&(1<<(8*size)-1)] {
			// The first bytes of a long secret are compared before all of them.
			const first = 64
			if s.spend(first / 16); !strings.HasPrefix(text[i:], one.text[:min(first, len(one.text))]) {
				continue
			}
			s.spend(len(one.text) / 16)
			end := i + len(one.text)
			if strings.HasPrefix(text[i:], one.text) &&
				(one.inside || isWholeWord(text[last:i], last > 0, text[end:], len(one.text) < shortestWord)) {
				return len(one.text)
			}
		}
	}
	return 0
}

// isWholeWord reports whether the text between two others is a word, or a quoted word if isQuoted is set. AfterSecret is set if the text
// before it follows another secret.
func isWholeWord(before string, afterSecret bool, after string, isQuoted bool) bool {
	left, _ := utf8.DecodeLastRuneInString(before)
	right, _ := utf8.DecodeRuneInString(after)
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	if !isQuoted {
		return !isPart(left) && !isPart(right)
	}
	// A quoted word is in quotes or brackets, or follows "=" or ": ".
	opens := strings.ContainsRune("\"'`=([{", left) || strings.HasSuffix(before, ": ") && !strings.HasSuffix(before, "::")
	closes := after == "" || strings.ContainsRune("\"'`)]},;:", right)
	return (before != "" || afterSecret) && opens && closes
}
