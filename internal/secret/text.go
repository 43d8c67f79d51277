package secret

import "strings"

// Scrub replaces the parts of a text that have the form of a secret.
func Scrub(text string) string { return Replace(text, func(string) string { return Mask }) }

// Replace returns a text with the parts that have the form of a secret replaced.
func Replace(text string, by func(part string) string) string {
	return replaced(text, newScan(text, nil).spans(), by)
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

// finders returns the finders for all forms of secrets.
func finders() []func(*scan) []span {
	return []func(*scan) []span{
		secretManifests, privateKeys, urls, dataSources, httpCredentials, webTokens, knownTokens, maskedTokens, checksums, assignments, pairs,
		configLines, flags, elements, redisUsers,
	}
}

// spans returns the secrets of the text in order, without overlaps.
func (s *scan) spans() []span {
	if len(s.text) < 3 {
		return nil
	}
	return merged(s.find(finders()...))
}

// secretKind matches the kind of a Secret in YAML or JSON, even within a quoted string. secretData matches its data fields.
var (
	secretKind = expression(`["']?kind\\?["']?\s*:\s*\\?["']?Secret(?:List)?\b`)
	secretData = expression(`["']?(?:data|stringData)\\?["']?\s*:`)
)

// secretManifests returns the whole text if it contains a Secret with data.
func secretManifests(s *scan) []span {
	if s.index(0, "Secret") < 0 {
		return nil
	}
	s.spend(2 * regexpWork * len(s.text))
	if secretKind().MatchString(s.text) && secretData().MatchString(s.text) {
		return []span{{0, len(s.text)}}
	}
	return nil
}
