package valuesfile

import (
	"fmt"
	"regexp"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// survey counts which styles a file uses, so that new lines look as if the author of the file had written them.
type survey struct {
	source
	steps, listSteps  map[int]int // how often maps and lists are indented so far beyond their key
	single, double    int
	quotedKeys, other int // keys in double quotes, and all others
}

// newWriter returns a writer in the style of a file.
func newWriter(name string, s source, root *node) writer {
	v := survey{source: s, steps: map[int]int{}, listSteps: map[int]int{}}
	if root != nil {
		v.visit(root)
	}
	w := writer{eol: "\n", step: mostFrequent(v.steps, 2), dash: 2, single: v.single > v.double}
	w.listStep = mostFrequent(v.listSteps, w.step)
	w.json = strings.HasSuffix(name, ".json") || root != nil && root.flow && v.quotedKeys > 0 && v.other == 0
	// If a file has both, most of its lines decide.
	if crlf := strings.Count(s.text, "\r\n"); crlf*2 > strings.Count(s.text, "\n") {
		w.eol = "\r\n"
	}
	w.unended = len(s.text) > 0 && s.lines[len(s.lines)-1] != len(s.text)
	return w
}

// mostFrequent returns the number that was counted most, or otherwise if nothing was counted. In a tie it returns the smallest number, so
// that the result does not depend on the random order of the map.
func mostFrequent(counts map[int]int, otherwise int) int {
	best := otherwise
	for step, n := range counts {
		if n > counts[best] || n == counts[best] && n > 0 && step < best {
			best = step
		}
	}
	return best
}

// visit counts the styles of a node and of everything below it.
func (v *survey) visit(n *node) {
	switch {
	case n.yaml.Style&yaml3.SingleQuotedStyle != 0:
		v.single++
	case n.yaml.Style&yaml3.DoubleQuotedStyle != 0:
		v.double++
	}
	for _, e := range n.entries {
		switch {
		case e.key == nil:
		case e.key.yaml.Style&yaml3.DoubleQuotedStyle != 0:
			v.quotedKeys++
		default:
			v.other++
		}
		if step, ok := v.stepTo(n, e); ok && e.value.isMap() {
			v.steps[step]++
		} else if ok {
			v.listSteps[step]++
		}
		v.visit(e.value)
	}
}

// stepTo returns how far the block below a key of a block map is indented, or false if there is none.
func (s source) stepTo(n *node, e entry) (int, bool) {
	if n.flow || e.key == nil || !e.value.isBlock() || s.line(e.value.content) == s.line(e.mark) {
		return 0, false
	}
	return s.column(e.value.content) - s.column(n.content), true
}

// near returns the writer for a new entry of a map or list. It writes in the style of the existing entries, because a part of a file may
// be copied from elsewhere and have an indent of its own. The text goes before the end of an offset's line, in a block at a column.
func (ed *editor) near(n *node, at, column int) *writer {
	w := ed.writer
	w.quoteLines = ed.hasCommentBelow(at, column)
	if n == nil || n.flow {
		return &w
	}
	for _, e := range n.entries {
		if step, ok := ed.stepTo(n, e); ok && e.value.isMap() {
			w.step = step
		} else if ok {
			w.listStep = step
		}
		if n.isList() && !e.value.isEmpty() && ed.line(e.value.start) == ed.line(e.mark) {
			w.dash = ed.column(e.value.start) - ed.column(e.start)
		}
	}
	return &w
}

// hasCommentBelow reports whether the next line with text is a comment to the right of a column. Such a comment would become a part of a
// block scalar.
func (s source) hasCommentBelow(at, column int) bool {
	for at = s.afterLine(at); at < len(s.text); at = s.afterLine(at) {
		if text := s.skipSpace(at); breakLength(s.text[text:]) == 0 {
			return s.peek(text) == '#' && text-at > column
		}
	}
	return false
}

// hintOf returns a string among the values of a list. A new item uses the same quotes. Lists of arguments are often quoted throughout,
// even if no item needs it.
func hintOf(n *node) *yaml3.Node {
	for _, e := range n.entries {
		if e.key == nil && isQuoted(e.value.yaml) {
			return e.value.yaml
		}
	}
	return nil
}

// mayBeOther reports whether a plain scalar may be something other than a string (go.yaml.in/yaml/v2 v2.4.4 resolve.go resolveTable
// and resolveMap, and v3). The first character rules out most strings before anything is parsed.
func mayBeOther(s string) bool {
	switch {
	case s == "" || strings.IndexByte("+-.0123456789~<=", s[0]) >= 0:
		return true
	case strings.IndexByte("yYnNtTfFoO", s[0]) < 0:
		return false
	}
	switch strings.ToLower(s) {
	case "y", "yes", "on", "true", "n", "no", "off", "false", "null":
		return true
	}
	return false
}

// base60 matches the base-60 numbers of YAML 1.1. Helm's library reads them as strings, and other libraries read them as numbers.
var base60 = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// isPlain reports whether every reader takes a plain scalar for the string s. Other programs than Helm read values files too, so a string
// is quoted if any of them may take it for something else.
func isPlain(s string, flow bool) bool {
	if s == "" || !isPrintable(s, false) || strings.TrimSpace(s) != s {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") {
		return false
	}
	switch s[0] {
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '-':
		if len(s) == 1 || s[1] == ' ' {
			return false
		}
	}
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") || flow && strings.ContainsAny(s, ",[]{}?") {
		return false
	}
	return !mayBeOther(s) || s != "=" && !base60.MatchString(s) && readsAsString(s)
}

// readsAsString reports whether YAML 1.1 and YAML 1.2 read a plain scalar as a string.
func readsAsString(s string) bool {
	var old any
	if err := yaml.Unmarshal([]byte(s), &old); err != nil || old != any(s) {
		return false
	}
	var node yaml3.Node
	return yaml3.Unmarshal([]byte(s), &node) == nil && len(node.Content) == 1 && node.Content[0].Tag == "!!str"
}

// isPrintable reports whether s can be written without escapes. Line breaks and tabs are allowed in a block scalar only. An escape needs
// double quotes, so such a string cannot keep another style.
func isPrintable(s string, block bool) bool {
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			if !block {
				return false
			}
		case mustEscape(r):
			return false
		}
	}
	return true
}

// mustEscape reports whether a character is a control character, a line break of YAML 1.1, a byte order mark, or unseen.
func mustEscape(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0xa0 || r == 0xad || r >= 0x2028 && r <= 0x202e || r == 0xfeff || r >= 0xfff0 && r <= 0xffff
}

// singleQuoted returns s in single quotes; false if they cannot hold it.
func singleQuoted(s string) (string, bool) {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'", isPrintable(s, false)
}

// doubleQuoted returns s in double quotes. All its escapes but those of control characters are those of JSON.
func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case mustEscape(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// literal returns the indicators and the lines of s as a block scalar; false if a block scalar does not keep it or has no use. Step is how
// many columns the lines are indented beyond what has the scalar. People read several lines better in a block than with escapes.
func literal(s string, step int, pad, eol string) (indicators, lines string, ok bool) {
	content := strings.TrimRight(s, "\n")
	if !strings.Contains(content, "\n") && content == s || content == "" || !isPrintable(s, true) {
		return "", "", false
	}
	indicators = "|"
	if first := strings.TrimLeft(content, "\n"); first[0] == ' ' || first[0] == '\t' {
		// The indicator is one digit.
		if step > 9 {
			return "", "", false
		}
		indicators += fmt.Sprint(step)
	}
	switch len(s) - len(content) {
	case 0:
		indicators += "-"
	case 1:
	default:
		return "", "", false // "|+" would take the blank lines after it
	}
	for line := range strings.SplitSeq(content, "\n") {
		if lines += eol; line != "" {
			lines += pad + line
		}
	}
	return indicators, lines, true
}
