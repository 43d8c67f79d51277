// Package secrettest has what tests of secrets share: the encodings that templates, tools and errors use to quote a secret, hostile texts,
// and the table of what is secret.
package secrettest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Encoding is one way to write a text.
type Encoding struct {
	Name   string
	Encode func(text string) string
	// Depth is how many encodings are within each other.
	Depth int
}

// Encodings returns the encodings.
func Encodings() []Encoding {
	login := func(user, more string, encoding *base64.Encoding) func(string) string {
		return func(text string) string { return encoding.EncodeToString([]byte(user + text + more)) }
	}
	quoted := func(text string) string { return strings.Trim(strconv.Quote(text), `"`) }
	return []Encoding{
		{"as it is", func(text string) string { return text }, 0},
		{"base64", login("", "", base64.StdEncoding), 1},
		{"base64 with a line break in it", login("", "\n", base64.StdEncoding), 1},
		{"base64 without padding", login("", "", base64.RawStdEncoding), 1},
		{"base64 for URLs", login("", "", base64.URLEncoding), 1},
		{"base64 for URLs without padding", login("", "", base64.RawURLEncoding), 1},
		{"a login of 2 in base64", login("a:", "", base64.StdEncoding), 1},
		{"a login of 3 in base64", login("ab:", "", base64.RawStdEncoding), 1},
		{"a login of 4 in base64", login("abc:", "@host", base64.URLEncoding), 1},
		{"a long text in base64, in lines", wrapped, 1},
		{"hexadecimal", func(text string) string { return hex.EncodeToString([]byte(text)) }, 1},
		{"HEXADECIMAL", func(text string) string { return fmt.Sprintf("%X", text) }, 1},
		{"hexadecimal after a digit", func(text string) string { return "0" + hex.EncodeToString([]byte(text)) }, 1},
		{"a query", url.QueryEscape, 1},
		{"a path", url.PathEscape, 1},
		{"percent signs alone", func(text string) string { return each(text, "%%%02x") }, 1},
		{"JSON", func(text string) string { return inJSON(text, true) }, 1},
		{"JSON as people write it", func(text string) string { return inJSON(text, false) }, 1},
		{"JSON of code points", codePoints, 1},
		{"Go", quoted, 1},
		{"bytes of C", func(text string) string { return each(text, `\x%02x`) }, 1},
		{"YAML in single quotes", func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }, 1},
		{"a word of a shell", func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }, 1},
		{"XML", inXML, 1},
		{"HTML", html.EscapeString, 1},
		{"Docker's file", func(text string) string {
			return fmt.Sprintf(`{"auths":{"r.example.com":{"auth":%q}}}`, login("user:", "", base64.StdEncoding)(text))
		}, 1},
		{"Docker's file in base64", func(text string) string {
			return login(fmt.Sprintf(`{"auths":{"r.example.com":{"auth":%q}}}`, login("user:", "", base64.StdEncoding)(text)), "", base64.StdEncoding)("")
		}, 2},
		{"a login in a URL in base64", func(text string) string {
			return login("redis://:"+url.QueryEscape(text), "@cache", base64.StdEncoding)("")
		}, 2},
	}
}

// Composed returns each encoding of each other, up to a depth.
func Composed(depth int) (out []Encoding) {
	for _, inner := range Encodings() {
		for _, outer := range Encodings() {
			if inner.Depth+outer.Depth <= depth && (outer.Depth > 0 || inner.Depth == 0) {
				out = append(out, Encoding{inner.Name + ", in " + outer.Name, func(text string) string { return outer.Encode(inner.Encode(text)) },
					inner.Depth + outer.Depth})
			}
		}
	}
	return out
}

// wrapped is a text in the middle of a file, in lines of base64 as openssl writes them.
func wrapped(text string) string {
	encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 50) + text + strings.Repeat("y", 50)))
	var b strings.Builder
	for len(encoded) > 76 {
		b.WriteString(encoded[:76] + "\n  ")
		encoded = encoded[76:]
	}
	return b.String() + encoded
}

func each(text, format string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, format, text[i])
	}
	return b.String()
}

func inJSON(text string, escapeHTML bool) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(escapeHTML)
	_ = encoder.Encode(text) // a string is never refused
	return strings.TrimSuffix(b.String(), "\n")
}

func codePoints(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return b.String()
}

func inXML(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer is never full
	return b.String()
}

// Parts returns the parts of an encoded text that must not be shown: it may stand between other text, so what the other text may change
// is left out.
func Parts(encoded string) []string {
	const edge = 6
	if len(encoded) < 3*edge {
		return []string{encoded}
	}
	return []string{encoded[edge : len(encoded)-edge]}
}
