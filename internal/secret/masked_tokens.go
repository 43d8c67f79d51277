package secret

import (
	"encoding/base64"
	"slices"
)

// A token stands for a secret in saved data: tokenHead and the first tokenDigits hexadecimal digits of an HMAC. Its length is a multiple
// of three, so that the base64 form of a token has no padding.
const (
	tokenHead   = "hd-masked-"
	tokenDigits = 32
	tokenLength = len(tokenHead) + tokenDigits
)

// HoldsToken reports whether a value contains a token, also in base64 as in the data of a Secret.
func HoldsToken(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if HoldsToken(name) || HoldsToken(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, HoldsToken)
	case string:
		if len(newScan(v, nil).find(maskedTokens)) > 0 {
			return true
		}
		raw, err := base64.StdEncoding.DecodeString(v)
		return err == nil && len(newScan(string(raw), nil).find(maskedTokens)) > 0
	}
	return false
}

// isToken reports whether a text is a token and nothing else.
func isToken(text string) bool {
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
