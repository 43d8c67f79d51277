package secret

import (
	"math"
	"strings"
	"testing"
)

// hostileTexts are fragments of the forms that the finders look for. Repeated, they are the beginnings of many secrets without an end.
var hostileTexts = []string{
	"token: [", "token: {", "token: [token: [", "- token:\n", "token:\n", " token: |\n", "token:|", "token: '", `token: "\`, "token: the ", "token=$( ",
	"token={{", "token: Invalid value: [", "token: Invalid value: \"\\", "cookie:", "authorization: basic ", "eyJ.", "eyJaaaaaaa.", "SG.", "ghp_.",
	"hooks.slack.com/services/", "hd-masked-", "@tcp(", "u:p@tcp(", "$@unix(", "://", "://a:b@", "-----BEGIN PRIVATE KEY", "-----BEGIN ", "LS0tLS1CRUdJTi",
	"bearer ", "basic ", "requirepass ", "login a ", "-p", "-pX ", "--token ", "mysql ", "<name>token</name>", "{name: token, value: ", "value", `\"`, "[", "\n",
	" ", "é", "kind: Secret\n", `{"token": `, `{"token": {}} `, "token: {a: b} ", "secret: {name: ",
	"<password>", "</password>", "<![CDATA[", "]]></password>", "user a on >", "user ", " >x", "cookie: a=", "\"password\":\n",
	"\"password\":\n\"", "&sig=", "_auth=",
}

// TestFindersAreLinear checks that the finders take twice the work for twice the text, without the bound on their work.
func TestFindersAreLinear(t *testing.T) {
	work := func(fragment string, size int) int {
		s := &scan{text: strings.Repeat(fragment, size/len(fragment)), left: math.MaxInt}
		s.spans()
		return math.MaxInt - s.left
	}
	const size = 8 << 10
	for _, fragment := range hostileTexts {
		short, long := work(fragment, size), work(fragment, 4*size)
		if float64(long) > 4.5*float64(short) {
			t.Errorf("%q takes %d steps for %d bytes, and %d for four times as many", fragment, short, size, long)
		}
	}
}

// TestTooMuchWork checks that a text on which the finders' work ends is masked whole, and what is around it in the same object is not.
func TestTooMuchWork(t *testing.T) {
	lines := strings.Repeat("value:\n", 2000)
	if got := Scrub("first\n" + lines); got != Mask {
		t.Errorf("the text became %q", got)
	}
	k := new(Known)
	masked := k.Masker(nil).Value(map[string]any{"hostile": lines, "other": "plain"}).(map[string]any)
	if masked["other"] != "plain" || !isToken(strings.TrimSpace(masked["hostile"].(string))) {
		t.Errorf("the values became %v", masked)
	}
	if got := k.Scrub(`secret: {"name": "` + strings.ReplaceAll(lines, "\n", `\n`) + `"} and more`); !strings.HasPrefix(got, Mask) && !strings.HasPrefix(got, "secret: "+Mask) {
		t.Errorf("a text in JSON became %q", got)
	}
}
