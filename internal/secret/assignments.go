package secret

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// assignments finds the values of assignments whose names announce a secret.
func assignments(text string) (out []span) {
	for i := 0; i < len(text); i++ {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		name, from := nameBefore(text, i)
		if !announcesAssignment(text, name, from, i) {
			continue
		}
		a := assignment{text: text, from: from, sign: i, inHeader: !Name(name)}
		for _, s := range a.values() {
			out = append(out, s)
			i = max(i, s.to-1)
		}
	}
	return out
}

// nameBefore returns the name in front of the sign of an assignment, and where it begins.
func nameBefore(text string, sign int) (name string, from int) {
	end := sign
	for end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') {
		end--
	}
	for end > 0 && strings.IndexByte("\"'`\\", text[end-1]) >= 0 {
		end--
	}
	if end > 0 && text[end-1] == ']' { // data[password], spec.users["a"]
		end--
		for end > 0 && strings.IndexByte("\"'\\", text[end-1]) >= 0 {
			end--
		}
	}
	from = end - suffixLength(text[:end], func(c byte) bool { return isTokenByte(c) || c == '.' || c >= 0x80 })
	return strings.TrimLeft(text[from:end], "-"), from
}

// announcesAssignment reports whether a name in front of a sign announces a secret. An image such as repo/token:1.0
// is no assignment, nor is the kind of an object in an error of Helm (k8s.io/apimachinery v0.37.1
// pkg/runtime/schema/group_version.go GroupVersionKind.String): "/v1, Kind=Secret: Apply failed".
func announcesAssignment(text, name string, from, sign int) bool {
	if name == "" || !isSecretHeader(name) {
		return false
	}
	isImage := from > 0 && text[from-1] == '/' && text[sign] == ':'
	isOther := strings.HasPrefix(text[sign:], "::") || strings.HasPrefix(text[sign:], "://") || strings.HasPrefix(text[sign:], "==")
	isKind := name == "Secret" && strings.HasSuffix(text[:from], "Kind=")
	return !isImage && !isOther && !isKind
}

// configLine matches lines without a sign between a name and its value, as in redis.conf, sentinel.conf and .netrc.
var configLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:requirepass|masterauth|primaryauth|sentinel auth-pass \S+)[ \t]+"?([^\s"]+)` +
		`|\blogin[ \t]+\S+\s+password[ \t]+(\S+)`)
})

// configLines finds the values of such lines.
func configLines(text string) (out []span) {
	if !strings.Contains(text, "pass") && !strings.Contains(text, "auth ") {
		return nil
	}
	for _, m := range configLine().FindAllStringSubmatchIndex(text, -1) {
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				out = append(out, secretSpan(text, span{m[i], m[i+1]})...)
			}
		}
	}
	return out
}

// assignment is a name and a sign in a text, with the text after them.
type assignment struct {
	text       string
	from, sign int
	// inHeader is set if the name is that of an HTTP header and does not announce a secret otherwise.
	inHeader bool
}

// apiFault matches the quoted value in an error of the API server (k8s.io/apimachinery v0.37.1
// pkg/util/validation/field/errors.go ErrorBody).
var apiFault = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:Invalid|Unsupported|Duplicate) value: ("(?:[^"\\]|\\.)*"|[\[{].*[\]}]|[^\s:]+)`)
})

// values finds the secrets after the sign.
func (a assignment) values() []span {
	at := a.sign + 1
	for at < len(a.text) && (a.text[at] == '=' || a.text[at] == '>') {
		at++
	}
	// In an error of the API server, the value follows the kind of the error.
	if m := apiFault().FindStringSubmatchIndex(a.text[at:]); m != nil {
		return secretSpan(a.text, span{at + m[2], at + m[3]})
	}
	rest := a.text[at:]
	blanks := len(rest) - len(strings.TrimLeft(rest, " \t"))
	at += blanks
	switch {
	case at == len(a.text):
		return nil
	case a.inHeader:
		return a.headerValue(at)
	case strings.IndexByte("\"'`\\", a.text[at]) >= 0:
		return secretSpan(a.text, quoted(a.text, at))
	case a.text[at] == '{' && !strings.HasPrefix(a.text[at:], "{{") || a.text[at] == '[':
		return a.nestedValue(at)
	case strings.IndexByte("\r\n|>", a.text[at]) >= 0 && a.text[a.sign] == ':':
		return a.blockValue(at)
	}
	// An unquoted value ends with its line, after "=" already with its word, and in a sentence with its first word.
	line, _, _ := strings.Cut(a.text[at:], "\n")
	if a.text[a.sign] == '=' && blanks == 0 {
		line = line[:endOfWord(line)]
	}
	line = strings.TrimRight(line, " \t\r")
	word, _, more := strings.Cut(line, " ")
	switch {
	case more && prose()[strings.ToLower(strings.Trim(word, ",.;:"))]:
		return nil
	case more && a.inSentence() && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz:,-") == "":
		return nil // such as "getting credentials: exec: the plugin is not there"
	case more && a.inSentence():
		line = word
	}
	return secretSpan(a.text, span{at, at + len(line)})
}

// inSentence reports whether words stand in front of the name, as in an error message. At the beginning of a line, or
// in a list of assignments, there are none.
func (a assignment) inSentence() bool {
	before := strings.TrimRight(a.text[:a.from], " \t")
	if before == "" || len(before) == a.from || a.text[a.sign] != ':' {
		return false
	}
	last := before[len(before)-1]
	return isTokenByte(last) && last != '-' || last == ':'
}

// endOfWord returns the end of an unquoted value that directly follows its sign. A variable in the value may have
// brackets, and a blank after a backslash belongs to the value, as in the connection strings of PostgreSQL.
func endOfWord(line string) int {
	at := 0
	if strings.HasPrefix(line, "$(") || strings.HasPrefix(line, "${") {
		at = strings.IndexAny(line, ")}") + 1
	}
	for {
		at += prefixLength(line[at:], func(c byte) bool { return strings.IndexByte(" \t\r;&,\"'`)}]<>|", c) < 0 })
		if at == 0 || at == len(line) || line[at] != ' ' || line[at-1] != '\\' {
			return at
		}
		at++
	}
}

// headerValue returns the credentials in the value of an HTTP header: "Bearer x", or one word.
func (a assignment) headerValue(at int) []span {
	line, _, _ := strings.Cut(a.text[at:], "\n")
	line = line[:prefixLength(line, func(c byte) bool { return strings.IndexByte("\"'`\r", c) < 0 })]
	schemes := []string{"bearer", "basic", "token", "digest", "apikey", "aws4-hmac-sha256"}
	if before, after, found := strings.Cut(line, " "); found && slices.Contains(schemes, strings.ToLower(before)) {
		return secretSpan(a.text, span{at + len(before) + 1, at + len(before) + 1 + len(after)})
	}
	return nil
}

// quoted returns the part between quotes, which may be escaped themselves.
func quoted(text string, at int) span {
	from := at + prefixLength(text[at:], func(c byte) bool { return c == '\\' })
	mark := text[at:min(from+1, len(text))]
	from = at + len(mark)
	if end := strings.Index(text[from:], mark); end >= 0 {
		for to := from + end; ; {
			if len(mark) > 1 || text[to-1] != '\\' || to == from {
				return span{from, to}
			}
			next := strings.Index(text[to+1:], mark)
			if next < 0 {
				break
			}
			to += 1 + next
		}
	}
	return span{from, len(text)}
}

// longestNested bounds the text that is parsed as YAML.
const longestNested = 64 << 10

// nestedValue returns a whole map or list after the sign, if it contains a secret.
func (a assignment) nestedValue(at int) []span {
	to := at + bracketLength(a.text[at:])
	part := a.text[at:to]
	// Anchors and aliases ("&", "*") could expand a short text without bound, so such a text is masked without parsing it.
	var v any
	isShort := len(part) <= longestNested && !strings.ContainsAny(part, "&*")
	if isShort && yaml.Unmarshal([]byte(part), &v) == nil && !(Place{form: announced}).Holds(v) {
		return nil
	}
	return []span{{at, to}}
}

// bracketLength returns the length of the brackets at the beginning of a text.
func bracketLength(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// blockValue finds the secrets in the lines below the sign that are indented deeper than its name: a text of several
// lines, a map, or a list.
func (a assignment) blockValue(at int) (out []span) {
	lineStart := strings.LastIndexByte(a.text[:a.from], '\n') + 1
	depth := indent(a.text[lineStart:])
	isText := a.text[at] == '|' || a.text[at] == '>'
	for at < len(a.text) {
		next := strings.IndexByte(a.text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
		line, _, _ := strings.Cut(a.text[at:], "\n")
		content := strings.TrimSpace(line)
		isItem := strings.HasPrefix(content, "- ") && indent(line) == depth
		if content != "" && indent(line) <= depth && !isItem {
			break
		}
		from := at + indent(line)
		out = append(out, blockLine(a.text, span{from, from + len(content)}, isText)...)
	}
	return out
}

// blockLine finds the secret in one line of a block.
func blockLine(text string, line span, isText bool) []span {
	content := text[line.from:line.to]
	if !isText {
		content = strings.TrimPrefix(content, "- ")
		if name, value, isPair := strings.Cut(content, ":"); isPair && !strings.HasPrefix(value, "//") {
			name = strings.Trim(name, `"' `)
			if (Place{form: announced}).Field(name).plain {
				return nil
			}
			content = strings.TrimLeft(value, " \t")
		}
	}
	return secretSpan(text, span{line.to - len(content), line.to})
}

// indent returns the number of blanks at the beginning of a line.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// secretSpan returns the span, unless its text is harmless.
func secretSpan(text string, s span) []span {
	if s.from >= s.to || isHarmless(strings.Trim(text[s.from:s.to], `"'`)) {
		return nil
	}
	return []span{s}
}
