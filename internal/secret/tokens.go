package secret

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
)

// encodedHead is the beginning of a PEM block in base64.
const encodedHead = "LS0tLS1CRUdJTi"

// privateKeys finds the PEM blocks of private keys, in clear and in base64.
func privateKeys(text string) (out []span) {
	const head, tail = "-----BEGIN ", "PRIVATE KEY"
	for at := range indexes(text, head) {
		line, _, _ := strings.Cut(text[at:], "\n")
		if !strings.Contains(line[:min(len(line), 80)], tail) {
			continue
		}
		// A block without an end goes on to the end of the text.
		to := len(text)
		if end := strings.Index(text[at:], "-----END "); end >= 0 {
			_, rest, _ := strings.Cut(text[at+end+len("-----END "):], "-----")
			to = len(text) - len(rest)
		}
		out = append(out, span{at, to})
	}
	for at := range indexes(text, encodedHead) {
		to := at + prefixLength(text[at:], isBase64)
		// The first 80 bytes are enough to decode the line that names the kind of key.
		raw, _ := base64.StdEncoding.DecodeString(text[at : at+min((to-at)/4*4, 80)])
		if strings.Contains(string(raw), tail) {
			out = append(out, span{at, to})
		}
	}
	return out
}

// urls finds the password of a URL or of a Go data source name, and a token in the place of the user.
func urls(text string) (out []span) {
	for at := range indexes(text, "://") {
		from := at + len("://")
		to := from + prefixLength(text[from:], func(c byte) bool { return !strings.ContainsRune(" \t\r\n/\"'<>`", rune(c)) })
		out = append(out, credentials(text, from, to)...)
	}
	for _, network := range []string{"@tcp(", "@unix("} {
		for at := range indexes(text, network) {
			from := at - suffixLength(text[:at], func(c byte) bool { return !strings.ContainsRune(" \t\r\n\"'<>`=", rune(c)) })
			out = append(out, credentials(text, from, at+1)...)
		}
	}
	return out
}

// credentials finds the password, or a token as the user, in front of the host of an authority.
func credentials(text string, from, to int) []span {
	at := strings.LastIndexByte(text[from:to], '@')
	if at < 0 {
		return nil
	}
	user, password, has := strings.Cut(text[from:from+at], ":")
	switch {
	case has && !isHarmless(password) && !strings.HasPrefix(password, "$"):
		return []span{{from + len(user) + 1, from + at}}
	case !has && len(user) >= longToken && !isHarmless(user):
		return []span{{from, from + at}}
	}
	return nil
}

// longToken is the length from which a text can be a token by its looks.
const longToken = 20

// scheme matches the schemes of HTTP authentication and the word after them.
var scheme = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]+)`)
})

// httpCredentials finds the credentials of HTTP authentication.
func httpCredentials(text string) (out []span) {
	if !containsFold(text, "bearer ") && !containsFold(text, "basic ") {
		return nil
	}
	for _, m := range scheme().FindAllStringSubmatchIndex(text, -1) {
		s := span{m[4], m[5]}
		isWhole := strings.TrimSpace(text) == text[m[0]:m[1]]
		if isCredential(strings.ToLower(text[m[2]:m[3]]), text[s.from:s.to], isWhole) {
			out = append(out, s)
		}
	}
	return out
}

// isCredential reports whether the word after a scheme is a credential, and not part of a sentence: "Basic
// authentication", "bearer token".
func isCredential(scheme, text string, isWhole bool) bool {
	lower := strings.ToLower(text)
	if prose()[lower] || strings.HasPrefix(lower, "auth") || strings.HasPrefix(lower, "token") || lower == "realm" {
		return false
	}
	if scheme == "basic" {
		raw, err := base64.StdEncoding.DecodeString(text)
		return err == nil && strings.Contains(string(raw), ":")
	}
	return isWhole || len(text) >= 8 && (strings.ContainsAny(text, "0123456789._~+/=") || len(text) >= longToken)
}

// webTokens finds JSON Web Tokens.
func webTokens(text string) (out []span) {
	for at := range indexes(text, "eyJ") {
		if at > 0 && isTokenByte(text[at-1]) {
			continue
		}
		to := at + prefixLength(text[at:], func(c byte) bool { return isTokenByte(c) || c == '.' })
		if parts := strings.Split(text[at:to], "."); len(parts) >= 3 && len(parts[0]) >= 10 && len(parts[1]) >= 10 {
			out = append(out, span{at, to})
		}
	}
	return out
}

// tokenHeads returns the beginnings by which the tokens of well-known services are recognised.
func tokenHeads() []string {
	return []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "xoxb-", "xoxp-", "xoxa-", "xapp-",
		"sk_live_", "rk_live_", "sk_test_", "sk-ant-", "sk-proj-", "AKIA", "ASIA", "AIza", "npm_",
		"dckr_pat_", "hvs.", "hvb.", "pypi-", "SG.", "dop_v1_", "shpat_", "hooks.slack.com/services/", "AGE-SECRET-KEY-",
	}
}

// knownTokens finds the tokens of those services.
func knownTokens(text string) (out []span) {
	for _, head := range tokenHeads() {
		for at := range indexes(text, head) {
			if at > 0 && isTokenByte(text[at-1]) {
				continue
			}
			from := at + len(head)
			to := from + prefixLength(text[from:], func(c byte) bool {
				return isTokenByte(c) || c == '.' && head == "SG." || c == '/' && strings.HasSuffix(head, "/")
			})
			// A shorter text, or one without digits, is rather a name that begins like a token.
			if to-from >= 16 && strings.ContainsAny(text[from:to], "0123456789") {
				out = append(out, span{at, to})
			}
		}
	}
	return out
}
