// Package lookalike shows how two values differ that look the same: é written as one character and as two, or a Latin and a Cyrillic a. A
// reader who sees the same text twice takes the report for wrong, so the characters that differ are shown by their code points.
//
//	rendered values ─► skeleton: what each looks like ─► two alike that differ? ─► code points from the first difference to the last
//
// Values that look different stay as they are, in any script.
package lookalike

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

// lookalikes are letters and signs that look like ASCII in most fonts, and that no normalization maps to ASCII, each followed by the
// character that it looks like. They come from Unicode's confusables.txt (UTS 39), as far as keyboards and word processors write them.
const lookalikes = "АAВBЕEЅSІIЈJКKМMНHОOРPСCТTХXУYҮYԌGԜWԚQаaсcеeһhіiјjӏlоoрpԛqѕsԝwхxуyүyѵvԁd" + // Cyrillic
	"ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXοoνvιiυuρpγyαa" + // Greek
	"օoսuհhոnցgզqՕOՏSԼL" + // Armenian
	"ıiɑaɡgɩiʏyǀlǃ!" + // Latin
	"‐-‒-–-—-―-−-⁃-ー-‘'’'‛'′'ʹ'ʼ'“\"”\"‟\"‚,،,٫,⁄/∕/∗*⋅.·.•.∶:ː:꞉:∼~ˆ^¦|‹<›>"

var likeASCII = sync.OnceValue(func() map[rune]rune {
	out := map[rune]rune{}
	all := []rune(lookalikes)
	for i := 0; i < len(all); i += 2 {
		out[all[i]] = all[i+1]
	}
	return out
})

// skeleton returns what a text looks like. Nobody can tell two texts with the same skeleton apart by eye.
func skeleton(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if like, ok := likeASCII()[r]; ok {
			return like
		}
		return r
	}, norm.NFKD.String(s))
}

// isASCII reports whether a text has ASCII characters only. Such texts have no look-alikes.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Distinguish returns rendered values, with code points where one of them looks like another that differs.
func Distinguish(shown []string) []string {
	alike := map[string][]string{}
	for _, s := range shown {
		alike[skeleton(s)] = append(alike[skeleton(s)], s)
	}
	if len(alike) == len(shown) {
		return shown
	}
	out := make([]string, len(shown))
	for i, s := range shown {
		out[i] = s
		for _, other := range alike[skeleton(s)] {
			if other != s {
				out[i] = withCodePoints(s, other)
				break
			}
		}
	}
	return out
}

// withCodePoints escapes the characters of a rendered value from the first to the last that differs from other. A value without quotes
// gets them, because a backslash is an escape only in quotes.
func withCodePoints(s, other string) string {
	from, to := differing(s, other)
	for from < to && escape.IsMark(firstRune(s[to:])) { // it combines with what differs
		to += utf8.RuneLen(firstRune(s[to:]))
	}
	before, middle, after := s[:from], s[from:to], s[to:]
	var b strings.Builder
	for _, r := range middle {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			b.WriteString(escape.Rune(r))
		}
	}
	if strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") || isASCII(middle) {
		return before + b.String() + after
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace
	return `"` + quote(before) + b.String() + quote(after) + `"`
}

// firstRune returns the first rune of a text that is not empty.
func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }

// differing returns the part of s that differs from other, at the edges of characters.
func differing(s, other string) (from, to int) {
	from = monospace.SharedBytes(s, other)
	to = len(s)
	for end := len(other); to > from && end > from; {
		r, size := utf8.DecodeLastRuneInString(s[from:to])
		o, osize := utf8.DecodeLastRuneInString(other[from:end])
		if o != r {
			break
		}
		to, end = to-size, end-osize
	}
	return from, to
}
