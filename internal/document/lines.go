package document

import (
	"slices"
	"strconv"
	"strings"
)

// parseINI parses an INI text: keys and values in sections, which are maps. A key without a value is null. It must have a section. Lines
// with an indent are not accepted, because some readers take them for the rest of a value and others do not. A text without sections is
// rather one of properties, whose rules differ, and a section that occurs twice is merged by some readers and replaced by others.
func parseINI(text string) (parsed, bool) {
	root := map[string]any{}
	section := root
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case line[0] == ' ' || line[0] == '\t':
			return parsed{}, false
		case line[0] == '[':
			name := strings.TrimSpace(strings.Trim(line, "[]"))
			if _, twice := root[name]; twice || name == "" || line != "["+name+"]" {
				return parsed{}, false
			}
			section = map[string]any{}
			root[name] = section
			continue
		}
		name, value, ok := pairOf(line)
		if _, twice := section[name]; !ok || twice {
			return parsed{}, false
		}
		section[name] = value
	}
	return parsed{root: root}, hasSection(root)
}

// pairOf returns the key and the value of a line. Both signs are in use, and the first one of either ends the key.
func pairOf(line string) (name string, value any, ok bool) {
	sign := strings.IndexAny(line, "=:")
	if sign < 0 {
		return line, nil, isWord(line)
	}
	name = strings.TrimSpace(line[:sign])
	return name, strings.TrimSpace(line[sign+1:]), name != ""
}

// Without one the text would be a list of keys, of which parseProperties is the judge.
func hasSection(root map[string]any) bool {
	for _, v := range root {
		if _, isMap := v.(map[string]any); isMap {
			return true
		}
	}
	return false
}

// parseEnv parses a file of variables: NAME=VALUE, or export NAME=VALUE. Readers differ about blanks and quotes, so values stay as they are
// written, and blanks before the sign are not accepted.
func parseEnv(text string) (parsed, bool) {
	root, exported := map[string]any{}, []string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		line, isExported := strings.CutPrefix(line, "export ")
		name, value, isPair := strings.Cut(line, "=")
		if _, twice := root[name]; !isPair || twice || !isWord(name) {
			return parsed{}, false
		}
		root[name] = value
		// An exported variable reaches other programs, so it is another thing than one that is not, even with the same value.
		if isExported {
			exported = append(exported, name)
		}
	}
	slices.Sort(exported)
	return parsed{root: root, oddKeys: exported}, len(root) > 0
}

// parseProperties parses Java properties. Every line must have a sign between key and value, though Java accepts a blank. Otherwise each
// line of prose would be a key with a value. (java.util.Properties, method load.)
func parseProperties(text string) (parsed, bool) {
	root := map[string]any{}
	for lines := strings.Split(text, "\n"); len(lines) > 0; {
		line := strings.TrimLeft(strings.TrimSuffix(lines[0], "\r"), " \t\f")
		lines = lines[1:]
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		var whole strings.Builder
		// A backslash at the end joins the next line without its indent.
		for ; continues(line) && len(lines) > 0; lines = lines[1:] {
			whole.WriteString(line[:len(line)-1])
			line = strings.TrimLeft(strings.TrimSuffix(lines[0], "\r"), " \t\f")
		}
		whole.WriteString(line)
		name, value, ok := property(whole.String())
		if _, twice := root[name]; !ok || twice {
			return parsed{}, false
		}
		root[name] = value
	}
	return parsed{root: root}, len(root) > 0
}

// continues reports whether a line ends with a backslash that is not escaped itself.
func continues(line string) bool { return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1 }

// property returns the key and the value of a logical line. Blanks at the end belong to the value.
//
// Java takes all of these for the key a and the value b; only the first three are accepted here:
//
//	a=b
//	a : b
//	a = b
//	a b
func property(line string) (name, value string, ok bool) {
	end := 0
	for end < len(line) && strings.IndexByte("=: \t\f", line[end]) < 0 {
		// An escaped sign or blank is a part of the key.
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	rest := strings.TrimLeft(line[end:], " \t\f")
	if end == 0 || rest == "" || rest[0] != '=' && rest[0] != ':' {
		return "", "", false
	}
	name, okName := unescaped(line[:end])
	value, okValue := unescaped(strings.TrimLeft(rest[1:], " \t\f"))
	return name, value, okName && okValue
}

// unescaped returns a text of a properties file without its escapes. Java reads an escaped character it has no meaning for as itself.
func unescaped(text string) (string, bool) {
	if !strings.Contains(text, `\`) {
		return text, true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'n', 'r', 't', 'f':
			b.WriteByte(map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f'}[c])
		case 'u':
			if i+4 >= len(text) {
				return "", false
			}
			code, err := strconv.ParseUint(text[i+1:i+5], 16, 16)
			// Java holds UTF-16, where two escapes may make one character; that is rare enough to be left to the diff of the texts.
			if err != nil || code >= 0xD800 && code <= 0xDFFF { // half of a pair
				return "", false
			}
			b.WriteRune(rune(code))
			i += 4
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}
