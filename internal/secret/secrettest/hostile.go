package secrettest

import (
	"math/rand/v2"
	"strings"
)

// knownHostile are texts that once took long: the beginnings of many secrets without an end.
var knownHostile = []string{
	"token: [", "token: {", "token: [token: [", "- token:\n", "token:\n", " token: |\n", "token:|", "token: '", `token: "\`, "token: the ", "token=$( ",
	"token={{", "token: Invalid value: [", "token: Invalid value: \"\\", "cookie:", "authorization: basic ", "eyJ.", "eyJaaaaaaa.", "SG.", "ghp_.",
	"hooks.slack.com/services/", "hd-masked-", "@tcp(", "u:p@tcp(", "$@unix(", "://", "://a:b@", "-----BEGIN PRIVATE KEY", "-----BEGIN ", "LS0tLS1CRUdJTi",
	"bearer ", "basic ", "requirepass ", "login a ", "-p", "-pX ", "--token ", "mysql ", "<name>token</name>", "{name: token, value: ", "value", `\"`, "[", "\n",
	" ", "é", "kind: Secret\n", `{"token": `, `{"token": {}} `, "token: {a: b} ", "secret: {name: ",
	"<password>", "</password>", "<![CDATA[", "]]></password>", "user a on >", "user ", " >x", "cookie: a=", "\"password\":\n",
	"\"password\":\n\"", "&sig=", "_auth=",
}

// grammar are the parts of a text with a secret, in the order of their places: what is in front of a name, names, signs, what
// opens a value, values, and what ends one.
var grammar = [][]string{
	{"", "-", "--", "- ", "  ", "<", "{", "[", "?", "&", "/", "://", "@", "$", "user ", "curl ", "mysql ", "\\", "%25"},
	{
		"token", "password", "PASS", "auth", "_auth", "cookie", "authorization", "value", "name", "key", "sig", "checksum/x", "kind", "data",
		"bearer", "basic", "eyJ", "SG", "ghp_", "LS0tLS1CRUdJTi", "-----BEGIN ", "hd-masked-", "requirepass", "login", "%41", "&amp", "\\u0041", "a",
	},
	{"", ":", "=", ": ", " = ", ":=", "=>", "\\\": ", "\":", " ", "\n", "@tcp(", ".", ";"},
	{"", "\"", "'", "\\\"", "[", "{", "{{", "$(", "|", ">", " |\n", "\n", "\r\n", "<![CDATA[", "Invalid value: ", "bearer ", " >"},
	{"", "a", "aaaaaaaaaaaaaaaaaaaa", "a1b2", "no", "é", "Secret", "PRIVATE KEY-----", "YTph", "61626364", "%2F"},
	{"", "\"", "'", "]", "}", ")", "</", "]]></password>", "\n", "\n\n", " ", ",", "-----END ", "''"},
}

// Hostile returns fragments that a finder of secrets might read again and again if a text repeats them: those that did, and random ones of
// the grammar.
func Hostile(rng *rand.Rand, random int) []string {
	out := append([]string(nil), knownHostile...)
	for range random {
		var b strings.Builder
		for range 1 + rng.IntN(2) {
			for _, parts := range grammar {
				if rng.IntN(4) > 0 {
					b.WriteString(parts[rng.IntN(len(parts))])
				}
			}
		}
		if b.Len() > 0 {
			out = append(out, b.String())
		}
	}
	return out
}
