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
func spansOf(text string) []span {
	if len(text) < 3 {
		return nil
	}
	var out []span
	finders := []func(string) []span{
		secretManifests, privateKeys, urls, httpCredentials, webTokens, knownTokens, maskedTokens, assignments, pairs, configLines, flags,
	}
	for _, find := range finders {
		out = append(out, find(text)...)
	}
	// Spans that overlap or touch become one, and empty spans are dropped.
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	merged := out[:0]
	for _, s := range out {
		if n := len(merged); n > 0 && s.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
		} else if s.from < s.to {
			merged = append(merged, s)
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
func secretManifests(text string) []span {
	if strings.Contains(text, "Secret") && secretKind().MatchString(text) && secretData().MatchString(text) {
		return []span{{0, len(text)}}
	}
	return nil
}

// indexes yields the positions of a part in a text.
func indexes(text, part string) func(func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; ; at += len(part) {
			next := strings.Index(text[at:], part)
			if next < 0 {
				return
			}
			if at += next; !yield(at) {
				return
			}
		}
	}
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

// suffixLength returns the number of bytes at the end of a text for which is holds.
func suffixLength(text string, is func(byte) bool) int {
	for i := len(text); i > 0; i-- {
		if !is(text[i-1]) {
			return len(text) - i
		}
	}
	return len(text)
}

// isTokenByte reports whether a byte may be part of a token, as letters, digits, underscores and dashes may.
func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func isBase64(c byte) bool { return isTokenByte(c) || c == '+' || c == '/' || c == '=' }

// containsFold reports whether a text contains a lower-case part, regardless of case. It does not allocate.
func containsFold(text, lower string) bool {
	for i := 0; i+len(lower) <= len(text); i++ {
		if (text[i] == lower[0] || text[i] == lower[0]-'a'+'A') && strings.EqualFold(text[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}
