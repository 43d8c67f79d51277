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
	return replaced(text, spansOf(text), func(string) string { return Mask })
}

// replaced returns a text with parts replaced.
func replaced(text string, parts []span, by func(part string) string) string {
	if len(parts) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range parts {
		b.WriteString(text[at:s.from])
		b.WriteString(by(text[s.from:s.to]))
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// span is a part of a text.
type span struct{ from, to int }

// finders returns what finds the secrets of each form.
func finders() []func(*scan) []span {
	return []func(*scan) []span{
		secretManifests, privateKeys, urls, dataSources, httpCredentials, webTokens, knownTokens, maskedTokens, checksums, assignments, pairs,
		configLines, flags, elements, redisUsers,
	}
}

// spansOf returns the secrets of a text in order, without overlaps.
func spansOf(text string) []span { return newScan(text, nil).spans() }

// spans returns the secrets of the text in order, without overlaps.
func (s *scan) spans() []span {
	if len(s.text) < 3 {
		return nil
	}
	return merged(s.find(finders()...))
}

// merged returns spans in order. Those that overlap or touch become one, and empty ones are dropped.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
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
