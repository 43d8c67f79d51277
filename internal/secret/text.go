package secret

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// Mask stands in the place of a secret.
const Mask = "***"

// Scrub takes the secrets out of a text that has the form of one, or has one in it.
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

// spansOf finds the secrets of a text, in order; none overlaps another.
func spansOf(text string) []span {
	if len(text) < 3 {
		return nil
	}
	var out []span
	for _, find := range []func(string) []span{manifests, privateKeys, urls, bearers, webTokens, knownTokens, assignments, directives, flags} {
		out = append(out, find(text)...)
	}
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

// manifestOfSecret matches what says that a text is a Secret, and what says that it has values.
var (
	manifestOfSecret = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`["']?kind\\?["']?\s*:\s*\\?["']?Secret(?:List)?\b`)
	})
	dataOfManifest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["']?(?:data|stringData)\\?["']?\s*:`) })
)

// manifests finds a Secret: all of such a text is hidden.
func manifests(text string) []span {
	if strings.Contains(text, "Secret") && manifestOfSecret().MatchString(text) && dataOfManifest().MatchString(text) {
		return []span{{0, len(text)}}
	}
	return nil
}

// encodedHead is how the head of a PEM block begins in base64.
const encodedHead = "LS0tLS1CRUdJTi"

// privateKeys finds the PEM blocks of private keys, in clear and in base64.
func privateKeys(text string) (out []span) {
	const head, tail = "-----BEGIN ", "PRIVATE KEY"
	for at := range each(text, head) {
		line, _, _ := strings.Cut(text[at:], "\n")
		if !strings.Contains(line[:min(len(line), 80)], tail) {
			continue
		}
		to := len(text)
		if end := strings.Index(text[at:], "-----END "); end >= 0 {
			_, rest, _ := strings.Cut(text[at+end+len("-----END "):], "-----")
			to = len(text) - len(rest)
		}
		out = append(out, span{at, to})
	}
	for at := range each(text, encodedHead) {
		to := at + endOf(text[at:], isBase64)
		raw, _ := base64.StdEncoding.DecodeString(text[at : at+min((to-at)/4*4, 80)])
		if strings.Contains(string(raw), tail) {
			out = append(out, span{at, to})
		}
	}
	return out
}

// urls finds the password of a URL or of a Go data source name, and a token in the place of the user.
func urls(text string) (out []span) {
	for at := range each(text, "://") {
		from := at + len("://")
		to := from + endOf(text[from:], func(c byte) bool { return !strings.ContainsRune(" \t\r\n/\"'<>`", rune(c)) })
		out = append(out, credentials(text, from, to)...)
	}
	for _, network := range []string{"@tcp(", "@unix("} {
		for at := range each(text, network) {
			from := at - endOfReverse(text[:at], func(c byte) bool { return !strings.ContainsRune(" \t\r\n\"'<>`=", rune(c)) })
			out = append(out, credentials(text, from, at+1)...)
		}
	}
	return out
}

// credentials finds what stands before the host of an authority.
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

// longToken is how long a text is, at least, that is taken for a token by its looks.
const longToken = 20

// scheme matches the schemes of HTTP authentication, with what follows.
var scheme = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]+)`)
})

// bearers finds the credentials of HTTP authentication.
func bearers(text string) (out []span) {
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

// isCredential reports whether what follows a scheme is a credential, and not words about it: "Basic authentication", "bearer token".
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
	for at := range each(text, "eyJ") {
		if at > 0 && isTokenByte(text[at-1]) {
			continue
		}
		to := at + endOf(text[at:], func(c byte) bool { return isTokenByte(c) || c == '.' })
		if parts := strings.Split(text[at:to], "."); len(parts) >= 3 && len(parts[0]) >= 10 && len(parts[1]) >= 10 {
			out = append(out, span{at, to})
		}
	}
	return out
}

// tokenHeads are how the tokens of services begin that say so themselves.
func tokenHeads() []string {
	return []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "xoxb-", "xoxp-", "xoxa-", "xapp-", "sk_live_", "rk_live_",
		"sk_test_", "sk-ant-", "sk-proj-", "AKIA", "ASIA", "AIza", "npm_", "dckr_pat_", "hvs.", "hvb.", "pypi-", "SG.", "dop_v1_", "shpat_",
		"hooks.slack.com/services/", "AGE-SECRET-KEY-",
	}
}

// knownTokens finds the tokens of services.
func knownTokens(text string) (out []span) {
	for _, head := range tokenHeads() {
		for at := range each(text, head) {
			if at > 0 && isTokenByte(text[at-1]) {
				continue
			}
			from := at + len(head)
			to := from + endOf(text[from:], func(c byte) bool {
				return isTokenByte(c) || c == '.' && head == "SG." || c == '/' && strings.HasSuffix(head, "/")
			})
			if to-from >= 16 && strings.ContainsAny(text[from:to], "0123456789") {
				out = append(out, span{at, to})
			}
		}
	}
	return out
}

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

// nameBefore is the name that stands before the sign of an assignment, and where it begins.
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
	from = end - endOfReverse(text[:end], func(c byte) bool { return isTokenByte(c) || c == '.' || c >= 0x80 })
	return strings.TrimLeft(text[from:end], "-"), from
}

// announcesAssignment reports whether a name before a sign announces a secret. An image such as repo/token:1.0 is no assignment, nor is
// the kind of an object before what is said of it, as Helm writes it: "Kind=Secret: Apply failed".
func announcesAssignment(text, name string, from, sign int) bool {
	if name == "" || !header(name) {
		return false
	}
	isImage := from > 0 && text[from-1] == '/' && text[sign] == ':'
	isOther := strings.HasPrefix(text[sign:], "::") || strings.HasPrefix(text[sign:], "://") || strings.HasPrefix(text[sign:], "==")
	isKind := name == "Secret" && strings.HasSuffix(text[:from], "Kind=")
	return !isImage && !isOther && !isKind
}

// directive matches the lines of files that have no sign between a name and its value: redis.conf, sentinel.conf, .netrc.
var directive = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:requirepass|masterauth|primaryauth|sentinel auth-pass \S+)[ \t]+"?([^\s"]+)|\blogin[ \t]+\S+\s+password[ \t]+(\S+)`)
})

// directives finds the values of those lines.
func directives(text string) (out []span) {
	if !strings.Contains(text, "pass") && !strings.Contains(text, "auth ") {
		return nil
	}
	for _, m := range directive().FindAllStringSubmatchIndex(text, -1) {
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				out = append(out, worth(text, span{m[i], m[i+1]})...)
			}
		}
	}
	return out
}

// assignment is a name and a sign in a text, and what follows.
type assignment struct {
	text       string
	from, sign int
	// inHeader is set where the name is that of an HTTP header, and announces nothing else.
	inHeader bool
}

// apiFault matches what the API server says of a value.
var apiFault = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:Invalid|Unsupported|Duplicate) value: ("(?:[^"\\]|\\.)*"|[\[{].*[\]}]|[^\s:]+)`)
})

// values finds the secrets that follow the sign.
func (a assignment) values() []span {
	at := a.sign + 1
	for at < len(a.text) && (a.text[at] == '=' || a.text[at] == '>') {
		at++
	}
	if m := apiFault().FindStringSubmatchIndex(a.text[at:]); m != nil {
		return worth(a.text, span{at + m[2], at + m[3]})
	}
	rest := a.text[at:]
	blanks := len(rest) - len(strings.TrimLeft(rest, " \t"))
	at += blanks
	switch {
	case at == len(a.text):
		return nil
	case a.inHeader:
		return a.ofHeader(at)
	case strings.IndexByte("\"'`\\", a.text[at]) >= 0:
		return worth(a.text, quoted(a.text, at))
	case a.text[at] == '{' && !strings.HasPrefix(a.text[at:], "{{") || a.text[at] == '[':
		return a.nested(at)
	case strings.IndexByte("\r\n|>", a.text[at]) >= 0 && a.text[a.sign] == ':':
		return a.block(at)
	}
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
		return nil // getting credentials: exec: the plugin is not there
	case more && a.inSentence():
		line = word
	}
	return worth(a.text, span{at, at + len(line)})
}

// inSentence reports whether words stand before the name, as in an error, and not the beginning of a line or a list of such assignments.
func (a assignment) inSentence() bool {
	before := strings.TrimRight(a.text[:a.from], " \t")
	if before == "" || len(before) == a.from || a.text[a.sign] != ':' {
		return false
	}
	last := before[len(before)-1]
	return isTokenByte(last) && last != '-' || last == ':'
}

// endOfWord is where a value without quotes ends that follows its sign at once. A variable in it may have brackets.
func endOfWord(line string) int {
	from := 0
	if strings.HasPrefix(line, "$(") || strings.HasPrefix(line, "${") {
		from = strings.IndexAny(line, ")}") + 1
	}
	return from + endOf(line[from:], func(c byte) bool { return strings.IndexByte(" \t\r;&,\"'`)}]<>|", c) < 0 })
}

// ofHeader is the value of a header that carries credentials: "Bearer x", or one word.
func (a assignment) ofHeader(at int) []span {
	line, _, _ := strings.Cut(a.text[at:], "\n")
	line = line[:endOf(line, func(c byte) bool { return strings.IndexByte("\"'`\r", c) < 0 })]
	schemes := []string{"bearer", "basic", "token", "digest", "apikey", "aws4-hmac-sha256"}
	if before, after, found := strings.Cut(line, " "); found && slices.Contains(schemes, strings.ToLower(before)) {
		return worth(a.text, span{at + len(before) + 1, at + len(before) + 1 + len(after)})
	}
	return nil
}

// quoted is what stands between quotes, which may be escaped themselves.
func quoted(text string, at int) span {
	from := at + endOf(text[at:], func(c byte) bool { return c == '\\' })
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

// longestNested bounds what is parsed of a text.
const longestNested = 64 << 10

// nested is a map or a list behind the sign: all of it, where anything in it is secret.
func (a assignment) nested(at int) []span {
	to := at + balanced(a.text[at:])
	part := a.text[at:to]
	var v any
	isShort := len(part) <= longestNested && !strings.ContainsAny(part, "&*")
	if isShort && yaml.Unmarshal([]byte(part), &v) == nil && !(Place{form: inside}).Holds(v) {
		return nil
	}
	return []span{{at, to}}
}

// balanced is the length of the brackets that a text begins with.
func balanced(text string) int {
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

// block is what stands below the sign, indented deeper than its name: a text of several lines, a map, or a list.
func (a assignment) block(at int) (out []span) {
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

// blockLine is the secret of one line of a block.
func blockLine(text string, line span, isText bool) []span {
	content := text[line.from:line.to]
	if !isText {
		content = strings.TrimPrefix(content, "- ")
		if name, value, isPair := strings.Cut(content, ":"); isPair && !strings.HasPrefix(value, "//") {
			name = strings.Trim(name, `"' `)
			if (Place{form: inside}).Field(name).plain {
				return nil
			}
			content = strings.TrimLeft(value, " \t")
		}
	}
	return worth(text, span{line.to - len(content), line.to})
}

// indent is the number of blanks that a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// worth is a span, unless what stands there is no secret.
func worth(text string, s span) []span {
	if s.from >= s.to || isHarmless(strings.Trim(text[s.from:s.to], `"'`)) {
		return nil
	}
	return []span{s}
}

// each goes through the places at which a part stands in a text.
func each(text, part string) func(func(int) bool) {
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

// endOf is how many bytes at the beginning of a text are of a kind.
func endOf(text string, is func(byte) bool) int {
	for i := range len(text) {
		if !is(text[i]) {
			return i
		}
	}
	return len(text)
}

// endOfReverse is how many bytes at the end of a text are of a kind.
func endOfReverse(text string, is func(byte) bool) int {
	for i := len(text); i > 0; i-- {
		if !is(text[i-1]) {
			return len(text) - i
		}
	}
	return len(text)
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func isBase64(c byte) bool { return isTokenByte(c) || c == '+' || c == '/' || c == '=' }

func containsFold(text, lower string) bool {
	for i := 0; i+len(lower) <= len(text); i++ {
		if (text[i] == lower[0] || text[i] == lower[0]-'a'+'A') && strings.EqualFold(text[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}
