package valuesfile

import (
	"fmt"
	"regexp"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// mayBeOther reports whether a plain scalar may be something else than a string (go.yaml.in/yaml/v2 v2.4.4 resolve.go resolveTable and
// resolveMap, and v3). The first character rules out most strings before anything is parsed.
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

// base60 matches the numbers to base 60 of YAML 1.1, which Helm's library reads as strings and others as numbers.
var base60 = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// isPlain reports whether every reader takes a plain scalar for the string s. A values file is read by other programs than Helm too, so a
// string that any of them may take for something else is quoted.
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
