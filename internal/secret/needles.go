package secret

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helmdrift/helmdrift/internal/order"
)

// Needles are known secrets to look for in texts. A filter dismisses most positions of a text, so that a search takes about the same time
// for one secret and for thousands.
type Needles struct {
	// tables have the secrets of at least headSizes bytes, by their first bytes. The previous table has the longer ones.
	tables [len(headSizes)]map[uint64][]needle
	// filter has a bit for the first bytes of each secret of at least shortestWord bytes.
	filter [64]uint64
	count  int
	// blanks is set if a secret has blanks, because an editor may break lines there. binary is set if a secret is not text.
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

// NewNeedles returns the needles of texts. The value of a text is true if it is found in the middle of a word too.
func NewNeedles(texts map[string]bool) *Needles {
	n := &Needles{count: len(texts)}
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
			order.Sort(same, func(a, b needle) int { return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text)) })
		}
	}
	return n
}

// Holds reports whether a text contains one of the secrets, in clear or encoded.
func (n *Needles) Holds(text string) bool { return len(n.spans(text)) > 0 }

// Replace returns a text with the secrets in it replaced, in clear and encoded.
func (n *Needles) Replace(text string, by func(part string) string) string {
	return replaced(text, n.spans(text), by)
}

// bucket returns the bit of the filter for the first bytes of a text.
func bucket(head uint64) uint64 { return head << 32 * 0x9e3779b97f4a7c15 >> 52 }

// in returns where secrets of at least a given length are in a text, without overlaps. The scan counts the work.
func (n *Needles) in(s *scan, text string, least int) (out []span) {
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

// at returns the length of the secret at an offset of a text, or 0. Last is the end of the previous secret.
func (n *Needles) at(s *scan, head uint64, text string, last, i, least int) int {
	for j, size := range headSizes {
		if size < least {
			break
		}
		for _, one := range n.tables[j][head&(1<<(8*size)-1)] {
			// Compare the first bytes of a long secret before the whole.
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

// MayBeValue reports whether a key of a map may be the value of a Secret. A key of only letters is the name of a field.
func MayBeValue(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""
}
