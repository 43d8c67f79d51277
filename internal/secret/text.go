package secret

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask replaces a secret.
const Mask = "***"

// Scrub replaces the parts of a text that have the form of a secret.
func Scrub(text string) string {
	spans := spansOf(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(Mask)
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// span is a part of a text.
type span struct{ from, to int }

// spansOf returns the secrets of a text in order, without overlaps.
func spansOf(text string) []span { return newScan(text, nil).spans() }

// spans returns the secrets of the text in order, without overlaps.
func (s *scan) spans() []span {
	if len(s.text) < 3 {
		return nil
	}
	out := s.find(
		secretManifests, privateKeys, urls, dataSources, httpCredentials, webTokens, knownTokens, maskedTokens, checksums, assignments, pairs,
		configLines, flags,
	)
	// Spans that overlap or touch become one, and empty spans are dropped.
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	merged := out[:0]
	for _, part := range out {
		if n := len(merged); n > 0 && part.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, part.to)
		} else if part.from < part.to {
			merged = append(merged, part)
		}
	}
	return merged
}

// secretKind matches the kind of a Secret in YAML or JSON, even within a quoted string. secretData matches its data fields.
var (
	secretKind = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`["']?kind\\?["']?\s*:\s*\\?["']?Secret(?:List)?\b`)
	})
	secretData = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["']?(?:data|stringData)\\?["']?\s*:`) })
)

// secretManifests returns the whole text if it contains a Secret with data.
func secretManifests(s *scan) []span {
	if s.index(0, len(s.text), "Secret") < 0 {
		return nil
	}
	s.spend(2 * regexpWork * len(s.text))
	if secretKind().MatchString(s.text) && secretData().MatchString(s.text) {
		return []span{{0, len(s.text)}}
	}
	return nil
}

// prefixLength returns the number of bytes at the beginning of a text for which is holds.
func prefixLength(text string, is func(byte) bool) int {
	for i := range len(text) {
		if !is(text[i]) {
			return i
		}
	}
	return len(text)
}

// containsFold reports whether a text contains a lower-case part, regardless of case. It does not allocate.
func containsFold(text, lower string) bool {
	for i := 0; i+len(lower) <= len(text); i++ {
		if (text[i] == lower[0] || text[i] == lower[0]-'a'+'A') && strings.EqualFold(text[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}
