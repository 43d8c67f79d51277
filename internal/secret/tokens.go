package secret

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// encodedHead is the beginning of a PEM block in base64.
const encodedHead = "LS0tLS1CRUdJTi"

// privateKeys finds the PEM blocks of private keys, in clear and in base64.
func privateKeys(s *scan) (out []span) {
	const head, tail, longestHead = "-----BEGIN ", "PRIVATE KEY", 80
	done := 0 // the blocks before it are found
	for at := range s.indexes(head) {
		line, _, _ := strings.Cut(s.text[at:min(len(s.text), at+longestHead)], "\n")
		if at < done || !strings.Contains(line, tail) {
			continue
		}
		// A block without an end continues to the end of the text.
		done = len(s.text)
		if end := s.index(at, "-----END "); end >= 0 {
			if dashes := s.index(end+len("-----END "), "-----"); dashes >= 0 {
				done = dashes + len("-----")
			}
		}
		out = append(out, span{at, done})
	}
	for at := range s.indexes(encodedHead) {
		to := s.end(inBase64, at)
		// The first 80 bytes are enough to decode the line that names the kind of key.
		raw, _ := base64.StdEncoding.DecodeString(s.text[at : at+min((to-at)/4*4, longestHead)])
		if s.spend(longestHead); strings.Contains(string(raw), tail) {
			out = append(out, span{at, to})
		}
	}
	return out
}

// urls finds the password of a URL, and a token in the place of the user.
func urls(s *scan) (out []span) {
	for at := range s.indexes("://") {
		from := at + len("://")
		to := s.end(inAuthority, from)
		s.spend(to - from)
		out = append(out, credentials(s.text, from, to)...)
	}
	return out
}

// dataSources finds the password of a Go data source name.
func dataSources(s *scan) (out []span) {
	for _, network := range []string{"@tcp(", "@unix("} {
		for at := range s.indexes(network) {
			from := s.start(inDSN, at)
			// A name may have several such signs. A password that extends to one of them extends to the next.
			if n := len(out); n > 0 && out[n-1].from >= from && out[n-1].to <= at {
				out[n-1].to = at
				continue
			}
			s.spend(at - from)
			out = append(out, credentials(s.text, from, at+1)...)
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

// longToken is the least length of a text that looks like a token.
const longToken = 20

// scheme matches the schemes of HTTP authentication and the word after them.
var scheme = expression(`(?i)\b(bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]+)`)

// httpCredentials finds the credentials of HTTP authentication.
func httpCredentials(s *scan) (out []span) {
	s.spend(2 * len(s.text))
	if !containsFold(s.text, "bearer ") && !containsFold(s.text, "basic ") {
		return nil
	}
	whole := strings.TrimSpace(s.text)
	for _, m := range s.matches(scheme()) {
		isWhole := whole == s.text[m[0]:m[1]]
		if isCredential(strings.ToLower(s.text[m[2]:m[3]]), s.text[m[4]:m[5]], isWhole) {
			out = append(out, span{m[4], m[5]})
		}
	}
	return out
}

// isCredential reports whether the word after a scheme is a credential, and not part of a sentence: "Basic authentication", "bearer token".
func isCredential(scheme, text string, isWhole bool) bool {
	lower := strings.ToLower(text)
	if prose()[lower] || strings.HasPrefix(lower, "auth") || strings.HasPrefix(lower, "token") || lower == "realm" {
		return false
	}
	if scheme == "basic" {
		return isLogin(text)
	}
	return isWhole || len(text) >= 8 && (strings.ContainsAny(text, "0123456789._~+/=") || len(text) >= longToken)
}

// isLogin reports whether a text is the base64 form of a user and a password. Decoding takes memory for the whole text, and a text may
// have many long values that are not base64, so the digits are looked at first.
func isLogin(text string) bool {
	for i := range len(text) {
		switch b := text[i]; {
		case b == '=' && strings.Trim(text[i:], "=\r\n") != "", !inBase64.has(b) && b != '\r' && b != '\n':
			return false
		}
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	return err == nil && strings.Contains(string(raw), ":")
}

// webTokens finds JSON Web Tokens.
func webTokens(s *scan) (out []span) {
	for at := range s.indexes("eyJ") {
		if at > 0 && isTokenByte(s.text[at-1]) {
			continue
		}
		// A token has a head and a payload, each followed by a dot.
		head := s.end(inToken, at)
		payload := s.end(inToken, min(head+1, len(s.text)))
		dots := payload < len(s.text) && s.text[head] == '.' && s.text[payload] == '.'
		if dots && head-at >= 10 && payload-head-1 >= 10 {
			out = append(out, span{at, s.end(inJWT, at)})
		}
	}
	return out
}

// tokenHeads are the beginnings of the tokens of well-known services.
var tokenHeads = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "xoxb-", "xoxp-", "xoxa-", "xapp-",
	"sk_live_", "rk_live_", "sk_test_", "sk-ant-", "sk-proj-", "AKIA", "ASIA", "AIza", "npm_",
	"dckr_pat_", "hvs.", "hvb.", "pypi-", "SG.", "dop_v1_", "shpat_", "hooks.slack.com/services/", "AGE-SECRET-KEY-",
}

// knownTokens finds the tokens of those services.
func knownTokens(s *scan) (out []span) {
	for _, head := range tokenHeads {
		body, done := inToken, 0
		switch {
		case head == "SG.":
			body = inJWT
		case strings.HasSuffix(head, "/"):
			body = inPath
		}
		for at := range s.indexes(head) {
			// A head inside the previous token does not begin a new one.
			if at < done || at > 0 && isTokenByte(s.text[at-1]) {
				continue
			}
			from := at + len(head)
			done = s.end(body, from)
			// A shorter text, or one without digits, is more likely a name that begins like a token.
			if done-from >= 16 && strings.ContainsAny(s.text[from:done], "0123456789") {
				out = append(out, span{at, done})
			}
		}
	}
	return out
}

// A token stands for a secret in saved data: tokenHead and the first tokenDigits hexadecimal digits of an HMAC, which internal/tokens
// makes. Its length is a multiple of three, so that the base64 form of a token has no padding.
const (
	tokenHead   = "hd-masked-"
	tokenDigits = 32
	tokenLength = len(tokenHead) + tokenDigits
)

// HoldsToken reports whether a value contains a token, in clear or in base64 as in the data of a Secret.
func HoldsToken(v any) bool {
	return anyText(v, func(text string) bool {
		raw, err := base64.StdEncoding.DecodeString(text)
		return len(newScan(text, nil).find(maskedTokens)) > 0 || err == nil && len(newScan(string(raw), nil).find(maskedTokens)) > 0
	})
}

// Token returns the token with an HMAC of at least 16 bytes.
func Token(sum []byte) string { return tokenHead + hex.EncodeToString(sum[:tokenDigits/2]) }

// IsToken reports whether a text is a token and nothing else.
func IsToken(text string) bool {
	return len(text) == tokenLength && len(newScan(text, nil).find(maskedTokens)) == 1
}

// maskedTokens finds tokens.
func maskedTokens(s *scan) (out []span) {
	for at := range s.indexes(tokenHead) {
		digits := at + len(tokenHead)
		if s.end(hexDigit, digits)-digits >= tokenDigits {
			out = append(out, span{at, at + tokenLength})
		}
	}
	return out
}

// anyText reports whether one of the texts in a value, or one of its keys, satisfies is.
func anyText(v any, is func(text string) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if is(name) || anyText(below, is) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return anyText(item, is) })
	case string:
		return is(v)
	}
	return false
}
