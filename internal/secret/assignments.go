package secret

import (
	"slices"
	"strings"
)

// assignments finds the values of assignments whose names announce a secret.
func assignments(s *scan) (out []span) {
	for i := 0; i < len(s.text); i++ {
		if s.text[i] != '=' && s.text[i] != ':' {
			continue
		}
		a := s.assignmentAt(i)
		if !a.announces() {
			continue
		}
		for _, found := range a.values() {
			if a.name == "auth" && !isLogin(s.text[found.from:found.to]) {
				continue
			}
			out = append(out, found)
			i = max(i, found.to-1)
		}
	}
	s.spend(len(s.text))
	return out
}

// nameWork is how often Name reads each byte, at most.
const nameWork = 8

// assignmentAt returns the assignment with a sign. Its name is empty if the sign has none.
func (s *scan) assignmentAt(sign int) assignment {
	end := s.start(quotes, s.start(blank, sign))
	if end > 0 && s.text[end-1] == ']' { // data[password], spec.users["a"]
		end = s.start(quotes, end-1)
	}
	from := s.start(inName, end)
	s.spend(nameWork * (end - from))
	return assignment{scan: s, name: strings.TrimLeft(s.text[from:end], "-"), from: from, sign: sign}
}

// announces reports whether the name announces a secret. An image such as repo/token:1.0 is not an assignment, nor is the kind of an
// object in an error of Helm (k8s.io/apimachinery v0.37.1 pkg/runtime/schema/group_version.go GroupVersionKind.String):
// "/v1, Kind=Secret: Apply failed".
func (a assignment) announces() bool {
	if a.name == "" || !isSecretHeader(a.name) && !a.isSignature() && !encodedLogins()[a.name] {
		return false
	}
	before, after := a.text[:a.from], a.text[a.sign:]
	isImage := strings.HasSuffix(before, "/") && after[0] == ':'
	isOther := strings.HasPrefix(after, "::") || strings.HasPrefix(after, "://") || strings.HasPrefix(after, "==")
	isKind := a.name == "Secret" && strings.HasSuffix(before, "Kind=")
	return !isImage && !isOther && !isKind
}

// isSignature reports whether the name is the parameter that signs a URL. Whoever has the URL may do what it allows.
func (a assignment) isSignature() bool {
	return a.text[a.sign] == '=' && a.from > 0 && strings.IndexByte("?&;", a.text[a.from-1]) >= 0 && signatures()[strings.ToLower(a.name)]
}

// signatures are the names of those parameters in Azure, AWS and Google Cloud.
var signatures = set(`sig signature x-amz-signature x-goog-signature`)

// encodedLogins are the names of logins in base64, in the files of npm and Docker.
var encodedLogins = set(`_auth auth`)

// configLine matches lines without a sign between a name and its value, as in redis.conf, sentinel.conf and .netrc.
var configLine = expression(`(?m)^[ \t]*(?:requirepass|masterauth|primaryauth|sentinel auth-pass \S+)[ \t]+"?([^\s"]+)` +
	`|\blogin[ \t]+\S+\s+password[ \t]+(\S+)`)

// configLines finds the values of such lines.
func configLines(s *scan) (out []span) {
	if s.index(0, "pass") < 0 && s.index(0, "auth ") < 0 {
		return nil
	}
	for _, m := range s.matches(configLine()) {
		for i := 2; i < len(m); i += 2 {
			out = append(out, s.secret(span{m[i], m[i+1]})...) // a group that does not match has an empty span
		}
	}
	return out
}

// assignment is a name and a sign in a text, with the text after them.
type assignment struct {
	*scan
	name       string
	from, sign int
}

// values finds the secrets after the sign.
func (a assignment) values() []span {
	at := a.sign + 1
	at += prefixLength(a.text[at:], "=>")
	a.spend(at - a.sign)
	// In an error of the API server, the value follows the kind of the error.
	if value, ok := a.faultValue(at); ok {
		return a.secret(value)
	}
	blanks := a.end(blank, at) - at
	at += blanks
	if next := a.quoteBelow(at); next > 0 {
		return a.secret(a.quoted(next))
	}
	switch {
	case at == len(a.text):
		return nil
	case headers()[strings.ToLower(a.name)]:
		return a.headerValue(at)
	case strings.IndexByte("\"'`\\", a.text[at]) >= 0:
		return a.secret(a.quoted(at))
	case a.text[at] == '{' && !strings.HasPrefix(a.text[at:], "{{") || a.text[at] == '[':
		if a.name == "auth" {
			return nil // no login has brackets
		}
		return a.nestedValue(at)
	case strings.IndexByte("\r\n|>", a.text[at]) >= 0 && a.text[a.sign] == ':':
		return a.blockValue(at)
	}
	return a.plainValue(at, blanks)
}

// secret returns the span, unless its text is harmless or, after "auth", no login. A line may have many such names, so a value that is no
// login takes no work.
func (a assignment) secret(part span) []span {
	if a.name == "auth" && !isLogin(a.text[part.from:part.to]) {
		return nil
	}
	return a.scan.secret(part)
}

// apiFault matches the text before the quoted value in an error of the API server (k8s.io/apimachinery v0.37.1
// pkg/util/validation/field/errors.go ErrorBody).
var apiFault = expression(`^\s{0,8}(?:Invalid|Unsupported|Duplicate) value: `)

// faultValue returns the value that follows the kind of an error.
func (a assignment) faultValue(at int) (span, bool) {
	const longestHead = 64
	head := apiFault().FindStringIndex(a.text[at:min(len(a.text), at+longestHead)])
	a.spend(longestHead)
	if head == nil {
		return span{}, false
	}
	from := at + head[1]
	switch to := a.end(inFault, from); {
	case strings.HasPrefix(a.text[from:], `"`):
		return span{from, min(len(a.text), a.closingMark(from+1, `"`)+1)}, true
	case strings.HasPrefix(a.text[from:], "[") || strings.HasPrefix(a.text[from:], "{"):
		return span{from, max(to, a.start(notBracket, a.end(inLine, from)))}, true
	default:
		return span{from, to}, from < to
	}
}

// plainValue finds the secret in an unquoted value.
func (a assignment) plainValue(at, blanks int) []span {
	// It ends with its line. After "=" it ends with its word, and in a sentence with its first word.
	to := a.end(inLine, at)
	if a.text[a.sign] == '=' && blanks == 0 {
		to = a.endOfWord(at, to)
	}
	first := a.end(notSpace, at)
	more := first < to && strings.TrimLeft(a.text[first:to], " \t\r") != ""
	word := a.text[at:min(first, to)]
	a.spend(nameWork * min(to-at, longestHarmless))
	inSentence := more && a.inSentence()
	if inSentence { // a blank is before the name, so the words of two names do not overlap
		a.spend(len(word))
	}
	switch {
	case more && isSentence(a.text[at:min(to, at+longestHarmless)]):
		return nil
	case inSentence && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz:,-") == "":
		return nil // such as "getting credentials: exec: the plugin is not there"
	case inSentence:
		return a.secret(span{at, at + len(word)})
	}
	line := strings.TrimRight(a.text[at:to], " \t\r")
	return a.secret(span{at, at + len(line)})
}

// inSentence reports whether there are words in front of the name, as in an error message. At the beginning of a
// line, or in a list of assignments, there are none.
func (a assignment) inSentence() bool {
	end := a.start(blank, a.from)
	if end == 0 || end == a.from || a.text[a.sign] != ':' {
		return false
	}
	last := a.text[end-1]
	return isTokenByte(last) && last != '-' || last == ':'
}

// endOfWord returns the end of an unquoted value that directly follows its sign. A variable in the value may have
// brackets, and a blank after a backslash belongs to the value, as in the connection strings of PostgreSQL.
func (a assignment) endOfWord(from, to int) int {
	at := from
	if strings.HasPrefix(a.text[from:to], "$(") || strings.HasPrefix(a.text[from:to], "${") {
		if end := a.end(inVariable, from); end < to {
			at = end + 1
		}
	}
	for {
		at = min(a.end(inWord, at), to)
		if at == from || at == to || a.text[at] != ' ' || a.text[at-1] != '\\' {
			return at
		}
		at++
	}
}

// headerValue returns the credentials in the value of an HTTP header: "Bearer x", or one word, or cookies.
func (a assignment) headerValue(at int) []span {
	schemes := []string{"bearer", "basic", "token", "digest", "apikey", "aws4-hmac-sha256"}
	const longestScheme = 16
	at = a.end(quotes, at)
	to := a.end(inHeader, at)
	word := min(a.end(notSpace, at), to)
	switch {
	case word < to && word-at <= longestScheme && slices.Contains(schemes, strings.ToLower(a.text[at:word])):
		return a.secret(span{word + 1, to})
	case strings.HasSuffix(strings.ToLower(a.name), "cookie"):
		const longestName = 256
		if a.spend(longestName); strings.Contains(a.text[at:min(to, at+longestName)], "=") {
			return a.secret(span{at, to})
		}
	case word == to && (to-at >= longToken || !isSetting(a.text[at:to])):
		return a.secret(span{at, to})
	}
	return nil
}

// isSetting reports whether a word says how somebody is authorized, in a configuration with the name of a header: enabled, RBAC.
func isSetting(word string) bool {
	word = strings.Trim(word, ",;:{}[] \t\\")
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == "" || strings.HasPrefix(word, "$")
}

// quoteBelow returns where the quoted value of a quoted name begins in a line below, as JSON allows, or 0 if it does not. In YAML, that
// may be another quoted name.
func (a assignment) quoteBelow(at int) int {
	if a.from == 0 || a.text[a.from-1] != '"' || at == len(a.text) || a.text[at] != '\r' && a.text[at] != '\n' {
		return 0
	}
	next := at + prefixLength(a.text[at:], spaces)
	a.spend(next - at)
	if next == len(a.text) || a.text[next] != '"' {
		return 0
	}
	if end := a.end(blank, min(a.quoted(next).to+1, len(a.text))); end < len(a.text) && a.text[end] == ':' {
		return 0
	}
	return next
}

// quoted returns the part between quotes, which may be escaped themselves.
func (a assignment) quoted(at int) span {
	from := at + prefixLength(a.text[at:], `\`)
	a.spend(from - at)
	mark := a.text[at:min(from+1, len(a.text))]
	return span{at + len(mark), a.closingMark(at+len(mark), mark)}
}

// closingMark returns the end of the quoted text that begins at an offset. A quote after a backslash is a part of the text.
func (a assignment) closingMark(from int, mark string) int {
	for at := from; ; at++ {
		if at = a.index(at, mark); at < 0 {
			return len(a.text)
		}
		if len(mark) > 1 || at == from || a.text[at-1] != '\\' {
			return at
		}
	}
}
